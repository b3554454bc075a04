// A law of refusals, of every algorithm on random machines: with all that a refusal suggests, the algorithm applies.
#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/requirements.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// What a user may choose, as a value for each subject.
struct Choice {
  std::string shape;
  int ports = all_ports;
  Switching switching{};
  Contention contention{};
  std::vector<Dimension> routing;
  Request request;

  Machine machine() const {
    const Topology topology = Topology::parse(shape);
    const int most = static_cast<int>(topology.max_ports());
    return Machine(topology, std::min(ports, most), switching, contention,
                   routing.size() == static_cast<std::size_t>(topology.dimensions()) ? routing : std::vector<Dimension>{});
  }
  void follow(Refusal::About about, const std::string& parameter, const std::string& value) {
    const NodeId before = Topology::parse(shape).nodes();
    switch (about) {
      case Refusal::About::shape: shape = value; break;
      case Refusal::About::ports: ports = std::stoi(value); break;
      case Refusal::About::switching: switching = parse_switching(value); break;
      case Refusal::About::contention: contention = parse_contention(value); break;
      case Refusal::About::bytes: request.bytes = std::stoull(value); break;
      case Refusal::About::sizes: request.sizes = SizeRule::parse(value); break;
      case Refusal::About::parameter: request.parameters.set(parameter, value); break;
      case Refusal::About::routing:
        routing.clear();
        for (const char c : value) {
          if (c != ',') routing.push_back(c - '0');
        }
        break;
      default: FAIL("no machine of this test has faults, and no reduction is wrong");
    }
    if (request.sources.size() == before) {
      request.sources.resize(Topology::parse(shape).nodes());
      std::iota(request.sources.begin(), request.sources.end(), NodeId{0});
    }
  }
};

Choice drawn(std::mt19937_64& random, const Algorithm& algorithm) {
  Choice choice;
  const Topology topology = support::random_topology(random, 100);
  choice.shape = topology.text();
  if (support::random_below(random, 2) == 0)
    choice.ports = static_cast<int>(1 + support::random_below(random, static_cast<std::uint32_t>(topology.max_ports())));
  if (choice.ports >= topology.max_ports()) choice.ports = all_ports;  // as many as there are, whatever the shape
  choice.switching = static_cast<Switching>(support::random_below(random, 3));
  choice.contention = static_cast<Contention>(support::random_below(random, 2));
  choice.routing.resize(static_cast<std::size_t>(topology.dimensions()));
  std::iota(choice.routing.begin(), choice.routing.end(), Dimension{0});
  if (support::random_below(random, 3) == 0) std::shuffle(choice.routing.begin(), choice.routing.end(), random);
  Request& request = choice.request;
  request.collective = algorithm.collective;
  if (request.collective != Collective::barrier) request.bytes = 8 * support::random_below(random, 100);
  if (facts_of(request.collective).rooted()) request.sources = {support::random_below(random, topology.nodes())};
  if (request.collective == Collective::multinode_broadcast || request.collective == Collective::total_exchange) {
    request.sources.resize(topology.nodes());
    std::iota(request.sources.begin(), request.sources.end(), NodeId{0});
  }
  for (const Parameter& parameter : algorithm.parameters) {
    if (support::random_below(random, 3) > 0) continue;
    if (parameter.words.empty())
      request.parameters.set(parameter.name, std::uint64_t{1 + support::random_below(random, 9)});
    else
      request.parameters.set(parameter.name, parameter.words[support::random_below(random, parameter.words.size())]);
  }
  return choice;
}

}  // namespace

TEST_CASE("a refusal is one line that names the value, and with what it suggests the algorithm applies", "[property]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  unsigned refused = 0, helped = 0;
  for (int turn = 0; turn < 200; ++turn) {
    for (const Algorithm* algorithm : catalogue()) {
      Choice choice = drawn(random, *algorithm);
      const auto why = refuses(*algorithm, choice.machine(), choice.request);
      if (!why) continue;
      ++refused;
      const std::string said = text(*why), before = choice.shape;
      CAPTURE(algorithm->name, before, said);
      CHECK(said.find('\n') == std::string::npos);
      CHECK_FALSE(why->value.empty());
      CHECK(said.starts_with(std::string(why->subject()) + " " + why->value + ": " + why->rule));
      if (why->fix.empty()) continue;
      ++helped;
      choice.follow(why->about, why->parameter, why->fix);
      for (const Refusal::Change& change : why->beside) choice.follow(change.about, change.parameter, change.value);
      CHECK(why_not(*algorithm, choice.machine(), choice.request) == "");
    }
  }
  CAPTURE(refused, helped);
  CHECK(refused > 5000);
  CHECK(helped > refused * 9 / 10);
}
