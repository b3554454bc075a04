/// Shrinking: a greedy walk from a failing case to smaller ones that fail too.
#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>

#include "tools/torus/stress/draw.hpp"
#include "tools/torus/stress/trials.hpp"

namespace torus::command {
namespace {

/// Where a node of the old shape is in the new one; none where it is beyond an end, or in a dimension that is gone.
std::optional<NodeId> moved(NodeId node, const Topology& old, const Topology& shape, const std::vector<Dimension>& kept) {
  std::vector<std::int32_t> x;
  for (Dimension d = 0; d < old.dimensions(); ++d) {
    const auto at = std::find(kept.begin(), kept.end(), d);
    const std::int32_t coordinate = old.coordinate(node, d);
    if (at == kept.end() && coordinate > 0) return std::nullopt;
    if (at == kept.end()) continue;
    if (coordinate >= shape.extent(static_cast<Dimension>(at - kept.begin()))) return std::nullopt;
    x.push_back(coordinate);
  }
  return shape.rank(x);
}

template <class T>
void without_one(const Faults& faults, std::vector<T> Faults::*kind, std::vector<Faults>& out) {
  for (std::size_t i = 0; i < (faults.*kind).size(); ++i) {
    out.push_back(faults);
    (out.back().*kind).erase((out.back().*kind).begin() + static_cast<std::ptrdiff_t>(i));
  }
}

constexpr int most_tries = 500;
constexpr std::chrono::seconds longest_search{30};

/// A smaller thing to try, yet to be settled.
struct Smaller {
  Machine machine;
  Request request;
};

/// An exchange of all nodes.
void exchange_of_all(const Topology& topology, Request& request) {
  request.sources.resize(topology.nodes());
  std::iota(request.sources.begin(), request.sources.end(), NodeId{0});
  std::erase_if(request.sources, [&](NodeId source) { return !topology.living(source); });
}

/// The machine and the request on another shape: as many ports as there are, sources at the same coordinates modulo the new extents
/// or, if `clamped`, those beyond the end at the end.
/// `kept` says which old dimension each new one was.
Smaller reshaped(const Setting& from, const std::vector<DimensionShape>& shape, const std::vector<Dimension>& kept, bool clamped = false) {
  const Topology& old = from.machine.topology;
  const Topology whole(shape);
  const Topology topology = with_possible(whole, carried_over(old, whole, kept));
  std::vector<Dimension> routing;
  for (const Dimension d : from.machine.routing) {
    const auto at = std::find(kept.begin(), kept.end(), d);
    if (at != kept.end()) routing.push_back(static_cast<Dimension>(at - kept.begin()));
  }
  const int ports = from.machine.all_port() ? 0 : std::min(from.machine.ports, static_cast<int>(topology.max_ports()));
  CostModel cost = from.machine.cost;
  cost.dimension_byte_s.clear();
  for (const Dimension d : kept) {
    if (!from.machine.cost.one_speed()) cost.dimension_byte_s.push_back(from.machine.cost.byte_s_of(d));
  }
  Machine machine(topology, ports, from.machine.switching, from.machine.contention, routing, std::move(cost));
  Request request = from.request;
  std::set<NodeId> sources;
  for (const NodeId source : from.request.sources) {
    std::vector<std::int32_t> x;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const std::int32_t at = old.coordinate(source, kept[i]);
      x.push_back(clamped ? std::min(at, shape[i].extent - 1) : at);
    }
    if (const NodeId rank = topology.rank(x); topology.living(rank)) sources.insert(rank);
  }
  request.sources.assign(sources.begin(), sources.end());
  if (facts_of(request.collective).of_pairs() && !request.exchanges_of_sources()) exchange_of_all(topology, request);
  if (facts_of(request.collective).rooted() && request.sources.empty()) request.sources = {first_living(topology)};
  return {std::move(machine), std::move(request)};
}

void smaller_shapes(const Setting& setting, std::vector<Smaller>& out) {
  const Topology& topology = setting.machine.topology;
  const std::vector<DimensionShape> shape(topology.shape().begin(), topology.shape().end());
  std::vector<Dimension> all;
  for (Dimension d = 0; d < topology.dimensions(); ++d) all.push_back(d);
  for (std::size_t d = 0; shape.size() > 1 && d < shape.size(); ++d) {
    auto fewer = shape;
    auto kept = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(d));
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(d));
    out.push_back(reshaped(setting, fewer, kept));
  }
  const auto shorter = [](std::int32_t n) {
    std::vector<std::int32_t> sides;
    for (const std::int32_t side : {1, 2, 3, n / 2, n - 2, n - 1}) {
      if (side >= 1 && side < n && std::find(sides.begin(), sides.end(), side) == sides.end()) sides.push_back(side);
    }
    return sides;
  };
  for (const std::int32_t side : shorter(shape.front().extent)) {  // all sides at once: some algorithms want them equal
    auto smaller = shape;
    for (DimensionShape& d : smaller) d.extent = std::min(d.extent, side);
    for (const bool clamped : {false, true}) out.push_back(reshaped(setting, smaller, all, clamped));
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    for (const std::int32_t side : shorter(shape[d].extent)) {
      auto smaller = shape;
      smaller[d].extent = side;
      for (const bool clamped : {false, true}) out.push_back(reshaped(setting, smaller, all, clamped));
    }
  }
}

void fewer_holes(const Setting& setting, std::vector<Smaller>& out) {
  const Machine& from = setting.machine;
  const Topology whole = from.topology.with_faults({});
  for (const Faults& faults : fewer_faults(from.topology.faults())) {
    Machine machine(with_possible(whole, faults), from.ports, from.switching, from.contention, from.routing, from.cost);
    out.push_back({std::move(machine), setting.request});
  }
}

void fewer_sources(const Setting& setting, std::vector<Smaller>& out) {
  const auto& sources = setting.request.sources;
  const auto with = [&](std::vector<NodeId> chosen) {
    Request request = setting.request;
    request.sources = std::move(chosen);
    out.push_back({setting.machine, std::move(request)});
  };
  if (facts_of(setting.request.collective).rooted() && sources.front() != 0 && setting.machine.topology.living(0)) with({0});
  if (!setting.request.from_sources() || sources.empty()) return;
  const auto middle = sources.begin() + static_cast<std::ptrdiff_t>(sources.size() / 2);
  with({});
  if (sources.size() > 1) {
    with({sources.begin(), middle});
    with({middle, sources.end()});
  }
  for (std::size_t i = 0; i < sources.size() && sources.size() <= 12; ++i) {
    auto fewer = sources;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    with(fewer);
  }
}

void simpler_requests(const Setting& setting, std::vector<Smaller>& out) {
  const auto with = [&](auto change) {
    Smaller candidate{setting.machine, setting.request};
    change(candidate.request);
    out.push_back(std::move(candidate));
  };
  const Request& r = setting.request;
  const Bytes unit = unit_of(r.collective, r.reduction);
  if (r.sizes)
    with([&](Request& request) {
      if (request.exchanges_of_sources()) exchange_of_all(setting.machine.topology, request);
      request.sizes.reset();
    });
  for (Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{8}, r.bytes / 2}) {
    if (r.sizes && r.sizes->fixed()) break;  // the sizes say their mean
    bytes -= bytes % unit;
    if (bytes < r.bytes) with([&](Request& request) { request.bytes = bytes; });
  }
  if (r.reduction.op != Operator::sum) with([](Request& request) { request.reduction.op = Operator::sum; });
  if (r.reduction.values != torus::Values::small) with([](Request& request) { request.reduction.values = torus::Values::small; });
  if (unit > 1 && r.reduction.values == torus::Values::small) with([](Request& request) { request.reduction.type = ElementType::u8; });
  for (const auto& parameter : r.parameters) {
    const std::string& name = parameter.first;
    const auto whole = r.parameters.whole(name);
    with([&](Request& request) { request.parameters.clear(name); });
    if (whole > 1) with([&](Request& request) { request.parameters.set(name, 1); });
    if (whole > 2) with([&](Request& request) { request.parameters.set(name, whole / 2); });
  }
  if (const auto count = static_cast<double>(r.sources.size()); r.expected_sources && r.expected_sources != count)
    with([count](Request& request) { request.expected_sources = count; });
  if (!setting.machine.ascending_routing()) {
    Machine ascending(setting.machine.topology, setting.machine.ports, setting.machine.switching, setting.machine.contention, {},
                      setting.machine.cost);
    out.push_back({std::move(ascending), setting.request});
  }
}

}  // namespace

Faults carried_over(const Topology& old, const Topology& shape, const std::vector<Dimension>& kept) {
  Faults faults;
  const auto carry = [&](const Link& link) -> std::optional<Link> {
    const auto at = std::find(kept.begin(), kept.end(), link.dimension);
    const auto node = moved(link.node, old, shape, kept);
    return at == kept.end() || !node ? std::nullopt : std::optional(Link{*node, static_cast<Dimension>(at - kept.begin()), link.hop});
  };
  for (const NodeId node : old.faults().dead_nodes) {
    if (const auto to = moved(node, old, shape, kept)) faults.dead_nodes.push_back(*to);
  }
  for (const Link& link : old.faults().dead_links) {
    if (const auto to = carry(link)) faults.dead_links.push_back(*to);
  }
  for (const SlowLink& slow : old.faults().slow_links) {
    if (const auto to = carry(slow.link)) faults.slow_links.push_back({*to, slow.factor});
  }
  return faults;
}

std::vector<Faults> fewer_faults(const Faults& faults) {
  std::vector<Faults> fewer;
  if (faults.empty()) return fewer;
  fewer.emplace_back();
  for (Faults less : {Faults{{}, faults.dead_links, faults.slow_links}, Faults{faults.dead_nodes, {}, faults.slow_links},
                      Faults{faults.dead_nodes, faults.dead_links, {}}}) {
    if (less != faults) fewer.push_back(std::move(less));
  }
  without_one(faults, &Faults::dead_nodes, fewer);
  without_one(faults, &Faults::dead_links, fewer);
  without_one(faults, &Faults::slow_links, fewer);
  return fewer;
}

StressCase shrink(StressCase failing, const std::atomic<bool>* stop) {
  int tries = 0;
  const auto deadline = std::chrono::steady_clock::now() + longest_search;
  const auto tired = [&] {
    return tries >= most_tries || std::chrono::steady_clock::now() > deadline || (stop != nullptr && stop->load());
  };
  const auto still_fails = [&](const StressCase& candidate) {
    ++tries;
    RunResult ignored;
    const bool failed = failure_of(candidate, ignored).has_value();
    return failed && (stop == nullptr || !stop->load());  // a run that was cut off says nothing
  };
  StressCase alone = failing;
  alone.setting.executor = alone.other = ExecutorKind::serial;
  alone.setting.threads = alone.other_threads = 1;
  if (still_fails(alone)) failing = alone;
  alone.other_processes = 1;
  if (failing.other_processes > 1 && still_fails(alone)) failing = alone;
  if (failing.setting.groups) {  // a group alone
    alone = failing;
    alone.setting.groups.reset();
    alone.setting.map.reset();
    alone.setting.all_groups.reset();
    alone.setting.others.clear();
    if (still_fails(alone)) failing = alone;
  }
  bool smaller = true;
  while (smaller && !tired()) {
    smaller = false;
    std::vector<Smaller> candidates;
    smaller_shapes(failing.setting, candidates);
    fewer_holes(failing.setting, candidates);
    fewer_sources(failing.setting, candidates);
    simpler_requests(failing.setting, candidates);
    for (Smaller& candidate : candidates) {
      if (tired()) break;
      auto settled = settle(*failing.setting.algorithm, std::move(candidate.machine), std::move(candidate.request), failing.setting);
      if (!settled) continue;
      StressCase next{std::move(*settled), failing.other, failing.other_threads, failing.other_processes};
      next.threads_typed = failing.threads_typed;
      if (!still_fails(next)) continue;
      failing = std::move(next);
      smaller = true;
      break;
    }
  }
  return failing;
}

}  // namespace torus::command
