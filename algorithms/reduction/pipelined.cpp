/// Inclusive scan in the order of ranks, in a pipeline of segments: totals run up, what lies before runs back.
///
/// The axes are the dimensions with links, 0 .. K-1, the last of which runs fastest. The *top* t of a node is the first axis such that the
/// node is at the last place of all later ones. Of each segment:
///  - Up: a node adds what the place before it sends along the axes t .. K-1, and sends the sum to the next place of axis t.
///  - Back: F_e is the sum of all before the line of a node in axis e. The last node of the line has it from F_t and from what came up
///    along t .. e-1, and sends it to the place before, which passes it on. Where it is empty nothing is sent.
/// Register 0 collects the result, register e - max(t, 1) + 1 collects F_e where the node sends it back. A sent F_e is given away. A node
/// has sent its sum up no later than in the step in which F_t comes, or it would count twice.
///
/// On two axes the sums of the rows may also meet in their middle. Then what is left of it does as above. Each node right of it tells its
/// contribution to the next row, in which these sums run left, in register 1. So the node in the middle of a row knows in half the time all
/// rows before it. Its sum goes up, right and, without its own row, left.
///
/// With one port and two axes of which the last is no line, a segment may also go from rank to rank, *in a chain*. From row to row another
/// node relays the sum, in register 1: of two segments not the same, so that each node takes part in three messages of two segments.
///
/// In two and three dimensions vectors of middle size go in pieces, which are under way in all parts of the machine at once, each to a root
/// of its own in every line and back (scan_in_pieces.cpp).
///
/// The messages of one segment, or of two in a chain, are timed by a list, each as soon as it can be and ports are free. The other segments
/// follow q steps apart: a port has no two messages of steps that are equal modulo q. Each channel carries each segment once at most.
/// Machine  any shape, twists included, packet (single hops), any ports, no channel shared. Dead links that no message needs do no harm: on
///          tori many.
/// Steps    T + q (S-1). T and q are as found. With all ports q = 1, and T = n_0 - 1 + 2 (n_1 - 1 + .. + n_{K-1} - 1), or where the
///          rows meet n_0 - 1 + n_1 - 1, and one more where n_1 is even. In a chain T is about N and q mostly 3/2. Pieces go once, in T
///          steps as found.
/// Bytes    m / S in each step; of pieces up to six of them in a message.   Header  none.
/// Memory   K vectors a node; 2 where the rows meet; up to 8 in pieces. Tables of about 150 bytes a message.
/// Order    what is nearest comes first: for commuting operators.
/// Source   this project.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/scan_in_pieces.hpp"
#include "algorithms/reduction/scan_in_turns.hpp"
#include "algorithms/trees/rooted_flow.hpp"

namespace torus::reduction::pipelined {
namespace {

constexpr std::size_t most_axes = 8;  // as many registers as a node may have
constexpr NodeId most_nodes = 4096;   // tables and planning grow with nodes and steps
constexpr Step wide = 16;             // a period that hardly delays a single segment

/// What a sender takes, of what came into its register, before it sends a message.
enum class Takes { nothing, sums, all };

/// A message of one segment.
struct Telling {
  NodeId from, to;
  Leg leg;
  unsigned own;   // the sender's register
  unsigned into;  // the receiver's, a bit each
  Takes takes;
  bool sum;              // that goes up: the receiver's Takes::sums takes it
  unsigned segment = 0;  // of a round
};

/// The messages of a segment, or of a round of two, on axes that have links.
class Tellings {
 public:
  explicit Tellings(const Topology& topology) : topology_{topology}, axes_{linked_dimensions(topology)} {}

  std::vector<Telling> take() { return std::move(all_); }
  /// Whether all links are alive.
  bool pass() const {
    return std::all_of(all_.begin(), all_.end(), [&](const Telling& t) { return topology_.passes(t.from, t.leg.dimension, t.leg.hops); });
  }
  std::size_t axes() const { return axes_.size(); }
  std::int32_t extent(std::size_t axis) const { return topology_.extent(axes_[axis]); }

  void add_up_and_back() {
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      const std::size_t t = top(node);
      if (t < axes() && !at_end(node, t)) {
        const NodeId next = beside(node, t, 1);
        add(node, t, 1, 0, 1 | collecting(next, t + 1), Takes::sums, true);
      }
      for (std::size_t e = std::max<std::size_t>(t, 1); e < axes(); ++e) {
        if (place(node, e) > 0 && any_before(node, e))
          add(node, e, -1, register_of(node, e), 1 | collecting(beside(node, e, -1), e), Takes::all, false);
      }
    }
  }

  /// On two axes; the middle is neither the first place of the last axis nor the last.
  void add_meeting(std::int32_t middle) {
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      const std::int32_t row = place(node, 0), column = place(node, 1);
      const bool last_row = at_end(node, 0);
      if (column < middle) {
        add(node, 1, 1, 0, 1, Takes::sums, true);
      } else {
        if (!at_end(node, 1)) add(node, 1, 1, 0, 1, Takes::all, false);
        const bool in_middle = column == middle;
        if (!last_row) add(node, 0, 1, 0, in_middle ? 3 : 2, in_middle ? Takes::all : Takes::nothing, false);
      }
      if (row > 0 && column > 0)
        add(node, 1, -1, 1, column > middle ? (column == middle + 1 ? 3 : 2) : (column > 1 ? 3 : 1), Takes::all, false);
    }
  }

  /// Whether there are two axes, and the ends of the last one are neighbours.
  bool rows_close() const { return axes() == 2 && !topology_.twisted() && topology_.wiring(axes_[1]) != Wiring::line; }
  /// A round of two segments in the order of ranks, where rows close. The sum of a row gets to the first node of the next by the first
  /// node of its own or by the last of the next.
  void add_chain() {
    for (NodeId node = 0; node + 1 < topology_.nodes(); ++node) {
      for (const unsigned segment : {0U, 1U}) {
        if (!at_end(node, 1)) {
          add(node, 1, 1, 0, 1, Takes::all, false, segment);
        } else if (segment == 0) {
          add(node, 1, 1, 0, 2, Takes::all, false, segment);
          add(first_of_row(node), 0, 1, 1, 1, Takes::all, false, segment);
        } else {
          add(node, 0, 1, 0, 2, Takes::all, false, segment);
          add(beside(node, 0, 1), 1, 1, 1, 1, Takes::all, false, segment);
        }
      }
    }
  }

 private:
  std::int32_t place(NodeId node, std::size_t axis) const { return topology_.coordinate(node, axes_[axis]); }
  bool at_end(NodeId node, std::size_t axis) const { return place(node, axis) + 1 == extent(axis); }
  NodeId beside(NodeId node, std::size_t axis, int places) const {
    return places > 0 ? node + topology_.stride(axes_[axis]) : node - topology_.stride(axes_[axis]);
  }
  std::size_t top(NodeId node) const {
    std::size_t t = axes() - 1;
    while (t > 0 && at_end(node, t)) --t;
    return t;
  }
  /// Whether there is something before the line of a node in an axis.
  bool any_before(NodeId node, std::size_t axis) const {
    for (std::size_t i = 0; i < axis; ++i) {
      if (place(node, i) > 0) return true;
    }
    return false;
  }
  unsigned register_of(NodeId node, std::size_t axis) const {
    return static_cast<unsigned>(axis - std::max<std::size_t>(top(node), 1) + 1);
  }
  /// The registers of what a node sends back along the axes from `first` on.
  unsigned collecting(NodeId node, std::size_t first) const {
    unsigned bits = 0;
    for (std::size_t e = std::max(first, top(node)); e < axes(); ++e) {
      if (e > 0 && place(node, e) > 0) bits |= 1U << register_of(node, e);
    }
    return bits;
  }
  /// On two axes.
  NodeId first_of_row(NodeId node) const { return node - static_cast<NodeId>(place(node, 1)) * topology_.stride(axes_[1]); }
  /// Over the end of a row back to its first node.
  void add(NodeId node, std::size_t axis, int places, unsigned own, unsigned into, Takes takes, bool sum, unsigned segment = 0) {
    const Dimension d = axes_[axis];
    const std::int32_t hops = places > 0 ? 1 : topology_.reverse(d, 1);
    const NodeId to = places > 0 && at_end(node, axis) ? first_of_row(node) : beside(node, axis, places);
    all_.push_back({node, to, {d, hops}, own, into, takes, sum, segment});
  }

  const Topology& topology_;
  const std::vector<Dimension> axes_;
  std::vector<Telling> all_;
};

/// Messages in the order of their nodes: those of node v are those from start[v] to start[v + 1].
struct ByNode {
  template <class Of>
  ByNode(const std::vector<Telling>& tellings, NodeId nodes, Of&& of) : start(std::size_t{nodes} + 1), list(tellings.size()) {
    for (const Telling& telling : tellings) ++start[of(telling) + 1];
    for (std::size_t i = 1; i < start.size(); ++i) {
      start[i] += start[i - 1];
      most = std::max(most, start[i] - start[i - 1]);
    }
    std::vector<std::uint32_t> next = start;
    for (std::uint32_t i = 0; i < tellings.size(); ++i) list[next[of(tellings[i])]++] = i;
  }
  std::span<const std::uint32_t> of(NodeId node) const { return {list.data() + start[node], start[node + 1] - start[node]}; }

  std::vector<std::uint32_t> start, list;
  std::uint32_t most = 0;
};

/// When each message goes, by a list.
class Timetable {
 public:
  Timetable(const Machine& machine, std::vector<Telling> tellings, unsigned segments)
      : ports_{machine.ports},
        segments_{segments},
        tellings_{std::move(tellings)},
        sent_(tellings_, machine.topology.nodes(), [](const Telling& t) { return t.from; }),
        received_(tellings_, machine.topology.nodes(), [](const Telling& t) { return t.to; }) {}

  /// No period is shorter.
  Step least_period() const {
    return std::max<Step>(1, ceil_div(std::max(sent_.most, received_.most), static_cast<std::uint32_t>(ports_)));
  }

  /// None if the period is too short.
  std::optional<Schedule> in_period(Step period) {
    const std::size_t count = tellings_.size();
    steps_.assign(count, none);
    std::vector<Step> ready(count);
    std::vector<std::uint32_t> awaited(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      each_after(i, [&](std::uint32_t later, Step) { ++awaited[later]; });
    }
    using Item = std::tuple<Step, std::uint32_t, std::uint32_t>;  // when it is ready, in the order in which that was known
    std::priority_queue<Item, std::vector<Item>, std::greater<>> list;
    std::uint32_t known = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (awaited[i] == 0) list.emplace(0, known++, i);
    }
    Schedule schedule(static_cast<NodeId>(sent_.start.size() - 1));
    for (; !list.empty(); list.pop()) {
      const auto [from, order, i] = list.top();
      const Telling& t = tellings_[i];
      Step step = from;
      while (step < from + period && (taken(sent_.of(t.from), step, period) || taken(received_.of(t.to), step, period))) ++step;
      if (step == from + period) return std::nullopt;
      steps_[i] = step;
      const BlockId id = t.own * segments_ + t.segment;
      schedule.add(step, t.from, t.to, {&t.leg, 1}, {&id, 1}, t.own > 0 ? Manner::combine : Manner::share,
                   static_cast<std::uint8_t>(t.into));
      each_after(i, [&](std::uint32_t later, Step delay) {
        ready[later] = std::max(ready[later], step + delay);
        if (--awaited[later] == 0) waiting_.emplace_back(ready[later], later);
      });
      for (const auto& [when, later] : waiting_) list.emplace(when, known++, later);
      waiting_.clear();
    }
    schedule.sort();
    return schedule;
  }

 private:
  static constexpr Step none = std::numeric_limits<Step>::max();

  static bool takes(const Telling& telling, const Telling& arrival) {
    return telling.takes == Takes::all || (telling.takes == Takes::sums && arrival.sum);
  }
  /// Calls f(message, delay) for those that must not go before `delay` steps after this one: its receiver's that take it, and what comes
  /// into the register that it is sent from and is not to be in it.
  template <class F>
  void each_after(std::uint32_t i, F&& f) const {
    const Telling& telling = tellings_[i];
    for (const std::uint32_t next : sent_.of(telling.to)) {
      const Telling& later = tellings_[next];
      if (later.segment != telling.segment) continue;
      if ((telling.into >> later.own & 1U) != 0 && takes(later, telling)) f(next, 1);
    }
    for (const std::uint32_t arrival : received_.of(telling.from)) {
      const Telling& later = tellings_[arrival];
      if (later.segment != telling.segment) continue;
      if ((later.into >> telling.own & 1U) != 0 && !takes(telling, later)) f(arrival, 0);
    }
  }
  /// Whether all ports are, of these messages of a node.
  bool taken(std::span<const std::uint32_t> of, Step step, Step period) const {
    return std::count_if(of.begin(), of.end(), [&](std::uint32_t i) { return steps_[i] != none && steps_[i] % period == step % period; }) ==
           ports_;
  }

  const int ports_;
  const unsigned segments_;  // of a round
  const std::vector<Telling> tellings_;
  const ByNode sent_, received_;
  std::vector<Step> steps_;  // by message
  std::vector<std::pair<Step, std::uint32_t>> waiting_;
};

/// Adds the tables of the two shortest periods and, of a single segment, one of few steps.
void add_tables(const Machine& machine, std::vector<Telling> tellings, unsigned segments, std::vector<ScanTable>& out) {
  Timetable timetable(machine, std::move(tellings), segments);
  Step steps = std::numeric_limits<Step>::max();
  const auto add = [&](Step period) {
    auto schedule = timetable.in_period(period);
    if (!schedule) return false;
    if (schedule->steps() >= steps) return true;  // a longer period for nothing
    steps = schedule->steps();
    out.push_back({RepeatedSchedule(machine, *std::move(schedule), period, segments), segments});
    return true;
  };
  Step period = timetable.least_period();
  while (!add(period)) ++period;
  add(period + 1);
  if (segments == 1) add(wide);
}

/// The messages of a round.
struct Flow {
  std::vector<Telling> tellings;
  unsigned segments;
};

/// Those that need no dead link. If there is any, the first is of one segment.
std::vector<Flow> flows(const Machine& machine) {
  std::vector<Flow> all;
  const auto add = [&](unsigned segments, auto&& make) {
    Tellings tellings(machine.topology);
    make(tellings);
    if (tellings.pass()) all.push_back({tellings.take(), segments});
  };
  const Tellings on(machine.topology);
  add(1, [&](Tellings& t) { return on.axes() > 0 ? t.add_up_and_back() : void(); });
  if (on.axes() == 2 && on.extent(1) > 2) add(1, [&](Tellings& t) { t.add_meeting(on.extent(1) / 2); });
  if (on.rows_close() && machine.ports == 1) add(2, [](Tellings& t) { t.add_chain(); });
  return all;
}

std::vector<ScanTable> make_tables(const Machine& machine) {
  std::vector<ScanTable> tables;
  for (Flow& flow : flows(machine)) add_tables(machine, std::move(flow.tellings), flow.segments, tables);
  for (ScanTable& table : tables_in_pieces(machine)) tables.push_back(std::move(table));
  return tables;
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  return plan_in_turns(machine, request, *cache.of<make_tables>(machine));
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  const auto fits = [](const Topology& t) { return t.nodes() <= most_nodes && linked_dimensions(t).size() <= most_axes; };
  if (!fits(machine.topology)) {
    return Refusal{Refusal::About::shape, machine.topology.text(),
                   "pipelined has tables for up to " + std::to_string(most_nodes) + " nodes and a register for each of up to " +
                       std::to_string(most_axes) + " dimensions",
                   smaller(machine.topology, fits).text()};
  }
  if (!machine.topology.whole() && flows(machine).empty()) {
    return Refusal{Refusal::About::faults, dead_text(machine.topology.faults()),
                   "pipelined needs the links within the lines of the last dimension and of their ends alive"};
  }
  return too_many_chunks("pipelined", machine.topology, request,
                         static_cast<std::uint32_t>(std::max<std::size_t>(2, linked_dimensions(machine.topology).size())));
}

constexpr std::array parameters{parameter::segments};
constexpr std::array terms{Term{"T", "steps of a single segment, as found"}, Term{"q", "steps from one segment to the next"},
                           Term{"S", "segments that the vector is cut into"}};

constexpr Algorithm scan{
    .name = "pipelined",
    .collective = Collective::scan,
    .source = "this project",
    .shapes = "any, up to 4096 nodes and 8 dimensions with links",
    .steps = "T + q (S-1): T as found for one of S segments, q from one to the next",
    .idea =
        {.first = "Along the last dimension each node adds what the place before it sends and passes its sum on; the last nodes of the "
                  "lines do the same in the next dimension, and so on.",
         .then =
             "As soon as the last node of a line knows the sum of all before the line, that runs back over it; in two dimensions the "
             "sums of the rows can meet in the middle instead. With one port very long vectors go from rank to rank, and vectors of middle "
             "size go in pieces, each by way of a root of its own in every line.",
         .good = "Each channel carries each segment once, and the next segment follows as soon as the ports are free: a long vector "
                 "takes hardly longer than it takes to leave a node."},
    .terms = terms,
    .native = {.switching = Switching::packet},
    .needs = {.lives_with_holes = true, .takes_twists = true},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{scan};

}  // namespace torus::reduction::pipelined
