#include "algorithms/reduction/dimension_wise.hpp"

#include "algorithms/common/linked_dimensions.hpp"
#include "algorithms/reduction/halves.hpp"

namespace torus::reduction {
namespace {

/// What a place on a line gives away in a turn: the blocks of place `to`.
struct Turn {
  std::int32_t hops;
  std::int32_t to;
};

std::int32_t turns(const DimensionShape& line) { return line.wiring == Wiring::line ? 2 * (line.extent - 1) : line.extent - 1; }

std::optional<Turn> turn(const DimensionShape& line, std::int32_t place, std::int32_t number) {
  const std::int32_t n = line.extent;
  switch (line.wiring) {
    case Wiring::ring: return Turn{+1, modulo(place + n - 1 - number, n)};
    case Wiring::complete: return Turn{number + 1, modulo(place + number + 1, n)};
    case Wiring::line: break;
  }
  const bool ahead = number < n - 1;
  const std::int32_t to = ahead ? place + (n - 1 - number) : place - (2 * (n - 1) - number);
  if (to < 0 || to >= n) return std::nullopt;
  return Turn{ahead ? +1 : -1, to};
}

class DimensionWise final : public Halves {
 public:
  explicit DimensionWise(const Topology& topology) : topology_{topology}, linked_{linked_dimensions(topology)} {}

  std::uint64_t steps() const override {
    std::uint64_t sum = 0;
    for (const Dimension d : linked_) sum += static_cast<std::uint64_t>(turns(line(d)));
    return sum;
  }

  std::uint32_t pieces() const override { return 1; }

  void gives(const Node& self, std::uint64_t step, Gifts& gifts) const override {
    const auto [d, number] = when(step);
    const Coordinates at = self.coordinates();
    const auto mine = turn(line(d), at[static_cast<std::size_t>(d)], number);
    if (mine) gifts.add({{d, mine->hops}}) = blocks(at, d, mine->to);
  }

  void returns(const Node& self, std::uint64_t step, Gifts& gifts) const override {
    const auto [d, number] = when(step);
    const DimensionShape shape = line(d);
    const Coordinates at = self.coordinates();
    const std::int32_t place = at[static_cast<std::size_t>(d)];
    for (std::int32_t sender = 0; sender < shape.extent; ++sender) {
      const auto theirs = turn(shape, sender, number);
      if (!theirs || modulo(sender + theirs->hops, shape.extent) != place) continue;
      gifts.add({{d, topology_.reverse(d, theirs->hops)}}) = blocks(at, d, theirs->to);
      return;
    }
  }

  Load load() const override {
    Load sum;
    for (const Dimension d : linked_) sum.channel += static_cast<std::uint64_t>(turns(line(d))) * bundle(d);
    sum.combined = sum.channel;
    return sum;
  }

 private:
  const DimensionShape& line(Dimension d) const { return topology_.shape()[static_cast<std::size_t>(d)]; }

  /// The dimension of a step, and the turn in it.
  std::pair<Dimension, std::int32_t> when(std::uint64_t step) const {
    auto number = static_cast<std::int32_t>(step);
    std::size_t phase = 0;
    for (; number >= turns(line(linked_[phase])); ++phase) number -= turns(line(linked_[phase]));
    return {linked_[phase], number};
  }

  /// Owners that share the coordinates up to dimension d: their ranks follow each other.
  NodeId bundle(Dimension d) const { return topology_.stride(d); }

  std::vector<BlockId> blocks(const Coordinates& at, Dimension d, std::int32_t to) const {
    Coordinates owner = at;
    owner[static_cast<std::size_t>(d)] = to;
    for (Dimension later = d + 1; later < topology_.dimensions(); ++later) owner[static_cast<std::size_t>(later)] = 0;
    std::vector<BlockId> out(bundle(d));
    for (NodeId i = 0; i < bundle(d); ++i) out[i] = topology_.rank(owner) + i;
    return out;
  }

  Topology topology_;
  std::vector<Dimension> linked_;
};

Plan plan(const Machine& machine, const Request& request) {
  return plan_halves(machine, request, std::make_shared<const DimensionWise>(machine.topology), "sum (n-1), of a line twice", 1);
}

constexpr Algorithm dimension_wise(Collective collective, std::string_view steps) {
  return {.name = "dimension-wise",
          .collective = collective,
          .source = "folklore; optimal on tori with one port (Patarasuk & Yuan 2009)",
          .shapes = "any",
          .steps = steps,
          .native = {.switching = Switching::packet, .ports = 1},
          .plan = plan};
}

}  // namespace

const Algorithm dimension_wise_reduce_scatter = dimension_wise(Collective::reduce_scatter, "sum of the sides less 1 each, of lines twice");
const Algorithm dimension_wise_all_gather = dimension_wise(Collective::multinode_broadcast, "sum of the sides less 1 each, of lines twice");
const Algorithm dimension_wise_allreduce = dimension_wise(Collective::allreduce, "2 x the sum of the sides less 1 each, of lines twice");

}  // namespace torus::reduction
