// What each algorithm refuses, and in which words: tests/golden/refusals has a line of each rule. property/refusal_laws_test holds all
// refusals to one form.
#include <cctype>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/cell.hpp"
#include "tests/support/record.hpp"

using namespace torus;

namespace {

template <class F>
void each_drawn(std::mt19937_64& random, const Algorithm& algorithm, int draws, F&& f) {
  for (const char* shape : {"1",    "2",        "7",     "8m",    "6c",    "1x5",     "4x4",  "5x5",   "6x11",    "4x4c",
                            "5x3m", "mesh:4x6", "3x3x3", "4x3x4", "2x3x5", "2x2x2x2", "4x8t", "40x40", "128x128", "32x32x32"}) {
    const Topology topology = Topology::parse(shape);
    for (int i = 0; i < draws; ++i) {
      if (const auto cell = support::draw_any(random, algorithm, topology)) f(*cell);
    }
  }
}

}  // namespace

TEST_CASE("every algorithm refuses what it has always refused, in the same words", "[conformance]") {
  std::map<std::string, std::string> seen;
  for (const Algorithm* algorithm : catalogue()) {
    std::mt19937_64 random(1);
    std::set<std::string> rules;
    each_drawn(random, *algorithm, 12, [&](const support::Cell& cell) {
      const auto why = refuses(*algorithm, cell.machine, cell.request);
      if (!why) return;
      std::string rule;
      for (const char c : std::string(why->subject()) + why->rule) {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0) rule += c;
      }
      if (rules.insert(rule).second) seen[cell.text] = text(*why);
    });
  }
  support::compare_with_record(TORUS_SOURCE_DIR "/tests/golden/refusals", seen, true);
}
