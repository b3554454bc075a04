/// Settings of any algorithm, drawn.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/run.hpp>

#include "tests/support/shapes.hpp"

namespace torus::support {

struct Cell {
  const Algorithm* algorithm;
  Machine machine;  ///< the whole one
  std::optional<Groups> groups;
  Request request;   ///< of a group, where there are groups
  std::string text;  ///< the options of `torus run`

  /// What the algorithm sees: the machine, or that of a group.
  Machine seen() const { return groups ? groups->machine(machine) : machine; }
};

namespace drawing {

template <class Range>
const auto& one_of(std::mt19937_64& random, const Range& range) {
  return range[random_below(random, std::size(range))];
}
inline bool chance(std::mt19937_64& random, unsigned one_in) { return random_below(random, one_in) == 0; }

inline CostModel draw_cost(std::mt19937_64& random, const Topology& topology, std::string& text) {
  CostModel cost;
  if (chance(random, 3)) {
    cost.hop_s = 1e-7;
    cost.combine_s = 5e-11;
    text += " --th 1e-7 --tg 5e-11";
  }
  if (!chance(random, 4) || topology.dimensions() < 2) return cost;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const std::uint32_t times = 1 + random_below(random, 4);
    cost.dimension_byte_s.push_back(1e-10 * times);
    text += (d == 0 ? " --tc " : ",") + std::to_string(times) + "e-10";
  }
  return cost;
}

/// One machine in two is the one that the algorithm was made for.
inline Machine draw_machine(std::mt19937_64& random, const NativeMachine& native, const Topology& topology, std::string& text) {
  const auto most = static_cast<int>(topology.max_ports());
  const bool other = chance(random, 2);
  const int any_ports = 1 + static_cast<int>(random_below(random, static_cast<std::uint64_t>(std::max(1, most))));
  const int ports = other && chance(random, 2) ? any_ports : native.ports == all_ports ? most : std::min(native.ports, most);
  const Switching switching = other && chance(random, 2) ? static_cast<Switching>(random_below(random, 3)) : native.switching;
  const Contention contention = other && chance(random, 2) ? static_cast<Contention>(random_below(random, 2)) : native.contention;
  text += " --ports " + std::to_string(ports) + " --switching " + std::string(name(switching)) + " --contention " +
          std::string(name(contention));
  std::vector<Dimension> routing;
  if (switching == Switching::wormhole && topology.dimensions() > 1 && chance(random, 6)) {
    for (Dimension d = topology.dimensions(); d-- > 0;) routing.push_back(d);
    for (std::size_t i = 0; i < routing.size(); ++i) text += (i == 0 ? " --routing " : ",") + std::to_string(routing[i]);
  }
  return Machine(topology, std::max(1, ports), switching, contention, std::move(routing), draw_cost(random, topology, text));
}

inline Topology draw_faults(std::mt19937_64& random, const Topology& whole, bool holes, std::string& text) {
  const Faults faults = holes ? random_faults(random, whole, 2, 1, 1) : random_faults(random, whole, 0, 0, 2);
  const auto list = [&text](const char* option, const auto& items, const auto& text_of) {
    for (std::size_t i = 0; i < items.size(); ++i) text += (i == 0 ? std::string(" ") + option + " '" : ";") + text_of(items[i]);
    if (!items.empty()) text += "'";
  };
  const auto link = [&whole](const Link& l) {
    const bool complete = whole.wiring(l.dimension) == Wiring::complete;
    return std::to_string(l.node) + ":" + (complete ? std::to_string(l.hop) + "@" : l.hop > 0 ? "+" : "-") + std::to_string(l.dimension);
  };
  list("--dead-node", faults.dead_nodes, [](NodeId node) { return std::to_string(node); });
  list("--dead-link", faults.dead_links, link);
  list("--slow-link", faults.slow_links,
       [&](const SlowLink& slow) { return link(slow.link) + ":" + std::to_string(std::lround(slow.factor)); });
  return whole.with_faults(faults);
}

inline std::optional<Groups> draw_groups(std::mt19937_64& random, const Topology& topology, std::string& text) {
  static constexpr std::array<const char*, 7> rules{"rows", "columns", "axis:0,2", "axis:1", "slice:2x2", "slice:2", "stride:2"};
  const char* rule = one_of(random, rules);
  text += std::string(" --groups ") + rule;
  return Groups::parse(rule, topology);
}

inline void draw_sources(std::mt19937_64& random, const Topology& topology, Request& request, std::string& text) {
  const NodeId nodes = topology.nodes();
  const auto put = [&](NodeId node) {
    if (topology.living(node)) request.sources.push_back(node);
  };
  if (facts_of(request.collective).rooted()) {
    request.sources = {living_from(topology, random_below(random, nodes))};
  } else if (request.collective == Collective::multinode_broadcast) {
    const NodeId apart = one_of(random, std::array<NodeId, 4>{1, 1, 3, nodes});
    const bool scattered = chance(random, 3);
    for (NodeId node = scattered ? 0 : random_below(random, apart); node < nodes; node += scattered ? 1 : apart) {
      if (!scattered || chance(random, 4)) put(node);
    }
    request.expected_sources = static_cast<double>(request.sources.size());
  } else {
    return;
  }
  text += facts_of(request.collective).rooted() ? " --root " : " --sources ";
  if (request.sources.empty()) text += "none";
  if (request.sources.size() == nodes && nodes > 1) {
    text += "all";
    return;
  }
  for (std::size_t i = 0; i < request.sources.size(); ++i) text += (i == 0 ? "'" : ";") + std::to_string(request.sources[i]);
  if (!request.sources.empty()) text += "'";
}

inline void draw_bytes(std::mt19937_64& random, const Topology& topology, Request& request, std::string& text) {
  if (request.collective == Collective::barrier) return;
  static constexpr std::array<Bytes, 9> telling{0, 1, 8, 64, 100, 1000, 4096, 10'007, 65'536};
  const bool pairs = facts_of(request.collective).takes_sizes() || request.collective == Collective::multinode_broadcast;
  request.bytes = one_of(random, telling);
  if (pairs) request.bytes = std::min<Bytes>(request.bytes, 64'000 / topology.nodes());
  if (facts_of(request.collective).combines) {
    static constexpr std::array operators{Operator::sum,          Operator::min,         Operator::max,       Operator::prod,
                                          Operator::exclusive_or, Operator::bitwise_and, Operator::bitwise_or};
    Reduction& reduction = request.reduction;
    reduction.type = static_cast<ElementType>(random_below(random, 12));
    reduction.op = operators[random_below(random, is_float(reduction.type) ? 4 : operators.size())];
    if (is_float(reduction.type) && chance(random, 4)) reduction.values = torus::Values::real;
    request.bytes -= request.bytes % size_of(reduction.type);
    text += " --type " + std::string(name(reduction.type)) + " --op " + std::string(name(reduction.op)) + " --values " +
            std::string(name(reduction.values));
  }
  if (!facts_of(request.collective).takes_sizes() || !chance(random, 4)) {
    text += " --bytes " + std::to_string(request.bytes);
    return;
  }
  request.sizes = SizeRule::parse(one_of(random, std::array<const char*, 4>{"zipf:1", "zeros:0.4", "uniform:0:800", "zeros:1"}));
  if (request.sizes->fixed())
    request.bytes = request.sizes->mean(unit_of(request.collective, request.reduction));
  else
    text += " --bytes " + std::to_string(request.bytes);
  text += " --sizes " + request.sizes->text;
}

inline void draw_parameters(std::mt19937_64& random, const Algorithm& algorithm, const Machine& machine, Request& request,
                            std::string& text) {
  for (const Parameter& parameter : algorithm.parameters) {
    if (chance(random, 2)) continue;
    std::string value;
    if (!parameter.words.empty())
      value = one_of(random, parameter.words);
    else if (const auto values = parameter.values == nullptr ? std::vector<std::uint32_t>{} : parameter.values(machine); !values.empty())
      value = std::to_string(one_of(random, values));
    else
      value = std::to_string(1 + random_below(random, chance(random, 2) ? 4 : 16));
    request.parameters.set(parameter.name, value);
    text += " --" + std::string(parameter.name) + " " + value;
  }
}

}  // namespace drawing

/// A cell on this shape with its faults, refused or not; none if it has no such groups. faults: their options.
inline std::optional<Cell> draw_any(std::mt19937_64& random, const Algorithm& algorithm, const Topology& topology, bool groups_too = false,
                                    const std::string& faults = "") {
  std::string text =
      std::string(name(algorithm.collective)) + " --algorithm " + std::string(algorithm.name) + " --on " + topology.text() + faults;
  try {
    Machine machine = drawing::draw_machine(random, algorithm.native, topology, text);
    std::optional<Groups> groups;
    if (groups_too && drawing::chance(random, 5)) groups = drawing::draw_groups(random, topology, text);
    const Machine seen = groups ? groups->machine(machine) : machine;
    Request request;
    request.collective = algorithm.collective;
    drawing::draw_sources(random, seen.topology, request, text);
    drawing::draw_bytes(random, seen.topology, request, text);
    drawing::draw_parameters(random, algorithm, seen, request, text);
    return Cell{&algorithm, std::move(machine), std::move(groups), std::move(request), std::move(text)};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// The first of some cells that is not refused, on a shape with some faults, or in groups of it; none if all are.
inline std::optional<Cell> draw_cell(std::mt19937_64& random, const Algorithm& algorithm, const Topology& shape, int draws,
                                     bool groups_too) {
  for (; draws > 0; --draws) {
    std::string faults;
    try {
      const bool faulty = drawing::chance(random, algorithm.needs.lives_with_holes ? 3 : 8);
      const Topology topology = faulty ? drawing::draw_faults(random, shape, algorithm.needs.lives_with_holes, faults) : shape;
      std::optional<Cell> cell = draw_any(random, algorithm, topology, groups_too, faults);
      if (cell && !refuses(algorithm, cell->seen(), cell->request)) return cell;
    } catch (const InputError&) {  // faults that cut the shape apart
    }
  }
  return std::nullopt;
}

inline Run run(const Cell& cell, const RunOptions& options) {
  return cell.groups ? torus::run(*cell.algorithm, cell.machine, *cell.groups, cell.request, options)
                     : torus::run(*cell.algorithm, cell.machine, cell.request, options);
}

}  // namespace torus::support
