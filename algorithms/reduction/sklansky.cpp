/// Inclusive scan in the order of ranks, also around dead links and nodes: intervals of ranks are halved, and the last node of a lower half
/// tells its sum to all of the upper half.
///
/// Intervals are halved dimension by dimension, down to single nodes; the innermost speak first. A sum goes down a tree of shortest ways
/// over living channels, through nodes of the upper half where they lie on one. Such a node combines it with register 0, its sum over its
/// own interval so far. If it passes it on, it also keeps it alone in register 1, and gives it away when it passes it on for the last time.
/// A node that is merely on the way has it in register 1 alone.
///
/// The trees are timed one after the other, the innermost intervals first. A message goes in the first step in which channel and ports are
/// free, its sender has the sum, register 1 of its receiver is empty, and register 0 of its receiver is no longer needed for an interval
/// that ends there. A long vector is cut into S segments, each of which does the same q steps after the one before: then no channel and no
/// port has two messages in steps that are equal modulo q.
/// Machine  packet (single hops), any ports, no channel shared; any shape, twisted or with holes.
/// Memory   2 vectors a node. Tables of about 50 bytes a message.   Header  none.
/// Steps    T + q (S-1). T is as found: at most the sum over the halvings of the farthest ways.
/// Bytes    m / S in each busy step, in the long run q m.
/// Order    a node's own comes first, then the sums of the halves as they come: for commuting operators.
/// Source   the halves: Sklansky, Conditional-Sum Addition Logic, 1960. Trees and times: this project.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/living_channels.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/scan_in_turns.hpp"
#include "algorithms/schedule/repeated.hpp"
#include "algorithms/trees/arc_trees.hpp"
#include "algorithms/trees/rooted_flow.hpp"

namespace torus::reduction::sklansky {
namespace {

/// The last living node of a lower half, and the living nodes of the upper one.
struct Telling {
  NodeId from;
  std::vector<NodeId> to;
};

/// Adds what one half of the interval [first, first + count) tells the other, after what is told within each. It is of whole layers of a
/// dimension.
void add_tellings(const Topology& topology, NodeId first, NodeId count, std::vector<Telling>& out) {
  if (count == 1) return;
  Dimension d = 0;
  while (topology.stride(d) >= count) ++d;
  const NodeId layer = topology.stride(d), upper = first + (count / layer + 1) / 2 * layer, end = first + count;
  add_tellings(topology, first, upper - first, out);
  add_tellings(topology, upper, end - upper, out);
  Telling telling{upper, {}};
  while (telling.from > first && !topology.living(telling.from - 1)) --telling.from;
  for (NodeId node = upper; node < end; ++node) {
    if (topology.living(node)) telling.to.push_back(node);
  }
  if (telling.from-- == first || telling.to.empty()) return;
  out.push_back(std::move(telling));
}

/// The scan of a vector of one segment, with the ids 0 and 1 for the two registers.
class Timetable {
 public:
  /// period: q; 0 if the schedule will not be repeated.
  Timetable(const Machine& machine, const LivingChannels& channels, Step period)
      : machine_{machine},
        channels_{channels},
        period_{period},
        schedule_(channels.nodes()),
        uses_(channels.count()),
        own_sum_(channels.nodes()),
        sum_told_(channels.nodes()),
        spare_(channels.nodes()) {}

  /// False if the period is too short.
  bool add(const Telling& telling) {
    grow(telling);
    for (const NodeId node : order_) {
      if (!tell_children(telling, node)) return false;
    }
    return true;
  }
  Schedule take() {
    schedule_.sort();
    return std::move(schedule_);
  }
  /// Messages over the fullest channel: no period is shorter.
  Step most_uses() const { return uses_.empty() ? 0 : *std::max_element(uses_.begin(), uses_.end()); }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// A node of the tree.
  struct Place {
    std::uint32_t depth = none, came_by = none;  // came_by: channel from its parent
    bool wants = false;
    std::uint32_t height = 0;
    std::vector<std::uint32_t> down;  // channels to its children
    Step has_it = 0;                  // from this step on
  };

  /// What is taken in a step, or in all steps that are equal modulo the period.
  struct Occupancy {
    std::vector<bool> channels;
    std::vector<int> sent, received;  // by node
  };

  /// A tree of shortest ways, by parents that want the sum, too, and over channels that have been used little. order_: of its nodes that
  /// are of use, parents before children.
  void grow(const Telling& telling) {
    places_.assign(channels_.nodes(), {});
    for (const NodeId node : telling.to) places_[node].wants = true;
    places_[telling.from].depth = 0;
    order_.assign(1, telling.from);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const NodeId node = order_[i];
      channels_.each_of(node, [&](std::uint32_t channel) {
        Place& next = places_[channels_[channel].to];
        if (next.depth == none) {
          next.depth = places_[node].depth + 1;
          order_.push_back(channels_[channel].to);
        }
        if (next.depth != places_[node].depth + 1) return;
        if (next.came_by == none || worth(channel, telling.from) < worth(next.came_by, telling.from)) next.came_by = channel;
      });
    }
    for (std::size_t i = order_.size(); i-- > 1;) {
      Place& place = places_[order_[i]];
      if (!place.wants && place.down.empty()) continue;
      Place& parent = places_[channels_[place.came_by].from];
      parent.down.push_back(place.came_by);
      parent.height = std::max(parent.height, place.height + 1);
      ++uses_[place.came_by];
    }
    std::erase_if(order_, [&](NodeId node) { return places_[node].down.empty(); });
  }
  /// The least is best.
  std::tuple<bool, Step, std::uint32_t> worth(std::uint32_t channel, NodeId root) const {
    const NodeId parent = channels_[channel].from;
    return {parent != root && !places_[parent].wants, uses_[channel], channel};
  }

  /// Times what a node passes on, to the children with the farthest to go first.
  bool tell_children(const Telling& telling, NodeId node) {
    Place& place = places_[node];
    const bool own = node == telling.from;
    std::stable_sort(place.down.begin(), place.down.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return places_[channels_[a].to].height > places_[channels_[b].to].height; });
    std::vector<std::pair<Step, std::uint32_t>> sends;
    for (const std::uint32_t channel : place.down) {
      const NodeId to = channels_[channel].to;
      Place& child = places_[to];
      Step from = own ? own_sum_[node] : place.has_it;
      if (child.wants) from = std::max(from, sum_told_[to]);
      if (!child.down.empty()) from = std::max(from, spare_[to]);
      const auto step = first_free(channel, from);
      if (!step) return false;
      sends.emplace_back(*step, channel);
      child.has_it = *step + 1;
      if (child.wants) own_sum_[to] = std::max(own_sum_[to], child.has_it);
    }
    std::sort(sends.begin(), sends.end());
    for (const auto& [step, channel] : sends) {
      const auto& [from, to, leg] = channels_[channel];
      const bool last = channel == sends.back().second;
      const BlockId id = own ? 0 : 1;
      const int registers = (places_[to].wants ? 1 : 0) + (places_[to].down.empty() ? 0 : 2);
      schedule_.add(step, from, to, {&leg, 1}, {&id, 1}, own || !last ? Manner::share : Manner::combine,
                    static_cast<std::uint8_t>(registers));
    }
    Step& until = own ? sum_told_[node] : spare_[node];
    until = std::max(until, sends.back().first);
    return true;
  }

  std::optional<Step> first_free(std::uint32_t channel, Step from) {
    const auto& [sender, receiver, leg] = channels_[channel];
    for (Step step = from; period_ == 0 || step < from + period_; ++step) {
      const std::size_t index = period_ == 0 ? step : step % period_;
      while (taken_.size() <= index)
        taken_.push_back({std::vector<bool>(channels_.count()), std::vector<int>(channels_.nodes()), std::vector<int>(channels_.nodes())});
      Occupancy& taken = taken_[index];
      if (taken.channels[channel] || taken.sent[sender] == machine_.ports || taken.received[receiver] == machine_.ports) continue;
      taken.channels[channel] = true;
      ++taken.sent[sender];
      ++taken.received[receiver];
      return step;
    }
    return std::nullopt;
  }

  const Machine& machine_;
  const LivingChannels& channels_;
  const Step period_;
  Schedule schedule_;
  std::vector<Occupancy> taken_;
  std::vector<Step> uses_;  // by channel: messages
  // By node, the steps from which: it has the sum over its interval; that sum is no longer needed; register 1 is empty.
  std::vector<Step> own_sum_, sum_told_, spare_;
  // The tree that is being planned:
  std::vector<Place> places_;  // by node
  std::vector<NodeId> order_;
};

/// In the fewest steps found, not to be repeated; and with the shortest period found.
std::vector<ScanTable> make_tables(const Machine& machine) {
  const Topology& topology = machine.topology;
  std::vector<Telling> tellings;
  add_tellings(topology, 0, topology.nodes(), tellings);
  const LivingChannels channels(topology);
  Timetable once(machine, channels, 0);
  for (const Telling& telling : tellings) once.add(telling);
  for (Step period = std::max<Step>(1, once.most_uses());; ++period) {
    Timetable in_turns(machine, channels, period);
    if (!std::all_of(tellings.begin(), tellings.end(), [&](const Telling& telling) { return in_turns.add(telling); })) continue;
    std::vector<ScanTable> tables;
    Schedule first = once.take();
    const Step steps = std::max<Step>(1, first.steps());
    tables.push_back({RepeatedSchedule(machine, std::move(first), steps, 1)});
    tables.push_back({RepeatedSchedule(machine, in_turns.take(), period, 1)});
    return tables;
  }
}

Plan plan(const Machine& machine, const Request& request, PlanCache& cache) {
  return plan_in_turns(machine, request, *cache.of<make_tables>(machine));
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return too_many_chunks("sklansky", machine.topology, request, 2);
}

constexpr std::array parameters{parameter::segments};
constexpr std::array terms{Term{"T", "steps of a single segment, as found"}, Term{"q", "steps from one segment to the next"},
                           Term{"S", "segments that the vector is cut into"}};

constexpr Algorithm scan{
    .name = "sklansky",
    .collective = Collective::scan,
    .source = "Sklansky 1960: the halves; their trees and times are ours",
    .shapes = "any",
    .steps = "T + q (S-1): T as found for one of S segments, q from one to the next",
    .idea = {.first = "The ranks are halved again and again, down to single nodes; the last node of each lower half then knows the sum of "
                      "its half, and tells it to all nodes of the upper half, the smallest halves first.",
             .then = "Such a sum goes down a tree of shortest ways around dead links and nodes; every node of the upper half adds it, and "
                     "one that passes it on keeps it apart until it has.",
             .good = "There are as many rounds as halvings and no node is asked twice in one; a long vector follows in segments, so that "
                     "each channel carries it only a few times, whatever the number of rounds."},
    .terms = terms,
    .native = {.switching = Switching::packet},
    .needs = {.lives_with_holes = true, .takes_twists = true},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
    .offer = [](const Machine& machine, const Request&) { return Offer{.slow = !small_enough_to_pack(machine.topology)}; },
};

}  // namespace

extern const Entries entries{scan};

}  // namespace torus::reduction::sklansky
