#include "tools/torus/run/injection.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <torus/error.hpp>
#include <torus/session.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/model/channel.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/random.hpp"

namespace torus::command {
namespace {

[[noreturn]] void refuse_fault(const std::string& text) {
  throw InputError(
      fmt::format("--fault '{}': it must be KIND@step,node with a rank, or KIND@step,node:channel as --dead-link writes it, and a + at the "
                  "end where the fault may strike later, too; or random, or random:KIND; for instance drop@2,5 or drop@2,5:+0",
                  text));
}

FaultKind parse_kind(const std::string& word) {
  std::vector<std::string_view> names;
  for (const FaultKind kind : all_fault_kinds) {
    if (word == name(kind)) return kind;
    names.push_back(name(kind));
  }
  throw InputError(fmt::format("--fault '{}': a fault must be {}, or random{}", word, fmt::join(names, ", "), did_you_mean(word, names)));
}

std::uint64_t whole(const std::string& text, std::string_view part, std::uint64_t max, const char* what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (part.empty() || error != std::errc{} || end != part.data() + part.size()) refuse_fault(text);
  if (value > max) throw InputError(fmt::format("--fault '{}': {} {} must be 0 to {}", text, what, value, max));
  return value;
}

/// `5:+0`: the message's sender and its first channel.
void parse_channel(Fault& fault, const std::string& text, std::string_view part, const Topology& topology) {
  const std::vector<Link> links = parse_links("--fault", part, topology);
  const Link& link = links.front();
  std::vector<std::string> there;
  topology.each_link(link.node, [&](Dimension d, std::int32_t hop, NodeId) {
    there.push_back(link_text({link.node, d, hop}, topology));
    if (d == link.dimension && hop == link.hop) fault.channel = static_cast<std::uint32_t>(topology.slot(d, hop));
  });
  if (links.size() != 1 || !fault.channel) {
    throw InputError(fmt::format("--fault '{}': it must be one living channel of the node{}", text,
                                 there.empty() ? ", which has none" : fmt::format("; for instance {}", there.front())));
  }
  fault.node = link.node;
}

constexpr std::size_t most_copies = std::size_t{1} << 20U;

/// A copy of a block: one that a node holds after a step, or one in a message that is sent in the step.
struct Copy {
  NodeId node = 0;  // the holder, or the receiver
  BlockId block = 0;
  bool in_message = false;
  NodeId source = 0;   // of the message
  std::size_t at = 0;  // in its blocks
  bool combines = false;
  unsigned registers = 0;
  auto key() const { return std::tie(node, block, in_message, source, at, combines, registers); }
  friend bool operator<(const Copy& a, const Copy& b) { return a.key() < b.key(); }
};
using Copies = std::map<Copy, std::size_t>;  // and the hash of its bytes

/// Runs a setting by one thread, and does not verify it.
void run_watched(const Setting& setting, Watcher& watcher, const std::optional<Fault>& fault, const std::atomic<bool>& stop) {
  Member member = member_of(setting);
  member.watchers = {&watcher};
  SessionOptions options = options_of(setting);
  options.executor = ExecutorKind::serial;
  options.threads = 1;
  options.verify = false;
  options.fault = fault;
  options.stop = &stop;
  static_cast<void>(run_session(setting.whole(), {&member, 1}, options));
}

/// The copies of some blocks after each step from `from` on.
class History : public Watcher {
 public:
  History(const Setting& setting, const std::optional<Fault>& fault, const std::vector<BlockId>& blocks, Step from)
      : blocks_{blocks}, from_{from}, nodes_{setting.whole().topology.nodes()} {
    run_watched(setting, *this, fault, too_many_);
  }

  void begin(const TraceHeader&, const Engine& engine) override { engine_ = &engine; }
  void step(const StepSends& sends) override {
    if (sends.step < from_) return;
    for (const Message* m : sends.messages) add_message(*m);
    add_held(sends.step);
  }

  bool too_many() const noexcept { return too_many_; }
  std::size_t steps() const noexcept { return after_.size(); }
  const Copies& operator[](std::size_t step) const { return after_[step]; }

 private:
  Copies& after(Step step) {
    after_.resize(std::max<std::size_t>(after_.size(), step - from_ + 1));
    return after_[step - from_];
  }
  void add(Step step, const Copy& copy, std::span<const std::byte> bytes) {
    after(step).emplace(copy, std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    if (++copies_ > most_copies) too_many_ = true;
  }
  void add_message(const Message& m) {
    for (std::size_t i = 0; i < m.blocks().size(); ++i) {
      const BlockId id = m.blocks()[i];
      if (std::find(blocks_.begin(), blocks_.end(), id) == blocks_.end()) continue;
      add(m.step(), {m.destination(), id, true, m.source(), i, m.combines(), m.registers()}, engine_->bytes(m, i));
    }
  }
  void add_held(Step step) {
    for (NodeId node = 0; node < nodes_ && !too_many_; ++node) {
      for (const BlockId id : blocks_) {
        if (const auto bytes = engine_->bytes(node, id); !bytes.empty()) add(step, {node, id}, bytes);
      }
    }
  }

  const std::vector<BlockId>& blocks_;
  const Step from_;
  const NodeId nodes_;
  const Engine* engine_ = nullptr;
  std::vector<Copies> after_;
  std::size_t copies_ = 0;
  std::atomic<bool> too_many_ = false;
};

/// The copies that are not the same in both, or in one alone.
std::vector<Copy> difference(const Copies& a, const Copies& b) {
  std::vector<Copy> differ;
  const auto add = [&](const Copies& from, const Copies& in, bool both) {
    for (const auto& [copy, hash] : from) {
      const auto found = in.find(copy);
      if (found == in.end() || (both && found->second != hash)) differ.push_back(copy);
    }
  };
  add(a, b, true);
  add(b, a, false);
  return differ;
}

/// Of several classes of groups the one of a node, alone; none where all are one.
std::optional<Setting> class_with(const Setting& setting, NodeId node) {
  if (setting.others.empty()) return std::nullopt;
  for (const Setting* each : setting.classes()) {
    if (each->groups->group_of(node) == Groups::none) continue;
    Setting alone = *each;
    alone.others.clear();
    return alone;
  }
  return std::nullopt;
}

/// Counts the messages that a fault could strike, in a run that stops at the fault's step.
class Candidates : public Watcher {
 public:
  Candidates(const Setting& setting, const Fault& fault) : fault_{fault}, topology_{setting.whole().topology} {
    run_watched(setting, *this, std::nullopt, done_);
  }

  void step(const StepSends& sends) override {
    if (sends.step >= fault_.step) done_ = true;
    if (sends.step != fault_.step) return;
    count_ = static_cast<std::uint64_t>(std::count_if(sends.messages.begin(), sends.messages.end(), [&](const Message* m) {
      return m->source() == fault_.node && (!fault_.channel || in_slot_of(topology_, m->route().front()) == *fault_.channel);
    }));
  }

  std::uint64_t count() const noexcept { return count_; }

 private:
  const Fault& fault_;
  const Topology& topology_;
  std::atomic<bool> done_ = false;
  std::uint64_t count_ = 0;
};

class Follower {
 public:
  Follower(const Setting& setting, const Fault& fault, const FaultRecord& record)
      : setting_{setting}, fault_{fault}, record_{record}, placement_{placement_of(setting.machine, setting.request, setting.plan)} {}

  Harmless follow() {
    const std::vector<BlockId> blocks = copies_of_changed();
    const History right(setting_, std::nullopt, blocks, record_.step);
    const History wrong(setting_, right.too_many() ? std::nullopt : std::optional(fault_), blocks, record_.step);
    if (right.too_many() || wrong.too_many())
      return {"not followed", "every byte that is wanted is right; the run is too large to follow what became of the changed bytes"};
    // What was struck is changed between the step of its sending and the next one.
    std::size_t last = 0;
    std::vector<Copy> differ = struck(right[0]);
    for (std::size_t step = 1; step < std::max(right.steps(), wrong.steps()); ++step) {
      static const Copies none;
      auto now = difference(step < right.steps() ? right[step] : none, step < wrong.steps() ? wrong[step] : none);
      if (now.empty()) continue;
      last = step;
      differ = std::move(now);
    }
    const bool held_at_last = last + 1 == std::max(right.steps(), wrong.steps()) && still_held(differ);
    if (placement_.reduces() && placement_.contributions().reduction.op == Operator::average && held_at_last)
      return {"within rounding", "the division by the number of contributions takes the difference"};
    if (rounds(placement_.contributions().reduction) && held_at_last) {
      return {"within rounding",
              "the results differ from those without the fault, by no more than another order of combining could make them differ"};
    }
    for (const Copy& copy : differ) {
      if (auto end = end_of(copy, right[last], record_.step + static_cast<Step>(last))) return *end;
    }
    return {"given up", "no node holds the changed bytes in the end"};
  }

 private:
  /// The changed blocks; in a reduction, in all registers.
  std::vector<BlockId> copies_of_changed() const {
    if (!placement_.reduces()) return record_.changed;
    std::vector<BlockId> all;
    for (const BlockId id : record_.changed) {
      for (std::uint32_t r = 0; r < setting_.plan.registers; ++r)
        all.push_back(placement_.segment_of(id) + r * placement_.vector_segments());
    }
    return all;
  }
  static bool still_held(const std::vector<Copy>& differ) {
    return std::any_of(differ.begin(), differ.end(), [](const Copy& copy) { return !copy.in_message; });
  }
  std::vector<Copy> struck(const Copies& sent) const {
    std::vector<Copy> found;
    for (const auto& [copy, hash] : sent) {
      const bool first = copy.source == record_.node && copy.node == record_.to && copy.block == record_.changed.front();
      if (copy.in_message && (first || (fault_.kind == FaultKind::swap && copy.block == record_.changed.back()))) found.push_back(copy);
    }
    return found;
  }
  /// What ends a difference at a copy, with the messages that are sent in a step; none: it was given up.
  std::optional<Harmless> end_of(const Copy& copy, const Copies& before, Step step) const {
    const std::string where = fmt::format("{} in step {}", node_text(setting_.whole().topology, copy.node), step);
    if (copy.in_message && !copy.combines) {
      if (placement_.reduces() || !before.contains({copy.node, copy.block})) return std::nullopt;
      return Harmless{"copy not kept", fmt::format("the receiver {} held the block already, and kept its own copy", where)};
    }
    if (copy.in_message) return combined(where);
    for (const auto& [other, hash] : before) {  // what arrives next for this one
      if (!other.in_message || other.node != copy.node || !reaches(other, copy.block)) continue;
      if (!other.combines) return Harmless{"replaced", fmt::format("a right copy takes its place at {}", where)};
      return combined(where);
    }
    return std::nullopt;
  }
  bool reaches(const Copy& message, BlockId block) const {
    if (!message.combines) return message.block == block;
    return placement_.segment_of(message.block) == placement_.segment_of(block) &&
           (message.registers >> (block / placement_.vector_segments()) & 1U) != 0;
  }
  std::optional<Harmless> combined(const std::string& where) const {
    const Reduction& reduction = placement_.contributions().reduction;
    if (reduction.op == Operator::min || reduction.op == Operator::max) {
      return Harmless{"outdone by another value",
                      fmt::format("the {} at {} is the same with the changed value", name(reduction.op), where)};
    }
    if ((adds_up(reduction.op) || reduction.op == Operator::prod) && is_float(reduction.type)) {
      return Harmless{"rounded away", fmt::format("the {} at {} rounds the difference away ({})", adds_up(reduction.op) ? "sum" : "product",
                                                  where, name(reduction.type))};
    }
    if (reduction.op == Operator::bitwise_and || reduction.op == Operator::bitwise_or) {
      return Harmless{"outdone by another value",
                      fmt::format("the {} at {} is the same with the changed value", name(reduction.op), where)};
    }
    // An even factor takes the highest bits of another integer.
    if (reduction.op == Operator::prod)
      return Harmless{"outdone by another value", fmt::format("the product at {} is the same with the changed value", where)};
    return std::nullopt;  // these lose nothing
  }

  const Setting& setting_;
  const Fault& fault_;
  const FaultRecord& record_;
  const Placement placement_;
};

}  // namespace

Fault parse_fault(const std::string& text, const Setting& setting) {
  const Topology& topology = setting.whole().topology;
  if (text == "random") {
    Random random(setting.seed ^ 0xfa017);
    return random_fault(random.one_of(all_fault_kinds), setting, setting.seed);
  }
  if (text.starts_with("random:")) return random_fault(parse_kind(text.substr(7)), setting, setting.seed);
  const std::size_t at = text.find('@');
  Fault fault;
  fault.kind = parse_kind(text.substr(0, at));
  if (at == std::string::npos) refuse_fault(text);
  fault.exact = !text.ends_with('+');
  const std::string place = text.substr(at + 1, text.size() - at - (fault.exact ? 1 : 2));
  const std::vector<std::string_view> parts = split(place, ',');
  fault.step = static_cast<Step>(whole(text, parts[0], std::numeric_limits<std::int32_t>::max(), "step"));
  if (parts.size() < 2) refuse_fault(text);
  if (place.find(':') != place.npos) {
    parse_channel(fault, text, std::string_view(place).substr(parts[0].size() + 1), topology);
  } else {
    if (parts.size() > 3) refuse_fault(text);
    fault.node = static_cast<NodeId>(whole(text, parts[1], topology.nodes() - 1, "node"));
    if (parts.size() == 3) {
      const auto slots = static_cast<std::uint64_t>(std::max(1, topology.channel_slots()));
      fault.channel = static_cast<std::uint32_t>(whole(text, parts[2], slots - 1, "channel"));
    }
  }
  if (fault.kind == FaultKind::stall && ((fault.step == 0 && fault.exact) || fault.channel))
    throw InputError(
        fmt::format("--fault '{}': a node stalls from step 1 on, with all its channels; for instance stall@1,{}", text, fault.node));
  fault.seed = setting.seed;
  return fault;
}

std::string fault_text(const Fault& fault, const Topology& topology) {
  std::string place = fmt::format("{}", fault.node);
  topology.each_link(fault.node, [&](Dimension d, std::int32_t hop, NodeId) {
    if (fault.channel && static_cast<std::uint32_t>(topology.slot(d, hop)) == *fault.channel)
      place = link_text({fault.node, d, hop}, topology);
  });
  return fmt::format("{}@{},{}{}", name(fault.kind), fault.step, place, fault.exact ? "" : "+");
}

Fault as_struck(Fault fault, const FaultRecord& record) {
  fault.step = record.step;
  fault.node = record.node;
  fault.exact = true;
  return fault;
}

std::string why_nothing_struck(const Setting& setting, const Fault& fault) {
  if (!fault.exact) return "no message from there on can be struck like that";
  if (const auto alone = class_with(setting, fault.node)) return why_nothing_struck(*alone, fault);
  const std::string node = node_text(setting.whole().topology, fault.node);
  if (fault.kind == FaultKind::stall)
    return fmt::format("the program of node {} ends before step {}, or waits there for a message", node, fault.step);
  const std::uint64_t count = Candidates(setting, fault).count();
  const std::string sent = fmt::format("node {} sends {} in step {}{}", node, count == 0 ? "no message" : counted(count, "message"),
                                       fault.step, fault.channel ? " through that channel" : "");
  if (count == 0) return sent;
  if (fault.kind == FaultKind::wrong_neighbour) return sent + ", and no neighbour to which it sends nothing has a free port";
  return sent + (fault.kind == FaultKind::swap ? ", and no other block of as many bytes arrives" : ", and no bytes");
}

Fault random_fault(FaultKind kind, const Setting& setting, std::uint64_t seed) {
  Random random(seed ^ 0xfa017, static_cast<std::uint64_t>(kind));
  Fault fault;
  fault.kind = kind;
  fault.step = static_cast<Step>(random.below(std::clamp<std::uint64_t>(setting.plan.likely_steps(), 1, 1U << 30U)));
  fault.node = static_cast<NodeId>(random.below(setting.whole().topology.nodes()));
  fault.exact = false;
  fault.seed = setting.seed;  // what else is random
  return fault;
}

Harmless why_harmless(const Setting& setting, const Fault& fault, const FaultRecord& record) {
  switch (fault.kind) {
    case FaultKind::late: return {"time alone", "it arrives in the end, and no result depends on when"};
    case FaultKind::stall: return {"time alone", "the node goes on in the next step, and no result depends on when"};
    case FaultKind::twice: return {"nothing new", "the second copy changes no byte that is wanted"};
    case FaultKind::drop:
    case FaultKind::wrong_neighbour:
      if (record.carried == 0) return {"no bytes", "the message carried no bytes, and no result depends on it"};
      return {"not needed", "other messages bring the bytes that the message carried to all nodes that want them"};
    case FaultKind::corrupt:
    case FaultKind::truncate:
    case FaultKind::swap: break;
  }
  if (const auto alone = class_with(setting, record.node)) return why_harmless(*alone, fault, record);
  if (record.changed.empty()) {
    return {"same bytes",
            fault.kind == FaultKind::swap ? "the two blocks have the same bytes" : "the bytes that are lost were zeros already"};
  }
  return Follower(setting, fault, record).follow();
}

}  // namespace torus::command
