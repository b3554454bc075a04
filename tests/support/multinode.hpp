/// What the tests of the multi-node broadcasts share: source sets by their shape, and what holds of every run.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/multinode_broadcast/forecast.hpp"
#include "tests/support/aggregate_distribute.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/collect.hpp"
#include "tests/support/emulate.hpp"

namespace torus::support {

inline Bytes phase_bytes(const RunResult& run, std::string_view phase) {
  Bytes sum = 0;
  for (const StepRecord& record : run.step_records) sum += record.phase != nullptr && record.phase == phase ? record.most_bytes : 0;
  return sum;
}

inline std::uint64_t phase_steps(const RunResult& run, std::string_view phase) {
  return static_cast<std::uint64_t>(std::count_if(run.step_records.begin(), run.step_records.end(), [&](const StepRecord& record) {
    return record.phase != nullptr && record.phase == phase;
  }));
}

inline Request multinode_request(std::vector<NodeId> sources, Bytes bytes) {
  Request request;
  request.collective = Collective::multinode_broadcast;
  request.sources = std::move(sources);
  request.bytes = bytes;
  return request;
}

/// The algorithm of a name, which may have a parameter: "hierarchical --dcn broadcast".
inline const Algorithm& multinode_algorithm(std::string_view name) {
  return *find_algorithm(Collective::multinode_broadcast, name.substr(0, name.find(' ')));
}

/// A request with the parameter that such a name sets.
inline Request with_parameter_of(std::string_view name, Request request) {
  const std::size_t option = name.find(" --");
  if (option == std::string_view::npos) return request;
  const std::size_t value = name.find(' ', option + 1);
  request.parameters.set(name.substr(option + 3, value - option - 3), name.substr(value + 1));
  return request;
}

/// Runs an algorithm: complete, legal, in the promised number of steps, below no bound.
inline Emulation checked(std::string_view name, const Machine& machine, const Request& request,
                         ExecutorKind executor = ExecutorKind::serial) {
  RunOptions options;
  options.executor = executor;
  Run e = run(multinode_algorithm(name), machine, with_parameter_of(name, request), options);
  CHECK(complaint(e) == "");
  CAPTURE(e.plan.steps_exact, e.plan.steps, e.result.steps);
  CHECK(e.plan.agrees(e.result.steps, e.plan.steps));
  return e;
}

/// Blocks that each DDN holds after the tuning.
inline std::vector<std::size_t> blocks_after_balancing(std::string_view name, const Machine& machine, const Request& asked) {
  const Request request = with_parameter_of(name, asked);
  const std::unique_ptr<RunObserver> observer = multinode_algorithm(name).plan(machine, request).observe();
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.on_messages = [&](std::span<const Message* const> messages) { observer->step(messages); };
  emulate(multinode_algorithm(name), machine, request, options);
  const std::vector<Observation> found = observer->finish();
  REQUIRE(found.size() == 1);
  return {found.front().after.begin(), found.front().after.end()};
}

inline std::vector<NodeId> every(NodeId nodes, NodeId k) {
  std::vector<NodeId> sources;
  for (NodeId node = 0; node < nodes; node += k) sources.push_back(node);
  return sources;
}

/// Source sets of an n x n torus by their shape.
inline std::vector<std::pair<std::string, std::vector<NodeId>>> source_sets(std::int32_t n, std::int32_t h, std::mt19937_64& random) {
  const auto side = static_cast<NodeId>(n), nodes = side * side;
  std::vector<std::pair<std::string, std::vector<NodeId>>> sets{{"none", {}},
                                                                {"one", {nodes / 2}},
                                                                {"two", {0, nodes - 1}},
                                                                {"half", random_nodes(random, nodes, 2)},
                                                                {"about n", random_nodes(random, nodes, side)}};
  std::vector<NodeId> row, column, diagonal, cluster, to_one_ddn;
  for (NodeId i = 0; i < side; ++i) {
    row.push_back(side * (side / 2) + i);
    column.push_back(side * i + side / 3);
    diagonal.push_back(side * i + i);
  }
  for (NodeId node = 0; node < nodes; ++node) {
    if (node / side < (side + 1) / 2 && node % side < (side + 1) / 2) cluster.push_back(node);
    if (ddn_loads(n, h, multinode_broadcast::aggregate_distribute::Prefix::none, std::vector<NodeId>{node}).before.front() == 1)
      to_one_ddn.push_back(node);
  }
  sets.emplace_back("a row", row);
  sets.emplace_back("a column", column);
  sets.emplace_back("the diagonal", diagonal);
  sets.emplace_back("a cluster", cluster);
  sets.emplace_back("all to DDN 0", to_one_ddn);
  return sets;
}

/// All nodes are sources: every transfer of the fixed patterns is made, so that what is legal here is legal for any sources; and the
/// bytes are known exactly.
inline void check_all_sources(std::int32_t n, Bytes bytes, std::span<const std::string_view> prefixes) {
  const Machine machine = square(n);
  Request request = multinode_request(all_nodes(machine.topology.nodes()), bytes);
  request.expected_sources = machine.topology.nodes();
  const auto exact = [&](std::string_view name) {
    CAPTURE(name, n, request.parameters.whole("h"), request.parameters.word("prefix"));
    const Emulation e = checked(name, machine, request);
    CHECK(static_cast<double>(e.result.channel_bytes_sum) == e.plan.channel_bytes);
  };
  exact("ring");
  exact("edst --variant synchronous");
  exact("log");
  for (const std::int32_t h : multinode_broadcast::divisors(n)) {
    request.parameters.set("h", static_cast<std::uint64_t>(h));
    exact("hierarchical --dcn scatter");
    exact("hierarchical --dcn broadcast");
    for (const std::string_view prefix : prefixes) {
      request.parameters.set("prefix", prefix);
      exact("aggregate-distribute");
    }
    request.parameters.clear("prefix");
  }
}

inline constexpr std::array<std::string_view, 11> multinode_names{"ring",
                                                                  "log",
                                                                  "hyperplane",
                                                                  "relay",
                                                                  "swaths",
                                                                  "joint-swath",
                                                                  "edst --variant synchronous",
                                                                  "edst --variant pipelined",
                                                                  "hierarchical --dcn scatter",
                                                                  "hierarchical --dcn broadcast",
                                                                  "aggregate-distribute"};
inline constexpr std::array<std::string_view, 1> default_prefix{"global5"};

}  // namespace torus::support
