/// Queues, levels and waits of an MSCCL program.
#include "algorithms/foreign/step_order.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <tuple>

namespace torus::foreign {
namespace {

/// An end of a queue.
struct End {
  NodeId from, to;
  std::int32_t channel;
  std::uint32_t step;
  auto key() const { return std::tuple(from, to, channel); }
};

}  // namespace

StepOrder::StepOrder(const MscclProgram& program, const Content::Place& place)
    : program_{program},
      place_{place},
      partner_(program.steps.size(), no_step),
      not_before_(program.steps.size(), 0),
      routed_{program.shape == place.machine.topology.text()} {
  for (NodeId rank = 0; rank < program.gpus; ++rank) routed_ = routed_ && place.node_of_rank[rank] == rank;
  for (std::uint32_t at = 0; at < program.steps.size(); ++at) {
    not_before_[at] = step(at).not_before;
    if (routed_ && step(at).route != no_step) check_route(at);
  }
  if (facts_of(program.collective).combines && place.machine.switching == Switching::packet) check_hops();
  match();
  order();
}

bool StepOrder::delay(std::uint32_t message, Step not_before) {
  Step& limit = not_before_[messages_[message].send];
  if (limit >= not_before) return false;
  limit = not_before;
  return true;
}

void StepOrder::check_route(std::uint32_t at) const {
  const Topology& topology = place_.machine.topology;
  const auto to = static_cast<NodeId>(block_of(at).send);
  std::optional<NodeId> end = block_of(at).gpu;
  for (const auto [d, hops] : program_.routes[step(at).route]) {
    if (end) end = d < topology.dimensions() && std::abs(hops) <= topology.circle(d) ? topology.neighbour(*end, d, hops) : std::nullopt;
  }
  if (end != to) program_.refuse(at, fmt::format("its route does not lead to gpu {} on {}", to, topology.text()));
}

void StepOrder::check_hops() const {
  for (std::uint32_t at = 0; at < program_.steps.size(); ++at) {
    if (!step(at).sends()) continue;
    const Threadblock& block = block_of(at);
    if (place_.steps(block.gpu, static_cast<NodeId>(block.send)) > 1)
      program_.refuse(at, fmt::format("under packet switching its message takes {} hops, and the nodes between have partials of their own; "
                                      "--switching wormhole would do",
                                      place_.steps(block.gpu, static_cast<NodeId>(block.send))));
  }
}

void StepOrder::match() {
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
      program_.refuse(receives[r].step,
                      fmt::format("gpu {} sends no such message on channel {}: it waits for ever", receives[r].from, receives[r].channel));
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

void StepOrder::order() {
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

void StepOrder::refuse_circle(const std::vector<std::uint8_t>& waits) const {
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

bool StepOrder::ordered(std::uint32_t first, std::uint32_t second, std::span<const std::uint32_t> position) {
  if (first == second || step(first).block == step(second).block) return true;
  constexpr std::uint64_t most_search = 100'000'000;
  if (search_ > most_search) return true;
  stamps_.resize(program_.steps.size(), 0);
  ++stamp_;
  trail_.assign(1, second);
  while (!trail_.empty()) {
    const std::uint32_t at = trail_.back();
    trail_.pop_back();
    ++search_;
    for (const std::uint32_t on : {at > block_of(at).first_step ? at - 1 : no_step, partner_[at], step(at).waits_for}) {
      if (on == no_step || position[on] < position[first] || stamps_[on] == stamp_) continue;
      if (on == first || (step(on).block == step(first).block && on > first)) return true;
      stamps_[on] = stamp_;
      trail_.push_back(on);
    }
  }
  return false;
}

}  // namespace torus::foreign
