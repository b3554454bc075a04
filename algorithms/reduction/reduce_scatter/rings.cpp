/// Reduce-scatter, all-reduce and multi-node broadcast along all rings, lines and complete dimensions of a machine at once.
///
/// An owner's block is cut into k parts. In phase f part t goes along axis (t + f) mod k: there each node gives the blocks of every other
/// place on its line away, the farthest first, by the shorter way; they are combined on their way, and the place that owns them combines
/// them with its own. In the next phase a node has only the blocks of owners that share its coordinate there. An all-reduce then runs the
/// steps backwards, replacing; a multi-node broadcast is that half alone. Sides of different reach: each bundle is cut into chunks, so that
/// all axes take the steps of the longest.
/// Machine  any mix of rings, lines and complete dimensions; packet (single hops), all ports, no channel shared.
/// Variant  `parallel`: as above. `single`: one part, which takes one axis after the other. Default: the one of less model time.
/// Steps    k L for a half, L the longest reach: a ring's floor(n/2), a line's n-1, a complete dimension's 1. `single`: the sum of them.
/// Bytes    m (N-1)/(2kN) for a half on tori of equal sides, which is optimal.   Memory  N segments a node.
/// Source   the bucket algorithm (Barnett, Littlefield, Payne & van de Geijn 1993; on tori Jain & Sabharwal 2010), both ways round here, in
///          half as many steps; the chunks are this project's.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/canonical_form.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/reach.hpp"
#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"

namespace torus::reduction::rings {
namespace {

/// Reduce-scatter along one line: which chunk moves in which step.
///
/// In stage e = reach .. 1 a place gives away what it has for the places e away: by the next hop, or straight there on a complete
/// dimension. Where the phase has more steps than that, each bundle is cut into chunks.
struct LineStages {
  LineStages(Dimension d, const DimensionShape& shape) : dimension{d}, line{shape}, reach{reduction::reach(shape)} {}

  /// A chunk of the bundle of place `to`.
  struct Leaving {
    std::int32_t hops;  // of the leg
    std::int32_t to;    // place
    std::int32_t chunk, chunks;
    int half;  // 0: whole; 1, 2: first, second half

    /// Its positions [first, second) in a bundle of `size` blocks.
    std::pair<std::uint64_t, std::uint64_t> range(std::uint64_t size) const noexcept;
  };

  /// Calls f(leaving) for what a place gives away in a step of a phase of `steps`, reach or more.
  template <class F>
  void each_leaving(std::int32_t place, std::uint32_t steps, std::uint32_t step, F&& f) const;
  std::int32_t receiver(std::int32_t place, const Leaving& leaving) const noexcept;
  /// Calls f(sender) for the places that may give something to a place.
  template <class F>
  void each_sender(std::int32_t place, F&& f) const;

  Dimension dimension;
  DimensionShape line;
  std::int32_t reach;
};

/// A shorter axis cuts each bundle in c = L / gcd(L, r) chunks and does q = r / gcd(L, r) of its r c pairs (stage, chunk) a step, in order.
/// Chunk j of stage s and of stage s + 1 are c >= q pairs apart, so never in one step: what is passed on has arrived.
template <class F>
void LineStages::each_leaving(std::int32_t place, std::uint32_t steps, std::uint32_t step, F&& f) const {
  const std::int32_t n = line.extent;
  const auto all = static_cast<std::int32_t>(steps);
  const std::int32_t common = std::gcd(all, reach), chunks = all / common, pairs = reach / common;
  for (std::int32_t pair = pairs * static_cast<std::int32_t>(step); pair < pairs * static_cast<std::int32_t>(step + 1); ++pair) {
    const std::int32_t distance = reach - pair / chunks, chunk = pair % chunks;
    switch (line.wiring) {
      case Wiring::complete:
        for (std::int32_t to = 0; to < n; ++to) {
          if (to != place) f(Leaving{modulo(to - place, n), to, chunk, chunks, 0});
        }
        break;
      case Wiring::line:
        if (place + distance < n) f(Leaving{+1, place + distance, chunk, chunks, 0});
        if (place - distance >= 0) f(Leaving{-1, place - distance, chunk, chunks, 0});
        break;
      case Wiring::ring: {
        const bool antipode = 2 * distance == n;  // half by each way
        f(Leaving{-1, modulo(place - distance, n), chunk, chunks, antipode ? 1 : 0});
        f(Leaving{+1, modulo(place + distance, n), chunk, chunks, antipode ? 2 : 0});
        break;
      }
    }
  }
}

template <class F>
void LineStages::each_sender(std::int32_t place, F&& f) const {
  const std::int32_t n = line.extent;
  if (line.wiring == Wiring::complete) {
    for (std::int32_t sender = 0; sender < n; ++sender) f(sender);
    return;
  }
  f(modulo(place - 1, n));
  if (n > 2) f(modulo(place + 1, n));
}

/// First the chunk, then its half: halves first would meet their next stage in the same step.
std::pair<std::uint64_t, std::uint64_t> LineStages::Leaving::range(std::uint64_t size) const noexcept {
  const auto number = static_cast<std::uint64_t>(chunk), of = static_cast<std::uint64_t>(chunks);
  const std::uint64_t first = number * size / of, end = (number + 1) * size / of;
  const std::uint64_t middle = first + (end - first + 1) / 2;
  return {half == 2 ? middle : first, half == 1 ? middle : end};
}

std::int32_t LineStages::receiver(std::int32_t place, const Leaving& leaving) const noexcept {
  return line.wiring == Wiring::complete ? leaving.to : modulo(place + leaving.hops, line.extent);
}

/// The steps of a reduce-scatter along the lines of a machine: parts of every owner's block, each along one axis a phase.
class Rings final : public ReversibleReduceScatter {
 public:
  /// Block numbering: by owner, id = owner * pieces() + part * pieces_a_part + i, or by bundle, where owners do not matter: then a bundle
  /// is contiguous in memory.
  enum class Numbering { by_owner, by_bundle };

  /// pieces_a_part: 2 if the antipode's bundle is to be halved down to the last block.
  Rings(const Machine& machine, std::uint32_t parts, std::uint32_t pieces_a_part, Numbering numbering);

  std::uint64_t steps() const override;
  std::uint32_t pieces() const override { return parts_ * pieces_a_part_; }
  void sends(const Node& self, std::uint64_t step, Sends& out) const override;
  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override;
  Load load() const override;
  Bytes table_bytes() const override;

 private:
  std::uint32_t phases() const noexcept { return static_cast<std::uint32_t>(axes_.size()); }
  /// The phase of a step, and the step in it.
  std::pair<std::uint32_t, std::uint32_t> when(std::uint64_t step) const noexcept;
  const LineStages& axis_of(std::uint32_t part, std::uint32_t phase) const noexcept { return axes_[(part + phase) % axes_.size()]; }
  BlockId stride(std::uint32_t part, std::uint32_t phase) const noexcept { return strides_[part * phases() + phase]; }
  /// The bundle from its first block on: a block of each owner at place 0 of the axes done and of the present one.
  std::vector<BlockId> bundle(BlockId first, std::uint32_t part, std::uint32_t phase) const;
  const std::vector<BlockId>& bundle_of(std::uint32_t part, std::uint32_t phase) const noexcept {
    return bundles_[part * phases() + phase];
  }
  void append(const Coordinates& at, std::uint32_t part, std::uint32_t phase, const LineStages::Leaving& leaving,
              Sends::Blocks& blocks) const;

  std::vector<LineStages> axes_;
  std::vector<std::uint32_t> phase_steps_;  // of a phase
  std::uint32_t parts_, pieces_a_part_;
  std::vector<BlockId> strides_;               // by part and phase: from a place's blocks to the next's
  std::vector<std::vector<BlockId>> bundles_;  // by part and phase
};

Rings::Rings(const Machine& machine, std::uint32_t parts, std::uint32_t pieces_a_part, Numbering numbering)
    : pieces_a_part_{pieces_a_part} {
  const Topology& topology = machine.topology;
  for (const Dimension d : canonical_dimensions(machine)) axes_.emplace_back(d, topology.shape()[static_cast<std::size_t>(d)]);
  parts_ = std::max<std::uint32_t>(1, std::min<std::uint32_t>(parts, phases()));
  for (std::uint32_t phase = 0; phase < phases(); ++phase) {
    std::int32_t longest = 0;
    for (std::uint32_t part = 0; part < parts_; ++part) longest = std::max(longest, axis_of(part, phase).reach);
    phase_steps_.push_back(static_cast<std::uint32_t>(longest));
  }
  strides_.resize(std::size_t{parts_} * phases());
  for (std::uint32_t part = 0; part < parts_; ++part) {
    BlockId within = pieces_a_part_;  // blocks of a place of the axes to come
    for (std::uint32_t phase = phases(); phase-- > 0;) {
      const LineStages& axis = axis_of(part, phase);
      strides_[part * phases() + phase] = numbering == Numbering::by_bundle ? within : topology.stride(axis.dimension) * pieces();
      within *= static_cast<BlockId>(axis.line.extent);
    }
    const BlockId first = part * (numbering == Numbering::by_bundle ? within : pieces_a_part_);
    for (std::uint32_t phase = 0; phase < phases(); ++phase) bundles_.push_back(bundle(first, part, phase));
  }
}

std::vector<BlockId> Rings::bundle(BlockId first, std::uint32_t part, std::uint32_t phase) const {
  std::vector<BlockId> blocks;
  for (std::uint32_t i = 0; i < pieces_a_part_; ++i) blocks.push_back(first + i);
  for (std::uint32_t later = phases(); --later > phase;) {
    const std::size_t count = blocks.size();
    for (std::int32_t place = 1; place < axis_of(part, later).line.extent; ++place) {
      for (std::size_t i = 0; i < count; ++i) blocks.push_back(blocks[i] + static_cast<BlockId>(place) * stride(part, later));
    }
  }
  return blocks;
}

std::uint64_t Rings::steps() const { return std::accumulate(phase_steps_.begin(), phase_steps_.end(), std::uint64_t{0}); }

std::pair<std::uint32_t, std::uint32_t> Rings::when(std::uint64_t step) const noexcept {
  std::uint32_t phase = 0;
  for (; step >= phase_steps_[phase]; ++phase) step -= phase_steps_[phase];
  return {phase, static_cast<std::uint32_t>(step)};
}

Bytes Rings::table_bytes() const {
  Bytes sum = 0;
  for (const std::vector<BlockId>& each : bundles_) sum += each.size() * sizeof(BlockId);
  return sum;
}

/// The blocks of owners at the place, at this node's coordinates in the axes done before, anywhere in those to come.
void Rings::append(const Coordinates& at, std::uint32_t part, std::uint32_t phase, const LineStages::Leaving& leaving,
                   Sends::Blocks& blocks) const {
  BlockId first = static_cast<BlockId>(leaving.to) * stride(part, phase);
  for (std::uint32_t done = 0; done < phase; ++done) {
    first += static_cast<BlockId>(at[static_cast<std::size_t>(axis_of(part, done).dimension)]) * stride(part, done);
  }
  const std::vector<BlockId>& bundle = bundle_of(part, phase);
  const auto [from, to] = leaving.range(bundle.size());
  const std::size_t before = blocks.size();
  blocks.resize(before + (to - from));
  std::transform(bundle.data() + from, bundle.data() + to, blocks.data() + before, [first](BlockId block) { return first + block; });
}

void Rings::sends(const Node& self, std::uint64_t step, Sends& out) const {
  const auto [phase, number] = when(step);
  const Coordinates at = self.coordinates();
  for (std::uint32_t part = 0; part < parts_; ++part) {
    const LineStages& axis = axis_of(part, phase);
    axis.each_leaving(at[static_cast<std::size_t>(axis.dimension)], phase_steps_[phase], number, [&, phase = phase](const auto& each) {
      append(at, part, phase, each, out.by({{axis.dimension, each.hops}}));
    });
  }
}

void Rings::mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const {
  const auto [phase, number] = when(step);
  const Coordinates at = self.coordinates();
  for (std::uint32_t part = 0; part < parts_; ++part) {
    const LineStages& axis = axis_of(part, phase);
    const std::int32_t place = at[static_cast<std::size_t>(axis.dimension)];
    axis.each_sender(place, [&, phase = phase, number = number](std::int32_t sender) {
      axis.each_leaving(sender, phase_steps_[phase], number, [&](const auto& each) {
        if (axis.receiver(sender, each) != place) return;
        append(at, part, phase, each, out.by({{axis.dimension, self.topology().reverse(axis.dimension, each.hops)}}));
      });
    });
  }
}

Rings::Load Rings::load() const {
  Load sum{.messages = 0};
  for (std::uint32_t phase = 0; phase < phases(); ++phase) {
    for (std::uint32_t part = 0; part < parts_; ++part) {  // a block goes both ways along a line, or to all of a complete dimension
      const DimensionShape& line = axis_of(part, phase).line;
      const std::int32_t others = line.extent - 1, at_once = line.wiring == Wiring::complete ? others : std::min(2, others);
      sum.messages = std::max(sum.messages, static_cast<double>(at_once) / line.extent);
    }
    for (std::uint32_t step = 0; step < phase_steps_[phase]; ++step) {
      std::uint64_t channel = 0, combined = 0;
      for (std::uint32_t part = 0; part < parts_; ++part) {
        const LineStages& axis = axis_of(part, phase);
        const std::uint64_t size = bundle_of(part, phase).size();
        std::vector<std::uint64_t> into(static_cast<std::size_t>(axis.line.extent));  // by place
        for (std::int32_t place = 0; place < axis.line.extent; ++place) {
          std::vector<std::pair<std::int32_t, std::uint64_t>> out;  // by hops
          axis.each_leaving(place, phase_steps_[phase], step, [&](const auto& each) {
            const auto [from, to] = each.range(size);
            into[static_cast<std::size_t>(axis.receiver(place, each))] += to - from;
            auto at = std::find_if(out.begin(), out.end(), [&](const auto& o) { return o.first == each.hops; });
            if (at == out.end()) at = out.insert(at, {each.hops, 0});
            channel = std::max(channel, at->second += to - from);
          });
        }
        combined += *std::max_element(into.begin(), into.end());
      }
      sum.channel += channel;
      sum.combined += combined;
    }
  }
  return sum;
}

constexpr std::array<std::string_view, 2> variants{"parallel", "single"};

/// Even rings split the antipode's bundle in two. Half blocks balance it, whole blocks lose fewer bytes to rounding: the cheaper of both.
Plan plan(const Machine& machine, const Request& request) {
  const auto numbering = request.collective == Collective::allreduce ? Rings::Numbering::by_bundle : Rings::Numbering::by_owner;
  const auto planned = [&](std::string_view variant, std::uint32_t pieces_a_part) {
    const bool single = variant == "single";
    const std::uint32_t parts = single ? 1 : static_cast<std::uint32_t>(machine.topology.dimensions());
    Plan plan = plan_reversible(machine, request, std::make_shared<const Rings>(machine, parts, pieces_a_part, numbering),
                                single ? "sum of the reaches" : "k max reach", 1);
    plan.notes.emplace_back("variant", variant);
    return plan;
  };
  std::vector<Plan> plans;
  for (const std::string_view variant : variants) {
    if (const auto wanted = request.parameters.word("variant"); !wanted.empty() && wanted != variant) continue;
    plans.push_back(planned(variant, 1));
    plans.push_back(planned(variant, 2));
  }
  return *cheapest(plans, [&](const Plan& plan) { return std::optional(std::pair(plan.model_time_s(machine.cost), plan.channel_bytes)); });
}

constexpr std::array parameters{parameter::variant(variants)};
constexpr std::array former_names{FormerName{"rings-single", "--variant single"}};

constexpr std::array terms{Term{"reach", "hops to the farthest place of a line"}};

constexpr Algorithm rings(Collective collective, std::string_view steps, const Idea& idea) {
  return {.name = "rings",
          .collective = collective,
          .source = "bucket algorithm (Barnett et al. 1993; Jain & Sabharwal 2010), both ways round",
          .shapes = "any",
          .steps = steps,
          .idea = idea,
          .terms = terms,
          .native = {.switching = Switching::packet},
          .needs = {.ports = Requirements::all_ports},
          .parameters = parameters,
          .plan = plan,
          .former_names = former_names};
}

constexpr std::string_view half = "k max reach: of a ring floor(n/2), a line n-1, a complete dimension 1; single: the sum of the reaches";
constexpr std::string_view both =
    "2 k max reach: of a ring floor(n/2), a line n-1, a complete dimension 1; single: 2 x the sum of the reaches";
constexpr Algorithm
    reduce_scatter =
        rings(Collective::reduce_scatter, half,
              {.first = "Each owner's block is cut into one part a dimension; along the lines of its first dimension each part goes "
                        "towards its owner's place by the shorter way, the farthest first, and each node on the way adds its own.",
               .then = "The parts change dimensions with what is left, until each has been along all.",
               .good = "Every channel is busy in every step, and on tori of equal sides no byte could be saved, so that long blocks gain; "
                       "short ones wait for many steps."}),
    allreduce = rings(
        Collective::allreduce, both,
        {.first = "A reduce-scatter: parts of the vector go along the lines of all dimensions at the same time, both ways, each node "
                  "adding its own, until each place has the sum of its segment.",
         .then = "The parts change dimensions until each has been along all, and then all steps run backwards, to gather the results.",
         .good = "Every channel is busy in every step, and on tori of equal sides no byte could be saved: the choice for long vectors; "
                 "short ones wait for many steps."}),
    all_gather =
        rings(Collective::multinode_broadcast, half,
              {.first = "Each block is cut into one part a dimension; each part goes along the lines of its first dimension, both ways, "
                        "from place to place.",
               .then = "The parts change dimensions and take along all that they have gathered, until each has been along all.",
               .good = "Every channel is busy in every step and each byte comes to each node once, also along lines and complete "
                       "dimensions, so that long blocks gain; short ones wait for many steps."});

}  // namespace

extern const Entries entries{reduce_scatter, allreduce, all_gather};

}  // namespace torus::reduction::rings
