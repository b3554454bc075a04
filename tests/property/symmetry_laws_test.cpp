/// The same machine seen another way, with its dimensions in another order, gives the same predictions: what an algorithm finds must not
/// depend on how a shape is written.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/random_settings.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::support;

namespace {

/// A machine and the same with other dimensions first: dimension i of the other is dimension order[i] of the machine.
struct Reordered {
  Reordered(const Machine& from, std::vector<Dimension> dimensions) : order{std::move(dimensions)}, topology{from.topology} {
    std::vector<DimensionShape> shape;
    CostModel cost = from.cost;
    for (std::size_t i = 0; i < order.size(); ++i) {
      shape.push_back(topology.shape()[static_cast<std::size_t>(order[i])]);
      if (!cost.one_speed()) cost.dimension_byte_s[i] = from.cost.byte_s_of(order[i]);
    }
    std::vector<Dimension> routing;
    for (const Dimension d : from.routing)
      routing.push_back(static_cast<Dimension>(std::find(order.begin(), order.end(), d) - order.begin()));
    if (from.switching != Switching::wormhole) routing.clear();
    machine.emplace(Topology(std::move(shape)), from.ports, from.switching, from.contention, std::move(routing), std::move(cost));
  }

  NodeId rank(NodeId of) const {
    const Coordinates at = topology.coordinates(of);
    Coordinates there = at;
    for (std::size_t i = 0; i < order.size(); ++i) there[i] = at[static_cast<std::size_t>(order[i])];
    return machine->topology.rank(there);
  }

  std::vector<Dimension> order;
  Topology topology;
  std::optional<Machine> machine;
};

/// Why an entry may take another time where dimensions change places; empty where it may not.
std::string_view why_order_matters(const Algorithm& algorithm) {
  if (algorithm.collective == Collective::scan) return "a scan is of the order of the ranks";
  static const std::map<std::string_view, std::string_view> reasons{
      {"hubs", "its messages carry the blocks of successive ranks, so that it goes through the dimensions as ranks do"},
      {"dimension-wise", "its messages carry the blocks of successive ranks, so that it goes through the dimensions as ranks do"},
      {"lattice", "its offsets repeat as ranks do"},
      {"mst-naive", "its linear array goes through the nodes as ranks do"},
      {"ring", "its one ring goes through the nodes as ranks do"},
      {"hierarchical", "its subnetworks gather along the first dimension before the others"},
      {"ternary-rotating", "it turns blocks through the dimensions from the first on"},
      {"synthesized-ordered", "its routes take the dimensions in one order on circuits too"},
      {"stars", "its search draws nodes at random by rank"},
      {"spread", "it deals with the other nodes in the order of their ranks"},
      {"edf", "its paper pipelines along the rows of a mesh, and then along the columns"},
      {"scatter-collect", "its papers scatter along the rows of a mesh, and then along the columns"},
      {"tree-of-broadcast", "it is as the broadcasts are that it goes along"}};
  const auto found = reasons.find(algorithm.name);
  return found == reasons.end() ? "" : found->second;
}

std::optional<Plan> plan_of(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  try {
    return algorithm.plan(machine, request);
  } catch (const InputError&) {  // a search that finds nothing
  } catch (const RunError&) {
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a machine whose dimensions are written in another order has the same predictions", "[property]") {
  std::mt19937_64 random(seed());
  Share share(32, 32);
  CAPTURE(seed());
  int plans = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t state = random();
    if (!share.takes_turn()) continue;
    std::mt19937_64 own(state);
    const Machine machine = random_machine(own, random_shape(own, 64));
    if (!machine.topology.faults().empty()) continue;
    Request request = random_request(own, machine.topology, random_bytes(own, 24));
    std::vector<Dimension> order(static_cast<std::size_t>(machine.topology.dimensions()));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t place = order.size(); place > 1; --place) std::swap(order[place - 1], order[random_below(own, place)]);
    const Reordered other(machine, order);
    Request moved = request;
    for (NodeId& source : moved.sources) source = other.rank(source);
    std::sort(moved.sources.begin(), moved.sources.end());
    for (const Algorithm* algorithm : catalogue()) {
      if (algorithm->collective != request.collective || !why_order_matters(*algorithm).empty()) continue;
      if (refuses(*algorithm, machine, request) || refuses(*algorithm, *other.machine, moved)) continue;
      const auto here = plan_of(*algorithm, machine, request), there = plan_of(*algorithm, *other.machine, moved);
      CAPTURE(algorithm->name, text_of(machine, request), other.machine->topology.text());
      CHECK(here.has_value() == there.has_value());
      if (!here || !there || !here->predicts()) continue;
      CHECK(here->steps == there->steps);
      // Which dimension gets the longer part of a message may differ.
      CHECK(here->model_time_s(machine.cost) == Approx(there->model_time_s(machine.cost)).epsilon(0.002));
      ++plans;
    }
  }
  CHECK(plans > 1000 / static_cast<int>(share.one_in()));
}
