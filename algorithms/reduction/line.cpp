/// Inclusive scan in the order of ranks: along each dimension, the last first, all places of a line hear of all.
///
/// Before a phase a node has in register 0 the sum of its block's nodes up to itself, and in register 1 the sum of those after it: together
/// the sum of the block, which is what it shares with the other places of its line. What it sends is *whole*, these two registers, or what
/// came last from the other side and goes on, in register 2 (up) or 3 (down), and is given away. The receiver adds what comes from places
/// before its own to register 0, the rest to register 1. After the phase its block is the line of blocks.
///
///  - Streams: what each place has runs up and down at once. It runs up only along the first
///    dimension of a mesh, where nobody wants what comes after, and with one port round rings of 3.
///  - Pairs: with one port, rings and lines exchange in pairs (lines/paired_line.hpp).
///  - At once: a complete dimension, where there are ports for all. With fewer it is a ring.
///
/// On a twisted torus the links over the end of a short dimension move along the long ones. That does not matter where the long ones come
/// later in the order of dimensions: then all their places have the same. Else the short dimension is a line.
/// A ring with a dead link is a line that begins behind it.
/// Machine  any shape, twists included, packet (single hops), any ports, no channel shared. A dead link in each ring, without twists.
/// Steps    sum over the dimensions: of a ring floor(n/2), a line n-1, a complete dimension 1 if ports >= n-1. With one port: an odd ring
///          (n+3)/2 or, of 3, 2; a line n-1, or n if n is odd and it is not the first dimension. With two ports the diameter, where no
///          dimension is complete: optimal for short vectors.
/// Bytes    m a step, 2 m in the first of each dimension but the last, and with pairs also in the next two.   Header  none.
/// Memory   4 vectors a node, 3 with one port.
/// Order    what is nearest comes first: for commuting operators.
/// Source   this project.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/lines/paired_line.hpp"
#include "algorithms/program_memory.hpp"
#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction::line {
namespace {

constexpr BlockId going_up = 2, going_down = 3;
constexpr std::int32_t whole_steps = 3;  // after which nothing that is sent is whole
constexpr unsigned registers_before = 1U << 0U, registers_after = 1U << 1U;

/// What a place sends.
struct Telling {
  std::int32_t offset;  // of the receiver, on a ring modulo its extent
  bool whole;           // else what came last and goes on
  BlockId on;           // the register in which it goes on
  unsigned into;        // the receiver's registers, a bit each
};

/// What the places of one line do.
class Line {
 public:
  /// closes: a ring, or complete. start: the first place of one that does not close. outermost: nobody wants what comes after.
  Line(std::int32_t places, bool closes, std::int32_t start, int ports, bool outermost)
      : n_{places},
        closes_{closes},
        base_{!closes           ? start
              : places % 2 != 0 ? 2
                                : 0},
        left_out_{!closes && places > 2 && start > 0 && (places - 1 - start) % 2 == 0 ? 1 : 0},
        pairs_{{places + left_out_, closes ? Wiring::ring : Wiring::line}} {
    if (!closes && ((outermost && start == 0) || ports > 1)) {
      up_ = n_ - 1;
      down_ = outermost && start == 0 ? 0 : n_ - 1;
    } else if (ports > 1) {
      up_ = n_ / 2;
      down_ = (n_ - 1) / 2;
    } else if (closes && n_ == 3) {
      up_ = n_ - 1;
    } else {
      in_pairs_ = true;
    }
  }

  std::int32_t places() const noexcept { return n_; }
  std::int32_t start() const noexcept { return closes_ ? 0 : base_; }
  std::int32_t steps() const noexcept { return in_pairs_ ? (left_out_ > 0 ? n_ : pairs_.steps()) : std::max(up_, down_); }
  /// Begins within its dimension.
  bool rotated() const noexcept { return start() > 0; }
  /// Vectors that the busiest node combines in a step from `whole_steps` on, if it is not rotated.
  std::uint64_t combined(std::int32_t step) const noexcept {
    if (in_pairs_) return step < steps() ? 1 : 0;
    const std::uint64_t streams = (step < up_ ? 1U : 0U) + (step < down_ ? 1U : 0U);
    return closes_ || streams < 2 || n_ >= 2 * step + 3 ? streams : 1;
  }
  template <class F>
  void each_told(std::int32_t place, std::int32_t step, F&& f) const {
    if (in_pairs_) return tell_partner(place, step, f);
    if (step < up_) tell_next(place, step, +1, up_, f);
    if (step < down_) tell_next(place, step, -1, down_, f);
  }

 private:
  /// Numbers from the first place on.
  std::int32_t number(std::int32_t place) const noexcept { return modulo(place - base_, n_); }
  std::int32_t place(std::int32_t number) const noexcept { return modulo(number + base_, n_); }
  bool there(std::int32_t number) const noexcept { return closes_ || (number >= 0 && number < n_); }
  unsigned side(std::int32_t origin, std::int32_t receiver) const noexcept {
    return place(origin) < place(receiver) ? registers_before : registers_after;
  }

  /// The stream in one direction.
  template <class F>
  void tell_next(std::int32_t place, std::int32_t step, std::int32_t way, std::int32_t reach, F&& f) const {
    const std::int32_t origin = number(place) - way * step, receiver = number(place) + way;
    if (!there(origin) || !there(receiver)) return;
    const BlockId on = way > 0 ? going_up : going_down;
    const bool goes_on = step + 1 < reach && there(receiver + way);
    f(Telling{way, step == 0, on, side(origin, receiver) | (goes_on ? 1U << on : 0U)});
  }
  /// Pairs are such that no sum has places on both sides of its receiver: rings of odd extent begin elsewhere, and where the ends of the
  /// dimension would be a pair another place stands before the first.
  template <class F>
  void tell_partner(std::int32_t place, std::int32_t step, F&& f) const {
    if (step >= steps()) return;
    const std::int32_t all = n_ + left_out_, self = number(place) + left_out_;
    const auto sum = pairs_.sum(self, step);
    if (!sum) return;
    const std::int32_t receiver = modulo(self + sum->offset, all), last = modulo(sum->places.first + sum->places.count - 1, all);
    if (receiver < left_out_) return;
    const bool goes_on = sum->into_both && (closes_ || receiver + sum->offset >= left_out_);
    f(Telling{sum->offset, sum->from == 0, going_up, side(last - left_out_, receiver - left_out_) | (goes_on ? 1U << going_up : 0U)});
  }

  std::int32_t n_;
  bool closes_;
  std::int32_t base_, left_out_;
  lines::PairedLine pairs_;
  bool in_pairs_ = false;
  std::int32_t up_ = 0, down_ = 0;  // steps of the streams
};

/// Each line of a dimension that a dead link cuts open, by its first node, and the place behind the link.
using Cuts = std::map<NodeId, std::int32_t>;

constexpr std::int32_t most_places_of_cut = 4096;  // their loads are counted step by step

/// None if a line is cut twice.
std::optional<Cuts> cuts_of(const Topology& topology, Dimension d) {
  Cuts cuts;
  for (NodeId node = 0; node < topology.nodes() && !topology.whole(); ++node) {
    if (topology.passes(node, d, +1)) continue;
    const std::int32_t place = topology.coordinate(node, d);
    const NodeId first = node - static_cast<NodeId>(place) * topology.stride(d);
    if (!cuts.emplace(first, modulo(place + 1, topology.extent(d))).second) return std::nullopt;
  }
  return cuts;
}

/// What happens along all lines of a dimension.
class Phase {
 public:
  /// Lines that do the same, and of which some nodes begin with something in register 1, or none does.
  struct Kind {
    std::size_t line;
    bool has_after;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };

  Phase(const Machine& machine, Dimension d, bool outermost)
      : dimension_{d}, stride_{machine.topology.stride(d)}, reverse_{machine.topology.reverse(d, 1)} {
    const Topology& topology = machine.topology;
    const std::int32_t n = topology.extent(d);
    at_once_ = topology.wiring(d) == Wiring::complete && machine.ports >= n - 1;
    lines_.emplace_back(n, closes(topology, d), 0, machine.ports, outermost);
    const Cuts cuts = cuts_of(topology, d).value_or(Cuts{});
    std::set<Kind> kinds;
    const NodeId outer = topology.nodes() / (stride_ * static_cast<NodeId>(n));  // lines at the ends of all later dimensions
    const NodeId all = topology.nodes() / static_cast<NodeId>(n);
    NodeId inner = all - outer;  // whole lines whose nodes have others after them
    for (const auto& [first, start] : cuts) {
      const auto same = std::find_if(lines_.begin() + 1, lines_.end(), [&, s = start](const Line& line) { return line.start() == s; });
      const auto number = static_cast<std::size_t>(same - lines_.begin());
      if (same == lines_.end()) lines_.emplace_back(n, false, start, machine.ports, outermost);
      cut_[first] = number;
      const bool has_after = first % stride_ != stride_ - 1;
      kinds.insert({number, has_after});
      if (has_after) --inner;
    }
    if (cuts.size() < all) kinds.insert({0, inner > 0});
    kinds_.assign(kinds.begin(), kinds.end());
  }

  Dimension dimension() const noexcept { return dimension_; }
  std::int32_t places() const noexcept { return lines_.front().places(); }
  std::int32_t hops(std::int32_t offset) const noexcept { return offset == -1 ? reverse_ : offset; }
  std::int32_t steps() const noexcept {
    std::int32_t most = at_once_ ? 1 : 0;
    for (const Kind& kind : kinds_) most = at_once_ ? 1 : std::max(most, lines_[kind.line].steps());
    return most;
  }
  std::span<const Kind> kinds() const noexcept { return kinds_; }
  const Line& line(const Kind& kind) const noexcept { return lines_[kind.line]; }
  const Line& line_of(NodeId node, std::int32_t place) const {
    const auto cut = cut_.find(node - static_cast<NodeId>(place) * stride_);
    return lines_[cut == cut_.end() ? 0 : cut->second];
  }
  template <class F>
  void each_told(const Line& line, std::int32_t place, std::int32_t step, F&& f) const {
    if (!at_once_) return line.each_told(place, step, f);
    for (std::int32_t other = 0; other < places(); ++other) {
      if (other != place) f(Telling{modulo(other - place, places()), true, going_up, place < other ? registers_before : registers_after});
    }
  }

 private:
  /// Whether hops over the end of a dimension lead to nodes that are as good as the first ones of the same line.
  static bool closes(const Topology& topology, Dimension d) {
    if (topology.wiring(d) == Wiring::line) return false;
    if (!topology.twisted()) return true;
    for (Dimension earlier = 0; earlier < d; ++earlier) {
      if (topology.extent(earlier) > topology.extent(d)) return false;
    }
    return true;
  }

  Dimension dimension_;
  NodeId stride_;
  std::int32_t reverse_;  // hops to the place before
  bool at_once_ = false;
  std::vector<Line> lines_;            // the first is whole
  std::map<NodeId, std::size_t> cut_;  // by their first nodes
  std::vector<Kind> kinds_;
};

using Phases = std::vector<Phase>;

void send(Node& self, const Phase& phase, const Telling& telling) {
  const Leg leg{phase.dimension(), phase.hops(telling.offset)};
  const Combine into{static_cast<std::uint8_t>(telling.into)};
  constexpr std::array<BlockId, 2> block{0, 1};
  if (telling.whole)
    self.send(into, {leg}, std::span(block).first(self.holds(1) ? 2 : 1));
  else
    self.forward(into, {leg}, {{telling.on}});
}

Program program(Node& self, const Phases& phases) {
  for (const Phase& phase : phases) {
    const std::int32_t place = self.coordinate(phase.dimension());
    const Line& line = phase.line_of(self.rank(), place);
    for (std::int32_t step = 0; step < phase.steps(); ++step) {
      phase.each_told(line, place, step, [&](const Telling& telling) { send(self, phase, telling); });
      co_await self.step();
    }
  }
}

/// Sums over the steps: of the most vectors in a message, and of the most that a node combines.
struct Load {
  std::uint64_t sent = 0, combined = 0;
};

/// The load of a step. after: whether a place has something in register 1.
Load load_of(const Phase& phase, const Line& line, std::int32_t step, std::vector<std::uint8_t>& after) {
  if (step >= whole_steps && !line.rotated()) return {1, line.combined(step)};
  const std::vector<std::uint8_t> at_start = after;
  std::vector<std::uint64_t> combined(after.size());
  std::uint64_t most = 0;
  for (std::int32_t place = 0; place < line.places(); ++place) {
    phase.each_told(line, place, step, [&](const Telling& telling) {
      const std::uint64_t vectors = telling.whole && at_start[static_cast<std::size_t>(place)] != 0 ? 2 : 1;
      const auto to = static_cast<std::size_t>(modulo(place + telling.offset, line.places()));
      most = std::max(most, vectors);
      const bool into_empty = (telling.into & registers_after) != 0 && std::exchange(after[to], 1) == 0;
      combined[to] += into_empty ? vectors - 1 : vectors;
      if (telling.into > (registers_before | registers_after)) combined[to] += vectors - 1;  // what goes on finds its register empty
    });
  }
  return {most, *std::max_element(combined.begin(), combined.end())};
}

/// Adds those of a phase.
void add_load(const Phase& phase, Load& sum) {
  std::vector<std::vector<std::uint8_t>> after;
  for (const Phase::Kind& kind : phase.kinds()) after.emplace_back(static_cast<std::size_t>(phase.places()), kind.has_after ? 1 : 0);
  for (std::int32_t step = 0; step < phase.steps(); ++step) {
    Load most;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const Load load = load_of(phase, phase.line(phase.kinds()[i]), step, after[i]);
      most.sent = std::max(most.sent, load.sent);
      most.combined = std::max(most.combined, load.combined);
    }
    sum.sent += most.sent;
    sum.combined += most.combined;
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const auto phases = std::make_shared<Phases>();
  const std::vector<Dimension> dimensions = linked_dimensions(machine.topology);
  for (std::size_t i = dimensions.size(); i-- > 0;) phases->emplace_back(machine, dimensions[i], i == 0);
  Plan plan;
  plan.start = [phases](Node& self) { return program(self, *phases); };
  plan.registers = machine.ports == 1 ? 3 : 4;
  const SegmentBytes vector(request, 1);
  Load sum;
  for (const Phase& phase : *phases) {
    plan.steps += static_cast<std::uint64_t>(phase.steps());
    add_load(phase, sum);
  }
  plan.channel_bytes = vector.of(sum.sent);
  plan.combined_bytes = vector.of(sum.combined);
  plan.route_hops = plan.steps;
  plan.formula = "sum T_i";
  std::int32_t most_sent = 1;
  std::uint32_t most_vectors = plan.registers + 1;  // that a node holds and has on the way
  for (const Phase& phase : *phases) {
    const std::int32_t sent =
        std::min(machine.topology.wiring(phase.dimension()) == Wiring::complete ? phase.places() - 1 : 2, machine.ports);
    most_sent = std::max(most_sent, sent);
    const std::uint32_t begins_with = &phase == &phases->front() ? 1 : 2;
    most_vectors = std::max(most_vectors, begins_with * (1 + static_cast<std::uint32_t>(sent)));
  }
  plan.message_bytes = bytes_of_messages(static_cast<std::uint64_t>(most_sent), 2, 1);
  plan.copies = std::uint64_t{machine.topology.nodes()} * (most_vectors - plan.registers);
  return plan;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request&) {
  const Topology& topology = machine.topology;
  const Faults& faults = topology.faults();
  bool met = topology.whole() || (faults.dead_nodes.empty() && !topology.twisted() && largest_extent(topology) <= most_places_of_cut);
  for (const Link& link : topology.whole() ? std::vector<Link>{} : faults.dead_links)
    met = met && topology.wiring(link.dimension) == Wiring::ring && cuts_of(topology, link.dimension);
  if (met) return std::nullopt;
  return Refusal{Refusal::About::faults, dead_text(faults),
                 "line lives with one dead link in a ring of up to " + std::to_string(most_places_of_cut) + " places, without twist"};
}

constexpr std::array terms{Term{"T_i",
                                "steps of a dimension: of a ring n/2, a line n-1, a complete one 1; with one port of an odd ring "
                                "(n+3)/2, a line n-1 or n; a complete one as a ring where ports are few"}};

constexpr Algorithm line_scan{
    .name = "line",
    .collective = Collective::scan,
    .source = "this project",
    .shapes = "any, also twisted",
    .steps = "sum of T_i: ring n/2, line n-1, complete 1; with one port odd ring (n+3)/2, line n-1 or n",
    .idea = {.first = "Along the last dimension what each node contributes runs both ways at once, or in pairs where there is one port; a "
                      "node keeps apart what comes from before it and from after it.",
             .then = "Both together are the sum of the line, which does the same along the next dimension.",
             .good = "On tori it takes the diameter, which no scan can beat, with single hops and no plan."},
    .terms = terms,
    .native = {.switching = Switching::packet},
    .needs = {.lives_with_holes = true, .takes_twists = true},
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{line_scan};

}  // namespace torus::reduction::line
