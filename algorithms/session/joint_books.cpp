#include "algorithms/session/joint_books.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "runtime/base/figures.hpp"
#include "runtime/engine/payload/partials.hpp"
#include "runtime/engine/processes/together.hpp"
#include "runtime/engine/rules/auditor.hpp"
#include "runtime/model/channel.hpp"

namespace torus::detail {
namespace {

constexpr std::uint8_t several_users = 255;  // of a channel; else one more than the only member, or 0

/// A message, and whose it is.
struct Sent {
  const Message* message = nullptr;
  std::uint32_t member = 0;
};

/// The first of a member other than the first one's, at a node or on a channel; null where all are of one.
const Sent* of_another(const std::vector<Sent>& sent) {
  const auto at = std::find_if(sent.begin(), sent.end(), [&](const Sent& s) { return s.member != sent.front().member; });
  return at == sent.end() ? nullptr : &*at;
}

/// Member by member, each one's in the order of its trace.
std::vector<Sent> in_order(std::span<const StepSends> sends) {
  std::vector<Sent> all;
  for (std::uint32_t member = 0; member < sends.size(); ++member) {
    std::vector<const Message*> own(sends[member].messages.begin(), sends[member].messages.end());
    std::sort(own.begin(), own.end(), trace_order);
    for (const Message* m : own) all.push_back({m, member});
  }
  return all;
}

}  // namespace

JointBooks::JointBooks(const Machine& machine, std::span<const JointMember> members, Processes* processes)
    : machine_{machine},
      topology_{machine.topology},
      members_{members},
      processes_{processes},
      nodes_(topology_.nodes()),
      channels_(std::size_t{topology_.nodes()} * static_cast<std::size_t>(topology_.channel_slots())),
      carried_(members.size(), std::vector<Bytes>(channels_.size())),
      users_(channels_.size()) {}

Bytes JointBooks::bytes(const Machine& machine, std::size_t members) noexcept {
  const Bytes nodes = machine.topology.nodes(), channels = nodes * static_cast<Bytes>(machine.topology.channel_slots());
  return nodes * sizeof(NodeUse) + channels * (sizeof(ChannelUse) + members * sizeof(Bytes) + 1);
}

std::size_t JointBooks::channel(NodeId from, Dimension d, std::int32_t hop) const noexcept {
  return std::size_t{from} * static_cast<std::size_t>(topology_.channel_slots()) + static_cast<std::size_t>(topology_.slot(d, hop));
}

double JointBooks::step(Step step, std::span<const StepSends> sends, SessionRun& run) {
  ++now_;
  suspect_ = false;
  StepRecord record;
  for (std::uint32_t member = 0; member < sends.size(); ++member) {
    for (const Message* m : sends[member].messages) book(member, *m, record);
    if (sends[member].runs && machine_.cost.combine_s > 0 && members_[member].placement->reduces())
      book_combining(member, sends[member].messages, record);
  }
  if (machine_.cost.one_speed()) record.channel_time_s = static_cast<double>(record.most_bytes) * machine_.cost.byte_s;
  const double model_time_s = add(record, run);
  if (suspect_) {
    const Violations found = clashes(step, sends);
    run.violations = found.first();
    run.violations_found = found.found();
  }
  return model_time_s;
}

void JointBooks::idle(Step steps, SessionRun& run) {
  for (Step i = 0; i < steps; ++i) add({}, run);
}

double JointBooks::add(const StepRecord& record, SessionRun& run) const {
  ++run.steps;
  run.busy_steps += record.messages > 0 ? 1 : 0;
  run.control_steps += record.control_only() ? 1U : 0U;
  run.channel_bytes_sum += record.most_bytes;
  run.channel_time_s += record.channel_time_s;
  run.route_hops_sum += record.longest_route;
  run.node_combined_sum += record.most_combined;
  if (run.step_records.size() < RunResult::max_step_records) run.step_records.push_back(record);
  const double model_time_s =
      machine_.cost.timed_steps(1, record.channel_time_s, record.longest_route, static_cast<double>(record.most_combined));
  run.model_time_s += model_time_s;
  return model_time_s;
}

bool JointBooks::note(Users& users, std::uint32_t member) const noexcept {
  if (users.step != now_) {
    users = {now_, member, false};
    return true;
  }
  users.several = users.several || users.first != member;
  return false;
}

void JointBooks::book(std::uint32_t member, const Message& m, StepRecord& record) {
  const auto ports = static_cast<std::uint32_t>(machine_.ports);
  NodeUse& from = nodes_[m.source()];
  if (note(from.senders, member)) from.sent = 0;
  NodeUse& to = nodes_[m.destination()];
  if (note(to.receivers, member)) to.received = 0;
  suspect_ = suspect_ || (++from.sent > ports && from.senders.several) || (++to.received > ports && to.receivers.several);

  std::uint32_t hops = 0;
  ChannelUse* last = nullptr;
  each_channel(topology_, m.source(), m.route(), [&](const ChannelName& c) {
    const std::size_t at = channel(c.from, c.dimension, c.hop);
    ChannelUse& use = channels_[at];
    const bool was_shared = use.users.step == now_ && use.users.several;
    if (note(use.users, member)) {
      use.messages = use.queued = 0;
      use.bytes = 0;
    }
    shared_crossings_ += use.users.several && !was_shared ? 1 : 0;
    suspect_ = suspect_ || (use.users.several && machine_.contention == Contention::forbid);
    ++use.messages;
    use.bytes += m.bytes();
    carried_[member][at] += m.bytes();
    const auto self = static_cast<std::uint8_t>(member + 1);
    users_[at] = users_[at] == 0 || users_[at] == self ? self : several_users;
    max_channel_load_ = std::max<std::uint64_t>(max_channel_load_, use.messages);
    record.most_bytes = std::max(record.most_bytes, use.bytes);
    if (!machine_.cost.one_speed())
      record.channel_time_s = std::max(record.channel_time_s, static_cast<double>(use.bytes) * machine_.byte_s(c.from, c.dimension, c.hop));
    ++hops;
    last = &use;
  });
  if (last != nullptr && ++last->queued > static_cast<std::uint32_t>(shared_queue_depth) && last->users.several) suspect_ = true;
  ++record.messages;
  record.control_messages += m.blocks().empty() ? 1U : 0U;
  record.hops += hops;
  record.bytes += m.bytes();
  record.longest_route = std::max(record.longest_route, hops);
}

/// What is combined where the messages arrive: as the engine does it, every partial but the first that finds none.
void JointBooks::book_combining(std::uint32_t member, std::span<const Message* const> messages, StepRecord& record) {
  const Placement& placement = *members_[member].placement;
  std::vector<HeldBlock> targets;
  for (const Message* m : messages) {
    for (const BlockId id : m->blocks())
      each_target(placement, *m, id, [&](BlockId target) { targets.push_back({m->destination(), target}); });
  }
  const std::vector<bool> are_held = held(*members_[member].engine, targets);
  std::set<HeldBlock> arrived;
  std::size_t next = 0;
  for (const Message* m : messages) {
    NodeUse& use = nodes_[m->destination()];  // it has received in this step
    for (const BlockId id : m->blocks()) {
      each_target(placement, *m, id, [&](BlockId target) {
        const bool meets = !arrived.insert({m->destination(), target}).second || are_held[next];
        ++next;
        if (!m->combines() || !meets) return;
        use.combined = (use.combining_step == now_ ? use.combined : 0) + placement.bytes(id);
        use.combining_step = now_;
        record.combined_bytes += placement.bytes(id);
        record.most_combined = std::max(record.most_combined, use.combined);
      });
    }
  }
}

/// Whether nodes hold blocks when the step ends. Process 0 asks; each answers for its own nodes.
std::vector<bool> JointBooks::held(const Engine& engine, std::span<const HeldBlock> asked) const {
  std::vector<HeldBlock> all(asked.begin(), asked.end());
  if (processes_ != nullptr) {
    const std::vector<std::byte> first = gather_bytes(*processes_, std::as_bytes(asked)).front();
    all.resize(first.size() / sizeof(HeldBlock));
    std::copy(first.begin(), first.end(), std::as_writable_bytes(std::span(all)).begin());
  }
  std::vector<std::byte> mine;
  for (const HeldBlock& each : all) mine.push_back(std::byte{!engine.bytes(each.node, each.block).empty()});
  std::vector<bool> held(all.size());
  for (const std::vector<std::byte>& answer :
       processes_ != nullptr ? gather_bytes(*processes_, mine) : std::vector<std::vector<std::byte>>{mine}) {
    for (std::size_t i = 0; i < held.size(); ++i) held[i] = held[i] || answer[i] != std::byte{0};
  }
  return held;
}

/// The texts. Slow: of the one step that has any.
Violations JointBooks::clashes(Step step, std::span<const StepSends> sends) const {
  const std::vector<Sent> all = in_order(sends);
  std::map<NodeId, std::vector<Sent>> sent, received;
  std::map<ChannelName, std::vector<Sent>> crossed, queued;
  for (const Sent& s : all) {
    sent[s.message->source()].push_back(s);
    received[s.message->destination()].push_back(s);
    ChannelName last;
    each_channel(topology_, s.message->source(), s.message->route(), [&](const ChannelName& c) { crossed[last = c].push_back(s); });
    queued[last].push_back(s);
  }
  const auto of_each = [this](const std::vector<Sent>& some) {
    std::map<std::uint32_t, std::size_t> counts;
    for (const Sent& s : some) ++counts[s.member];
    std::string text;
    for (const auto& [member, count] : counts) text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", count, members_[member].name);
    return text;
  };
  const auto text_of = [this](const Sent& s) {
    return fmt::format("of {} from {} by {}", members_[s.member].name, node_text(topology_, s.message->source()),
                       route_text(s.message->route()));
  };
  Violations found;
  const auto ports = static_cast<std::size_t>(machine_.ports);
  const auto check_ports = [&](const std::map<NodeId, std::vector<Sent>>& by_node, ViolationKind kind, std::string_view verb) {
    for (const auto& [node, some] : by_node) {
      if (some.size() <= ports || of_another(some) == nullptr) continue;
      found.add(kind, step, node, [&, node = node, &some = some] {
        return fmt::format("node {} {} {} messages on {}: {}", node_text(topology_, node), verb, some.size(), counted(ports, "port"),
                           of_each(some));
      });
    }
  };
  check_ports(sent, ViolationKind::too_many_sends, "sends");
  check_ports(received, ViolationKind::too_many_receives, "receives");
  for (const auto& [channel, some] : crossed) {
    const Sent* const other = of_another(some);
    if (machine_.contention != Contention::forbid || other == nullptr) continue;
    found.add(ViolationKind::channel_used_twice, step, other->message->source(), [&, &channel = channel, &some = some] {
      return fmt::format("channel {} carries {} messages: {}; and {}", channel_text(topology_, channel), some.size(), text_of(some.front()),
                         text_of(*other));
    });
  }
  for (const auto& [channel, some] : queued) {
    if (machine_.contention != Contention::share || some.size() <= static_cast<std::size_t>(shared_queue_depth)) continue;
    if (of_another(some) == nullptr) continue;
    found.add(ViolationKind::queue_overflow, step, some.front().message->destination(), [&, &channel = channel, &some = some] {
      return fmt::format("the queue at the end of channel {} holds {} messages, and {} arrive: {}", channel_text(topology_, channel),
                         shared_queue_depth, some.size(), of_each(some));
    });
  }
  return found;
}

void JointBooks::close(SessionRun& run) const {
  run.max_channel_load = max_channel_load_;
  run.shared_crossings = shared_crossings_;
  run.shared_channels = static_cast<std::uint64_t>(std::count(users_.begin(), users_.end(), several_users));
  for (NodeId node = 0; node < topology_.nodes(); ++node) {
    topology_.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) {
      const std::size_t at = channel(node, d, hop);
      Bytes bytes = 0;
      for (const std::vector<Bytes>& carried : carried_) bytes += carried[at];
      if (users_[at] == 0 || (run.busiest && run.busiest->bytes >= bytes)) return;
      run.busiest.emplace(SessionRun::Busiest{node, d, hop, bytes, {}});
      for (const std::vector<Bytes>& carried : carried_) run.busiest->of_each.push_back(carried[at]);
    });
  }
}

}  // namespace torus::detail
