#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <numeric>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/bandwidth.hpp>
#include <torus/error.hpp>

#include "algorithms/common/shapes.hpp"

namespace torus {

Bytes unit_of(Collective collective, const Reduction& reduction) noexcept {
  return facts_of(collective).combines ? size_of(reduction.type) : 1;
}

Sizes sizes_of(NodeId nodes, const Request& request) {
  return Sizes(*request.sizes, nodes, facts_of(request.collective).of_pairs(), request.bytes,
               unit_of(request.collective, request.reduction), request.sources);
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
  if (!facts_of(algorithm.collective).of_pairs() || topology.nodes() <= most_nodes) return std::nullopt;
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
  if (facts_of(request.collective).combines) fix -= fix % size_of(request.reduction.type);
  char count[32];
  std::snprintf(count, sizeof count, "%.0f", each);
  return Refusal{Refusal::About::bytes, std::to_string(request.bytes),
                 "a " + std::string(name(request.collective)) + " on " + topology.text() + " asks for " + count +
                     " times as many, and predictions count up to 2^63 bytes",
                 std::to_string(fix)};
}

/// Sizes that the collective has no use for, that its nodes do not have, or that are too large for figures: even as many of the longest as
/// there are blocks must sum up.
std::optional<Refusal> unfit_sizes(const Request& request, const Topology& topology) {
  if (!request.sizes) return std::nullopt;
  const auto refuse = [&](std::string rule) { return Refusal{Refusal::About::sizes, request.sizes->text, std::move(rule)}; };
  if (!facts_of(request.collective).takes_sizes())
    return refuse("a " + std::string(name(request.collective)) + " has no blocks whose sizes differ");
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
  if (!facts_of(request.collective).combines) return std::nullopt;
  try {
    check_reduction(request.reduction, topology.nodes(), request.bytes);
  } catch (const InputError& error) {
    return Refusal{Refusal::About::reduction, std::string(name(request.reduction.op)) + " of " + std::string(name(request.reduction.type)),
                   error.what()};
  }
  return std::nullopt;
}

/// A machine and a request with the values that refusals suggest.
class Corrected {
 public:
  Corrected(const Machine& on, const Request& asked) : machine{on}, request{asked}, ports_{on.all_port() ? all_ports : on.ports} {}

  Machine machine;
  Request request;
  std::vector<Refusal::Change> changes;  ///< one a subject, the last

  /// Takes what a refusal suggests. False if it suggests nothing, or the request has no such sources. Throws std::exception on what is no
  /// value.
  bool take(const Refusal& why) {
    if (why.fix.empty() || !take(Refusal::Change{why.about, why.fix, why.parameter})) return false;
    return std::ranges::all_of(why.beside, [this](const Refusal::Change& change) { return take(change); });
  }

 private:
  using About = Refusal::About;

  bool take(const Refusal::Change& change) {
    const auto at = change_of(change.subject());
    if (at == changes.end())
      changes.push_back(change);
    else
      at->value = change.value;
    switch (change.about) {
      case About::shape: return reshape(Topology::parse(change.value));
      case About::ports:
        machine = with_ports(machine.topology, std::stoi(change.value));
        ports_ = machine.all_port() ? all_ports : machine.ports;
        return true;
      case About::switching: machine.switching = parse_switching(change.value); return true;
      case About::contention: machine.contention = parse_contention(change.value); return true;
      case About::routing: return reroute(change.value);
      case About::bytes: request.bytes = std::stoull(change.value); return true;
      case About::sizes: request.sizes = SizeRule::parse(change.value); return true;
      case About::parameter: request.parameters.set(change.parameter, change.value); return true;
      case About::faults: return revive();
      case About::reduction: return false;
    }
    return false;
  }

  /// The routing order stays if the number of dimensions does, and all ports stay all.
  Machine with_ports(Topology topology, int ports) const {
    std::vector<Dimension> routing;
    CostModel cost = machine.cost;
    if (topology.dimensions() == machine.topology.dimensions())
      routing = machine.routing;
    else
      cost.dimension_byte_s.clear();
    return Machine(std::move(topology), ports, machine.switching, machine.contention, std::move(routing), std::move(cost));
  }
  bool reshape(Topology topology) {
    const NodeId before = machine.topology.nodes(), nodes = topology.nodes();
    const int most = static_cast<int>(topology.max_ports());
    machine = with_ports(std::move(topology), std::min(ports_, most));
    if (const auto ports = change_of("ports"); ports != changes.end()) ports->value = std::to_string(machine.ports);
    if (request.sources.size() > 1 && request.sources.size() == before) {
      request.sources.resize(nodes);
      std::iota(request.sources.begin(), request.sources.end(), NodeId{0});
    }
    return request.sources.empty() || request.sources.back() < nodes;  // they ascend
  }
  bool reroute(std::string_view order) {
    std::vector<Dimension> routing;
    for (std::size_t from = 0; from <= order.size();) {
      const std::size_t to = std::min(order.find(',', from), order.size());
      routing.push_back(std::stoi(std::string(order.substr(from, to - from))));
      from = to + 1;
    }
    machine = Machine(machine.topology, machine.ports, machine.switching, machine.contention, std::move(routing), machine.cost);
    return true;
  }
  std::vector<Refusal::Change>::iterator change_of(std::string_view subject) {
    return std::ranges::find_if(changes, [subject](const Refusal::Change& change) { return change.subject() == subject; });
  }
  /// Leaves the dead links alone of all faults.
  bool revive() {
    Faults faults = machine.topology.faults();
    faults.dead_nodes.clear();
    machine.topology = Topology::parse(machine.topology.text()).with_faults(std::move(faults));
    return true;
  }

  int ports_;  ///< for every shape: all_ports, or as many as it has of this number
};

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
  if (!why || why->fix.empty()) return why;
  // What meets one rule may break the next: a few corrections meet all, or nothing is suggested.
  constexpr int most_corrections = 8;
  Corrected corrected(machine, request);
  std::optional<Refusal> next = why;
  try {
    for (int i = 0; next && i < most_corrections && corrected.take(*next); ++i)
      next = first_refusal(algorithm, corrected.machine, corrected.request);
  } catch (const std::exception&) {  // there is no such machine; an own algorithm may suggest what is no value
  }
  why->fix.clear();
  why->beside.clear();
  if (next) return why;
  for (Refusal::Change& change : corrected.changes) {
    if (change.subject() == why->subject())
      why->fix = std::move(change.value);
    else
      why->beside.push_back(std::move(change));
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
  const CollectiveFacts& facts = facts_of(request.collective);
  if (!facts.carries_bytes()) return Placement::replicated(topology, {}, 0);
  if (facts.of_pairs()) return Placement::personalised(topology, request.bytes);
  if (facts.replicates()) return Placement::replicated(topology, request.sources, request.bytes, plan.segments);
  const NodeId root = facts.rooted() ? request.sources.front() : 0;
  if (facts.combines) {
    return Placement::contributed(topology, {.reduction = request.reduction,
                                             .wanted = facts.wanted,
                                             .root = root,
                                             .bytes = request.bytes,
                                             .segments = plan.segments,
                                             .registers = plan.registers});
  }
  return facts.wanted == CollectiveFacts::Wanted::at_root ? Placement::gathered(topology, root, request.bytes)
                                                          : Placement::scattered(topology, root, request.bytes);
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
  const CollectiveFacts& facts = facts_of(request.collective);
  std::vector<Bytes> sizes(nodes * (facts.of_pairs() ? nodes : facts.rooted() ? 1 : plan.segments));
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = placement.bytes(static_cast<BlockId>(i));
  return sizes;
}

}  // namespace torus
