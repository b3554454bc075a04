#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <utility>

#include "runtime/base/figures.hpp"
#include "runtime/engine/members.hpp"
#include "runtime/model/contribution.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/run/injection.hpp"
#include "tools/torus/stress/repeat.hpp"
#include "tools/torus/stress/trials.hpp"

namespace torus::command {
namespace {

/// So small that every block of every node can be looked at.
constexpr StressBudget small{Bytes{1} << 20U, 2e5, 1U << 12U, 1U << 14U, 256};
constexpr int most_settings = 4;  // of a turn

/// The nodes of a group, of a setting with groups or without.
struct GroupNodes {
  const Groups* groups;
  NodeId group;
  std::uint64_t seed;  ///< of its blocks

  NodeId rank(NodeId local) const { return groups == nullptr ? local : groups->member(group, local); }
};

/// The value of an element.
long double number_at(ElementType type, const std::byte* at) {
  const auto short_number = [at](int mantissa) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    const int exponent = bits >> mantissa & ((1 << (15 - mantissa)) - 1), bias = (1 << (14 - mantissa)) - 1;
    const int fraction = bits & ((1 << mantissa) - 1);
    if (exponent == 2 * bias + 1) return std::numeric_limits<long double>::quiet_NaN();
    const int digits = exponent == 0 ? fraction : fraction | 1 << mantissa;
    return std::ldexp(static_cast<long double>((bits & 0x8000U) != 0 ? -digits : digits), std::max(exponent, 1) - bias - mantissa);
  };
  const auto number = [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return static_cast<long double>(value);
  };
  if (type == ElementType::bf16) return short_number(7);
  if (type == ElementType::f16) return short_number(10);
  return type == ElementType::f32 ? number(0.0F) : number(0.0);
}

/// Half a unit in the last place of 1.
long double half_unit(ElementType type) {
  switch (type) {
    case ElementType::bf16: return 0x1p-8L;
    case ElementType::f16: return 0x1p-11L;
    case ElementType::f32: return 0x1p-24L;
    default: return 0x1p-53L;
  }
}

/// The same of a reduction whose result depends on the order: no element is further from the exact result than roundings lead, and nodes
/// that want the same have the same.
bool all_rounded(const GroupNodes& nodes, const Placement& placement, const Engine& engine) {
  const Contributions& what = placement.contributions();
  const Bytes size = size_of(what.reduction.type);
  const bool adds = adds_up(what.reduction.op), averages = what.reduction.op == Operator::average,
             of_prefix = what.wanted == Contributions::Wanted::of_prefix;
  for (BlockId segment = 0; segment < placement.vector_segments(); ++segment) {
    std::vector<std::byte> own(placement.bytes(segment));
    std::vector<long double> exact(own.size() / size, adds ? 0 : 1), sizes(exact.size(), 0);
    std::span<const std::byte> first;  // of those that hold all
    std::uint64_t count = 0;
    const auto right_at = [&](NodeId node) {
      if (!placement.wants(node, segment)) return true;
      const std::span<const std::byte> bytes = engine.bytes(nodes.rank(node), segment);
      if (bytes.size() != own.size()) return false;
      const long double allowed = std::expm1(static_cast<long double>(count) * std::log1p(half_unit(what.reduction.type)));
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const long double by = averages ? static_cast<long double>(count) : 1;  // of an average, all times the count
        const long double error = std::abs(by * number_at(what.reduction.type, bytes.data() + i * size) - exact[i]);
        const long double of_f32 = averages && size == 2 ? 0x1p-24L : 0, denormal = averages && size == 2 ? 0x1p-24L * by : 0;
        if (!(error <= (allowed + of_f32) * (adds ? sizes[i] : std::abs(exact[i])) + denormal)) return false;
      }
      if (first.empty()) first = bytes;
      return of_prefix || std::equal(first.begin(), first.end(), bytes.begin());
    };
    for (NodeId node = 0; node < placement.nodes(); ++node) {
      if (!placement.living(node)) continue;
      detail::fill_contribution(own, what.reduction, placement.nodes(), nodes.seed, node, placement.first_element(segment));
      for (std::size_t i = 0; i < exact.size(); ++i) {
        const long double x = number_at(what.reduction.type, own.data() + i * size);
        exact[i] = adds ? exact[i] + x : exact[i] * x;
        sizes[i] += std::abs(x);
      }
      ++count;
      if (of_prefix && !right_at(node)) return false;
    }
    for (NodeId node = 0; !of_prefix && node < placement.nodes(); ++node) {
      if (!right_at(node)) return false;
    }
  }
  return true;
}

/// The same of other reductions: every node that wants a segment has the combination of all that it should have.
bool all_combined(const GroupNodes& nodes, const Placement& placement, const Engine& engine) {
  const Contributions& what = placement.contributions();
  const detail::Combiner combine = detail::combiner_of(what.reduction);
  const detail::Divider divide = detail::divider_of(what.reduction);
  for (BlockId segment = 0; segment < placement.vector_segments(); ++segment) {
    std::vector<std::byte> sum(placement.bytes(segment)), own(sum.size());
    NodeId count = 0;
    const auto wrong_at = [&](NodeId node) {
      const std::span<const std::byte> bytes = engine.bytes(nodes.rank(node), segment);
      std::vector<std::byte> result = sum;
      if (divide != nullptr) divide(result.data(), result.size(), count);
      return placement.wants(node, segment) && !std::equal(bytes.begin(), bytes.end(), result.begin(), result.end());
    };
    const bool of_prefix = what.wanted == Contributions::Wanted::of_prefix;
    bool first = true;
    for (NodeId node = 0; node < placement.nodes(); ++node) {
      if (!placement.living(node)) continue;
      std::vector<std::byte>& to = first ? sum : own;
      detail::fill_contribution(to, what.reduction, placement.nodes(), nodes.seed, node, placement.first_element(segment));
      if (!std::exchange(first, false)) combine(sum.data(), own.data(), sum.size());
      ++count;
      if (of_prefix && wrong_at(node)) return false;
    }
    for (NodeId node = 0; !of_prefix && node < placement.nodes(); ++node) {
      if (wrong_at(node)) return false;
    }
  }
  return true;
}

bool all_right(const GroupNodes& nodes, const Placement& placement, const Engine& engine) {
  if (placement.reduces() && rounds(placement.contributions().reduction)) return all_rounded(nodes, placement, engine);
  if (placement.reduces()) return all_combined(nodes, placement, engine);
  std::vector<BlockId> all;
  for (NodeId node = 0; node < placement.nodes(); ++node) {
    for (std::uint64_t i = 0; i < placement.initial_count(node); ++i) all.push_back(placement.initial(node, i));
  }
  for (NodeId node = 0; node < placement.nodes(); ++node) {
    for (const BlockId id : all) {
      const std::span<const std::byte> bytes = engine.bytes(nodes.rank(node), id);
      const bool wanted = placement.wants(node, id);
      if (!wanted && bytes.empty()) continue;
      if (!wanted || bytes.size() != placement.bytes(id) || first_wrong_byte(bytes, nodes.seed, id)) return false;
    }
  }
  return true;
}

/// Whether every node holds what it must, byte for byte, and nothing else. It looks at each node's copies one by one, and shares nothing
/// with the verifier but the functions that say what a block's bytes are.
bool all_right(const Setting& setting, const Engine& engine) {
  const Placement placement = placement_of(setting.machine, setting.request, setting.plan);
  const Groups* const groups = setting.groups_or_null();
  for (NodeId group = 0; group < (groups == nullptr ? 1 : groups->count()); ++group) {
    if (!all_right({groups, group, detail::seed_of_group(setting.seed, group)}, placement, engine)) return false;
  }
  return true;
}

/// Looks at the nodes after the run.
class NodesRight : public Watcher {
 public:
  explicit NodesRight(const Setting& setting) : setting_{setting} {}
  void begin(const TraceHeader&, const Engine& engine) override { engine_ = &engine; }
  void complete(RunResult&) override { right = all_right(setting_, *engine_); }

  bool right = false;

 private:
  const Setting& setting_;
  const Engine* engine_ = nullptr;
};

struct Struck {
  Fault fault = {};  // as it struck
  std::optional<FaultRecord> record = {};
  std::optional<std::string> refusal = {};
  bool right = false;
};

std::string command_of(const Setting& setting, const Fault& fault) {
  return fmt::format("{} --fault {}", command_line(setting), fault_text(fault, setting.whole().topology));
}

Struck run_with(const Setting& setting, const Fault& fault, bool fewer_threads_do) {
  Struck struck{fault};
  std::deque<NodesRight> nodes;
  std::vector<std::vector<Watcher*>> looking;
  for (const Setting* each : setting.classes()) looking.push_back({&nodes.emplace_back(*each)});
  SessionOptions options;
  options.fault = fault;
  options.stop = &interrupted();
  options.fewer_threads_do = fewer_threads_do;
  options.on_fault = [&](const FaultRecord& record) {
    struck.record = record;
    struck.fault = as_struck(fault, record);
    now_running(command_of(setting, struck.fault));
  };
  now_running(command_of(setting, fault));
  try {
    struck.refusal = emulate(setting, options, std::move(looking)).check.failure;
  } catch (const std::exception& error) {
    struck.refusal = error.what();
  }
  now_running({});
  struck.right = std::all_of(nodes.begin(), nodes.end(), [](const NodesRight& each) { return each.right; });
  return struck;
}

/// The line that repeats what a fault did, and what it then says.
RepeatLine line_of(const Setting& setting, const Struck& struck) {
  RepeatLine line{command_of(setting, struck.fault), struck.refusal ? 1 : 0, {}};
  if (struck.record) line.says.push_back(struck.record->text);
  if (struck.refusal) line.says.push_back(struck.refusal->substr(0, struck.refusal->find('\n')));
  return line;
}

}  // namespace

bool names_step_and_node(const std::string& text) {
  const auto digit_after = [&text](std::string_view word) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      if (at + word.size() < text.size() && std::isdigit(static_cast<unsigned char>(text[at + word.size()])) != 0) return true;
    }
    return false;
  };
  return digit_after("step ") && digit_after("(");
}

FaultOutcome stress_faults(const StressOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  StressBudget budget = small;
  budget.nodes = std::min(budget.nodes, options.budget.nodes);
  budget.uneven = options.budget.uneven;
  FaultOutcome outcome;
  for (const FaultKind kind : all_fault_kinds) outcome.rows.push_back({kind});
  const std::size_t turns = options.algorithms.size();
  std::vector<std::uint64_t> struck_in(turns);  // faults, by algorithm
  const auto stopped = [&] { return outcome.interrupted = options.stop != nullptr && options.stop->load(); };
  for (std::uint64_t number = 0; turns > 0 && number < options.runs && elapsed() < options.seconds; ++number) {
    if (stopped()) break;
    const std::size_t turn = (number + options.seed % turns) % turns;  // other seeds begin with other algorithms
    const Algorithm& algorithm = *options.algorithms[turn];
    Random random(options.seed ^ 0xfa017, number);
    FaultRow& row = outcome.rows[number / turns % outcome.rows.size()];
    std::optional<Setting> setting;
    Struck struck;
    for (int attempt = 0; attempt < most_settings && !struck.record && !struck.refusal; ++attempt) {
      setting = draw_setting(random, algorithm, budget);
      if (!setting) break;
      static constexpr std::array kinds{ExecutorKind::serial, ExecutorKind::shuffled, ExecutorKind::threads, default_executor};
      setting->executor = options.executor ? *options.executor : random.one_of(kinds);
      setting->threads = options.threads > 0 ? options.threads : static_cast<unsigned>(1 + random.below(4));
      Fault fault = random_fault(row.kind, *setting, random.next());
      if (options.progress) {
        options.progress(fmt::format("{}, {:.0f} s: {} in {} on {}", counted(outcome.runs, "fault"), elapsed(), name(row.kind),
                                     algorithm.name, setting->whole().topology.text()));
      }
      struck = run_with(*setting, fault, options.threads == 0);
      if (!struck.record && !struck.refusal) {  // too late, or too high a node: anywhere then
        fault.step = fault.node = 0;
        struck = run_with(*setting, fault, options.threads == 0);
      }
    }
    if (stopped()) break;  // whatever was found, of a run that was cut off
    if (!setting) continue;
    ++outcome.runs;
    ++row.runs;
    if (!struck.record) ++row.idle;
    if (!struck.record && !struck.refusal) continue;  // what no fault has touched must be as it always is
    if (struck.record) {
      ++struck_in[turn];
      outcome.special.add(*setting);
    }
    if (struck.record && options.on_struck) options.on_struck(line_of(*setting, struck));
    if (struck.record && struck.refusal && names_step_and_node(*struck.refusal)) {
      ++row.detected;
      continue;
    }
    if (struck.record && struck.right) {
      ++row.harmless;
      ++row.harmless_because[why_harmless(*setting, struck.fault, *struck.record).kind];
      continue;
    }
    if (row.missed++ > 0) continue;
    const std::string what =
        struck.refusal ? fmt::format("refused without step and node: {}", *struck.refusal) : "not refused, and not right";
    const RepeatLine line = line_of(*setting, struck);
    StressFailure failure{fmt::format("{}: {}", struck.record ? struck.record->text : "no fault", what), line.command, std::nullopt,
                          line.says, line.status};
    failure.number = number + 1;
    outcome.failures.push_back(std::move(failure));
  }
  for (std::size_t i = 0; i < turns; ++i) {
    if (struck_in[i] == 0) outcome.idle.push_back(options.algorithms[i]);
  }
  return outcome;
}

}  // namespace torus::command
