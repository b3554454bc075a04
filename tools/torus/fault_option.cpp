#include "tools/torus/fault_option.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <vector>

#include <torus/error.hpp>

#include "tools/torus/notation.hpp"
#include "tools/torus/random.hpp"

namespace torus::command {
namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw InputError(
      fmt::format("--fault '{}': it must be KIND@step,node or KIND@step,node,channel, with a rank and the number of a channel of "
                  "the node, and a + at the end where the fault may strike later, too; or random, or random:KIND; for instance drop@2,5",
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

std::uint64_t whole(const std::string& text, const std::string& part, std::uint64_t max, const char* what) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
  if (part.empty() || error != std::errc{} || end != part.data() + part.size()) refuse(text);
  if (value > max) throw InputError(fmt::format("--fault '{}': {} {} must be 0 to {}", text, what, value, max));
  return value;
}

}  // namespace

torus::Fault parse_fault(const std::string& text, const Setting& setting) {
  const Topology& topology = setting.machine.topology;
  if (text == "random") {
    Random random(setting.seed ^ 0xfa017);
    return random_fault(random.one_of(all_fault_kinds), setting, setting.seed);
  }
  if (text.starts_with("random:")) return random_fault(parse_kind(text.substr(7)), setting, setting.seed);
  const std::size_t at = text.find('@');
  torus::Fault fault;
  fault.kind = parse_kind(text.substr(0, at));
  if (at == std::string::npos) refuse(text);
  std::vector<std::string> parts{""};
  fault.exact = !text.ends_with('+');
  for (const char c : text.substr(at + 1, text.size() - at - (fault.exact ? 1 : 2))) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  if (parts.size() < 2 || parts.size() > 3) refuse(text);
  fault.step = static_cast<Step>(whole(text, parts[0], std::numeric_limits<std::int32_t>::max(), "step"));
  fault.node = static_cast<NodeId>(whole(text, parts[1], topology.nodes() - 1, "node"));
  if (parts.size() == 3) {
    const auto slots = static_cast<std::uint64_t>(std::max(1, topology.channel_slots()));
    fault.channel = static_cast<std::uint32_t>(whole(text, parts[2], slots - 1, "channel"));
  }
  if (fault.kind == FaultKind::stall && ((fault.step == 0 && fault.exact) || fault.channel))
    throw InputError(
        fmt::format("--fault '{}': a node stalls from step 1 on, with all its channels; for instance stall@1,{}", text, fault.node));
  fault.seed = setting.seed;
  return fault;
}

std::string fault_text(const torus::Fault& fault) {
  return fmt::format("{}@{},{}{}{}", name(fault.kind), fault.step, fault.node, fault.channel ? fmt::format(",{}", *fault.channel) : "",
                     fault.exact ? "" : "+");
}

torus::Fault as_struck(torus::Fault fault, const FaultRecord& record) {
  fault.step = record.step;
  fault.node = record.node;
  fault.exact = true;
  return fault;
}

torus::Fault random_fault(FaultKind kind, const Setting& setting, std::uint64_t seed) {
  Random random(seed ^ 0xfa017, static_cast<std::uint64_t>(kind));
  torus::Fault fault;
  fault.kind = kind;
  fault.step = static_cast<Step>(random.below(std::clamp<std::uint64_t>(setting.plan.likely_steps(), 1, 1U << 30U)));
  fault.node = static_cast<NodeId>(random.below(setting.machine.topology.nodes()));
  fault.exact = false;
  fault.seed = setting.seed;  // what else is random
  return fault;
}

}  // namespace torus::command
