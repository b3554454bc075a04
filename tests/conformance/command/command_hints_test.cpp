/// What the command says would do is accepted when it is typed instead.
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::Json;

namespace {

using Typed = std::vector<std::pair<std::string, std::string>>;

/// "--on 8x8 --ports 4" as pairs.
Typed options_in(const std::string& text) {
  Typed options;
  const std::vector<std::string> words = support::words(text);
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) options.emplace_back(words[i], words[i + 1]);
  return options;
}

/// The options that a text says would do; empty if it says none.
Typed suggested(const std::string& text) {
  static const std::regex hint("((?:--[a-z-]+ [^ ;]+ )+)would do");
  std::smatch found;
  return std::regex_search(text, found, hint) ? options_in(found[1].str()) : Typed{};
}

std::string line_of(const std::string& start, Typed options, const Typed& instead) {
  for (const auto& [name, value] : instead) {
    std::erase_if(options, [&name = name](const auto& option) { return option.first == name; });
    options.emplace_back(name, value);
  }
  std::string line = start;
  for (const auto& [name, value] : options) line += " " + name + " " + value;
  return line;
}

}  // namespace

TEST_CASE("with what a list says would do, the algorithm applies", "[conformance]") {
  const std::set<std::string> of_machine{"--on", "--ports", "--switching", "--contention", "--routing"};
  std::size_t tried = 0;
  for (const char* line :
       {"--on 8x8x8 --ports 4 --switching wormhole", "--on 3x3 --switching packet --ports 1", "--on 5x7 --ports 2",
        "--on mesh:4x6 --switching circuit --contention forbid", "--on 12c --switching packet", "--on 8x4 --routing 1,0",
        "--machine tpu-v4 --on 8x8x8", "--on 4x4x3 --ports 6 --tc 1e-10,2e-10,1e-10", "--on 4x4x8t", "--on 6x6 --dead-link 0:+0"}) {
    const Json list = support::parsed(command("list " + std::string(line) + " --json").out)["algorithms"];
    for (const Json& entry : list) {
      if (entry["applies"]) continue;
      const std::string why_not = entry["why_not"], algorithm = entry["algorithm"], collective = entry["collective"];
      const Typed instead = suggested(why_not);
      CAPTURE(line, why_not);
      CHECK(instead.empty() == (why_not.find(" would do") == std::string::npos));
      if (instead.empty() || !of_machine.contains(instead.front().first)) continue;
      const Json then = support::parsed(command(line_of("list " + algorithm, options_in(line), instead) + " --json").out)["algorithms"];
      for (const Json& other : then) {
        if (other["collective"] != collective) continue;
        CAPTURE(other.dump());
        CHECK(other["applies"] == true);
        ++tried;
      }
    }
  }
  CHECK(tried > 200);
}

TEST_CASE("what a refused run says would do runs", "[conformance]") {
  const std::vector<std::pair<std::string, std::string>> runs{
      {"run broadcast", "--on 3x3 --switching packet --ports 1 --algorithm flood"},
      {"run broadcast", "--on 8x8x8 --ports 4 --switching wormhole --algorithm peters-syska"},
      {"run broadcast", "--on 8x8x8 --ports 6 --algorithm peters-syska"},
      {"run broadcast", "--on 8x8 --ports 3 --algorithm tsai-mckinley"},
      {"run barrier", "--on 3x5 --ports 1 --algorithm flood"},
      {"run reduce-scatter", "--on 9x9 --algorithm reversed --along log"},
      {"run reduce-scatter", "--on 4x5 --algorithm reversed --along hyperplane"},
      {"run reduce", "--on 6x6 --algorithm tree-of-broadcast --along tsai-mckinley --switching wormhole"},
      {"run multinode-broadcast", "--on 6x9 --algorithm hierarchical --h 7"},
      {"run total-exchange", "--on 4x5 --algorithm a3"},
      {"run total-exchange", "--on 24x24 --algorithm by-load"}};
  for (const auto& [start, options] : runs) {
    const support::Ended refused = command(start + " " + options);
    const Typed instead = suggested(refused.err);
    CAPTURE(start, options, refused.err);
    REQUIRE(refused.status == 2);
    REQUIRE(!instead.empty());
    const support::Ended ended = command(line_of(start, options_in(options), instead));
    CAPTURE(ended.err);
    CHECK(ended.status == 0);
  }
}

TEST_CASE("nothing is suggested that the other options do not take", "[conformance]") {
  for (const char* line : {"run broadcast --machine tpu-v4 --algorithm peters-syska",           // which has three dimensions
                           "run broadcast --on 8x8x8 --source 7,7,7 --algorithm peters-syska",  // of which 10x10 has none
                           "run multinode-broadcast --on 8x8x8 --routing 2,1,0 --algorithm log"}) {
    const support::Ended refused = command(line);
    CAPTURE(line, refused.err);
    CHECK(refused.status == 2);
    CHECK(support::lines(refused.err) == 1);
    CHECK(refused.err.find("would do") == std::string::npos);
  }
}
