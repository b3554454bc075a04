/// Runs reduce-scatters, all-reduces and the multi-node broadcasts that are their halves, and checks all that must hold of any of them,
/// whatever the shape.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

namespace torus::support {

/// Figures of a half, in segments of an all-reduce.
struct HalfFigures {
  std::uint64_t steps = 0;
  std::uint64_t channel = 0;   ///< on the fullest channels, summed over the steps
  std::uint64_t combined = 0;  ///< at the busiest nodes
  std::uint64_t segments = 0;  ///< of the vector
};

/// What stands before and behind " --variant " in "rings --variant single".
inline std::string_view without_variant(std::string_view name) { return name.substr(0, name.find(' ')); }
inline void set_variant(Request& request, std::string_view name) {
  constexpr std::string_view option = " --variant ";
  if (const std::size_t at = name.find(option); at != name.npos) request.parameters.set("variant", name.substr(at + option.size()));
}

/// One run on the machine that the algorithm was made for: legal, complete, every contributor once, in the steps and bytes predicted.
inline RunResult half_on(Collective collective, std::string_view algorithm_name, const Topology& topology, Bytes bytes,
                         Reduction reduction = {}, const Workers& workers = {}) {
  const Algorithm* const algorithm = find_algorithm(collective, without_variant(algorithm_name));
  REQUIRE(algorithm != nullptr);
  const std::string shape = topology.text();
  CAPTURE(std::string(name(collective)), std::string(algorithm_name), shape, bytes, workers.text());
  const int ports = algorithm->native.ports == 0 ? topology.max_ports() : algorithm->native.ports;
  const Machine machine(topology, ports, algorithm->native.switching, algorithm->native.contention);
  Request request;
  request.collective = collective;
  request.bytes = bytes;
  request.reduction = reduction;
  set_variant(request, algorithm_name);
  RunOptions options;
  options.executor = workers.executor;
  options.threads = workers.threads;
  const Run run = torus::run(*algorithm, machine, request, options);
  CHECK(complaint(run) == "");
  CHECK(run.plan.steps_exact);
  CHECK(run.result.control_bytes == 0);
  return run.result;
}

/// The name of the multi-node broadcast that is half of an all-reduce.
inline std::string_view all_gather_of(std::string_view allreduce) { return allreduce == "ring" ? "ring-by-rank" : allreduce; }

/// The second half alone, from so many sources, far apart: legal and complete, in the steps of all. Returns its result.
inline RunResult all_gather_on(std::string_view algorithm_name, const Machine& machine, Bytes bytes, NodeId sources) {
  const Algorithm* const algorithm = find_algorithm(Collective::multinode_broadcast, all_gather_of(without_variant(algorithm_name)));
  REQUIRE(algorithm != nullptr);
  Request request;
  request.collective = Collective::multinode_broadcast;
  request.bytes = bytes;
  request.expected_sources = machine.topology.nodes();
  set_variant(request, algorithm_name);
  for (NodeId i = 0; i < sources; ++i)
    request.sources.push_back(static_cast<NodeId>(std::uint64_t{i} * machine.topology.nodes() / sources));
  const Run run = emulate(*algorithm, machine, request);
  CAPTURE(std::string(algorithm_name), machine.topology.text(), bytes, sources);
  CHECK(complaint(run) == "");
  CHECK(run.result.verified);
  if (sources == machine.topology.nodes()) CHECK(static_cast<double>(run.result.channel_bytes_sum) <= run.plan.channel_bytes);
  return run.result;
}

/// All collectives, with vectors of whole segments, of a few bytes more or less than a segment each, and of none. The figures are those of
/// vectors of one byte a segment.
inline HalfFigures halves_on(std::string_view algorithm_name, const Topology& topology) {
  constexpr Reduction bytes_xor{Operator::exclusive_or, ElementType::u8};
  const Algorithm* const algorithm = find_algorithm(Collective::allreduce, without_variant(algorithm_name));
  REQUIRE(algorithm != nullptr);
  const int ports = algorithm->native.ports == 0 ? topology.max_ports() : algorithm->native.ports;
  const Machine machine(topology, ports, algorithm->native.switching, algorithm->native.contention);
  Request request;
  request.collective = Collective::allreduce;
  set_variant(request, algorithm_name);
  const Plan plan = make_plan(*algorithm, machine, request);
  const Bytes segments = plan.segments, pieces = segments / topology.nodes();
  const RunResult whole = half_on(Collective::reduce_scatter, algorithm_name, topology, pieces, bytes_xor);
  const RunResult both = half_on(Collective::allreduce, algorithm_name, topology, segments, bytes_xor);
  CHECK(both.steps == 2 * whole.steps);
  CHECK(both.channel_bytes_sum == 2 * whole.channel_bytes_sum);
  CHECK(both.node_combined_sum == whole.node_combined_sum);
  const RunResult back = all_gather_on(algorithm_name, machine, pieces, topology.nodes());
  CHECK(back.steps == whole.steps);
  CHECK(back.channel_bytes_sum == whole.channel_bytes_sum);
  for (const NodeId sources : {NodeId{0}, (topology.nodes() + 2) / 3})
    CHECK(all_gather_on(algorithm_name, machine, 3, sources).steps == whole.steps);
  for (const Bytes bytes : {Bytes{0}, Bytes{1}, segments + 1}) half_on(Collective::allreduce, algorithm_name, topology, bytes, bytes_xor);
  half_on(Collective::reduce_scatter, algorithm_name, topology, 3, {Operator::sum, ElementType::u8});
  half_on(Collective::allreduce, algorithm_name, topology, 20, {Operator::max, ElementType::f32});
  return {whole.steps, whole.channel_bytes_sum, whole.node_combined_sum, segments};
}

/// All tori of k sides, each from `sides`, of at most so many nodes, appended.
inline void append_tori(std::vector<Topology>& tori, std::size_t k, const std::vector<std::int32_t>& sides, NodeId most) {
  std::vector<std::size_t> index(k);
  for (std::size_t i = 0; i < k;) {
    std::vector<DimensionShape> shape;
    NodeId nodes = 1;
    for (const std::size_t at : index) {
      shape.push_back({sides[at], Wiring::ring});
      nodes *= static_cast<NodeId>(sides[at]);
    }
    if (nodes <= most) tori.emplace_back(shape);
    for (i = 0; i < k && index[i] + 1 == sides.size(); ++i) index[i] = 0;
    if (i < k) ++index[i];
  }
}

/// Tori of 1 to 4 dimensions with sides 1, 2, 3, 5, 7 and 4, 6.
inline std::vector<Topology> tori_of_halves(NodeId most = 64) {
  std::vector<Topology> tori;
  append_tori(tori, 1, {1, 2, 3, 4, 5, 6, 7, 10, 16, 27}, most);
  append_tori(tori, 2, {1, 2, 3, 4, 5, 6, 7, 8}, most);
  append_tori(tori, 3, {1, 2, 3, 4, 5}, most);
  append_tori(tori, 4, {1, 2, 3}, most);
  Share share(4);
  std::erase_if(tori, [&](const Topology&) { return !share.takes_turn(); });
  return tori;
}

}  // namespace torus::support
