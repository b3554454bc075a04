#include "tools/torus/stress/draw.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>
#include <string>
#include <utility>

#include <torus/error.hpp>
#include <torus/run.hpp>

#include "tools/torus/setting/map.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

constexpr int most_draws = 300;
constexpr int most_mended = 8;  // refusals of one draw

std::string draw_sources(Random& random, const Topology& topology) {
  const NodeId nodes = topology.nodes();
  const auto count = [&](std::uint64_t most) {
    return std::to_string(1 + random.below(std::max<std::uint64_t>(1, std::min<std::uint64_t>(most, nodes))));
  };
  switch (random.below(12)) {
    case 0: return "none";
    case 1: return "random:1";
    case 2: return "all";
    case 3: return "random:" + count(4);
    case 4: return "random:" + std::to_string(nodes / 2);
    case 5: return "row:" + std::to_string(random.below(nodes / static_cast<NodeId>(topology.extent(topology.dimensions() - 1))));
    case 6: return "column:" + std::to_string(random.below(topology.stride(0)));
    case 7: return "diagonal";
    case 8: {
      std::string block = "block:";
      for (Dimension d = 0; d < topology.dimensions(); ++d)
        block += (d > 0 ? "x" : "") + std::to_string(random.between(1, topology.extent(d)));
      return block;
    }
    case 9: return "density:0." + std::to_string(1 + random.below(9));
    default: return "random:" + count(nodes);
  }
}

/// Bytes a message such that all blocks of all nodes stay within the budget.
Bytes draw_bytes(Random& random, Bytes most) {
  static constexpr std::array<Bytes, 22> telling{0,  0,  1,  1,  2,   3,   4,    7,    8,    9,     15,
                                                 16, 63, 64, 65, 100, 255, 1000, 4096, 4099, 65536, 1 << 20};
  for (int i = 0; i < 8; ++i) {
    const Bytes bytes = random.one_of(telling);
    if (bytes <= most) return bytes;
  }
  return std::min<Bytes>(most, random.below(64));
}

Machine draw_machine(Random& random, Topology topology, const NativeMachine& native) {
  const std::int32_t most_ports = topology.max_ports();
  Switching switching = native.switching;
  Contention contention = native.contention;
  int ports = std::min(native.ports, most_ports);
  if (random.chance(0.3)) switching = static_cast<Switching>(random.below(3));
  if (random.chance(0.4)) ports = random.between(1, std::min(most_ports, 64));
  if (random.chance(0.15)) contention = Contention::share;
  std::vector<Dimension> routing(static_cast<std::size_t>(topology.dimensions()));
  std::iota(routing.begin(), routing.end(), 0);
  if (random.chance(0.2)) {
    for (std::size_t i = routing.size(); i > 1; --i) std::swap(routing[i - 1], routing[random.below(i)]);
  }
  CostModel cost;
  if (random.chance(0.2)) {
    for (Dimension d = 0; d < topology.dimensions(); ++d) cost.dimension_byte_s.push_back(1e-10 * random.between(1, 4));
  }
  return Machine(std::move(topology), ports, switching, contention, std::move(routing), std::move(cost));
}

Reduction draw_reduction(Random& random, NodeId nodes) {
  static constexpr std::array operators{Operator::sum,     Operator::min,          Operator::max,         Operator::prod,
                                        Operator::average, Operator::exclusive_or, Operator::bitwise_and, Operator::bitwise_or};
  static constexpr std::array of_extremes{torus::Values::small, torus::Values::real, torus::Values::special};
  Reduction reduction;
  reduction.type = static_cast<ElementType>(random.below(12));
  reduction.op = operators[random.below(is_float(reduction.type) ? 5 : operators.size())];
  if (!is_float(reduction.type)) return reduction;
  const bool extreme = reduction.op == Operator::min || reduction.op == Operator::max;
  reduction.values = of_extremes[random.below(extreme ? 3 : 2)];
  if (size_of(reduction.type) == 2 && nodes > 256 && !extreme) reduction.values = torus::Values::real;  // small sums are not exact
  return reduction;
}

/// `sources` gets the text that with the seed gives the sources again.
Request draw_request(Random& random, Collective collective, const Topology& topology, const StressBudget& budget, std::uint64_t seed,
                     std::string& sources) {
  Request request;
  request.collective = collective;
  const NodeId nodes = topology.nodes();
  double copies = nodes;
  if (facts_of(collective).rooted()) {
    const std::array<NodeId, 3> choices{0, nodes - 1, static_cast<NodeId>(random.below(nodes))};
    request.sources = {random.one_of(choices)};
    while (!topology.living(request.sources.front())) request.sources.front() = (request.sources.front() + 1) % nodes;
  } else if (facts_of(collective).from_sources() || facts_of(collective).of_pairs()) {
    sources = facts_of(collective).of_pairs() ? "all" : draw_sources(random, topology);
    request.sources = parse_sources("sources", sources, topology, seed);
    std::erase_if(request.sources, [&](NodeId source) { return !topology.living(source); });
    copies *= std::max<double>(1, static_cast<double>(request.sources.size()));
  }
  if (collective == Collective::reduce_scatter) copies *= nodes;
  request.bytes =
      facts_of(collective).carries_bytes() ? draw_bytes(random, static_cast<Bytes>(static_cast<double>(budget.payload) / copies)) : 0;
  if (facts_of(collective).combines) {
    request.reduction = draw_reduction(random, nodes);
    request.bytes -= request.bytes % size_of(request.reduction.type);
  }
  if (facts_of(collective).from_sources())  // as many as there are, as where --expect is left out, or another number
    request.expected_sources = static_cast<double>(random.chance(0.2) ? random.below(nodes + 1) : request.sources.size());
  return request;
}

/// Leaves some total exchanges to a few sources. From random numbers of its own.
void draw_exchange_of_sources(const Topology& topology, std::uint64_t seed, Request& request, std::string& sources) {
  Random random(seed, 0x73726373);
  if (!facts_of(request.collective).of_pairs() || !random.chance(0.2)) return;
  const std::string text = draw_sources(random, topology);
  std::vector<NodeId> chosen = parse_sources("sources", text, topology, seed);
  std::erase_if(chosen, [&](NodeId source) { return !topology.living(source); });
  if (chosen.size() == topology.living_nodes()) return;
  request.sizes = SizeRule::even_of_sources();
  request.sources = std::move(chosen);
  sources = text;
}

/// Gives some requests sizes that differ. From random numbers of its own.
void draw_sizes(const Topology& topology, std::uint64_t seed, double probability, Request& request) {
  Random random(seed, 0x73697a65);
  if (!facts_of(request.collective).takes_sizes() || !random.chance(probability)) return;
  const Bytes unit = facts_of(request.collective).combines ? 8 : 1;
  Request sized = request;
  switch (random.below(4)) {
    case 0: sized.sizes = SizeRule::parse("zipf:" + std::to_string(random.below(3))); break;
    case 1: sized.sizes = SizeRule::parse(random.chance(0.1) ? "zeros:1" : "zeros:0." + std::to_string(1 + random.below(9))); break;
    default: {
      const Bytes from = random.below(3) * request.bytes / 2 / unit * unit;
      sized.sizes = SizeRule::parse("uniform:" + std::to_string(from) + ":" + std::to_string(2 * request.bytes / unit * unit));
      sized.bytes = sized.sizes->mean(unit_of(request.collective, request.reduction));
      break;
    }
  }
  sized.sizes->seed = seed;
  sized.sizes->of_sources = request.exchanges_of_sources();
  if (sizes_of(topology.nodes(), sized).longest() <= 4 * request.bytes + 64) request = std::move(sized);
}

/// Gives some machines other costs, but of hops: for these the plan runs the program, whose crash there nobody could name yet. From random
/// numbers of its own.
void draw_costs(std::uint64_t seed, Machine& machine) {
  Random random(seed, 0x636f7374);
  if (random.chance(0.2)) machine.cost.start_up_s = 1e-7 * random.between(1, 99);
  if (random.chance(0.2)) machine.cost.combine_s = 1e-11 * random.between(1, 99);
}

/// Sets some of the parameters that the algorithm declares.
void draw_parameters(Random& random, const Algorithm& algorithm, const Machine& machine, Request& request) {
  for (const Parameter& parameter : algorithm.parameters) {
    if (!random.chance(0.4)) continue;
    if (!parameter.words.empty()) {
      request.parameters.set(parameter.name, parameter.words[random.below(parameter.words.size())]);
    } else if (parameter.values != nullptr) {
      request.parameters.set(parameter.name, random.one_of(parameter.values(machine)));
    } else {
      request.parameters.set(parameter.name, 1 + random.below(random.chance(0.5) ? 4 : 20));
    }
  }
}

/// The shape that a refusal names, if it has at most `most_nodes` nodes.
std::optional<Topology> shape_that_would_do(const Refusal& refusal, std::uint64_t most_nodes) {
  if (refusal.fix.empty()) return std::nullopt;
  try {
    Topology shape = Topology::parse(refusal.fix);
    if (shape.nodes() <= most_nodes) return shape;
  } catch (const InputError&) {  // it names several, or other words
  }
  return std::nullopt;
}

/// Applies the fix that a refusal names, unless that is a shape. False if there is none to apply.
bool mend(const Refusal& refusal, Machine& machine, Request& request) {
  using About = Refusal::About;
  const std::optional<std::uint64_t> number = whole_number(refusal.fix);
  const auto rebuild = [&](int ports, Switching switching, Contention contention, std::vector<Dimension> routing) {
    machine = Machine(machine.topology, ports, switching, contention, std::move(routing), machine.cost);
    return true;
  };
  switch (refusal.about) {
    case About::ports:
      if (!number || *number > static_cast<std::uint64_t>(machine.topology.max_ports())) return false;
      return rebuild(static_cast<int>(*number), machine.switching, machine.contention, machine.routing);
    case About::switching:
      for (const Switching switching : {Switching::packet, Switching::wormhole, Switching::circuit}) {
        if (name(switching) == refusal.fix) return rebuild(machine.ports, switching, machine.contention, machine.routing);
      }
      return false;
    case About::contention: return rebuild(machine.ports, machine.switching, Contention::share, machine.routing);
    case About::routing: return rebuild(machine.ports, machine.switching, machine.contention, {});
    case About::parameter: request.parameters.set(refusal.parameter, refusal.fix); return true;
    case About::shape:
    case About::bytes:
    case About::sizes:
    case About::reduction:
    case About::faults: break;
  }
  return false;
}

}  // namespace

std::optional<Setting> settle(const Algorithm& algorithm, Machine machine, Request request, const Setting& like) {
  Setting setting{.machine = std::move(machine),
                  .request = std::move(request),
                  .seed = like.seed,
                  .executor = like.executor,
                  .threads = like.threads,
                  .memory = like.memory};
  Planned planned;
  if (plan_with(setting, algorithm, &planned)) {
    if (!planned.fault) return std::nullopt;
    // A planner that breaks its contract is a failing run like any other, to be shrunk and repeated.
    setting.algorithm = &algorithm;
    setting.plan.start = [why = planned.why_not](Node&) -> Program { throw RunError(why); };
  }
  if (setting.machine.topology == like.machine.topology && setting.request.sources == like.request.sources)
    setting.sources_text = like.sources_text;
  return setting;
}

namespace {

/// The machine with something more dead or slow in one or two of its groups.
Machine with_broken_groups(Random& random, const Machine& whole, const Groups& groups, bool holes) {
  const Topology plain({groups.topology().shape().begin(), groups.topology().shape().end()}, groups.topology().twisted());
  Faults all = whole.topology.faults();
  for (std::uint64_t left = 1 + random.below(2); left > 0; --left) {
    const auto group = static_cast<NodeId>(random.below(groups.count()));
    const Topology drawn = draw_faults(random, plain, holes);
    const auto moved = [&](const Link& link) {
      const NodeId node = groups.member(group, link.node);
      const Leg leg = groups.leg_out(node, link.dimension, link.hop).value();
      return Link{node, leg.dimension, leg.hops};
    };
    for (const NodeId node : drawn.faults().dead_nodes) all.dead_nodes.push_back(groups.member(group, node));
    for (const Link& link : drawn.faults().dead_links) all.dead_links.push_back(moved(link));
    for (const SlowLink& slow : drawn.faults().slow_links) all.slow_links.push_back({moved(slow.link), slow.factor});
  }
  return Machine(with_possible(whole.topology, all), whole.ports, whole.switching, whole.contention, whole.routing, whole.cost);
}

/// The request of a setting on a machine whose ranks are other nodes; none where its root is dead there.
std::optional<Request> request_in(const Setting& setting, const Topology& seen) {
  Request request = setting.request;
  if (facts_of(request.collective).rooted() && !seen.living(request.sources.front())) return std::nullopt;
  if (facts_of(request.collective).rooted() || setting.sources_text.empty()) return request;
  request.sources = parse_sources("sources", setting.sources_text, seen, setting.seed);
  std::erase_if(request.sources, [&](NodeId source) { return !seen.living(source); });
  return request;
}

/// Some settings in groups that are not all alike. From random numbers of its own.
std::optional<Setting> with_classes(const Setting& setting, const Machine& around, const Groups& groups) {
  Random random(setting.seed, 0x636c6173);
  if (!random.chance(0.4) || groups.dilated() || setting.request.exchanges_of_sources()) return std::nullopt;
  const Machine whole = with_broken_groups(random, around, groups, setting.algorithm->needs.lives_with_holes);
  std::optional<Setting> all;
  try {
    std::vector<Groups> classes = Groups::classes(groups.text(), whole.topology);
    if (classes.size() == 1) return std::nullopt;
    for (Groups& each : classes) {
      const Machine seen = each.machine(whole);
      auto request = request_in(setting, seen.topology);
      auto one = request ? settle(*setting.algorithm, seen, *std::move(request), setting) : std::nullopt;
      if (!one) return std::nullopt;
      one->sources_text = setting.sources_text;
      one->groups = std::move(each);
      one->all_groups = whole;
      if (all)
        all->others.push_back(*std::move(one));
      else
        all = std::move(one);
    }
  } catch (const InputError&) {  // a group is cut apart
    return std::nullopt;
  }
  return all;
}

/// The setting, or one in which groups run the same at once, on a machine around it.
Setting with_groups(Random& random, Setting setting, std::uint64_t most_nodes) {
  auto around = draw_around(random, setting.machine, most_nodes);
  if (!around) return setting;
  Groups groups = Groups::parse(around->second, around->first.topology);
  if (auto classes = with_classes(setting, around->first, groups)) return *std::move(classes);
  // The same machine, but that links may be named from their other ends.
  auto grouped = settle(*setting.algorithm, groups.machine(around->first), setting.request, setting);
  if (!grouped) return setting;
  grouped->sources_text = setting.sources_text;
  grouped->groups = std::move(groups);
  grouped->all_groups = std::move(around->first);
  return *std::move(grouped);
}

/// The setting, or one whose ranks are laid out otherwise. On a machine where no channel is shared, or with holes, only as far as hops stay
/// hops.
Setting with_map(Random& random, Setting setting) {
  const Machine whole = setting.machine;
  std::vector<Dimension> order(static_cast<std::size_t>(whole.topology.dimensions()));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  const std::uint64_t kind = random.below(3);
  const std::string map = kind == 0   ? "snake"
                          : kind == 1 ? fmt::format("axis:{}", fmt::join(order, ","))
                                      : fmt::format("random:{}", random.below(1000));
  std::optional<Groups> groups;
  try {
    groups = Groups::mapped("", whole.topology, read_map(map, whole.topology));
  } catch (const InputError&) {  // messages might meet what is dead
  }
  if (!groups || (groups->dilated() && (whole.switching == Switching::packet || whole.contention == Contention::forbid))) return setting;
  const Machine seen = groups->machine(whole);
  auto request = request_in(setting, seen.topology);
  auto mapped = request ? settle(*setting.algorithm, seen, *std::move(request), setting) : std::nullopt;
  if (!mapped) return setting;
  // Ways between ranks that lie apart may meet on a channel more often than the queue at its end holds.
  if (groups->dilated() && violation_in_groups(whole, *groups, mapped->request, mapped->plan, mapped->plan_limit_s)) return setting;
  mapped->sources_text = setting.sources_text;
  mapped->map = map;
  mapped->groups = std::move(groups);
  mapped->all_groups = whole;
  return *std::move(mapped);
}

}  // namespace

bool sizes_differ(const Topology& topology, const Request& request) {
  if (!request.sizes) return false;
  const Sizes sizes = sizes_of(topology.nodes(), request);
  for (std::uint64_t number = 1; number < sizes.count(); ++number) {
    if (sizes(number) != sizes(0)) return true;
  }
  return false;
}

std::optional<Setting> draw_setting(Random& random, const Algorithm& algorithm, const StressBudget& budget) {
  std::uint64_t room = budget.nodes;
  std::optional<Topology> would_do;  // what the last refusal names
  for (int draw = 0; draw < most_draws; ++draw) {
    static constexpr std::array<std::uint64_t, 6> sizes{16, 64, 64, 256, 1024, 4096};
    std::uint64_t most_nodes = std::min(random.one_of(sizes), room);
    if (facts_of(algorithm.collective).of_pairs() || algorithm.collective == Collective::reduce_scatter ||
        algorithm.collective == Collective::allreduce) {
      most_nodes = std::min(most_nodes, static_cast<std::uint64_t>(std::sqrt(static_cast<double>(budget.exchange_blocks))));
    }
    const Topology shape = would_do ? *std::exchange(would_do, std::nullopt) : draw_shape(random, most_nodes);
    Machine machine = draw_machine(random, draw_faults(random, shape, algorithm.needs.lives_with_holes), algorithm.native);
    const std::uint64_t seed = random.next() % 1000;
    draw_costs(seed, machine);
    std::string sources;
    Request request = draw_request(random, algorithm.collective, machine.topology, budget, seed, sources);
    draw_parameters(random, algorithm, machine, request);
    draw_exchange_of_sources(machine.topology, seed, request, sources);
    draw_sizes(machine.topology, seed, budget.uneven ? 1 : 0.3, request);
    if (budget.uneven && !sizes_differ(machine.topology, request)) continue;
    auto refusal = refuses(algorithm, machine, request);
    for (int mended = 0; refusal && mended < most_mended && mend(*refusal, machine, request); ++mended)
      refusal = refuses(algorithm, machine, request);
    if (refusal) {
      if (refusal->about == Refusal::About::shape) would_do = shape_that_would_do(*refusal, most_nodes);
      continue;
    }
    const double nodes = machine.topology.nodes();
    const Setting like{
        .machine = machine, .request = request, .seed = seed, .executor = ExecutorKind::serial, .threads = 1, .sources_text = sources};
    auto setting = settle(algorithm, std::move(machine), std::move(request), like);
    if (!setting) continue;
    const auto sources_held = static_cast<double>(std::max<std::size_t>(1, setting->request.sources.size()));
    const double deliveries =
        facts_of(algorithm.collective).combines ? nodes * setting->plan.segments : nodes * sources_held * setting->plan.segments;
    if (static_cast<double>(setting->plan.likely_steps()) * nodes <= budget.node_steps && deliveries <= budget.deliveries) {
      if (random.chance(0.25)) return with_groups(random, *std::move(setting), std::max<std::uint64_t>(budget.nodes, 64));
      return random.chance(0.2) ? with_map(random, *std::move(setting)) : *std::move(setting);
    }
    room = std::max<std::uint64_t>(16, static_cast<std::uint64_t>(nodes) / 2);  // plans of large machines take seconds
  }
  return std::nullopt;
}

}  // namespace torus::command
