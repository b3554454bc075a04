#include "tools/torus/view/facts.hpp"

#include <fmt/format.h>

#include <torus/bounds.hpp>
#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "tools/torus/setting/spec.hpp"

namespace torus::command {
namespace {

/// [node, dimension, hop]
Json link_of(const Link& link) {
  Json list = Json::array();
  list.push_back(link.node);
  list.push_back(link.dimension);
  list.push_back(link.hop);
  return list;
}

void add_machine(Json& facts, const Machine& machine) {
  const Topology& topology = machine.topology;
  facts["shape"] = topology.text();
  facts["nodes"] = topology.nodes();
  facts["channels"] = topology.channels();
  facts["ports"] = machine.ports;
  facts["switching"] = name(machine.switching);
  facts["contention"] = name(machine.contention);
  for (const DimensionShape& d : topology.shape()) {
    facts["extents"].push_back(d.extent);
    facts["wiring"].push_back(d.wiring == Wiring::ring ? "ring" : d.wiring == Wiring::line ? "line" : "complete");
  }
  facts["twisted"] = topology.twisted();
  const Faults& faults = topology.faults();
  facts["dead_nodes"] = faults.dead_nodes;
  Json dead = Json::array(), slow = Json::array();
  for (const Link& link : faults.dead_links) dead.push_back(link_of(link));
  for (const SlowLink& link : faults.slow_links) {
    Json entry = link_of(link.link);
    entry.push_back(link.factor);
    slow.push_back(std::move(entry));
  }
  facts["dead_links"] = std::move(dead);
  facts["slow_links"] = std::move(slow);
}

/// The fewest steps that any algorithm takes. None where blocks have sizes: a trace has no rule for them, and empty blocks need not move.
/// None of scans in an order of ranks that a map has given.
void add_bound(Json& facts, const TraceHeader& header, const std::vector<NodeId>& sources, Collective collective) {
  if (!header.sizes.empty() || (!header.groups.empty() && !header.mapped()) || (header.mapped() && collective == Collective::scan)) return;
  Request request;
  request.collective = collective;
  request.sources = sources;
  request.bytes = header.block_bytes * header.segments;
  if (header.reduction) request.reduction = *header.reduction;
  try {
    const Bounds bounds = lower_bounds(header.machine, request);
    facts["bound"] = {{"steps", bounds.steps}, {"reason", bounds.steps_reason}};
  } catch (const InputError&) {  // a trace of another program may ask for what no request does: it has no bound
  }
}

}  // namespace

Json page_facts(const TraceHeader& header, const std::vector<NodeId>& sources) {
  Json facts = Json::object();
  add_machine(facts, header.machine);
  const auto collective = find_collective(header.collective);
  if (!collective) return facts;
  add_bound(facts, header, sources, *collective);
  const Algorithm* algorithm = find_algorithm(*collective, header.algorithm);
  if (algorithm == nullptr) return facts;
  facts["algorithm_source"] = algorithm->source;
  if (algorithm->idea.said())
    facts["idea"] = fmt::format("First: {} Then: {} Why: {}", algorithm->idea.first, algorithm->idea.then, algorithm->idea.good);
  return facts;
}

}  // namespace torus::command
