/// torus view --svg: steps of a run as a figure.
#include <filesystem>
#include <regex>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using torus::support::check_refused_without;
using torus::support::command;
using torus::support::count;
using torus::support::Folder;
using torus::support::good;
using torus::support::text_of_file;
using torus::support::traced;

namespace {

std::string figure(const Folder& folder, const std::string& trace, const std::string& options) {
  good("view " + trace + " --svg " + folder.file("f.svg") + options);
  return text_of_file(folder.file("f.svg"));
}

}  // namespace

TEST_CASE("a figure has all nodes of each step, and a route for each message", "[conformance]") {
  const Folder folder;
  const std::string trace = traced(folder, "broadcast --on 8x8 --bytes 1KiB --algorithm tsai-mckinley");
  const std::string all = figure(folder, trace, "");
  CHECK(count(all, "<g class=\"step\"") == 3);
  CHECK(count(all, "<rect class=\"frame") == 3 * 64);
  CHECK(count(all, "source\"") == 3);
  CHECK(count(all, "<path class=\"head\"") == 63);
  for (const std::string caption : {">step 0: 3 messages<", ">step 1: 12 messages<", ">step 2: 48 messages<"})
    CHECK(count(all, caption) == 1);
  // After step 0 four nodes have the message, after step 1 sixteen, in the end all.
  const std::string empty = "fill=\"#fff\"", full = "fill=\"#fde725\"";
  CHECK(count(figure(folder, trace, " --step 0"), empty) == 60);
  const std::string one = figure(folder, trace, " --step 1");
  CHECK(count(one, empty) == 48);
  CHECK(count(one, full) == 16 + 1);  // and the key
  CHECK(count(figure(folder, trace, " --steps 2,0"), empty) == 60);
  CHECK_FALSE(std::filesystem::exists("view.html"));
}

TEST_CASE("figures of lines, complete dimensions, hypercubes and several dimensions stay on their paper", "[conformance]") {
  const Folder folder;
  for (const std::string line : {"broadcast --on 100 --algorithm flood", "broadcast --on 6cx3m --algorithm flood", "broadcast --on 2^6",
                                 "broadcast --on 3x4x5", "broadcast --on 3x2x3x4 --algorithm flood", "broadcast --on 1",
                                 "total-exchange --on 4x4 --bytes 8 --contention share --algorithm direct"}) {
    CAPTURE(line);
    const std::string trace = traced(folder, line);
    if (line.ends_with(" 1")) {
      CHECK(command("view " + trace + " --svg " + folder.file("f.svg")).status == 2);  // there is no message
      continue;
    }
    const std::string text = figure(folder, trace, " --steps 0");
    std::smatch size;
    REQUIRE(std::regex_search(text, size, std::regex("viewBox=\"0 0 (\\d+) (\\d+)\"")));
    const double wide = std::stod(size[1]), high = std::stod(size[2]);
    const std::regex point("[ML](-?[0-9.]+) (-?[0-9.]+)");
    std::size_t points = 0, outside = 0;
    for (std::sregex_iterator at(text.begin(), text.end(), point), end; at != end; ++at, ++points) {
      const double x = std::stod((*at)[1]), y = std::stod((*at)[2]);
      outside += x < 0 || y < -20 || x > wide || y > high ? 1U : 0U;
    }
    CHECK(points > 0);
    CHECK(outside == 0);
  }
}

TEST_CASE("what no figure can show is refused, and none is left", "[conformance]") {
  const Folder folder;
  const std::string trace = traced(folder, "broadcast --on 8x8 --algorithm flood");
  const std::string svg = folder.file("f.svg");
  const auto refused = [&](const std::string& line, const std::string& words) { check_refused_without(svg, line, words); };
  refused("view " + trace + " --svg " + svg + " --step 1000", "--steps 1000: the run has steps 0 to ");
  refused("view " + trace + " --svg " + svg + " --step x", "--steps 'x': it must be steps with commas between, for instance 0,1,2");
  refused("view " + trace + " --svg " + svg + " --steps ,", "--steps ','");
  refused("view " + trace + " --step 1 -o " + svg, "add --svg FILE");
  refused("view " + trace + " --svg " + trace, "it is the file that torus view reads; for instance --svg");
  refused("view " + trace + " --svg " + svg + " -o " + svg, "it is the file that --output writes");
  refused("view " + traced(folder, "broadcast --on 80x80") + " --svg " + svg,
          "the machine has 6,400 nodes, and a figure draws at most 4,096");
}
