#include "algorithms/multinode_broadcast/hyperplane.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/hyperplane_site.hpp"

namespace torus::multinode {
namespace {

using Trees = HyperplaneScheme::Trees;

constexpr std::array<std::string_view, 2> tree_names{"lines", "diagonals"};

Program own_program(Node& self, const HyperplaneScheme& scheme) {
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  co_await hyperplane_program(self, scheme, Cargo::blocks, bundle);
}

/// The tables for the trees that are asked for, or for those that are faster, and how far the pieces are dealt.
HyperplaneScheme choose(const Machine& machine, const Request& request, double s) {
  const std::uint32_t pieces = request.parameters.whole("pieces");
  const std::string_view trees = request.parameters.word("trees");
  std::optional<HyperplaneScheme> best;
  double least = std::numeric_limits<double>::infinity();
  for (const Trees kind : {Trees::diagonals, Trees::lines}) {
    if (!trees.empty() && trees != tree_names[static_cast<std::size_t>(kind)]) continue;
    HyperplaneScheme scheme(machine.topology, kind);
    for (std::int32_t reach = 0; reach <= scheme.farthest(); ++reach) {
      scheme.deal_to(reach);
      if (pieces > 0 ? scheme.pieces() != pieces : reach > 0 && scheme.segments() > request.bytes) continue;
      const double time = machine.cost.steps(static_cast<double>(scheme.steps()), scheme.channel_bytes(s, request.bytes), 0);
      if (best && time >= least) continue;
      least = time;
      best = scheme;
    }
  }
  return std::move(*best);
}

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const HyperplaneScheme>(choose(machine, request, s));
  Plan plan;
  plan.segments = scheme->segments();
  plan.start = [scheme](Node& self) { return own_program(self, *scheme); };
  plan.steps = scheme->steps();
  plan.formula = hyperplane.steps;
  plan.channel_bytes = scheme->channel_bytes(s, request.bytes);
  plan.table_bytes = scheme->table_bytes();
  plan.node_bytes = 3 * sizeof(BlockId) * request.sources.size() * plan.segments;
  plan.notes = {{"pieces", std::to_string(scheme->pieces())},
                {"trees", std::string(tree_names[static_cast<std::size_t>(scheme->trees())])},
                {"sources assumed by the prediction", decimal(s)}};
  return plan;
}

std::vector<std::uint32_t> possible_pieces(const Machine& machine) {
  const auto k = static_cast<std::uint32_t>(linked_dimensions(machine.topology).size());
  if (k < 2) return {1};
  return {1, 1 + k, 1 + 2 * k, 1 + 3 * k};
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const std::uint32_t pieces = request.parameters.whole("pieces");
  const std::vector<std::uint32_t> possible = possible_pieces(machine);
  if (pieces == 0 || std::find(possible.begin(), possible.end(), pieces) != possible.end()) return std::nullopt;
  return Refusal{Refusal::About::parameter, std::to_string(pieces), "hyperplane deals 1 piece, or 1, 2 or 3 more a dimension",
                 std::to_string(possible.back()), "pieces"};
}

/// The owners of all nodes' parts, and the table of the exchange.
Bytes planning_bytes(const Machine& machine) {
  const Bytes nodes = machine.topology.nodes(), k = static_cast<Bytes>(machine.topology.dimensions());
  return nodes * sizeof(NodeId) * 3 * k + nodes / static_cast<Bytes>(largest_extent(machine.topology)) * (64 + 32 * k);
}

constexpr std::array parameters{Parameter{"pieces", "pieces of a message that are dealt to nodes near by", {}, possible_pieces},
                                Parameter{"trees", "how bundles come to the plane", tree_names}};

}  // namespace

Program hyperplane_program(Node& self, const HyperplaneScheme& scheme, Cargo cargo, Bundle& bundle) {
  HyperplaneSite site(self, scheme, cargo, bundle);
  const std::int32_t levels = scheme.tree().levels();
  for (std::int32_t places = 0; places < scheme.reach(); ++places) {
    self.phase("deal");
    site.deal(places);
    site.take(co_await self.step());
  }
  for (std::int32_t level = 0; level < levels; ++level) {
    self.phase("gather");
    site.hand_up(level);
    site.take(co_await self.step());
  }
  for (std::size_t step = 0; step < scheme.exchange().steps(); ++step) {
    self.phase("exchange");
    site.exchange(step);
    site.take(co_await self.step());
    site.drop_duplicates();
  }
  site.forget();
  for (std::int32_t level = levels; level-- > 0;) {
    self.phase("spread");
    site.hand_down(level);
    site.take(co_await self.step());
  }
  bundle = site.all();
}

const Algorithm hyperplane{
    .name = "hyperplane",
    .collective = Collective::multinode_broadcast,
    .source = "this project: log over any number of dimensions, its diagonals after Chen, Chen & Tseng",
    .shapes = "torus n x .. x n, any n, any k",
    .steps = "pieces dealt + 2 ceil(log_b n) + ceil(log_{k+1} n^(k-1)), at times 1 more; b = 3 for lines, 2k+1 for diagonals",
    .native = {},
    .needs = {.shape = Requirements::Shape::equal_torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .planning_bytes = planning_bytes,
};

}  // namespace torus::multinode
