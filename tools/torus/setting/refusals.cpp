#include "tools/torus/setting/refusals.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <vector>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "tools/torus/machines/presets.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

// Bytes that the engine takes beside the payload: the minimum, and the usual amount.
constexpr double min_of_a_node = 64, usual_of_a_node = 1024;
constexpr double min_of_a_block = 4, usual_of_a_block = 128;
// Slots of blocks that the engine takes beside those that are held.
constexpr double spare_of_a_block = 0.25, spare_of_a_worker = 2;

Bytes saturated(double bytes) { return bytes < 0x1p64 ? static_cast<Bytes>(bytes) : std::numeric_limits<Bytes>::max(); }

/// The algorithms of a collective that read a parameter.
std::string readers_of(Collective collective, std::string_view parameter) {
  std::string readers;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == collective && algorithm->reads(parameter))
      readers += fmt::format("{}{}", readers.empty() ? "" : ", ", algorithm->name);
  }
  return readers;
}

std::vector<std::string_view> algorithms_for_holes(Collective collective) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == collective && algorithm->needs.lives_with_holes) names.push_back(algorithm->name);
  }
  return names;
}

/// Whether the other options that were typed take a shape, too.
bool takes_shape(const Setting& setting, const std::string& text) {
  const Machine& machine = setting.machine;
  if (setting.groups || !machine.topology.whole()) return false;  // groups have shapes of their own, and the links may not be there
  try {
    const Topology shape = Topology::parse(text);
    if (setting.preset != nullptr) check_shape(*setting.preset, shape);
    if (!setting.sources_text.empty()) static_cast<void>(parse_sources("--sources", setting.sources_text, shape, setting.seed));
    return shape.dimensions() == machine.topology.dimensions() || (machine.ascending_routing() && machine.cost.one_speed());
  } catch (const InputError&) {
    return false;
  }
}

/// Leaves out a suggestion that the options do not take, and asks for all ports where a shape has another number of them.
void fit_to_options(const Setting& setting, Refusal& refusal) {
  using About = Refusal::About;
  const auto about = [](About what) { return [what](const Refusal::Change& change) { return change.about == what; }; };
  const auto shape = std::ranges::find_if(refusal.beside, about(About::shape));
  const std::string text = refusal.about == About::shape ? refusal.fix : shape != refusal.beside.end() ? shape->value : "";
  if (text.empty()) return;
  if (!takes_shape(setting, text)) {
    refusal.fix.clear();
    refusal.beside.clear();
    return;
  }
  const int ports = setting.machine.ports, most = Topology::parse(text).max_ports();
  const bool said = refusal.about == About::ports || std::ranges::any_of(refusal.beside, about(About::ports));
  if (!said && (setting.machine.all_port() ? ports != most : ports > most)) refusal.beside.push_back({About::ports, "all"});
}

/// A refusal of an algorithm of the collective, in terms of options.
std::string command_text(const Refusal& refusal, Collective collective) {
  const auto option_of = [](const auto& of) {
    return of.about == Refusal::About::shape ? std::string("--on") : "--" + std::string(of.subject());
  };
  std::string beside;
  for (const Refusal::Change& change : refusal.beside) beside += fmt::format(" {} {}", option_of(change), change.value);
  if (refusal.about == Refusal::About::faults && !refusal.fix.empty())
    return fmt::format("{}: {}; {}{} would do", refusal.value, refusal.rule, refusal.fix, beside.empty() ? "" : " with" + beside);
  if (refusal.about == Refusal::About::faults)
    return fmt::format("{}: {}; of {} only {} may live with holes", refusal.value, refusal.rule, name(collective),
                       fmt::join(algorithms_for_holes(collective), ", "));
  const std::string option = option_of(refusal);
  std::string text = fmt::format("{} {}: {}", option, refusal.value, refusal.rule);
  if (!refusal.fix.empty()) return text + fmt::format("; {} {}{} would do", option, refusal.fix, beside);
  return refusal.about == Refusal::About::parameter ? text + fmt::format("; leave out {} {}", option, refusal.value) : text;
}

}  // namespace

std::optional<std::string> why_not_here(const Algorithm& algorithm, const Setting& setting) {
  const Machine& machine = setting.machine;
  if (auto refusal = refuses(algorithm, machine, setting.request)) {
    fit_to_options(setting, *refusal);
    const bool unread = refusal->about == Refusal::About::parameter && !algorithm.reads(refusal->parameter);
    const std::string readers = unread ? readers_of(algorithm.collective, refusal->parameter) : "";
    return command_text(*refusal, algorithm.collective) + (readers.empty() ? "" : ", or name one that does: " + readers);
  }
  if (algorithm.planning_bytes == nullptr) return std::nullopt;
  const Bytes needed = algorithm.planning_bytes(machine), limit = setting.memory > 0 ? setting.memory : usable_memory();
  if (needed <= limit) return std::nullopt;
  return fmt::format("{} takes {} to make its tables for the {} of {}, and {} may be used; choose a smaller --on or more --memory",
                     algorithm.name, bytes_text(needed), counted(machine.topology.nodes(), "node"), machine.topology.text(),
                     bytes_text(limit));
}

void nothing_applies(Collective collective, const std::string& machine, const std::string& first_reason, const std::string& what_would_do) {
  throw InputError(fmt::format(
      "{} on {}: no algorithm applies; {}", name(collective), machine,
      !what_would_do.empty() ? what_would_do : fmt::format("the first says: {}; see `torus list` for what each needs", first_reason)));
}

std::optional<std::string> why_it_cannot_fit(const RunSpec& spec, std::uint64_t sources, std::uint32_t segments, Bytes limit) {
  // In doubles, which do not wrap: there may be 2^62 messages of 2^62 bytes.
  const double nodes = spec.shape.nodes();
  const CollectiveFacts& facts = facts_of(spec.collective);
  double messages = facts.carries_bytes() ? nodes : 0;  // messages or vectors at the end of a run, at all nodes together
  if (facts.from_sources()) messages *= static_cast<double>(sources);
  if (facts.of_pairs() || (facts.combines && facts.takes_sizes())) messages *= nodes;
  constexpr auto blocks = static_cast<double>(most_blocks);
  if (segments > 1 && messages * segments > blocks) {
    return fmt::format("--segments {}: the nodes of {} would hold {} blocks in the end, and a run holds at most {}; {}", segments,
                       spec.shape.text(), grouped(saturated(messages * segments)), grouped(most_blocks),
                       messages <= blocks ? fmt::format("--segments {} would do", saturated(blocks / messages)) : "choose a smaller --on");
  }
  const double filled = facts.of_pairs() && spec.sources ? nodes * static_cast<double>(sources) : messages;  // the others have no bytes
  const double needed = nodes * min_of_a_node + messages * min_of_a_block + filled * static_cast<double>(spec.bytes);
  const auto most = static_cast<double>(limit);
  if (needed <= most) return std::nullopt;
  // The pool of slots has some to spare for each worker, and an algorithm may hold copies of as many blocks again.
  const double workers = static_cast<double>(workers_of(spec.executor, spec.threads)) * spec.processes;
  const double slots = 2 * (messages * (1 + spare_of_a_block) + spare_of_a_worker * workers);
  const double left = most - nodes * usual_of_a_node - slots * usual_of_a_block;
  const bool fixed = spec.sizes && spec.sizes->fixed();
  return fmt::format("--on {} {}: at the end of {} {} the {} at least {}, and {} may be used; {}", spec.shape.text(),
                     fixed ? "--sizes " + spec.sizes->text : "--bytes " + bytes_option(spec.bytes),
                     name(spec.collective).starts_with('a') ? "an" : "a", name(spec.collective),
                     counted(spec.shape.nodes(), "node holds", "nodes hold"), bytes_text(saturated(needed)), bytes_text(limit),
                     what_would_fit(spec.collective, spec.reduction, spec.sizes, left > 0 && messages > 0 ? saturated(left / slots) : 0));
}

std::string what_would_fit(Collective collective, const Reduction& reduction, const std::optional<SizeRule>& sizes, Bytes bytes) {
  if (sizes) return fmt::format("choose a smaller --{} or --on, or more --memory", sizes->fixed() ? "sizes" : "bytes");
  const Bytes unit = unit_of(collective, reduction);
  if (bytes < unit) return "choose a smaller --on or more --memory";
  return fmt::format("about --bytes {} would fit, or more --memory", bytes_option(bytes / unit * unit));
}

}  // namespace torus::command
