/// Multi-node broadcast in a logarithmic number of steps on n x .. x n nodes: gather to the plane sum x = 0, exchange there, spread.
///
/// Every line of the torus has exactly one node of each diagonal sum x = c (mod n).
///   deal      pieces of each message go to the nodes 1 .. reach places away in k directions that keep the diagonal, all nodes alike.
///             Pieces of one source then take different lines, and few sources load a channel less (left out for reach = 0)
///   gather    diagonal by diagonal to the plane c = 0. lines: k parts, part a along axis a, in balanced ternary. diagonals: whole messages
///             in the base 2k+1, the children of a slot along one axis, as `log` does for k = 2
///   exchange  all-gather in the plane (PlaneExchange)
///   spread    the way of the gather, backwards
/// Machine  n x .. x n torus, wormhole in any routing order, all ports, no channel shared.
/// Memory   O(s) words a node, and tables of O(N k) words for all.
/// Steps    reach + 2 ceil(log_b n) + exchange, b = 3 or 2k+1; exchange = ceil(log_{k+1} n^(k-1)), at times 1 more.
/// Bytes    few sources: about (2 steps / (pieces parts)) m each; all: (steps of the spread / parts) N m, and N m / k for the exchange.
/// Header   none.   Source  this project; diagonals after Chen, Chen & Tseng.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/parameters.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/hyperplane/scheme.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast::hyperplane {
namespace {

/// One node's view: what it holds of each part.
class HyperplaneSite {
 public:
  HyperplaneSite(Node& self, const HyperplaneScheme& scheme, Cargo cargo, const Bundle& own)
      : self_{self},
        scheme_{scheme},
        cargo_{cargo},
        last_id_{self.topology().nodes() * scheme.segments() - 1},
        position_{scheme.position(self.coordinates())},
        parts_(scheme.parts()) {
    for (const BlockId id : own) parts_[scheme.part_of(id)].push_back(id);
  }

  /// Passes on the pieces that have not come to their ends in `places` places.
  void deal(std::int32_t places) {
    const auto reach = static_cast<std::uint32_t>(scheme_.reach());
    for (std::uint32_t move = 0; move < scheme_.axes().size(); ++move) {
      Bundle leaving;
      for (Bundle& part : parts_) {
        const auto goes = [&](BlockId id) {
          const std::uint32_t piece = scheme_.piece_of(id);
          return piece > 0 && (piece - 1) / reach == move && (piece - 1) % reach >= static_cast<std::uint32_t>(places);
        };
        std::copy_if(part.begin(), part.end(), std::back_inserter(leaving), goes);
        std::erase_if(part, goes);
      }
      send_bundle(self_, move_route(move, 1), leaving, cargo_);
    }
  }

  void hand_up(std::int32_t level) {
    const LineTree::Vertex& v = scheme_.tree().at(position_);
    if (v.level == level) send_parts(v.slot, v.parent - position_);
  }
  void hand_down(std::int32_t level) {
    if (!scheme_.tree().holds_at(position_, level)) return;
    scheme_.tree().for_children(position_, level, [&](std::int32_t child, std::int32_t slot) { send_parts(slot, child - position_); });
  }
  void exchange(std::size_t step) {
    if (position_ != 0) return;
    const PlaneExchange& plane = scheme_.exchange();
    for (std::size_t move = 0; move < plane.moves(); ++move) {
      const NodeId end = plane.end_of(step, move, scheme_.rank_in_plane(self_.coordinates()));
      Bundle leaving;
      for (const Bundle& part : parts_) {
        std::copy_if(part.begin(), part.end(), std::back_inserter(leaving),
                     [&](BlockId id) { return plane.passes(step, move, end, scheme_.owner_of(self_.topology(), id)); });
      }
      send_bundle(self_, move_route(move, plane.distance(step)), leaving, cargo_);
    }
  }
  void take(const Arrivals& came) {
    for (const Message& m : came) {
      for (const BlockId id : brought(m, cargo_)) parts_[scheme_.part_of(bounded(id, BlockId{0}, last_id_, "block"))].push_back(id);
    }
  }
  /// In the plane a bundle may come twice.
  void drop_duplicates() {
    for (Bundle& part : parts_) {
      std::sort(part.begin(), part.end());
      part.erase(std::unique(part.begin(), part.end()), part.end());
    }
  }
  /// What it handed up comes back from the plane.
  void forget() {
    if (position_ == 0) return;
    for (Bundle& part : parts_) part.clear();
  }
  Bundle all() const {
    Bundle bundle;
    for (const Bundle& part : parts_) bundle.insert(bundle.end(), part.begin(), part.end());
    return bundle;
  }

 private:
  void send_parts(std::int32_t slot, std::int32_t hops) {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const std::size_t axis = scheme_.trees() == HyperplaneScheme::Trees::lines ? part : static_cast<std::size_t>(std::abs(slot) - 1);
      send_bundle(self_, {{scheme_.axes()[axis], hops}}, parts_[part], cargo_);
    }
  }
  /// In the order of the machine's routing.
  Route move_route(std::size_t move, std::int32_t places) const {
    const Dimension onwards = scheme_.axes()[move], back = scheme_.axes()[(move + 1) % scheme_.axes().size()];
    Route route;
    for (const Dimension d : self_.machine().routing) {
      if (d == onwards) route.push_back({d, places});
      if (d == back) route.push_back({d, -places});
    }
    return route;
  }

  Node& self_;
  const HyperplaneScheme& scheme_;
  Cargo cargo_;
  BlockId last_id_;
  std::int32_t position_;
  std::vector<Bundle> parts_;
};

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
  std::vector<HyperplaneScheme> schemes;
  for (const Trees kind : {Trees::diagonals, Trees::lines}) {
    if (!trees.empty() && trees != tree_names[static_cast<std::size_t>(kind)]) continue;
    const HyperplaneScheme plain(machine.topology, kind);
    for (std::int32_t reach = 0; reach <= plain.farthest(); ++reach) schemes.push_back(plain.dealing_to(reach));
  }
  return *cheapest(schemes, [&](const HyperplaneScheme& scheme) -> std::optional<double> {
    if (pieces > 0 ? scheme.pieces() != pieces : scheme.reach() > 0 && scheme.segments() > request.bytes) return std::nullopt;
    return machine.cost.steps(static_cast<double>(scheme.steps()), scheme.channel_bytes(s, request.bytes), 0);
  });
}

constexpr std::string_view steps_in_words =
    "pieces dealt + 2 ceil(log_b n) + ceil(log_{k+1} n^(k-1)), at times 1 more; b = 3 for lines, 2k+1 for diagonals";

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const auto scheme = std::make_shared<const HyperplaneScheme>(choose(machine, request, s));
  Plan plan;
  plan.segments = scheme->segments();
  plan.start = [scheme](Node& self) { return own_program(self, *scheme); };
  plan.node_bytes += frames_of_calls(machine, [&](Node& self) {
    Bundle none;
    make(hyperplane_program(self, *scheme, Cargo::blocks, none));
  });
  plan.steps = scheme->steps();
  plan.formula = steps_in_words;
  plan.channel_bytes = scheme->channel_bytes(s, request.bytes);
  plan.table_bytes = scheme->table_bytes();
  plan.node_bytes += bytes_of_lists(scheme->axes().size() + 1, request.sources.size() * plan.segments);
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

constexpr std::array terms{Term{"b", "base of the gather: 3 or 2k+1"}};

constexpr Algorithm hyperplane{
    .name = "hyperplane",
    .collective = Collective::multinode_broadcast,
    .source = "this project: log over any number of dimensions, its diagonals after Chen, Chen & Tseng",
    .shapes = "torus n x .. x n, any n, any k",
    .steps = steps_in_words,
    .idea = {.first = "Pieces of each message may first be dealt to nodes near by, so that few sources load more channels; then all lines "
                      "gather what they have at their node of one diagonal plane.",
             .then = "The nodes of the plane exchange what they hold, and everything spreads from there the way that it came.",
             .good = "Each line has just one node of the plane, so that all lines work at once without meeting: the steps stay logarithmic "
                     "in any number of dimensions."},
    .terms = terms,
    .native = {},
    .needs = {.shape = Requirements::Shape::equal_torus, .switching = Switching::wormhole, .ports = Requirements::all_ports},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .planning_bytes = planning_bytes,
};

}  // namespace

extern const Entries entries{hyperplane};

}  // namespace torus::multinode_broadcast::hyperplane
