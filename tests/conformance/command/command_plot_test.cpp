/// torus plot, and --html and --svg of compare and sweep.
#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using torus::support::check_refused_without;
using torus::support::command;
using torus::support::count;
using torus::support::Folder;
using torus::support::good;
using torus::support::text_of_file;

TEST_CASE("a comparison draws each algorithm, and its table gives the same page", "[conformance]") {
  const Folder folder;
  const std::string page = folder.file("c.html"), csv = folder.file("c.csv"), figure = folder.file("c.svg");
  const torus::support::Ended ended =
      command("compare broadcast --on 5x5 --bytes 64:64KiB --json --html " + page + " --csv " + csv + " --svg " + figure);
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const torus::support::Json json = torus::support::parsed(ended.out);
  const std::string text = text_of_file(page);
  CHECK(count(text, "<section class=\"chart\"") == json["machines"].size());
  std::size_t boxes = 0;
  for (const auto& machine : json["machines"]) {
    boxes += machine["algorithms"].size();
    for (const auto& algorithm : machine["algorithms"])
      CHECK(count(text, "<td>" + algorithm["algorithm"].get<std::string>() + "</td>") > 0);
  }
  CHECK(count(text, "type=\"checkbox\"") == boxes);
  for (const std::string outside : {"http:", "https:", " src=", "<link", "@import", "url("})
    CHECK(count(text, outside) == (outside == "http:" ? json["machines"].size() : 0));  // the name of SVG's namespace
  CHECK(count(text, "Content-Security-Policy\" content=\"default-src 'none';") == 1);

  good("plot " + csv + " -o " + folder.file("again.html") + " --svg " + folder.file("again.svg"));
  CHECK(text_of_file(folder.file("again.html")) == text);
  CHECK(text_of_file(folder.file("again.svg")) == text_of_file(figure));
}

TEST_CASE("a sweep and a bench draw wall times too", "[conformance]") {
  const Folder folder;
  const std::string csv = folder.file("s.csv");
  good("sweep broadcast --on 4x4,3x3x3 --bytes 64,4KiB --algorithms flood,mst --csv " + csv + " --html " + folder.file("s.html") +
       " --svg " + folder.file("s.svg"));
  const std::string page = text_of_file(folder.file("s.html"));
  CHECK(count(page, ">model time</text>") == count(page, "<section"));
  CHECK(count(page, ">measured on the host</text>") == count(page, "<section"));
  good("plot " + csv + " -o " + folder.file("p.html"));
  CHECK(text_of_file(folder.file("p.html")) == page);
  good("plot " + csv + " --algorithms mst --svg " + folder.file("mst.svg"));
  CHECK(count(text_of_file(folder.file("mst.svg")), ">flood</text>") == 0);
  CHECK_FALSE(std::filesystem::exists("plot.html"));
  good("bench broadcast --on 3x3 --bytes 64,4KiB --repeat 3 --warmup 0 --algorithms flood --csv " + folder.file("b.csv"));
  good("plot " + folder.file("b.csv") + " -o " + folder.file("b.html"));
  CHECK(count(text_of_file(folder.file("b.html")), ">measured on the host</text>") == 1);
}

TEST_CASE("wrong files for curves are refused, and no page is left", "[conformance]") {
  const Folder folder;
  const std::string csv = folder.write("t.csv", "collective,shape,algorithm,bytes,model_time_s\nbroadcast,8x8,a,16,1e-6\n");
  const std::string page = folder.file("page.html");
  const auto refused = [&](const std::string& line, const std::string& words) { check_refused_without(page, line, words); };
  refused("plot " + folder.file("absent") + " -o " + page, "absent");
  refused("plot " + folder.write("x.csv", "a,b\n1,2\n") + " -o " + page, "x.csv line 1: there is no column 'collective'");
  refused("plot " + csv + " -o " + csv, "it is the file that torus plot reads");
  refused("plot " + csv + " -o " + page + " --svg " + page, "it is the file that --output writes");
  refused("plot " + csv + " -o " + page + " --algorithms b", "--algorithms 'b': the table has no such algorithm; for instance a");
  refused("compare broadcast --on 4x4 --html " + page + " --csv " + page, "it is the file that --csv writes");
  refused("sweep broadcast --on 4x4 --csv " + page + " --html " + page, "it is the file that --csv writes");
  refused("plot " + csv + " -o " + page + " --on 4x4", "--on '4x4': the table has no such shape; for instance 8x8");
  refused("compare broadcast --on 4x4 --html " + folder.file("none/page.html"), "none/page.html");
  // Charts are counted before anything runs: shapes, and the machines on which algorithms apply.
  const std::string shapes = "2x2,2x3,2x4,2x5,3x3,3x4,3x5,4x4,4x5,3x6,6x6,7x7", table = folder.file("s.csv"), svg = folder.file("s.svg");
  refused(
      "sweep broadcast --on " + shapes + ",8x8 --bytes 64 --algorithms flood --csv " + table + " --svg " + svg + " --html " + page,
      "--svg '" + svg + "': a figure shows at most 12 charts, one for each shape and machine, and these are 13; choose fewer, or a page");
  CHECK_FALSE(std::filesystem::exists(table));
  CHECK_FALSE(std::filesystem::exists(table + ".part"));
  // An algorithm that applies nowhere makes no chart.
  good("sweep broadcast --on " + shapes + " --bytes 64 --algorithms flood,park-choi --csv " + table + " --svg " + svg + " --html " + page);
  CHECK(count(text_of_file(page), "<section class=\"chart\"") == 12);
  good("plot " + table + " --on 4x4,7x7 -o " + page);
  CHECK(count(text_of_file(page), "<section class=\"chart\"") == 2);
}

TEST_CASE("the first figures of the gallery, one of them on the front page, are what their commands make", "[conformance]") {
  const Folder folder;
  const std::filesystem::path source = TORUS_SOURCE_DIR;
  const std::string page = text_of_file((source / "tools/gallery.md").string());
  CHECK(count(text_of_file((source / "README.md").string()), "](tools/figures/broadcast_8x8.svg)") == 1);
  const std::string run = "torus run broadcast --on 8x8 --bytes 1KiB --trace run.jsonl\n",
                    view = "torus view run.jsonl --svg tools/figures/broadcast_8x8.svg\n",
                    compare =
                        "torus compare broadcast --on 25x25 --switching wormhole --ports 4 --bytes 1KiB:16MiB "
                        "--algorithms flood,edst-broadcast,wang-tseng,swath,edf --svg tools/figures/broadcast_25x25.svg\n";
  for (const std::string& line : {run, view, compare}) CHECK(count(page, line) == 1);
  const auto here = [&](std::string line) {
    line = line.substr(6, line.size() - 7);
    for (const std::string name : {"run.jsonl", "tools/figures/broadcast"}) {
      if (const auto at = line.find(name); at != std::string::npos)
        line.replace(at, name.size(), folder.file(name == "run.jsonl" ? name : "broadcast"));
    }
    good(line);
  };
  for (const std::string& line : {run, view, compare}) here(line);
  for (const std::string name : {"broadcast_8x8.svg", "broadcast_25x25.svg"}) {
    CHECK(text_of_file(folder.file(name)) == text_of_file((source / "tools/figures" / name).string()));
    CHECK(count(page, "](figures/" + name + ")") == 1);
  }
}
