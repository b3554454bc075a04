/// An MSCCL program in lock step: its order, its messages, and what they carry.
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include <torus/error.hpp>

#include "algorithms/foreign/msccl.hpp"
#include "algorithms/foreign/partials.hpp"

namespace torus::foreign {
namespace {

using Type = MscclStep::Type;
constexpr BlockId nothing = 0xffffffff;

/// Where the chunks of a gpu's buffers lie. In place, input and output are one buffer: a rank's block lies at its place in that of all.
class Cells {
 public:
  explicit Cells(const MscclProgram& program) : program_{program}, first_(program.gpus + std::size_t{1}, 0) {
    for (NodeId gpu = 0; gpu < program.gpus; ++gpu) {
      const std::uint32_t in = size(gpu, 'i'), out = size(gpu, 'o');
      first_[gpu + 1] = first_[gpu] + (program.in_place ? std::max(in, out) : in + out) + size(gpu, 's');
    }
  }

  std::size_t count() const noexcept { return first_.back(); }
  std::uint32_t size(NodeId gpu, char buffer) const noexcept {
    const auto [in, out, scratch] = program_.buffers[gpu];
    if (buffer == 's') return scratch;
    if (!program_.in_place) return buffer == 'i' ? in : out;
    const std::uint32_t all = program_.chunks * program_.gpus;
    if (program_.collective == Collective::multinode_broadcast) return buffer == 'i' ? program_.chunks : all;
    if (program_.collective == Collective::reduce_scatter) return buffer == 'i' ? all : program_.chunks;
    return std::max(in, out);
  }
  /// Within size().
  std::size_t at(NodeId gpu, char buffer, std::uint32_t offset) const noexcept {
    const std::size_t first = first_[gpu];
    if (buffer == 's') return first_[gpu + 1] - size(gpu, 's') + offset;
    if (!program_.in_place) return first + (buffer == 'o' ? size(gpu, 'i') : 0) + offset;
    const bool within = (program_.collective == Collective::multinode_broadcast && buffer == 'i') ||
                        (program_.collective == Collective::reduce_scatter && buffer == 'o');
    return first + (within ? std::size_t{gpu} * program_.chunks : 0) + offset;
  }
  /// "o[3]".
  std::string text(NodeId gpu, std::size_t cell) const {
    for (const char buffer : {'s', 'o', 'i'}) {
      if (size(gpu, buffer) == 0) continue;
      const std::size_t first = at(gpu, buffer, 0);
      if (cell >= first && cell < first + size(gpu, buffer)) return fmt::format("{}[{}]", buffer, cell - first);
    }
    return "a chunk";
  }

 private:
  const MscclProgram& program_;
  std::vector<std::size_t> first_;  // of each gpu
};

class LockStep {
 public:
  LockStep(const MscclProgram& program, const Content::Place& place)
      : program_{program},
        place_{place},
        cells_{program},
        reduction_{reduces(program.collective)},
        partner_(program.steps.size(), no_step),
        not_before_(program.steps.size(), 0),
        routed_{program.shape == place.machine.topology.text()} {
    for (NodeId rank = 0; rank < program.gpus; ++rank) routed_ = routed_ && place.node_of_rank[rank] == rank;
    for (std::uint32_t at = 0; at < program.steps.size(); ++at) {
      not_before_[at] = step(at).not_before;
      if (routed_ && step(at).route != no_step) check_route(at);
    }
  }

  RankSends run() {
    if (reduction_ && place_.machine.switching == Switching::packet) check_hops();
    match();
    order();
    evaluate();
    check_output();
    if (!reduction_) return copies();
    constexpr int most_delays = 200;
    for (int delays = 0;; ++delays) {
      const auto found = partials(delays == most_delays);
      if (found) return *found;
      order();
    }
  }

 private:
  struct End {
    NodeId from, to;
    std::int32_t channel;
    std::uint32_t step;
    auto key() const { return std::tuple(from, to, channel); }
  };

  const MscclStep& step(std::uint32_t at) const { return program_.steps[at]; }
  const Threadblock& block_of(std::uint32_t at) const { return program_.blocks[step(at).block]; }

  /// It leads where the message goes; whether the machine has its channels says the judge.
  void check_route(std::uint32_t at) const {
    const Topology& topology = place_.machine.topology;
    const auto to = static_cast<NodeId>(block_of(at).send);
    std::optional<NodeId> end = block_of(at).gpu;
    for (const auto [d, hops] : program_.routes[step(at).route]) {
      if (end) end = d < topology.dimensions() && std::abs(hops) <= topology.circle(d) ? topology.neighbour(*end, d, hops) : std::nullopt;
    }
    if (end != to) program_.refuse(at, fmt::format("its route does not lead to gpu {} on {}", to, topology.text()));
  }

  void check_hops() const {
    for (std::uint32_t at = 0; at < program_.steps.size(); ++at) {
      if (!step(at).sends()) continue;
      const Threadblock& block = block_of(at);
      if (place_.steps(block.gpu, static_cast<NodeId>(block.send)) > 1)
        program_.refuse(at,
                        fmt::format("under packet switching its message takes {} hops, and the nodes between have partials of their own; "
                                    "--switching wormhole would do",
                                    place_.steps(block.gpu, static_cast<NodeId>(block.send))));
    }
  }

  /// The n-th send on a queue goes with its n-th receive.
  void match() {
    std::vector<End> sends, receives;
    for (std::uint32_t at = 0; at < program_.steps.size(); ++at) {
      const Threadblock& block = block_of(at);
      if (step(at).sends()) sends.push_back({block.gpu, static_cast<NodeId>(block.send), block.channel, at});
      if (step(at).receives()) receives.push_back({static_cast<NodeId>(block.receive), block.gpu, block.channel, at});
    }
    const auto by_key = [](const End& a, const End& b) { return a.key() < b.key(); };
    std::stable_sort(sends.begin(), sends.end(), by_key);
    std::stable_sort(receives.begin(), receives.end(), by_key);
    for (const auto* list : {&sends, &receives}) {
      for (std::size_t i = 1; i < list->size(); ++i) {
        const End &a = (*list)[i - 1], &b = (*list)[i];
        if (a.key() == b.key() && step(a.step).block != step(b.step).block)
          program_.refuse(b.step,
                          fmt::format("threadblock {} too {} gpu {} on channel {}, and a queue has one at each end", block_of(a.step).id,
                                      list == &sends ? "sends to" : "receives from", list == &sends ? b.to : b.from, b.channel));
      }
    }
    std::size_t s = 0, r = 0;
    while (s < sends.size() || r < receives.size()) {
      if (r == receives.size() || (s < sends.size() && sends[s].key() < receives[r].key()))
        program_.refuse(sends[s].step, fmt::format("gpu {} receives no such message from gpu {} on channel {}", sends[s].to, sends[s].from,
                                                   sends[s].channel));
      if (s == sends.size() || receives[r].key() < sends[s].key())
        program_.refuse(receives[r].step, fmt::format("gpu {} sends no such message on channel {}: it waits for ever", receives[r].from,
                                                      receives[r].channel));
      const std::uint32_t from = sends[s++].step, to = receives[r++].step;
      receive_of_.emplace_back(from, to);
      if (step(from).count != step(to).count)
        program_.refuse(to, fmt::format("it receives {} chunks, and {} sends {}", step(to).count, program_.place(from), step(from).count));
    }
    // A step may both receive and send: the send that it receives from is its partner, its own message is found by `message_`.
    message_.assign(program_.steps.size(), no_step);
    std::sort(receive_of_.begin(), receive_of_.end());
    for (const auto& [from, to] : receive_of_) {
      partner_[to] = from;
      message_[from] = static_cast<std::uint32_t>(messages_.size());
      messages_.push_back({from, to, 0});
    }
  }

  /// A step after all that it waits for, and the first step of the machine in which each can be. A threadblock sends one message a step.
  void order() {
    const std::size_t steps = program_.steps.size();
    std::vector<std::uint8_t> waits(steps, 0);
    std::vector<std::uint32_t> first_waiter(steps, no_step), next_waiter(steps, no_step);
    for (std::uint32_t at = 0; at < steps; ++at) {
      if (at > block_of(at).first_step) ++waits[at];
      if (partner_[at] != no_step) ++waits[at];
      if (const std::uint32_t on = step(at).waits_for; on != no_step) {
        ++waits[at];
        next_waiter[at] = std::exchange(first_waiter[on], at);
      }
    }
    ready_.assign(steps, 0);
    order_.clear();
    order_.reserve(steps);
    for (std::uint32_t at = 0; at < steps; ++at) {
      if (waits[at] == 0) order_.push_back(at);
    }
    const auto free_after = [&](std::uint32_t at, Step when) {
      ready_[at] = std::max(ready_[at], when);
      if (--waits[at] == 0) order_.push_back(at);
    };
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::uint32_t at = order_[i];
      const Threadblock& block = block_of(at);
      if (step(at).sends()) ready_[at] = std::max(ready_[at], not_before_[at]);
      const Step now = ready_[at];
      if (at + 1 < block.first_step + block.steps) free_after(at + 1, now + (step(at).sends() ? 1 : 0));
      for (std::uint32_t w = first_waiter[at]; w != no_step; w = next_waiter[w]) free_after(w, now);
      if (message_[at] != no_step)
        free_after(messages_[message_[at]].receive, now + place_.steps(block.gpu, static_cast<NodeId>(block.send)));
    }
    if (order_.size() < steps) refuse_circle(waits);
    for (MscclMessage& message : messages_) message.step = ready_[message.send];
  }

  [[noreturn]] void refuse_circle(const std::vector<std::uint8_t>& waits) const {
    std::uint32_t at = 0;
    while (waits[at] == 0) ++at;
    const auto before = [&](std::uint32_t of) {
      for (const std::uint32_t on : {of > block_of(of).first_step ? of - 1 : no_step, partner_[of], step(of).waits_for}) {
        if (on != no_step && waits[on] > 0) return on;
      }
      return of;
    };
    for (std::size_t i = 0; i < program_.steps.size(); ++i) at = before(at);  // now within a circle
    std::string text;
    std::uint32_t on = at;
    int named = 0;
    do {
      on = before(on);
      if (named++ < 4) text += fmt::format(", which waits for {}", program_.place(on));
    } while (on != at);
    program_.refuse(at, fmt::format("it waits for {}{}: none of them can go on", text.substr(text.find("for ") + 4),
                                    named > 4 ? fmt::format(", and so on round {} steps", named) : ""));
  }

  /// Whether a step is after another, which stands before it in the order: by threadblock, dependency or queue.
  bool ordered(std::uint32_t first, std::uint32_t second) {
    if (first == second || step(first).block == step(second).block) return true;
    if (search_ > most_search) return true;
    ++stamp_;
    trail_.assign(1, second);
    while (!trail_.empty()) {
      const std::uint32_t at = trail_.back();
      trail_.pop_back();
      ++search_;
      for (const std::uint32_t on : {at > block_of(at).first_step ? at - 1 : no_step, partner_[at], step(at).waits_for}) {
        if (on == no_step || position_[on] < position_[first] || stamps_[on] == stamp_) continue;
        if (on == first || (step(on).block == step(first).block && on > first)) return true;
        stamps_[on] = stamp_;
        trail_.push_back(on);
      }
    }
    return false;
  }

  void touch(std::uint32_t at, std::size_t cell, bool writes) {
    const auto check = [&](std::uint32_t before) {
      if (!ordered(before, at))
        program_.refuse(at, fmt::format("{} of gpu {} is touched by it and by threadblock {}, step {}, in no order, and one writes: a race",
                                        cells_.text(block_of(at).gpu, cell), block_of(at).gpu, block_of(before).id,
                                        before - block_of(before).first_step));
    };
    if (writer_[cell] != no_step) check(writer_[cell]);
    if (!writes) {
      readers_.push_back({at, std::exchange(last_reader_[cell], static_cast<std::uint32_t>(readers_.size()))});
      return;
    }
    for (std::uint32_t r = std::exchange(last_reader_[cell], no_step); r != no_step; r = readers_[r].before) check(readers_[r].step);
    writer_[cell] = at;
  }

  std::size_t cell(std::uint32_t at, char buffer, std::int32_t offset, std::int32_t index) const {
    const NodeId gpu = block_of(at).gpu;
    const std::int64_t size = cells_.size(gpu, buffer);
    if (offset < 0 || std::int64_t{offset} + index >= size)
      program_.refuse(at, fmt::format("it touches {}[{}], and that buffer has {} chunks", buffer, std::int64_t{offset} + index, size));
    return cells_.at(gpu, buffer, static_cast<std::uint32_t>(offset + index));
  }

  struct Value {
    BlockId id = nothing;  ///< a block, or the segment of a partial
    ContributorSet from = {};
  };

  Value load(std::uint32_t at, std::size_t cell) {
    touch(at, cell, false);
    if (values_[cell].id == nothing)
      program_.refuse(at, fmt::format("it reads {}, which nothing has written", cells_.text(block_of(at).gpu, cell)));
    return values_[cell];
  }
  void store(std::uint32_t at, std::size_t cell, Value value) {
    touch(at, cell, true);
    values_[cell] = std::move(value);
  }

  Value joined(std::uint32_t at, const Value& a, const Value& b) {
    if (!reduction_) program_.refuse(at, "it combines chunks, as reductions alone do");
    if (a.id != b.id) program_.refuse(at, fmt::format("it combines chunk {} with chunk {}", a.id, b.id));
    if (a.from->meets(*b.from))
      program_.refuse(at, fmt::format("it combines the contribution of gpu {} to chunk {} twice", a.from->first_common(*b.from), a.id));
    auto both = std::make_shared<Contributors>(*a.from);
    both->add(*b.from);
    return {a.id, *both == *all_ ? all_ : both};
  }

  void begin_buffers() {
    values_.assign(cells_.count(), {});
    const NodeId gpus = program_.gpus;
    const std::uint32_t chunks = program_.chunks;
    if (reduction_) {
      auto all = std::make_shared<Contributors>();
      for (NodeId gpu = 0; gpu < gpus; ++gpu) {
        own_.push_back(std::make_shared<Contributors>(gpu, gpus));
        all->add(*own_.back());
      }
      all_ = all;
      if (gpus == 1) own_[0] = all_;
    }
    for (NodeId gpu = 0; gpu < gpus; ++gpu) {
      const Collective c = program_.collective;
      if (c == Collective::broadcast && gpu != program_.root) continue;
      const std::uint32_t own = c == Collective::total_exchange ? gpus : c == Collective::reduce_scatter ? chunks * gpus : chunks;
      if (cells_.size(gpu, 'i') < own)
        throw InputError(
            fmt::format("schedule '{}': gpu {}: its input has {} chunks; it must have {}", program_.file, gpu, cells_.size(gpu, 'i'), own));
      for (std::uint32_t k = 0; k < own; ++k) {
        const BlockId id = c == Collective::total_exchange        ? gpu * gpus + k
                           : c == Collective::multinode_broadcast ? gpu * chunks + k
                           : c == Collective::broadcast           ? program_.root * chunks + k
                                                                  : k;
        values_[cells_.at(gpu, 'i', k)] = {id, reduction_ ? own_[gpu] : nullptr};
      }
    }
  }

  /// All steps in their order: what each message carries.
  void evaluate() {
    const std::size_t steps = program_.steps.size();
    std::uint64_t touched = 0;
    for (const MscclStep& each : program_.steps) touched += static_cast<std::uint64_t>(each.count);
    if (touched > (std::uint64_t{1} << 26U))
      throw InputError(fmt::format("schedule '{}': its steps touch {} chunks; at most 2^26 are followed", program_.file, touched));
    begin_buffers();
    position_.resize(steps);
    for (std::size_t i = 0; i < steps; ++i) position_[order_[i]] = static_cast<std::uint32_t>(i);
    stamps_.assign(steps, 0);
    writer_.assign(values_.size(), no_step);
    last_reader_.assign(values_.size(), no_step);
    first_content_.resize(messages_.size());
    std::size_t contents = 0;
    for (std::size_t m = 0; m < messages_.size(); ++m) {
      first_content_[m] = contents;
      contents += static_cast<std::size_t>(step(messages_[m].send).count);
    }
    contents_.resize(contents);
    for (const std::uint32_t at : order_) {
      for (std::int32_t k = 0; k < step(at).count; ++k) evaluate(at, k);
    }
    readers_ = {};
  }

  void evaluate(std::uint32_t at, std::int32_t k) {
    const MscclStep& s = step(at);
    const auto source = [&] { return cell(at, s.source_buffer, s.source, k); };
    const auto target = [&] { return cell(at, s.target_buffer, s.target, k); };
    const auto index = static_cast<std::size_t>(k);
    const auto arrived = [&]() -> const Value& { return contents_[first_content_[message_[partner_[at]]] + index]; };
    const auto send = [&](Value value) { contents_[first_content_[message_[at]] + index] = std::move(value); };
    switch (s.type) {
      case Type::s: send(load(at, source())); break;
      case Type::r: store(at, target(), arrived()); break;
      case Type::cpy: store(at, target(), load(at, source())); break;
      case Type::re: {
        const Value more = load(at, source());
        store(at, target(), joined(at, load(at, target()), more));
        break;
      }
      case Type::rcs:
        store(at, target(), arrived());
        send(arrived());
        break;
      case Type::rrc: store(at, target(), joined(at, load(at, source()), arrived())); break;
      case Type::rrs: send(joined(at, load(at, source()), arrived())); break;
      case Type::rrcs: {
        Value both = joined(at, load(at, source()), arrived());
        store(at, target(), both);
        send(std::move(both));
        break;
      }
      case Type::nop: break;
    }
  }

  bool wants(NodeId gpu, BlockId segment) const {
    switch (program_.collective) {
      case Collective::reduce: return gpu == program_.root;
      case Collective::reduce_scatter: return segment / program_.chunks == gpu;
      default: return true;
    }
  }

  /// Delivery is where the file says it is, in the output, not only on the gpu.
  void check_output() const {
    const NodeId gpus = program_.gpus;
    const Collective c = program_.collective;
    const std::uint32_t chunks = program_.chunks;
    const std::uint32_t outputs = c == Collective::total_exchange ? gpus : c == Collective::multinode_broadcast ? gpus * chunks : chunks;
    for (NodeId gpu = 0; gpu < gpus; ++gpu) {
      if ((c == Collective::reduce && gpu != program_.root) || (c == Collective::broadcast && gpu == program_.root)) continue;
      const auto wrong = [&](std::uint32_t k, const std::string& why) {
        throw InputError(fmt::format("schedule '{}': gpu {}: at the end o[{}] {}", program_.file, gpu, k, why));
      };
      if (cells_.size(gpu, 'o') < outputs) wrong(outputs - 1, fmt::format("is not there: the output has {} chunks", cells_.size(gpu, 'o')));
      for (std::uint32_t k = 0; k < outputs; ++k) {
        const Value& value = values_[cells_.at(gpu, 'o', k)];
        const BlockId id = c == Collective::total_exchange   ? k * gpus + gpu
                           : c == Collective::reduce_scatter ? gpu * chunks + k
                           : c == Collective::broadcast      ? program_.root * chunks + k
                                                             : k;
        if (value.id == nothing) wrong(k, "is empty: nothing has written it");
        if (value.id != id) wrong(k, fmt::format("has block {}; it must have block {}", value.id, id));
        if (reduction_ && !(*value.from == *all_))
          wrong(k, fmt::format("has the contributions of {} of {} gpus", value.from->count(), gpus));
      }
    }
  }

  /// Messages of one step and way between the same gpus are one, whatever their channels: these are threads of a program, not wires.
  struct Group {
    Step step;
    NodeId from, to;
    std::uint8_t registers;
    bool releases;
    std::uint32_t route;
    BlockId id;
    auto key() const { return std::tuple(step, from, to, route, registers, releases); }
  };
  std::uint32_t route_of(const MscclMessage& message) const { return routed_ ? step(message.send).route : no_step; }
  RankSends grouped(std::vector<Group> groups, std::uint32_t registers) const {
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.key() < b.key(); });
    RankSends out;
    out.registers = registers;
    for (std::size_t i = 0; i < groups.size();) {
      const Group& first = groups[i];
      RankSends::Send send{.step = first.step, .from = first.from, .to = first.to, .first_block = out.blocks.size()};
      send.registers = first.registers;
      send.releases = first.releases;
      if (first.route != no_step) {
        const std::vector<Leg>& legs = program_.routes[first.route];
        send.first_leg = out.legs.size();
        send.legs = static_cast<std::uint32_t>(legs.size());
        out.legs.insert(out.legs.end(), legs.begin(), legs.end());
      }
      for (; i < groups.size() && groups[i].key() == first.key(); ++i) out.blocks.push_back(groups[i].id);
      const auto begin = out.blocks.begin() + static_cast<std::ptrdiff_t>(send.first_block);
      std::sort(begin, out.blocks.end());
      out.blocks.erase(std::unique(begin, out.blocks.end()), out.blocks.end());
      send.blocks = static_cast<std::uint32_t>(out.blocks.size() - send.first_block);
      out.sends.push_back(send);
    }
    return out;
  }
  template <class F>
  void each_content(F&& f) const {
    for (std::uint32_t m = 0; m < messages_.size(); ++m) {
      const auto count = static_cast<std::size_t>(step(messages_[m].send).count);
      for (std::size_t k = 0; k < count; ++k) f(m, first_content_[m] + k);
    }
  }

  RankSends copies() const {
    std::vector<Group> groups;
    groups.reserve(contents_.size());
    each_content([&](std::uint32_t m, std::size_t content) {
      const Threadblock& block = block_of(messages_[m].send);
      groups.push_back(
          {messages_[m].step, block.gpu, static_cast<NodeId>(block.send), 0, false, route_of(messages_[m]), contents_[content].id});
    });
    return grouped(std::move(groups), 1);
  }

  /// Registers for all partials. None if messages had to be delayed: a node that still needs what it holds lets others wait.
  std::optional<RankSends> partials(bool last_try) {
    struct Event {
      NodeId gpu;
      BlockId segment;
      Step step;
      std::uint32_t content;
      bool arrives;
    };
    std::vector<std::uint32_t> message_of(contents_.size());
    std::vector<Event> events;
    events.reserve(2 * contents_.size());
    each_content([&](std::uint32_t m, std::size_t content) {
      const Threadblock& block = block_of(messages_[m].send);
      const Step now = messages_[m].step;
      message_of[content] = m;
      events.push_back({block.gpu, contents_[content].id, now, static_cast<std::uint32_t>(content), false});
      events.push_back({static_cast<NodeId>(block.send), contents_[content].id, now + 1, static_cast<std::uint32_t>(content), true});
    });
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return std::tie(a.gpu, a.segment, a.step, a.content) < std::tie(b.gpu, b.segment, b.step, b.content);
    });
    std::vector<std::uint8_t> sender(contents_.size(), 0), receiver(contents_.size(), 0);
    std::vector<bool> releases(contents_.size(), false), replaces(contents_.size(), false);
    std::uint32_t registers = 1;
    bool delayed = false;
    std::vector<Need> needs;
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < events.size();) {
      const Event first = events[i];
      needs.clear();
      arrivals.clear();
      for (; i < events.size() && events[i].gpu == first.gpu && events[i].segment == first.segment; ++i) {
        const Event& e = events[i];
        const ContributorSet& what = contents_[e.content].from;
        if (e.arrives)
          arrivals.push_back({e.step, what, e.content, 0});
        else
          needs.push_back({e.step, what, e.content, 0, false});
      }
      const bool wanted = wants(first.gpu, first.segment);
      if (wanted) needs.push_back({Need::at_end, all_, no_step, 0, false});
      RegisterPlan plan(own_[first.gpu], wanted);
      if (const std::string why = plan.find(needs, arrivals); !why.empty()) {
        bool more = false;
        for (const std::uint32_t content : plan.early) {
          const std::uint32_t send = messages_[message_of[content]].send;
          if (plan.not_before == 0 || not_before_[send] >= plan.not_before - 1) continue;
          not_before_[send] = plan.not_before - 1;
          more = true;
        }
        if (!more || last_try) {
          const std::string what = fmt::format("chunk {} at gpu {}: {}", first.segment, first.gpu, why);
          if (plan.failed == no_step) throw InputError(fmt::format("schedule '{}': {}", program_.file, what));
          program_.refuse(messages_[message_of[plan.failed]].send, what);
        }
        delayed = true;
        continue;
      }
      registers = std::max(registers, plan.registers);
      for (const Need& need : needs) {
        if (need.item == no_step) continue;
        sender[need.item] = need.reg;
        releases[need.item] = need.releases;
      }
      for (const Arrival& arrival : arrivals) {
        receiver[arrival.item] = arrival.registers;
        replaces[arrival.item] = arrival.replaces;
      }
    }
    if (delayed) return std::nullopt;

    const BlockId segments = program_.collective == Collective::reduce_scatter ? program_.chunks * program_.gpus : program_.chunks;
    std::vector<Group> groups;
    groups.reserve(contents_.size());
    each_content([&](std::uint32_t m, std::size_t content) {
      const Threadblock& block = block_of(messages_[m].send);
      if (receiver[content] == 0)
        program_.refuse(messages_[m].receive,
                        fmt::format("it receives a partial of chunk {} that gpu {} never uses", contents_[content].id, block.send));
      const std::uint8_t into = replaces[content] && sender[content] == 0 ? std::uint8_t{0} : receiver[content];
      groups.push_back({messages_[m].step, block.gpu, static_cast<NodeId>(block.send), into, releases[content], route_of(messages_[m]),
                        sender[content] * segments + contents_[content].id});
    });
    return grouped(std::move(groups), registers);
  }

  struct Reader {
    std::uint32_t step, before;
  };
  static constexpr std::uint64_t most_search = 100'000'000;

  const MscclProgram& program_;
  const Content::Place& place_;
  const Cells cells_;
  const bool reduction_;
  std::vector<std::uint32_t> partner_;  // of a receive: its send
  std::vector<std::pair<std::uint32_t, std::uint32_t>> receive_of_;
  std::vector<MscclMessage> messages_;
  std::vector<std::uint32_t> message_;  // of a step that sends
  std::vector<Step> not_before_, ready_;
  bool routed_;  // the routes of the file are this machine's
  std::vector<std::uint32_t> order_, position_;
  // What cells and messages have.
  std::vector<Value> values_, contents_;
  std::vector<std::size_t> first_content_;
  std::vector<ContributorSet> own_;
  ContributorSet all_;
  // Who touches a cell.
  std::vector<std::uint32_t> writer_, last_reader_;
  std::vector<Reader> readers_;
  std::vector<std::uint32_t> stamps_, trail_;
  std::uint32_t stamp_ = 0;
  std::uint64_t search_ = 0;
};

}  // namespace

RankSends in_lock_step(const MscclProgram& program, const Content::Place& place) { return LockStep(program, place).run(); }

}  // namespace torus::foreign
