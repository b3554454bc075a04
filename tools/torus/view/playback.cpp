#include "tools/torus/view/playback.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/view/layout.hpp"

namespace torus::command {
namespace {

/// Channels that a leg of any trace crosses; it may be longer than any route.
std::uint64_t channels_of(const Topology& topology, const Leg& leg) {
  if (topology.wiring(leg.dimension) == Wiring::complete) return leg.hops == 0 ? 0 : 1;
  return static_cast<std::uint64_t>(std::llabs(std::int64_t{leg.hops}));
}

}  // namespace

View::View(const TraceHeader& header) : header_{header}, groups_{header}, facts_{facts_of(header.collective)} {
  const std::uint64_t nodes = header_.machine.topology.nodes();
  const bool follows = ContributorCounts::follows(header_.collective);
  if (!follows) count_wanted();
  const auto too_large = follows ? ContributorCounts::too_large(header_) : std::nullopt;
  if (nodes > max_nodes)
    leave_out_messages(fmt::format("the machine has {} nodes, and a page draws at most {}", grouped(nodes), grouped(max_nodes)));
  else if (too_large)
    leave_out_messages(*too_large);
  else if (static_cast<double>(nodes) * static_cast<double>(blocks_wanted_) > static_cast<double>(max_deliveries))
    leave_out_messages(fmt::format("each of {} nodes is to hold {} blocks, and a page follows at most {} such deliveries", grouped(nodes),
                                   grouped(blocks_wanted_), grouped(max_deliveries)));
  else
    hold_first_blocks();
  if (nodes <= max_nodes) count_channels();
  if (!left_out_) judged([&] { judge_.emplace(header); });
}

/// What the nodes of each group want: the blocks of its sources, of its root, or of all its nodes.
void View::count_wanted() {
  const std::uint64_t of_origin = facts_.of_pairs() ? 1 : header_.segments;
  for (NodeId group = 0; group < groups_.count(); ++group) {
    std::uint64_t origins = 1, living = 1;
    const auto count_living = [&](NodeId rank) { living += groups_.living(group, rank) ? 1U : 0U; };
    if (facts_.replicates() || facts_.start != CollectiveFacts::Start::at_root) {
      living = 0;
      origins = facts_.replicates() ? header_.sources.size() : groups_.nodes(group);
      if (facts_.replicates()) std::for_each(header_.sources.begin(), header_.sources.end(), count_living);
      for (NodeId rank = 0; rank < origins && !facts_.replicates(); ++rank) count_living(rank);
    }
    wanted_.push_back(living * of_origin);
    blocks_wanted_ = std::max(blocks_wanted_, origins * of_origin);
  }
}

/// Without the memory that judging takes, the page has no verdict.
void View::judged(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError&) {
    judge_.reset();
  }
}

std::uint64_t View::wanted(NodeId node) const noexcept {
  if (counts_) return counts_->wanted(node);
  const auto [group, rank] = groups_.place(node);
  const bool wants = group != TraceGroups::none && header_.machine.topology.living(node) &&
                     (facts_.wanted != CollectiveFacts::Wanted::at_root || rank == header_.sources.front());
  return wants ? wanted_[group] : 0;
}

/// The number of a block among those that the node is to hold; none if it is to do without.
std::optional<std::uint64_t> View::wanted_index(NodeId node, std::uint64_t block) const noexcept {
  if (wanted(node) == 0) return std::nullopt;
  const auto [group, rank] = groups_.place(node);
  const std::uint64_t nodes = groups_.nodes(group), origin = block / (facts_.of_pairs() ? nodes : header_.segments);
  if (facts_.start == CollectiveFacts::Start::at_root && !facts_.replicates())
    return origin == rank ? std::optional(block % header_.segments) : std::nullopt;
  if (!groups_.living(group, origin)) return std::nullopt;
  if (facts_.of_pairs()) return block % nodes == rank ? std::optional(origin) : std::nullopt;
  if (!facts_.replicates()) return block;
  const std::vector<NodeId>& sources = header_.sources;
  const auto at = std::lower_bound(sources.begin(), sources.end(), origin);
  if (at == sources.end() || *at != origin) return std::nullopt;
  return static_cast<std::uint64_t>(at - sources.begin()) * header_.segments + block % header_.segments;
}

/// Notes that a node holds a block. True if it is to hold it and did not before.
bool View::hold(NodeId node, std::uint64_t block) {
  const auto index = wanted_index(node, block);
  if (!index) return false;
  const std::uint64_t bit = node * blocks_wanted_ + *index;
  if (held_[bit]) return false;
  held_[bit] = true;
  return true;
}

void View::count_channels() {
  const Topology& topology = header_.machine.topology;
  const NodeId nodes = topology.nodes();
  slots_.push_back(0);
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const auto others = static_cast<std::size_t>(std::max(topology.extent(d) - 1, 0));
    slots_.push_back(slots_.back() + (topology.wiring(d) == Wiring::complete ? others : 2));
  }
  if (slots_.back() > max_channels / nodes) return;
  load_.resize(nodes * slots_.back());
  run_load_ = load_;
  first_.resize(nodes, -1);
}

void View::hold_first_blocks() {
  const NodeId nodes = header_.machine.topology.nodes();
  held_.resize(nodes * blocks_wanted_);
  held_first_.resize(nodes);
  const auto first = [&](NodeId node, std::uint64_t block) { held_first_[node] += hold(node, block) ? 1U : 0U; };
  if (ContributorCounts::follows(header_.collective)) {
    counts_.emplace(header_);
    for (NodeId node = 0; node < nodes; ++node) held_first_[node] = counts_->had(node);
    return;
  }
  const std::vector<NodeId> sources = groups_.nodes_of(header_.sources);
  for (NodeId node = 0; node < nodes; ++node) {
    const auto [group, rank] = groups_.place(node);
    const bool holds = facts_.start == CollectiveFacts::Start::everywhere || std::binary_search(sources.begin(), sources.end(), node);
    if (group == TraceGroups::none || !holds) continue;
    if (facts_.of_pairs()) first(node, std::uint64_t{rank} * groups_.nodes(group) + rank);
    // A node has all segments of its own blocks; those that are not wanted do not count.
    for (std::uint64_t segment = 0; segment < header_.segments && !facts_.of_pairs(); ++segment)
      first(node, std::uint64_t{rank} * header_.segments + segment);
  }
}

void View::leave_out_messages(std::string why) {
  left_out_ = std::move(why);
  judge_.reset();
  held_ = {};
  counts_.reset();
  source_ = destination_ = {};
  bytes_ = {};
  block_count_ = gained_ = blocks_ = {};
  legs_ = ranges_ = {};
  registers_ = releases_ = {};
  paths_ = {};
}

void View::message(const TraceMessage& message) {
  if (last_step_ && message.step < *last_step_)
    throw InputError(fmt::format("step {} comes after step {}: steps must ascend; sort the messages by step", message.step, *last_step_));
  if (!last_step_ || message.step != *last_step_) {
    settle();
    last_step_ = message.step;
    steps_ = std::uint64_t{message.step} + 1;
    if (++busy_steps_ <= max_steps) {
      sums_.push_back({message.step});
      phase_.push_back(phase_number(message.phase));
    }
    for (const std::size_t channel : loaded_) load_[channel] = 0;
    loaded_.clear();
  }
  std::uint64_t hops = 0;
  for (const Leg& leg : message.path) hops += channels_of(header_.machine.topology, leg);
  const auto add = [&](StepSum& sum) {
    ++sum.messages;
    sum.hops += hops;
    sum.bytes += message.bytes;
  };
  add(total_);
  if (busy_steps_ <= max_steps) add(sums_.back());

  if (total_.hops > max_map_hops) {
    load_ = run_load_ = {};
    loaded_ = {};
  }
  if (!load_.empty()) {
    if (busy_steps_ <= max_steps) load_channels(message);
    std::int64_t& first = first_[message.destination];
    if (first < 0 && (!message.blocks.empty() || !facts_.carries_bytes())) first = static_cast<std::int64_t>(busy_steps_) - 1;
  }
  if (left_out_) return;
  if (total_.messages > max_messages)
    leave_out_messages(fmt::format("the run has more than {} messages", grouped(max_messages)));
  else if (total_.hops > max_hops)
    leave_out_messages(fmt::format("the run has more than {} hops", grouped(max_hops)));
  else
    keep(message);
}

void View::load_channels(const TraceMessage& message) {
  const Machine& machine = header_.machine;
  const Topology& topology = machine.topology;
  StepSum& sum = sums_.back();
  std::uint64_t hops = 0;
  each_hop(topology, message.source, message.path, [&](NodeId from, Dimension d, std::int32_t hop, NodeId) {
    const std::size_t slot =
        slots_[static_cast<std::size_t>(d)] + (topology.wiring(d) == Wiring::complete ? static_cast<std::size_t>(hop - 1)
                                               : hop > 0                              ? 1U
                                                                                      : 0U);
    const std::size_t channel = from * slots_.back() + slot;
    if (load_[channel] == 0) loaded_.push_back(channel);
    load_[channel] += message.bytes;
    run_load_[channel] += message.bytes;
    sum.fullest = std::max(sum.fullest, load_[channel]);
    if (!machine.cost.one_speed())
      sum.channel_time_s = std::max(sum.channel_time_s, static_cast<double>(load_[channel]) * machine.byte_s(from, d, hop));
    ++hops;
  });
  sum.longest_route = std::max(sum.longest_route, hops);
}

std::int32_t View::phase_number(std::string_view phase) {
  if (phase.empty()) return -1;
  auto at = std::find(phases_.begin(), phases_.end(), phase);
  if (at == phases_.end() && phases_.size() == RunResult::max_phases) return -1;
  if (at == phases_.end()) at = phases_.insert(phases_.end(), std::string(phase));
  return static_cast<std::int32_t>(at - phases_.begin());
}

void View::keep(const TraceMessage& message) {
  if (judge_) judged([&] { judge_->message(message); });
  source_.push_back(message.source);
  destination_.push_back(message.destination);
  bytes_.push_back(message.bytes);
  block_count_.push_back(message.blocks.size());
  legs_.push_back(static_cast<std::uint32_t>(message.path.size()));
  for (const Leg& leg : message.path) paths_.insert(paths_.end(), {leg.dimension, leg.hops});
  std::uint64_t gained = 0;
  if (counts_) {
    counts_->sent(message);
    if (facts_.carries_bytes()) {
      registers_.push_back(message.registers);
      releases_.push_back(message.releases ? 1 : 0);
    }
  } else {
    for (const std::uint64_t block : message.blocks) gained += hold(message.destination, block) ? 1U : 0U;
  }
  gained_.push_back(gained);

  if (!named_blocks_) return;
  std::uint32_t ranges = 0;
  for (const std::uint64_t block : message.blocks) {
    if (ranges > 0 && block == blocks_[blocks_.size() - 2] + blocks_.back()) {
      ++blocks_.back();
    } else {
      blocks_.insert(blocks_.end(), {block, 1});
      ++ranges;
    }
  }
  ranges_.push_back(ranges);
  if (blocks_.size() / 2 <= max_block_ranges) return;
  named_blocks_ = false;
  ranges_ = {};
  blocks_ = {};
}

/// What the messages of the last step did: a step of a reduction is known when it has ended.
void View::settle() {
  if (!counts_ || settled_ == gained_.size()) return;
  for (const ContributorCounts::Effect& effect : counts_->end_step()) gained_[settled_++] = effect.gained;
  sums_.back().combined = counts_->most_combined();
}

void View::step(std::span<const Message* const> messages, std::string_view phase, Step offset) {
  // A run gives the messages of a step in no order: sorted, the page does not depend on the executor.
  ordered_.assign(messages.begin(), messages.end());
  std::sort(ordered_.begin(), ordered_.end(), trace_order);
  for (const Message* m : ordered_) {
    line_.assign(*m);
    line_.step += offset;
    line_.phase = phase;
    message(line_);
  }
}

void View::name_phases(const RunResult& result) {
  steps_ = result.steps;
  phase_.clear();
  phases_.clear();
  for (const StepSum& sum : sums_) {
    const char* phase = sum.step < result.step_records.size() ? result.step_records[sum.step].phase : nullptr;
    phase_.push_back(phase_number(phase != nullptr ? phase : ""));
  }
}

void View::together(Together together) {
  steps_ = together.steps;
  together_ = std::move(together);
}

namespace {

/// The legs of a route as far as a page can draw it: each goes round its dimension once at most.
std::vector<Leg> drawable(const Topology& topology, const std::vector<Leg>& route) {
  std::vector<Leg> legs;
  for (const Leg& leg : route) {
    if (leg.dimension < 0 || leg.dimension >= topology.dimensions()) break;
    const std::int32_t most = topology.extent(leg.dimension);
    legs.push_back({leg.dimension, std::clamp(leg.hops, -most, most)});
  }
  return legs;
}

}  // namespace

/// The number of a message of the last step that breaks a rule; if it was not sent, it is put behind the others.
std::size_t View::refused(const ViolatingMessage& message) {
  const std::vector<Leg> path = drawable(header_.machine.topology, message.route);
  StepSum& sum = sums_.back();
  std::size_t leg = paths_.size();
  for (std::size_t m = source_.size(), left = sum.messages; left > 0; --left) {
    leg -= 2 * std::size_t{legs_[--m]};
    std::size_t at = leg;
    const auto same = [&](const Leg& each) {
      const Leg sent{static_cast<Dimension>(paths_[at]), paths_[at + 1]};
      at += 2;
      return each == sent;
    };
    if (source_[m] == message.source && bytes_[m] == message.bytes && block_count_[m] == message.blocks && legs_[m] == path.size() &&
        std::all_of(path.begin(), path.end(), same))
      return m;
  }
  NodeId end = message.source;
  each_hop(header_.machine.topology, message.source, path, [&](NodeId, Dimension, std::int32_t, NodeId to) {
    end = to;
    ++sum.hops;
  });
  ++sum.messages;
  sum.bytes += message.bytes;
  source_.push_back(message.source);
  destination_.push_back(end);
  bytes_.push_back(message.bytes);
  block_count_.push_back(message.blocks);
  legs_.push_back(static_cast<std::uint32_t>(path.size()));
  for (const Leg& l : path) paths_.insert(paths_.end(), {l.dimension, l.hops});
  gained_.push_back(0);
  settled_ = gained_.size();
  if (counts_ && header_.collective != "barrier") {
    registers_.push_back(1);
    releases_.push_back(0);
  }
  if (named_blocks_) {
    ranges_.push_back(message.blocks > 0 ? 1 : 0);
    if (message.blocks > 0) blocks_.insert(blocks_.end(), {message.first_block, 1});
  }
  return source_.size() - 1;
}

void View::fail(std::string text, std::string command, const RunResult& result) {
  settle();
  failure_ = {std::move(text), std::move(command)};
  failure_->step = sums_.size();
  failure_->violations = result.violations_found;
  for (const Violation& violation : result.violations) {
    if (failure_->nodes.empty() || failure_->nodes.back() != violation.node) failure_->nodes.push_back(violation.node);
    if (left_out_) continue;
    if (sums_.empty() || sums_.back().step != violation.step) {
      sums_.push_back({violation.step});
      phase_.push_back(-1);
      failure_->step = sums_.size();
    }
    for (const ViolatingMessage& message : violation.messages) {
      const std::size_t m = refused(message);  // it may break several rules
      if (std::ranges::find(failure_->messages, m) == failure_->messages.end()) failure_->messages.push_back(m);
    }
  }
}

/// The path of a message, whose legs begin there; leg becomes where those of the next one do.
std::vector<Leg> View::path_of(std::size_t message, std::size_t& leg) const {
  std::vector<Leg> path;
  for (std::uint32_t l = 0; l < legs_[message]; ++l, leg += 2) path.push_back({static_cast<Dimension>(paths_[leg]), paths_[leg + 1]});
  return path;
}

/// Whether a sentence of the judge names the message, or a channel that it crosses.
bool View::blames(const std::string& sentence, const TraceMessage& message) const {
  const Topology& topology = header_.machine.topology;
  const auto has = [&](const std::string& words) { return sentence.find(words) != std::string::npos; };
  // The route stands in it, unless it is of blocks that have arrived.
  const bool same_route =
      !has(" by [") || message.path.empty() || has(fmt::format(" by [[{},{}]", message.path.front().dimension, message.path.front().hops));
  if (same_route && has("message from node " + node_text(topology, message.source)) &&
      has(" to " + node_text(topology, message.destination)))
    return true;
  bool crosses = false;
  each_hop(topology, message.source, message.path, [&](NodeId from, Dimension d, std::int32_t hop, NodeId) {
    crosses = crosses || has(fmt::format(": channel {} dimension {} direction {:+} carries", node_text(topology, from), d, hop));
  });
  return crosses;
}

/// Where the judge's first sentence points: to messages and nodes of a step; or, where something is missing, to the nodes at the end.
View::Failure View::objection(const std::string& sentence) const {
  Failure failure{sentence, std::nullopt};
  const Topology& topology = header_.machine.topology;
  std::size_t m = 0, leg = 0;
  for (std::size_t s = 0; s < sums_.size(); ++s) {
    const std::string step = fmt::format("step {}: ", sums_[s].step), of_node = step + "node ";
    // The judge says "node .. block .. lacks .." of partials at the end.
    const bool here = sentence.starts_with(step) && !(sentence.starts_with(of_node) && sentence.find(" block ") != std::string::npos);
    if (here) failure.step = s + 1;
    for (std::uint64_t i = 0; i < sums_[s].messages; ++i, ++m) {
      TraceMessage message;
      message.source = source_[m];
      message.destination = destination_[m];
      message.path = path_of(m, leg);
      if (!here || !blames(sentence, message)) continue;
      failure.messages.push_back(m);
      failure.nodes.push_back(message.source);
    }
    if (!here) continue;
    for (NodeId node = 0; node < topology.nodes(); ++node) {
      if (sentence.starts_with(of_node + node_text(topology, node))) failure.nodes.push_back(node);
    }
    std::ranges::sort(failure.nodes);
    failure.nodes.erase(std::unique(failure.nodes.begin(), failure.nodes.end()), failure.nodes.end());
    return failure;
  }
  failure.illegal = false;
  failure.step = sums_.size();
  std::vector<std::uint64_t> held = held_first_;
  for (std::size_t i = 0; i < gained_.size(); ++i) held[destination_[i]] += gained_[i];
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (held[node] < wanted(node)) failure.nodes.push_back(node);
  }
  return failure;
}

View::Frame View::frame_of(Step step) const {
  Frame frame{step, {}, {}, {}};
  std::vector<std::uint64_t> held = held_first_;
  std::size_t m = 0, leg = 0;
  for (std::size_t s = 0; s < sums_.size() && sums_[s].step <= step; ++s) {
    if (sums_[s].step == step && s < phase_.size() && phase_[s] >= 0) frame.phase = phases_[static_cast<std::size_t>(phase_[s])];
    for (std::uint64_t i = 0; i < sums_[s].messages; ++i, ++m) {
      held[destination_[m]] += gained_[m];
      FrameMessage message{source_[m], path_of(m, leg), block_count_[m] > 0};
      if (sums_[s].step == step) frame.messages.push_back(std::move(message));
    }
  }
  for (NodeId node = 0; node < header_.machine.topology.nodes(); ++node)
    frame.share.push_back(wanted(node) == 0 ? -1.0 : static_cast<double>(held[node]) / static_cast<double>(wanted(node)));
  return frame;
}

}  // namespace torus::command
