/// torus view, and torus run --view: the page and the data in it.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json.hpp"

using torus::support::command;
using torus::support::count;
using torus::support::Json;
using torus::support::text_of_file;

namespace {

/// The text of the element that holds the data, up to the first end tag, as a browser finds it.
std::string data_text(const std::string& page) {
  const std::string start = R"(<script id="data" type="application/json">)";
  REQUIRE(count(page, start) == 1);
  const auto from = page.find(start) + start.size();
  return page.substr(from, page.find("</script", from) - from);
}

/// The text of the element that holds the data of a second run.
std::string other_text(const std::string& page) {
  const std::string start = R"(<script id="other" type="application/json">)";
  REQUIRE(count(page, start) == 1);
  const auto from = page.find(start) + start.size();
  return page.substr(from, page.find("</script", from) - from);
}

/// The text outside the data: the same in every page.
std::string frame(const std::string& page) {
  const std::string data = data_text(page);
  std::string rest = page;
  return rest.erase(rest.find(data), data.size());
}

template <class T>
T sum(const Json& list) {
  T total = 0;
  for (const Json& value : list) total += value.get<T>();
  return total;
}

const std::string header =
    R"({"format":"torus-trace","version":1,"shape":[4],"wrap":[true],"ports":2,"switching":"packet","contention":"forbid",)"
    R"("routing":[0],"collective":"broadcast","sources":[0],"segments":1,"block_bytes":8,"algorithm":")";

}  // namespace

TEST_CASE("the page of a run is one file, and its data agree with the run", "[conformance]") {
  const torus::support::Folder folder;
  for (const std::string& line :
       std::vector<std::string>{"run broadcast --on 9x7 --bytes 100 --source 3,2",
                                "run multinode-broadcast --on 9x9 --sources random:5",
                                "run total-exchange --on 4x4 --bytes 8 --contention share --algorithm direct",
                                "run broadcast --on 6cx2m --algorithm flood --bytes 3",
                                "run multinode-broadcast --on 4x4 --sources none",
                                "run broadcast --on 1",
                                "run gather --on 3x3 --bytes 4",
                                "run reduce --on 3x5 --op max --type i16",
                                "run allreduce --on 4x4 --bytes 64",
                                "run reduce-scatter --on 4x4m --bytes 64",
                                "run scan --on 5 --bytes 8",
                                "run barrier --on 3x3",
                                "run broadcast --on 4x4 --bytes 8 --algorithm flood --dead-node 1,1",
                                "run allreduce --on 4x4 --bytes 64 --algorithm tree-packing --dead-node 1,1",
                                "run reduce-scatter --on 4x4 --bytes 64 --algorithm tree-packing --dead-node 1,1;2,2",
                                "run broadcast --on 3x4 --source 5 --map random:1",
                                "run multinode-broadcast --on 4x4 --sources 0;3;7 --map snake",
                                "run alltoall --on 2x3 --bytes 8 --map random:2",
                                "run scatter --on 3x3 --bytes 8 --map random:3 --root 4",
                                "run gather --on 3x3 --bytes 4 --map axis:1,0",
                                "run scan --on 3x4 --map random:4",
                                "run reduce-scatter --on 2x4 --map snake --bytes 64",
                                "run barrier --on 3x3 --map random:5",
                                "run allreduce --on 4x4 --bytes 64 --algorithm tree-packing --dead-node 1,2 --map axis:1,0",
                                "run broadcast --on 4x6 --groups rows --source 2",
                                "run multinode-broadcast --on 4x4 --groups columns --sources 0;3",
                                "run alltoall --on 4x4 --groups slice:2x4 --bytes 8",
                                "run scatter --on 4x4 --groups slice:2x2 --bytes 8 --root 3",
                                "run gather --on 3x3x2 --groups axis:0,2 --bytes 4 --root 1",
                                "run reduce --on 8x8 --groups stride:2 --root 5 --bytes 64",
                                "run allreduce --on 4x6 --groups rows --bytes 64",
                                "run reduce-scatter --on 4x4 --groups columns --bytes 64",
                                "run scan --on 4x1 --groups rows --bytes 8",
                                "run scan --on 3x5 --groups rows --bytes 8",
                                "run barrier --on 4x4 --groups rows",
                                "run alltoall --on 4x3 --bytes 8 --groups file:" + folder.write("groups", "5 0 7\n2 11 3\n"),
                                "run allreduce --on 4x3 --bytes 12 --groups file:" + folder.file("groups")}) {
    const torus::support::Ended ended = command(line + " --steps --json --view " + folder.file("page.html"));
    CAPTURE(line, ended.err);
    REQUIRE(ended.status == 0);
    const Json run = torus::support::parsed(ended.out);
    const std::string page = text_of_file(folder.file("page.html"));
    CHECK(page.starts_with("<!DOCTYPE html>"));
    CHECK(count(page, "Content-Security-Policy\" content=\"default-src 'none';") == 1);
    for (const std::string outside : {"http:", "https:", " src=", "<link", "@import", "url("}) CHECK(count(page, outside) == 0);
    CHECK(count(page, "TORUS_VIEW_DATA") == 0);

    const Json data = torus::support::parsed(data_text(page));
    CHECK(data["left_out"].is_null());
    for (const char* same : {"collective", "algorithm", "shape", "nodes", "steps", "busy_steps", "messages", "hops"}) {
      CAPTURE(same);
      CHECK(data[same] == run[same]);
    }
    CHECK(data["costs_s"] == Json{{"start_up", run["ts_s"]}, {"byte", run["tc_s"]}, {"hop", run["th_s"]}});
    const Json& by_step = data["by_step"];
    std::size_t at = 0;
    for (const Json& step : run["step_table"]) {
      if (step["messages"] == 0) continue;
      REQUIRE(at < by_step["step"].size());
      for (const char* same : {"step", "messages", "hops", "bytes", "longest_route"}) CHECK(by_step[same][at] == step[same]);
      CHECK(by_step["fullest"][at] == step["channel_bytes"]);
      const auto phase = by_step["phase"][at].get<int>();
      CHECK((phase < 0 ? Json() : data["phases"][static_cast<std::size_t>(phase)]) == step.value("phase", Json()));
      ++at;
    }
    CHECK(at == by_step["step"].size());
    if (run.contains("op")) CHECK(sum<std::uint64_t>(by_step["combined"]) == run["reduce_bytes_most"]);

    const Json& each = data["each"];
    CHECK(each["source"].size() == run["messages"]);
    CHECK(each["gained"].size() == run["messages"]);
    CHECK(sum<std::uint64_t>(each["bytes"]) == data["bytes"]);
    CHECK(each["paths"].size() == 2 * sum<std::uint64_t>(each["legs"]));
    CHECK(each["blocks"].size() == 2 * sum<std::uint64_t>(each["ranges"]));
    // In the end every node holds what it is to hold.
    std::vector<std::uint64_t> held = data["held_first"];
    for (std::size_t m = 0; m < each["gained"].size(); ++m)
      held[each["destination"][m].get<std::size_t>()] += each["gained"][m].get<std::uint64_t>();
    CHECK(Json(held) == data["wanted"]);
    CHECK(data["verdict"]["ok"] == true);
    CHECK(data.contains("ranks") == (run.contains("map") || run.contains("groups")));
    CHECK(data.contains("groups") == run.contains("groups"));
  }
}

TEST_CASE("a trace and its run give the same messages, whatever the executor", "[conformance]") {
  const torus::support::Folder folder;
  const std::string line = "run multinode-broadcast --on 9x9 --sources random:5 --executor ";
  REQUIRE(command(line + "serial --view " + folder.file("run.html") + " --trace " + folder.file("trace.gz")).status == 0);
  REQUIRE(command(line + "shuffled --threads 3 --view " + folder.file("again.html")).status == 0);
  CHECK(text_of_file(folder.file("run.html")) == text_of_file(folder.file("again.html")));
  const torus::support::Ended ended = command("view " + folder.file("trace.gz") + " -o " + folder.file("trace.html"));
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const Json run = torus::support::parsed(data_text(text_of_file(folder.file("run.html")))),
             trace = torus::support::parsed(data_text(text_of_file(folder.file("trace.html"))));
  CHECK(trace["each"] == run["each"]);
  CHECK(ended.out == folder.file("trace.html") + ": " + std::to_string(run["messages"].get<int>()) + " messages in " +
                         std::to_string(run["busy_steps"].get<int>()) + " steps\n");
  CHECK(trace["by_step"] == run["by_step"]);
  CHECK(trace["phases"] == run["phases"]);
  CHECK(trace["phases"].size() > 1);
  CHECK(trace["costs_s"] == run["costs_s"]);
}

TEST_CASE("on a page nodes want what living nodes have for them, in segments", "[conformance]") {
  // A line of three, of which the last is dead; each living node has two blocks for or from each node.
  const torus::support::Folder folder;
  const std::string machine =
      R"({"format":"torus-trace","version":1,"shape":[3],"wrap":[false],"dead_nodes":[2],"ports":2,"switching":"packet",)";
  const auto there = [](const std::string& blocks) {
    return R"({"step":0,"src":0,"dst":1,"path":[[0,1]],"bytes":8,"blocks":)" + blocks + "}\n";
  };
  const auto back = [](const std::string& blocks) {
    return R"({"step":0,"src":1,"dst":0,"path":[[0,-1]],"bytes":8,"blocks":)" + blocks + "}\n";
  };
  const auto check = [&](const std::string& keys, const std::string& messages, const Json& wanted, const Json& first) {
    CAPTURE(keys);
    REQUIRE(command("verify " + folder.write("t", machine + keys + "}\n" + messages)).status == 0);
    REQUIRE(command("view " + folder.file("t") + " -o " + folder.file("p.html")).status == 0);
    const Json data = torus::support::parsed(data_text(text_of_file(folder.file("p.html"))));
    CHECK(data["wanted"] == wanted);
    CHECK(data["held_first"] == first);
    CHECK(sum<int>(first) + sum<int>(data["each"]["gained"]) == sum<int>(wanted));
    CHECK(data["dead_nodes"] == Json{2});
  };
  check(R"("collective":"allgather","segments":2)", there("[0,1]") + back("[2,3]"), {4, 4, 0}, {2, 2, 0});
  check(R"("collective":"gather","segments":2,"sources":[0])", back("[2,3]"), {4, 0, 0}, {2, 0, 0});
  check(R"("collective":"scatter","segments":2,"sources":[0])", there("[2,3]"), {2, 2, 0}, {2, 0, 0});
  check(R"("collective":"total-exchange")", there("[1]") + back("[3]"), {2, 2, 0}, {1, 1, 0});
  check(R"("collective":"multinode-broadcast","segments":2)", there("[0,1]") + back("[2,3]"), {4, 4, 0}, {2, 2, 0});
}

TEST_CASE("a page says what is broken, what came out, the bound of the steps, and why the algorithm works", "[conformance]") {
  const torus::support::Folder folder;
  const std::string line = "run broadcast --on 8x8 --algorithm flood --dead-node 3,3 --dead-link 1,1:+0 --slow-link 2,2:+1:2 --view ";
  const torus::support::Ended ended = command(line + folder.file("p.html") + " --trace " + folder.file("t") + " --json");
  REQUIRE(ended.status == 0);
  const Json run = torus::support::parsed(ended.out), data = torus::support::parsed(data_text(text_of_file(folder.file("p.html"))));
  CHECK(data["dead_nodes"] == Json{27});
  CHECK(data["dead_links"] == Json::array({Json{9, 0, 1}}));
  CHECK(data["slow_links"] == Json::array({Json{18, 1, 1, 2.0}}));
  CHECK(data["verdict"] == Json{{"ok", true}, {"text", "legal and complete"}});
  CHECK(data["bound"]["steps"] == run["steps_lower_bound"]);
  CHECK(data["bound"]["reason"] == run["steps_lower_bound_reason"]);
  CHECK(count(data["idea"].get<std::string>(), ".") >= 3);
  CHECK_FALSE(data["algorithm_source"].get<std::string>().empty());
  CHECK(other_text(text_of_file(folder.file("p.html"))) == "null");
  // The same of its trace, but for half of it.
  std::string text = text_of_file(folder.file("t"));
  REQUIRE(command("view " + folder.file("t") + " -o " + folder.file("q.html")).status == 0);
  const Json again = torus::support::parsed(data_text(text_of_file(folder.file("q.html"))));
  for (const char* same : {"dead_nodes", "dead_links", "slow_links", "verdict", "bound", "idea", "algorithm_source"})
    CHECK(again[same] == data[same]);
  text.resize(text.rfind("{\"step\":3"));
  REQUIRE(command("view " + folder.write("half", text) + " -o " + folder.file("half.html")).status == 0);
  const Json half = torus::support::parsed(data_text(text_of_file(folder.file("half.html"))));
  CHECK(half["verdict"]["ok"] == false);
  CHECK_FALSE(half["verdict"]["text"].get<std::string>().empty());
}

TEST_CASE("two traces make one page, and each is there as on a page of its own", "[conformance]") {
  const torus::support::Folder folder;
  folder.write("plain", header + "TORUS_VIEW_DATA TORUS_VIEW_OTHER\"}\n");
  REQUIRE(command("run allreduce --on 4x4 --bytes 64 --trace " + folder.file("sum")).status == 0);
  const auto viewed = [&](const std::string& traces) {
    const torus::support::Ended ended = command("view " + traces + " -o " + folder.file("p.html"));
    CAPTURE(traces, ended.err);
    REQUIRE(ended.status == 0);
    return text_of_file(folder.file("p.html"));
  };
  const std::string plain = data_text(viewed(folder.file("plain"))), sum = data_text(viewed(folder.file("sum")));
  for (const auto& [a, b] : {std::pair("plain", "sum"), std::pair("sum", "plain"), std::pair("sum", "sum")}) {
    const std::string page = viewed(folder.file(a) + " " + folder.file(b));
    CHECK(data_text(page) == (a == std::string("plain") ? plain : sum));
    CHECK(other_text(page) == (b == std::string("plain") ? plain : sum));
  }
  REQUIRE(command("run broadcast --on 257x256 --bytes 1 --trace " + folder.file("large")).status == 0);
  const auto refused = [&](const std::string& line, const std::string& words) {
    torus::support::check_refused_without(folder.file("none.html"), line + " -o " + folder.file("none.html"), words);
  };
  refused("view " + folder.file("sum") + " " + folder.file("large"), "large': the machine has 65,792 nodes");
  torus::support::check_refused_without(folder.file("none.svg"),
                                        "view " + folder.file("sum") + " " + folder.file("plain") + " --svg " + folder.file("none.svg"),
                                        "a figure is of one trace");
  const torus::support::Ended own = command("view " + folder.file("sum") + " " + folder.file("plain") + " -o " + folder.file("plain"));
  CHECK(own.status == 2);
  CHECK(own.err.find("it is the file that torus view reads") != std::string::npos);
}

TEST_CASE("no name in a trace can leave the data", "[conformance]") {
  const torus::support::Folder folder;
  folder.write("plain", header + "flood\"}\n");
  folder.write("evil", header + "</script><script>alert(1)</script><!-- &\"}\n" +
                           R"({"step":0,"src":0,"dst":1,"path":[[0,1]],"bytes":8,"blocks":[0]})" + "\n");
  REQUIRE(command("view " + folder.file("plain") + " -o " + folder.file("plain.html")).status == 0);
  REQUIRE(command("view " + folder.file("evil") + " -o " + folder.file("evil.html")).status == 0);
  const std::string page = text_of_file(folder.file("evil.html"));
  CHECK(frame(page) == frame(text_of_file(folder.file("plain.html"))));
  CHECK(data_text(page).find('<') == std::string::npos);
  CHECK(torus::support::parsed(data_text(page))["algorithm"] == "</script><script>alert(1)</script><!-- &");
}

TEST_CASE("a page that would be too large has the sums of the steps alone, and says so", "[conformance]") {
  const torus::support::Folder folder;
  const auto data_of = [&](const std::string& line) {
    const torus::support::Ended ended = command(line + " --view " + folder.file("page.html"));
    CAPTURE(line, ended.err);
    REQUIRE(ended.status == 0);
    return torus::support::parsed(data_text(text_of_file(folder.file("page.html"))));
  };
  const Json many = data_of("run broadcast --on 64x64 --bytes 3KiB --algorithm flood --switching packet --segments 40");
  CHECK(many["left_out"] == "the run has more than 200,000 messages");
  CHECK_FALSE(many.contains("each"));
  // In place of the messages a map: who first got data when, and what each channel carried.
  CHECK(many["map"]["first"].size() == 4096);
  CHECK(sum<std::uint64_t>(many["map"]["load"]) == many["bytes"]);
  CHECK(many["by_step"]["fullest"].size() == many["busy_steps"]);
  CHECK(many["messages"] > 200000);
  CHECK(sum<std::uint64_t>(many["by_step"]["messages"]) == many["messages"]);
  CHECK(sum<std::uint64_t>(many["by_step"]["bytes"]) == many["bytes"]);
  CHECK(std::filesystem::file_size(folder.file("page.html")) < 250000);

  const Json large = data_of("run broadcast --on 257x256 --bytes 1");
  CHECK(large["left_out"] == "the machine has 65,792 nodes, and a page draws at most 65,536");
  CHECK_FALSE(large.contains("map"));

  std::string far = header + "far\"}\n";
  for (int step = 0; step < 3; ++step)
    far += R"({"step":)" + std::to_string(step) + R"(,"src":0,"dst":0,"path":[[0,10000000]],"bytes":8,"blocks":[0]})" + "\n";
  folder.write("far", far);
  REQUIRE(command("view " + folder.file("far") + " -o " + folder.file("far.html")).status == 0);
  CHECK(torus::support::parsed(data_text(text_of_file(folder.file("far.html"))))["left_out"] == "the run has more than 20,000,000 hops");
}

TEST_CASE("what cannot be viewed is refused, and no page is left", "[conformance]") {
  const torus::support::Folder folder;
  const std::string message = R"("src":0,"dst":1,"path":[[0,1]],"bytes":8,"blocks":[0]})";
  folder.write("back", header + "x\"}\n{\"step\":3," + message + "\n{\"step\":1," + message + "\n");
  folder.write("broken", header + "x\"}\n{\"step\":0\n");
  const auto refused = [&](const std::string& line, const std::string& words) {
    torus::support::check_refused_without(folder.file("page.html"), line, words);
  };
  const std::string output = " -o " + folder.file("page.html");
  refused("view " + folder.file("back") + output, "line 3: step 1 comes after step 3: steps must ascend");
  refused("view " + folder.file("broken") + output, "line 2");
  refused("view " + folder.file("absent") + output, "absent");
  refused("view" + output, "trace");
  refused("view " + folder.file("back") + " -o " + folder.file("none/page.html"), "none/page.html");
  refused("view " + folder.file("back") + " -o " + folder.file("back"), "it is the file that torus view reads; for instance --output");
  refused("run broadcast --on 4x4 --repeat 2 --view " + folder.file("page.html"),
          "by --view, is no timed run; leave out --repeat or --view");
  refused("run broadcast --on 4x4 --view " + folder.file("page.html") + " --trace " + folder.file("page.html"),
          "--view '" + folder.file("page.html") + "': it is the file that --trace writes");
  refused("run broadcast --on 4x4 --view " + folder.file("page.html") + " --csv " + folder.file("page.html"),
          "it is the file that --csv writes");
}
