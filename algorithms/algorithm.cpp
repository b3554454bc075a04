#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

#include <torus/algorithm.hpp>
#include <torus/bandwidth.hpp>
#include <torus/error.hpp>

#include "algorithms/common/shapes.hpp"

namespace torus {

std::string_view name(Collective collective) noexcept {
  switch (collective) {
    case Collective::broadcast: return "broadcast";
    case Collective::multinode_broadcast: return "multinode-broadcast";
    case Collective::total_exchange: return "total-exchange";
    case Collective::reduce: return "reduce";
    case Collective::allreduce: return "allreduce";
    case Collective::reduce_scatter: return "reduce-scatter";
    case Collective::scan: return "scan";
    case Collective::scatter: return "scatter";
    case Collective::gather: return "gather";
    case Collective::barrier: return "barrier";
  }
  return "";
}

std::span<const Collective> collectives() noexcept {
  static constexpr std::array all{Collective::broadcast,      Collective::multinode_broadcast,
                                  Collective::total_exchange, Collective::reduce,
                                  Collective::allreduce,      Collective::reduce_scatter,
                                  Collective::scan,           Collective::scatter,
                                  Collective::gather,         Collective::barrier};
  return all;
}

bool has_root(Collective collective) noexcept {
  return collective == Collective::broadcast || collective == Collective::reduce || collective == Collective::scatter ||
         collective == Collective::gather;
}

bool reduces(Collective collective) noexcept {
  return collective == Collective::reduce || collective == Collective::allreduce || collective == Collective::reduce_scatter ||
         collective == Collective::scan;
}

Bytes unit_of(Collective collective, const Reduction& reduction) noexcept { return reduces(collective) ? size_of(reduction.type) : 1; }

bool takes_sizes(Collective collective) noexcept {
  return collective == Collective::total_exchange || collective == Collective::multinode_broadcast || collective == Collective::scatter ||
         collective == Collective::gather || collective == Collective::reduce_scatter;
}

Sizes sizes_of(NodeId nodes, const Request& request) {
  return Sizes(*request.sizes, nodes, request.collective == Collective::total_exchange, request.bytes,
               unit_of(request.collective, request.reduction));
}

namespace {

/// Whether a declared parameter has a value of its domain.
bool in_domain(const Parameter& parameter, const std::string& value) {
  if (!parameter.words.empty()) return std::find(parameter.words.begin(), parameter.words.end(), value) != parameter.words.end();
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc{} && end == value.data() + value.size() && number > 0;
}

std::optional<Refusal> unfit_parameter(const Algorithm& algorithm, const Parameters& parameters) {
  for (const auto& entry : parameters) {
    const auto& name = entry.first;
    const auto& value = entry.second;
    const auto declared =
        std::find_if(algorithm.parameters.begin(), algorithm.parameters.end(), [&](const Parameter& p) { return p.name == name; });
    const std::string subject(algorithm.name);
    if (declared == algorithm.parameters.end()) return Refusal{Refusal::About::parameter, value, subject + " does not read it", "", name};
    if (in_domain(*declared, value)) continue;
    std::string words;
    for (const std::string_view word : declared->words) words += (words.empty() ? "" : ", ") + std::string(word);
    return Refusal{Refusal::About::parameter, value,
                   words.empty() ? subject + " needs a whole number of 1 or more" : subject + " reads one of " + words,
                   words.empty() ? "1" : std::string(declared->words.front()), name};
  }
  return std::nullopt;
}

/// A run holds fewer than 2^32 blocks. Checked before tables are made for the nodes.
std::optional<Refusal> uncountable_blocks(const Algorithm& algorithm, const Topology& topology) {
  constexpr NodeId most_nodes = 65535;
  if (algorithm.collective != Collective::total_exchange || topology.nodes() <= most_nodes) return std::nullopt;
  return Refusal{
      Refusal::About::shape, topology.text(),
      "a total exchange has a block for each pair of nodes, and a run has room for those of " + std::to_string(most_nodes) + " nodes",
      smaller(topology, [](const Topology& t) { return t.nodes() <= most_nodes; }).text()};
}

/// More bytes than figures have room for: a node would hold more, or a message be longer, than 2^63.
std::optional<Refusal> uncountable_bytes(const Request& request, const Topology& topology) {
  const double each = asked_messages(request, topology.nodes());
  if (each * static_cast<double>(request.bytes) <= most_predicted_bytes) return std::nullopt;
  Bytes fix = static_cast<Bytes>(most_predicted_bytes / each);
  if (reduces(request.collective)) fix -= fix % size_of(request.reduction.type);
  char count[32];
  std::snprintf(count, sizeof count, "%.0f", each);
  return Refusal{Refusal::About::bytes, std::to_string(request.bytes),
                 "a " + std::string(name(request.collective)) + " on " + topology.text() + " asks for " + count +
                     " times as many, and predictions count up to 2^63 bytes",
                 std::to_string(fix)};
}

/// Sizes that the collective has no use for, that its nodes do not have, or with which a run has no room for figures: a slot of memory is
/// as long as the longest block.
std::optional<Refusal> unfit_sizes(const Request& request, const Topology& topology) {
  if (!request.sizes) return std::nullopt;
  const auto refuse = [&](std::string rule) { return Refusal{Refusal::About::sizes, request.sizes->text, std::move(rule)}; };
  if (!takes_sizes(request.collective)) return refuse("a " + std::string(name(request.collective)) + " has no blocks whose sizes differ");
  try {
    const Bytes longest = sizes_of(topology.nodes(), request).longest();
    if (asked_messages(request, topology.nodes()) * static_cast<double>(longest) <= most_predicted_bytes) return std::nullopt;
    return refuse("the longest block has " + std::to_string(longest) + " bytes, which for each of the blocks are more than 2^63");
  } catch (const InputError& error) {
    return refuse(error.what());
  }
}

/// A reduction that the elements do not allow.
std::optional<Refusal> unfit_reduction(const Request& request, const Topology& topology) {
  if (!reduces(request.collective)) return std::nullopt;
  try {
    check_reduction(request.reduction, topology.nodes(), request.bytes);
  } catch (const InputError& error) {
    return Refusal{Refusal::About::reduction, std::string(name(request.reduction.op)) + " of " + std::string(name(request.reduction.type)),
                   error.what()};
  }
  return std::nullopt;
}

/// The machine with another shape and all its ports; none if no machine has so many nodes. It keeps the routing order if the number of
/// dimensions stays.
std::optional<Machine> with_shape(const Machine& machine, const std::string& shape) {
  try {
    Topology topology = Topology::parse(shape);
    std::vector<Dimension> routing;
    CostModel cost = machine.cost;
    if (topology.dimensions() == machine.topology.dimensions())
      routing = machine.routing;
    else
      cost.dimension_byte_s.clear();
    return Machine(std::move(topology), all_ports, machine.switching, machine.contention, std::move(routing), std::move(cost));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// The first reason to refuse, with the fix of that rule alone.
std::optional<Refusal> first_refusal(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  if (auto why = unfit_parameter(algorithm, request.parameters)) return why;
  if (auto why = unmet(algorithm.needs, algorithm.name, machine)) return why;
  if (auto why = uncountable_blocks(algorithm, machine.topology)) return why;
  if (auto why = unfit_reduction(request, machine.topology)) return why;
  if (auto why = uncountable_bytes(request, machine.topology)) return why;
  if (auto why = unfit_sizes(request, machine.topology)) return why;
  return algorithm.also_requires != nullptr ? algorithm.also_requires(machine, request) : std::nullopt;
}

}  // namespace

bool Algorithm::reads(std::string_view parameter) const noexcept {
  return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == parameter; });
}

std::optional<Refusal> refuses(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  auto why = first_refusal(algorithm, machine, request);
  // A shape that meets one rule may break the next: a few corrections find one that meets all.
  for (int corrections = 0; corrections < 4 && why && why->about == Refusal::About::shape && !why->fix.empty(); ++corrections) {
    const auto suggested = with_shape(machine, why->fix);
    if (!suggested) {
      why->fix.clear();
      break;
    }
    const auto next = first_refusal(algorithm, *suggested, request);
    if (!next || next->about != Refusal::About::shape || next->fix.empty()) break;
    why->fix = next->fix;
  }
  return why;
}

std::string why_not(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  const auto refusal = refuses(algorithm, machine, request);
  return refusal ? text(*refusal) : std::string();
}

std::string ports_text(const Algorithm& algorithm) {
  if (algorithm.needs.ports == Requirements::all_ports) return "all";
  if (algorithm.native.ports == 1) return "one";
  return algorithm.needs.ports > 1 ? std::to_string(algorithm.needs.ports) + " or more" : "any";
}

namespace {

Placement blocks_of(const Machine& machine, const Request& request, const Plan& plan) {
  const Topology& topology = machine.topology;
  const auto contributed = [&](Contributions::Wanted wanted) {
    return Placement::contributed(topology, {.reduction = request.reduction,
                                             .wanted = wanted,
                                             .root = has_root(request.collective) ? request.sources.front() : 0,
                                             .bytes = request.bytes,
                                             .segments = plan.segments,
                                             .registers = plan.registers});
  };
  switch (request.collective) {
    case Collective::broadcast:
    case Collective::multinode_broadcast: break;
    case Collective::total_exchange: return Placement::personalised(topology, request.bytes);
    case Collective::reduce: return contributed(Contributions::Wanted::at_root);
    case Collective::allreduce: return contributed(Contributions::Wanted::everywhere);
    case Collective::reduce_scatter: return contributed(Contributions::Wanted::at_owner);
    case Collective::scan: return contributed(Contributions::Wanted::of_prefix);
    case Collective::scatter: return Placement::scattered(topology, request.sources.front(), request.bytes);
    case Collective::gather: return Placement::gathered(topology, request.sources.front(), request.bytes);
    case Collective::barrier: return Placement::replicated(topology, {}, 0);
  }
  return Placement::replicated(topology, request.sources, request.bytes, plan.segments);
}

}  // namespace

Placement placement_of(const Machine& machine, const Request& request, const Plan& plan) {
  Placement placement = blocks_of(machine, request, plan);
  if (request.sizes) placement = std::move(placement).with_sizes(sizes_of(machine.topology.nodes(), request));
  return std::move(placement).with_copies(plan.copies);
}

std::vector<Bytes> sizes_of_blocks(const Machine& machine, const Request& request, const Plan& plan) {
  if (!request.sizes) return {};
  const Placement placement = placement_of(machine, request, plan);
  const std::uint64_t nodes = placement.nodes();
  const bool cut = request.collective == Collective::multinode_broadcast || request.collective == Collective::reduce_scatter;
  std::vector<Bytes> sizes(nodes * (request.collective == Collective::total_exchange ? nodes : cut ? plan.segments : 1));
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = placement.bytes(static_cast<BlockId>(i));
  return sizes;
}

}  // namespace torus
