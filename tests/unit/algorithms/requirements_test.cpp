// What requirements and refusals are made of: roots, lines of text, values of parameters.
#include <cstdint>
#include <optional>

#include <torus/algorithm.hpp>
#include <torus/requirements.hpp>

#include "tests/support/catch.hpp"

namespace torus {

TEST_CASE("a root is rounded down, exact at powers", "[unit]") {
  CHECK(root_below(2, 24) == 4);
  CHECK(root_below(2, 25) == 5);
  CHECK(root_below(3, 124) == 4);
  CHECK(root_below(3, 125) == 5);
  CHECK(root_below(1, 77) == 77);
  CHECK(root_below(31, std::uint64_t{1} << 31U) == 2);
  CHECK(root_below(5, 1) == 1);
  for (std::uint64_t side = 1; side <= 1290; ++side) {
    CHECK(root_below(3, side * side * side) == side);
    if (side > 1) CHECK(root_below(3, side * side * side - 1) == side - 1);
  }
}

TEST_CASE("what an own algorithm suggests is tried, and left out where it is no value or does not do", "[unit]") {
  static Refusal suggests;
  const Algorithm own{
      .name = "own",
      .collective = Collective::broadcast,
      .also_requires = [](const Machine& machine, const Request&) -> std::optional<Refusal> {
        if (machine.ports == 3 && machine.switching == Switching::circuit) return std::nullopt;
        return machine.ports == 3 ? Refusal{Refusal::About::switching, "packet", "own is for circuits", "circuit"} : suggests;
      }};
  const Machine machine(Topology("4x4"), 4, Switching::packet);
  Request request;
  request.sources = {0};
  for (const Refusal::About about : {Refusal::About::ports, Refusal::About::bytes, Refusal::About::switching, Refusal::About::routing,
                                     Refusal::About::shape, Refusal::About::sizes, Refusal::About::reduction}) {
    for (const char* fix : {"an even number", "7", "-1", "99999999999999999999", "0,0", "5x5"}) {
      suggests = {about, "4", "own is odd", fix};
      CAPTURE(fix);
      CHECK(refuses(own, machine, request)->fix == "");
    }
  }
  suggests = {Refusal::About::ports, "4", "own is odd", "3"};
  CHECK(why_not(own, machine, request) == "ports 4: own is odd; 3 with switching circuit would do");
}

TEST_CASE("a refusal is one line: the value, the rule, a value that would do", "[unit]") {
  using About = Refusal::About;
  CHECK(text({About::ports, "2", "tsai-mckinley uses all channels at once", "4"}) ==
        "ports 2: tsai-mckinley uses all channels at once; 4 would do");
  CHECK(text({About::bytes, "3", "a rule", ""}) == "bytes 3: a rule");
  CHECK(text({About::parameter, "4", "flood does not read it", "", "chunk"}) == "chunk 4: flood does not read it; leave it out");
}

TEST_CASE("a parameter that is 0, empty or cleared is not set", "[unit]") {
  Parameters parameters;
  CHECK(parameters.whole("h") == 0);
  parameters.set("h", 4);
  parameters.set("prefix", "hash");
  CHECK(parameters.whole("h") == 4);
  CHECK(parameters.word("prefix") == "hash");
  parameters.set("h", std::uint64_t{0});
  parameters.clear("prefix");
  CHECK(parameters.empty());
}

}  // namespace torus
