/// Total exchange in strides of w = 2k nodes, by bundles, through one port and without sharing a channel (k counts the dimensions of more
/// than one node; w must divide their sides).
///
/// Write delta_i = r_i + w b_i with r_i in -(k-1)..k and b_i in -n_i/2w..n_i/2w (the tie forwards or backwards, class about). A node's
/// colour is (sum of its coordinates) mod w, and there are w directions: (dimension 0, +) .. (dimension k-1, +), (dimension 0, -) ... In
/// stage s = 0..w-1 colour c sends, in direction (c + s) mod w, messages of w hops with everything that has strides left there. A stride
/// leads to a node of the same colour, and in each line one colour sends in each direction: its messages tile the ring. What is left, r_i
/// in each dimension, goes hop by hop, as in the dimension-wise exchange.
///
/// Machine  wormhole, one port, torus.   Header, memory  as every bundled exchange (bundled_exchange.hpp), a timetable a colour.
/// Steps    2k max floor(n_i/4k) + k(2k - 1).
///          Blocks on the busiest channel  about N n_max/8 + N k^2/2: 2k times fewer than hop by hop on large tori.
/// Source   this project; of the kind of Tseng, Lin, Gupta, Panda 1997.

#include <algorithm>
#include <memory>

#include <torus/algorithm.hpp>

#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/total_exchange/bundled_exchange.hpp"
#include "algorithms/total_exchange/classes.hpp"

namespace torus::total_exchange::stride {

namespace {

/// How each class goes: signed strides and single hops in each dimension that has links (numbered 0..k-1 here).
class Strides {
 public:
  explicit Strides(const Topology& topology) : dimensions_{linked_dimensions(topology)} {
    for (NodeId delta = 0; delta < topology.nodes(); ++delta) {
      const std::size_t first = strides_.size();
      std::int32_t sum = 0;  // of all strides forwards and single hops
      for (const Dimension d : dimensions_) {
        const std::int32_t c = topology.coordinate(delta, d);
        std::int32_t single = modulo(c, width());
        if (single > width() / 2) single -= width();
        hops_.push_back(single);
        strides_.push_back(modulo(c - single, topology.extent(d)) / width());
        sum += single + strides_.back();
      }
      for (std::size_t i = 0; i < dimensions_.size(); ++i) {
        std::int32_t& b = strides_[first + i];
        const std::int32_t q = topology.extent(dimensions_[i]) / width();
        // Half way round: by the parity of the rest, so that both directions carry the same.
        const bool backwards = 2 * b == q ? modulo(sum - q / 2, 2) == 1 : 2 * b > q;
        if (backwards) b -= q;
      }
    }
  }

  std::span<const Dimension> dimensions() const noexcept { return dimensions_; }
  std::int32_t width() const noexcept { return 2 * static_cast<std::int32_t>(dimensions_.size()); }
  std::int32_t strides(NodeId delta, std::size_t i) const noexcept { return strides_[delta * dimensions_.size() + i]; }
  std::int32_t hops(NodeId delta, std::size_t i) const noexcept { return hops_[delta * dimensions_.size() + i]; }

 private:
  std::vector<Dimension> dimensions_;
  std::vector<std::int32_t> strides_, hops_;  // class by class
};

/// The timetable of the nodes of a colour.
Timetable timetable(const Topology& topology, const Strides& classes, std::int32_t colour) {
  const std::int32_t w = classes.width();
  const std::size_t k = classes.dimensions().size();
  Timetable table(topology);
  for (std::int32_t stage = 0; stage < w; ++stage) {
    const auto direction = static_cast<std::size_t>(modulo(colour + stage, w));
    const std::size_t i = direction % k;
    const std::int32_t sign = direction < k ? +1 : -1;
    table.begin_stage(static_cast<std::uint32_t>(largest_extent(topology) / w / 2));
    table.add_bundle({classes.dimensions()[i], sign * w}, [&, i, sign](NodeId delta) { return sign * classes.strides(delta, i); });
  }
  for (std::size_t i = 0; i < k; ++i) {
    const Dimension d = classes.dimensions()[i];
    table.begin_stage(static_cast<std::uint32_t>(k));
    table.add_bundle({d, +1}, [&, i](NodeId delta) { return classes.hops(delta, i); });
    table.begin_stage(static_cast<std::uint32_t>(k - 1));
    table.add_bundle({d, -1}, [&, i](NodeId delta) { return -classes.hops(delta, i); });
  }
  return table;
}

/// The timetables of all colours, and the colour of a node.
struct Colours {
  explicit Colours(const Topology& topology) : offsets{topology} {
    const Strides classes(topology);
    for (std::int32_t colour = 0; colour < std::max(1, classes.width()); ++colour) {
      timetables.push_back(timetable(topology, classes, colour));
    }
  }

  const Timetable& timetable_of(const Node& node) const {
    std::uint32_t sum = 0;
    for (Dimension d = 0; d < node.dimensions(); ++d) sum += static_cast<std::uint32_t>(node.coordinate(d));
    return timetables[sum % timetables.size()];
  }

  Offsets offsets;
  std::vector<Timetable> timetables;
};

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const auto k = static_cast<std::int32_t>(linked_dimensions(machine.topology).size());
  if (k == 0) return std::nullopt;
  return unmet({.multiples_of = 2 * k}, "stride, with twice as many directions as dimensions,", machine);
}

Plan plan(const Machine& machine, const Request& request) {
  const auto colours = std::make_shared<const Colours>(machine.topology);
  const std::uint64_t k = linked_dimensions(machine.topology).size();
  Plan plan;
  if (k > 0) plan.steps = 2 * k * (static_cast<std::uint64_t>(largest_extent(machine.topology)) / (4 * k)) + k * (2 * k - 1);
  plan.formula = "2k max floor(n_i/4k) + k(2k-1)";
  plan.channel_bytes =
      static_cast<double>(blocks_on_busiest_channel(colours->timetables, LongLegs::tile)) * static_cast<double>(request.bytes);
  plan.table_bytes = colours->offsets.table_bytes();
  for (const Timetable& table : colours->timetables) plan.table_bytes += table.table_bytes();
  plan.start = [colours](Node& self) { return travel(self, colours->timetable_of(self), colours->offsets); };
  return plan;
}

const Algorithm stride{
    .name = "stride",
    .collective = Collective::total_exchange,
    .source = "this project; of the kind of Tseng, Lin, Gupta, Panda 1997",
    .shapes = "torus, sides multiples of 2k",
    .steps = "2k max floor(n_i/4k) + k(2k-1)",
    .idea = {.first = "Blocks that go far begin with long strides: each node has a colour, and in each stage every colour sends in another "
                      "direction, by worms as long as a stride.",
             .then = "A stride ends at a node of the same colour, and when all strides are done, each block goes what is left hop by hop, "
                     "one dimension after the other.",
             .good = "The worms of a colour lie end to end and fill whole rings, so that one port keeps long channels busy and large tori "
                     "need far fewer bytes than hop by hop."},
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{stride};

}  // namespace torus::total_exchange::stride
