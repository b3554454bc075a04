#include "tools/torus/run/cause.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <torus/block.hpp>
#include <torus/session.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/model/contribution.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/run/emulation.hpp"

namespace torus::command {
namespace {

using Kind = WrongDelivery::Kind;

constexpr double most_run_s = 10;
constexpr double most_compared = 0x1p32;  // bytes, over all steps

/// Follows the block that came out wrong from step to step, at all nodes: who has the contribution that was missing in the end, and whether
/// its bytes are what they must be. Without groups, and where a node has one register.
class WrongBlock : public Watcher {
 public:
  WrongBlock(const Setting& setting, const WrongDelivery& wrong)
      : topology_{setting.machine.topology},
        wrong_{wrong},
        placement_{placement_of(setting.machine, setting.request, setting.plan)},
        right_(topology_.nodes()),
        has_(topology_.nodes(), false) {
    const auto bytes = static_cast<std::size_t>(placement_.bytes(wrong.block));
    if (!placement_.reduces()) {
      right_.front().resize(bytes);
      fill_block(right_.front(), setting.seed, wrong.block);
      return;
    }
    has_[wrong.contributor] = true;
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      if (!placement_.living(node)) continue;
      right_[node].resize(bytes);
      detail::fill_contribution(right_[node], placement_.contributions().reduction, topology_.nodes(), setting.seed, node,
                                placement_.first_element(wrong.block));
    }
  }

  void begin(const TraceHeader&, const Engine& engine) override { engine_ = &engine; }

  void step(const StepSends& sends) override {
    for (const Message* m : sends.messages) {
      for (std::size_t i = 0; i < m->blocks().size(); ++i) {
        if (m->blocks()[i] != wrong_.block) continue;
        const auto bytes = engine_->bytes(*m, i);
        sent_.push_back({m->source(), m->destination(), m->combines(), false, {bytes.begin(), bytes.end()}});
      }
    }
    end_step(sends.step);
  }

  /// What nodes do after the last barrier is a step, too.
  void complete(RunResult& result) override { end_step(static_cast<Step>(result.steps)); }
  /// What is to be said of the block; empty if nothing.
  std::string found() const {
    switch (wrong_.kind) {
      case Kind::damaged: return changed_;
      case Kind::missing: return moved_.empty() ? "no node sends it" : moved_;
      case Kind::lacks_contributor:
        if (!lost_.empty()) return lost_;
        return moved_.empty() ? fmt::format("node {} never sends it", text(wrong_.contributor)) : moved_;
      default: return "";
    }
  }

 private:
  using Content = std::vector<std::byte>;
  /// The block in a message.
  struct Carried {
    NodeId from, to;
    bool combines;
    bool has;  // the contribution
    Content bytes;
  };

  std::string text(NodeId node) const { return node_text(topology_, node); }

  /// After a step: what had arrived for it is in the nodes' hands, and what they sent is known.
  void end_step(Step step) {
    for (const Carried& c : flying_) arrive(c);
    for (Carried& c : sent_) {
      c.has = !placement_.reduces() || has_[c.from];
      if (c.has) moved_ = fmt::format("it last went in step {}, from node {} to {}", step, text(c.from), text(c.to));
      compare(c.from, c.bytes, step);
    }
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      const auto held = engine_->bytes(node, wrong_.block);
      if (!held.empty())
        compare(node, held, step);
      else if (placement_.reduces())
        let_go(node, step);
    }
    flying_ = std::exchange(sent_, {});
  }

  void arrive(const Carried& c) {
    if (!placement_.reduces()) return;
    Content& held = right_[c.to];
    if (c.combines && !held.empty()) {
      detail::combiner_of(placement_.contributions().reduction)(held.data(), c.bytes.data(), c.bytes.size());
      if (c.has) has_[c.to] = true;
      return;
    }
    held = c.bytes;
    has_[c.to] = c.has;
  }

  /// A node holds the block no more.
  void let_go(NodeId node, Step step) {
    const bool given = std::any_of(sent_.begin(), sent_.end(), [&](const Carried& c) { return c.from == node; });
    if (has_[node] && !given) lost_ = fmt::format("node {} drops it in step {}", text(node), step);
    has_[node] = false;
    right_[node].clear();
  }

  void compare(NodeId node, std::span<const std::byte> bytes, Step step) {
    const Content& right = placement_.reduces() ? right_[node] : right_.front();
    if (!changed_.empty() || right.size() != bytes.size()) return;
    const auto [wrong, wanted] = std::mismatch(bytes.begin(), bytes.end(), right.begin());
    if (wrong == bytes.end()) return;
    changed_ = fmt::format("it is changed in step {} at node {}: offset {}: got {:#04x}, wanted {:#04x}", step, text(node),
                           wrong - bytes.begin(), std::to_integer<unsigned>(*wrong), std::to_integer<unsigned>(*wanted));
  }

  const Topology& topology_;
  const Engine* engine_ = nullptr;
  const WrongDelivery& wrong_;
  const Placement placement_;
  std::vector<Content> right_;  // of a reduction, what each node must hold; else the first is what all must
  std::vector<bool> has_;       // by node: its partial has the contribution
  std::vector<Carried> sent_, flying_;
  std::string moved_, lost_, changed_;
};

bool can_follow(const Setting& setting, const RunResult& result) {
  if (setting.groups || setting.plan.registers > 1 || result.wrong->kind == Kind::not_heard) return false;
  const Placement placement = placement_of(setting.machine, setting.request, setting.plan);
  const auto bytes = static_cast<double>(placement.bytes(result.wrong->block));
  return bytes > 0 && static_cast<double>(result.steps + 1) * setting.machine.topology.nodes() * bytes < most_compared;
}

std::string cause_in(const Setting& setting, const RunResult& result) {
  std::optional<WrongBlock> follower;
  if (can_follow(setting, result)) follower.emplace(setting, *result.wrong);
  JudgeWatcher judge;
  Member member = member_of(setting);
  member.watchers = {&judge};
  if (follower) member.watchers.push_back(&*follower);
  SessionOptions options = options_of(setting);
  options.verify = false;
  options.stop = &interrupted();
  const RunResult again = run_session(setting.whole(), {&member, 1}, options).each.front().result;
  if (!again.good() || again.trace_digest != result.trace_digest) return "";
  const Verdict& verdict = judge.verdict();
  if (!verdict.ok && verdict.violations.front().starts_with("step ")) return verdict.violations.front();
  return follower ? follower->found() : "";
}

}  // namespace

std::optional<std::string> cause_of(const Setting& setting, const RunResult& result) {
  if (!result.wrong || result.fault || result.processes > 1 || result.run_s > most_run_s) return std::nullopt;
  try {
    std::string cause = cause_in(setting, result);
    if (!cause.empty()) return cause;
  } catch (const std::exception&) {  // no memory to look again: the failure itself is known
  }
  return std::nullopt;
}

}  // namespace torus::command
