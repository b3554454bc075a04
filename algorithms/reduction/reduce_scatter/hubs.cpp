/// Reduce-scatter, all-reduce and multi-node broadcast with one port, in few steps and by few hubs, one dimension after the other.
///
/// Few steps need long routes, and all nodes cannot have long routes at once: no channel is shared. So a line is dealt into groups of
/// places next to each other, and two in the middle of each group are its hubs. As an all-gather:
///   gather    each arm of a group hands its blocks to the hub beside it, by halving
///   swap      the hubs of a group exchange what they have
///   haul      the left hubs pass the groups' bundles on forwards, from group to group, the right ones backwards: half the ring each
///   swap      the hubs of a group exchange what has come
///   spread    the arms get what they lack, as they gave
/// A reduce-scatter runs the steps backwards and combines. A ring may also have no hubs: then each node passes single blocks on to the
/// next, as `neighbour-exchange` can. Each dimension takes the form of least model time: few pairs of hubs for short blocks, none for long.
/// Machine  rings and lines, wormhole, one port, no channel shared: a group's routes stay in it, and the haul's meet at hubs.
/// Steps    for a half, sum over the dimensions: 2 ceil(log2 (a+1)) + 1, a the places of the longest arm; with c > 1 pairs also
///          floor(c/2) + 1, on a line c. Without hubs n-1.
/// Bytes    for a half, of a line's bundle: about its arms' logarithm and 1 times; without hubs (n-1)/n times, which is optimal.
/// Memory   N segments a node; a table of the messages of a line.   Source  this project.

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/line_tree.hpp"
#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"

namespace torus::reduction::hubs {
namespace {

using multinode_broadcast::LineTree;

/// The all-gather along one line.
class LineGather {
 public:
  /// A message with the blocks of the places first, first + 1, .. round the line.
  struct LineMessage {
    std::int32_t from, hops, first, count;
  };

  /// Without pairs of hubs: a ring.
  LineGather(const DimensionShape& line, std::int32_t pairs);

  std::int32_t pairs() const noexcept { return pairs_; }
  std::int32_t steps() const noexcept { return pairs_ == 0 ? n_ - 1 : static_cast<std::int32_t>(messages_.size()); }
  std::optional<LineMessage> sent(std::int32_t step, std::int32_t place) const;
  std::optional<LineMessage> received(std::int32_t step, std::int32_t place) const;
  /// The blocks of the longest message of a step.
  std::int32_t longest(std::int32_t step) const noexcept;
  std::size_t bytes() const noexcept;

 private:
  using Messages = std::vector<LineMessage>;  // of a step: by place
  /// Places next to each other; the hubs are at `hub` and `hub` + 1.
  struct Group {
    std::int32_t first, places;
    std::int32_t hub() const noexcept { return first + (places - 2) / 2; }
    std::int32_t end() const noexcept { return first + places; }
  };
  const Group& group(std::int32_t i) const noexcept { return groups_[static_cast<std::size_t>(modulo(i, pairs_))]; }
  void send(Messages& step, std::int32_t from, std::int32_t hops, std::int32_t first, std::int32_t count);
  void arms(bool spread);
  void haul(std::int32_t step);
  void swap_own();
  void swap_hauled();
  void index();

  std::int32_t n_, pairs_;
  bool ring_;
  std::int32_t ahead_, behind_;  // of a ring: groups whose bundles are hauled to a hub from before it, and from behind it
  std::vector<Group> groups_;
  std::vector<Messages> messages_;  // by step
  std::vector<Messages> received_;  // by step: by the place that receives
};

LineGather::LineGather(const DimensionShape& line, std::int32_t pairs)
    : n_{line.extent}, pairs_{pairs}, ring_{line.wiring == Wiring::ring}, ahead_{pairs / 2}, behind_{(pairs - 1) / 2} {
  if (pairs == 0) return;
  for (std::int32_t i = 0, first = 0; i < pairs; ++i) {
    groups_.push_back({first, n_ / pairs + (i < n_ % pairs ? 1 : 0)});
    first = groups_.back().end();
  }
  arms(false);
  swap_own();
  for (std::int32_t step = 0; step < (ring_ ? ahead_ : pairs - 1); ++step) haul(step);
  if (pairs > 1) swap_hauled();
  arms(true);
  index();
}

void LineGather::send(Messages& step, std::int32_t from, std::int32_t hops, std::int32_t first, std::int32_t count) {
  if (count > 0) step.push_back({from, hops, modulo(first, n_), count});
}

/// The gather, or the same steps backwards: the spread.
void LineGather::arms(bool spread) {
  std::vector<Messages> levels;
  for (const Group& g : groups_) {
    for (const std::int32_t side : {-1, +1}) {
      const std::int32_t hub = side < 0 ? g.hub() : g.hub() + 1, arm = side < 0 ? hub - g.first : g.end() - 1 - hub;
      const LineTree tree = LineTree::halving(arm + 1);
      if (levels.size() < static_cast<std::size_t>(tree.levels())) levels.resize(static_cast<std::size_t>(tree.levels()));
      for (std::int32_t p = 1; p <= arm; ++p) {
        const LineTree::Vertex& v = tree.at(p);
        const std::int32_t first = side < 0 ? hub - v.high : hub + v.low, count = v.high - v.low + 1;
        Messages& level = levels[static_cast<std::size_t>(v.level)];
        if (spread)
          send(level, hub + side * v.parent, side * (p - v.parent), first + count, n_ - count);
        else
          send(level, hub + side * p, side * (v.parent - p), first, count);
      }
    }
  }
  if (spread) std::reverse(levels.begin(), levels.end());
  std::move(levels.begin(), levels.end(), std::back_inserter(messages_));
}

void LineGather::swap_own() {
  Messages& step = messages_.emplace_back();
  for (const Group& g : groups_) {
    send(step, g.hub(), +1, g.first, g.hub() + 1 - g.first);
    send(step, g.hub() + 1, -1, g.hub() + 1, g.end() - g.hub() - 1);
  }
}

void LineGather::haul(std::int32_t step) {
  Messages& messages = messages_.emplace_back();
  for (std::int32_t i = 0; i < pairs_; ++i) {
    const std::int32_t hub = group(i).hub();
    const Group &before = group(i - step), &behind = group(i + step);
    if (ring_ || (i >= step && i + 1 < pairs_)) send(messages, hub, modulo(group(i + 1).hub() - hub, n_), before.first, before.places);
    if (ring_ ? step < behind_ : i > 0 && i + step < pairs_)
      send(messages, hub + 1, -modulo(hub - group(i - 1).hub(), n_), behind.first, behind.places);
  }
}

void LineGather::swap_hauled() {
  Messages& step = messages_.emplace_back();
  for (std::int32_t i = 0; i < pairs_; ++i) {
    std::int32_t before = 0, behind = 0;  // places
    for (std::int32_t j = 1; j <= (ring_ ? ahead_ : i); ++j) before += group(i - j).places;
    for (std::int32_t j = 1; j <= (ring_ ? behind_ : pairs_ - 1 - i); ++j) behind += group(i + j).places;
    send(step, group(i).hub(), +1, group(i).first - before, before);
    send(step, group(i).hub() + 1, -1, group(i).end(), behind);
  }
}

void LineGather::index() {
  received_ = messages_;
  for (Messages& step : received_) {
    std::sort(step.begin(), step.end(),
              [this](const LineMessage& a, const LineMessage& b) { return modulo(a.from + a.hops, n_) < modulo(b.from + b.hops, n_); });
  }
  for (Messages& step : messages_)
    std::sort(step.begin(), step.end(), [](const LineMessage& a, const LineMessage& b) { return a.from < b.from; });
}

std::optional<LineGather::LineMessage> LineGather::sent(std::int32_t step, std::int32_t place) const {
  if (pairs_ == 0) return LineMessage{place, +1, modulo(place - step, n_), 1};
  const Messages& messages = messages_[static_cast<std::size_t>(step)];
  const auto at =
      std::lower_bound(messages.begin(), messages.end(), place, [](const LineMessage& m, std::int32_t p) { return m.from < p; });
  return at != messages.end() && at->from == place ? std::optional(*at) : std::nullopt;
}

std::optional<LineGather::LineMessage> LineGather::received(std::int32_t step, std::int32_t place) const {
  if (pairs_ == 0) return sent(step, modulo(place - 1, n_));
  const Messages& messages = received_[static_cast<std::size_t>(step)];
  const auto to = [this](const LineMessage& m) { return modulo(m.from + m.hops, n_); };
  const auto at =
      std::lower_bound(messages.begin(), messages.end(), place, [&](const LineMessage& m, std::int32_t p) { return to(m) < p; });
  return at != messages.end() && to(*at) == place ? std::optional(*at) : std::nullopt;
}

std::int32_t LineGather::longest(std::int32_t step) const noexcept {
  if (pairs_ == 0) return 1;
  std::int32_t most = 0;
  for (const LineMessage& m : messages_[static_cast<std::size_t>(step)]) most = std::max(most, m.count);
  return most;
}

std::size_t LineGather::bytes() const noexcept {
  std::size_t messages = 0;
  for (const Messages& step : messages_) messages += step.size();
  return 2 * messages * sizeof(LineMessage);
}

class Hubs final : public ReversibleReduceScatter {
 public:
  /// One line for each dimension of more than one node, ascending.
  Hubs(const Topology& topology, std::vector<LineGather> lines)
      : topology_{topology}, linked_{linked_dimensions(topology)}, lines_{std::move(lines)} {}

  std::uint64_t steps() const override {
    std::uint64_t sum = 0;
    for (const LineGather& line : lines_) sum += static_cast<std::uint64_t>(line.steps());
    return sum;
  }
  std::uint32_t pieces() const override { return 1; }

  void sends(const Node& self, std::uint64_t step, Sends& out) const override {
    const auto [axis, number] = when(step);
    const Dimension d = linked_[axis];
    if (const auto came = lines_[axis].received(number, self.coordinate(d)))
      append(self.coordinates(), d, *came, out.add({{d, topology_.reverse(d, came->hops)}}));
  }

  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override {
    const auto [axis, number] = when(step);
    const Dimension d = linked_[axis];
    if (const auto leaves = lines_[axis].sent(number, self.coordinate(d)))
      append(self.coordinates(), d, *leaves, out.add({{d, leaves->hops}}));
  }

  Load load() const override {
    Load sum;
    for (std::size_t axis = 0; axis < lines_.size(); ++axis) {
      for (std::int32_t step = 0; step < lines_[axis].steps(); ++step)
        sum.channel += std::uint64_t{topology_.stride(linked_[axis])} * static_cast<std::uint64_t>(lines_[axis].longest(step));
    }
    sum.combined = sum.channel;  // a node receives one message a step
    return sum;
  }

  Bytes table_bytes() const override {
    Bytes sum = 0;
    for (const LineGather& line : lines_) sum += line.bytes();
    return sum;
  }

 private:
  /// The line of a step of the reduce-scatter, and the step of its all-gather that is mirrored.
  std::pair<std::size_t, std::int32_t> when(std::uint64_t step) const {
    auto number = static_cast<std::int32_t>(step);
    std::size_t axis = 0;
    for (; number >= lines_[axis].steps(); ++axis) number -= lines_[axis].steps();
    return {axis, lines_[axis].steps() - 1 - number};
  }

  /// The owners at those places that share a node's coordinates in the dimensions before d: runs of ranks.
  void append(const Coordinates& at, Dimension d, const LineGather::LineMessage& message, Sends::Blocks& blocks) const {
    Coordinates owner = at;
    for (Dimension later = d; later < topology_.dimensions(); ++later) owner[static_cast<std::size_t>(later)] = 0;
    const NodeId begin = topology_.rank(owner), run = topology_.stride(d);
    blocks.reserve(static_cast<std::size_t>(message.count) * run);
    for (std::int32_t i = 0; i < message.count; ++i) {
      const auto place = static_cast<NodeId>(modulo(message.first + i, topology_.extent(d)));
      for (NodeId j = 0; j < run; ++j) blocks.push_back(begin + place * run + j);
    }
  }

  Topology topology_;
  std::vector<Dimension> linked_;
  std::vector<LineGather> lines_;
};

/// Pairs that a line has room for, or as many as are worth a look.
std::int32_t most_pairs(std::int32_t extent) {
  constexpr std::int32_t enough = 128;
  return std::clamp(extent / 2, 1, enough);
}

/// The gather of one line: as many pairs as the request says, if there is room, else the form of least time.
LineGather choose(const Machine& machine, const Request& request, Dimension d) {
  const DimensionShape& line = machine.topology.shape()[static_cast<std::size_t>(d)];
  const std::int32_t most = most_pairs(line.extent);
  if (const std::uint32_t asked = request.parameters.whole("hubs"); asked > 0)
    return {line, static_cast<std::int32_t>(std::min<std::uint32_t>(asked, static_cast<std::uint32_t>(most)))};
  const bool both = request.collective == Collective::allreduce;
  const double share = static_cast<double>(request.bytes) / (both ? static_cast<double>(machine.topology.nodes()) : 1);
  std::vector<std::int32_t> forms;
  for (std::int32_t pairs = line.wiring == Wiring::ring ? 0 : 1; pairs <= most; pairs += 1 + pairs / 16) forms.push_back(pairs);
  const auto time = [&](std::int32_t pairs) {
    const LineGather gather(line, pairs);
    double blocks = 0;
    for (std::int32_t step = 0; step < gather.steps(); ++step) blocks += gather.longest(step);
    CostModel cost = machine.cost;
    cost.byte_s = cost.byte_s_of(d);
    return std::optional(cost.steps(gather.steps(), blocks * static_cast<double>(machine.topology.stride(d)) * share, gather.steps()));
  };
  return {line, *cheapest(forms, time)};
}

Plan plan(const Machine& machine, const Request& request) {
  std::vector<LineGather> lines;
  std::string pairs;
  for (const Dimension d : linked_dimensions(machine.topology)) {
    lines.push_back(choose(machine, request, d));
    pairs += (pairs.empty() ? "" : ", ") + std::to_string(lines.back().pairs());
  }
  Plan plan = plan_reversible(machine, request, std::make_shared<const Hubs>(machine.topology, std::move(lines)),
                              "sum 2 ceil(log2 (a+1)) + 1, c > 1: + floor(c/2) + 1, line + c; c = 0: n-1");
  plan.notes.insert(plan.notes.begin(), {"hubs", pairs});
  return plan;
}

std::vector<std::uint32_t> possible_pairs(const Machine& machine) {
  std::vector<std::uint32_t> pairs;
  for (std::int32_t p = 1; p <= most_pairs(largest_extent(machine.topology)); ++p) pairs.push_back(static_cast<std::uint32_t>(p));
  return pairs;
}

constexpr std::array parameters{Parameter{"hubs", "pairs of hubs on each ring or line, fewer where it is too short", {}, possible_pairs}};
constexpr std::array terms{Term{"a", "places of the longest arm of a group, beside a hub"}, Term{"c", "pairs of hubs on a ring or line"}};

constexpr Algorithm hubs(Collective collective, std::string_view steps, const Idea& idea) {
  return {.name = "hubs",
          .collective = collective,
          .source = "this project",
          .shapes = "rings and lines, any sides",
          .steps = steps,
          .idea = idea,
          .terms = terms,
          .native = {.ports = 1},
          .needs = {.shape = Requirements::Shape::rings_and_lines, .switching = Switching::wormhole, .one_dimension_a_route = true},
          .parameters = parameters,
          .plan = plan};
}

constexpr std::string_view half_steps =
    "sum over the dimensions of 2 ceil(log2 (a+1)) + 1, with c > 1 pairs also floor(c/2) + 1, on a line c; without hubs n-1";

constexpr Algorithm
    reduce_scatter = hubs(
        Collective::reduce_scatter, half_steps,
        {.first = "Along each dimension nodes next to each other form groups, and each gives its sums to the two hubs in the middle of its "
                  "group.",
         .then = "The hubs pass the sums on from group to group, one half of the ring each, until each group has its own, and hand them to "
                 "the owners.",
         .good = "Only hubs have long routes, and these do not meet, so that few steps do with one port; long blocks go round the rings "
                 "without hubs."}),
    all_gather = hubs(Collective::multinode_broadcast, half_steps,
                      {.first = "Along each dimension nodes next to each other form groups, and each hands its blocks to the two hubs in "
                                "the middle of its group.",
                       .then = "The hubs pass the bundles on from group to group, one half of the ring each, exchange what has come and "
                               "give it to their groups.",
                       .good = "Only hubs have long routes, and these do not meet, so that few steps do with one port; long blocks go "
                               "round the rings without hubs."}),
    allreduce = hubs(Collective::allreduce,
                     "2 x the sum over the dimensions of 2 ceil(log2 (a+1)) + 1, with c > 1 pairs also floor(c/2) + 1, on a line c; "
                     "without hubs n-1",
                     {.first = "A reduce-scatter: along each dimension groups give their sums to two hubs each, which pass them on "
                               "from group to group and hand each owner its own.",
                      .then = "The same steps run backwards and bring the results to all.",
                      .good = "Only hubs have long routes, and these do not meet, so that few steps do with one port, and fewer bytes "
                              "than where each step carries the whole vector."});

}  // namespace

extern const Entries entries{reduce_scatter, allreduce, all_gather};

}  // namespace torus::reduction::hubs
