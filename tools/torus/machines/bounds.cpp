/// torus bounds: what no algorithm can beat on a shape.
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <torus/bounds.hpp>
#include <torus/run.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"

namespace torus::command {
namespace {

struct BoundsArguments {
  std::optional<std::string> collective;
  TypedOptions setting;
  bool json = false;
};

/// One collective, as the bounds see it.
struct Asked {
  Request request;
  std::uint64_t sources = 0;  ///< how many
  std::string left_out;       ///< why it has no bounds; empty: it has
};

/// The bounds look at each source. More than these take seconds and hundreds of megabytes, and no run could hold what they send.
constexpr std::uint64_t most_sources = std::uint64_t{1} << 24U;

/// A request whose sources are not listed.
Request sourceless(const RunSpec& spec) {
  Request request;
  request.collective = spec.collective;
  request.bytes = spec.bytes;
  request.sizes = spec.sizes;
  if (spec.sizes) static_cast<void>(sizes_of(seen_shape(spec).nodes(), request));
  return request;
}

/// For the class of groups of that number.
RunSpec parsed(Collective collective, const TypedOptions& options, std::size_t which) {
  RunSpec spec = parse_spec(collective, options);
  return which == 0 ? spec : spec_of_class(spec, spec.other_classes[which - 1]);
}

/// All collectives. Sources that were named are those of the multi-node broadcast, and the broadcast's where it is just one; in the total
/// exchange all nodes are sources, and are not listed. --sizes are those of the collective that is named.
std::vector<Asked> all_asked(const TypedOptions& options, std::size_t which, std::optional<Collective> named = std::nullopt) {
  const auto parsed = [&](Collective collective, TypedOptions of_it) {
    if (collective != named) of_it["sizes"].reset();
    return command::parsed(collective, of_it, which);
  };
  TypedOptions unnamed = options;
  unnamed["sources"].reset();
  const RunSpec spec = parsed(Collective::multinode_broadcast, options);
  const NodeId nodes = seen_shape(spec).nodes();
  Asked broadcast{make_request(parsed(Collective::broadcast, unnamed)), 1, ""};
  Asked multinode{sourceless(spec), nodes, ""};
  if (spec.sources.value_or("all") != "all" || nodes <= most_sources) {
    multinode.request = make_request(spec);
    multinode.sources = multinode.request.sources.size();
    if (spec.sources && multinode.sources == 1) broadcast.request.sources = multinode.request.sources;
  } else {
    multinode.left_out =
        fmt::format("left out: more than {} sources to look at; for instance --sources random:1000", grouped(most_sources));
  }
  return {std::move(broadcast), std::move(multinode), Asked{sourceless(parsed(Collective::total_exchange, unnamed)), nodes, ""}};
}

/// One collective alone.
Asked one_asked(Collective collective, const TypedOptions& options, std::size_t which) {
  if (collective == Collective::multinode_broadcast) return std::move(all_asked(options, which, collective)[1]);
  const RunSpec spec = parsed(collective, options, which);
  if (collective == Collective::total_exchange && !spec.sources) return std::move(all_asked(options, which, collective)[2]);
  Asked asked{make_request(spec), 0, ""};
  asked.sources = asked.request.exchanges_of_sources() ? asked.request.sources.size()
                  : facts_of(collective).rooted()      ? 1
                                                       : seen_shape(spec).nodes();
  return asked;
}

std::string groups_row(const RunSpec& spec) {
  const std::string all = fmt::format("{}: {}", *spec.groups_text, grouped(group_count(spec)));
  if (spec.other_classes.empty()) return all + ", each as below";
  return fmt::format("{}, in {} classes by what is dead or slow; the shape below is that of {}, and bounds are the largest of all", all,
                     1 + spec.other_classes.size(), class_text(*spec.groups));
}

/// Bounds, and the class of groups that they are of, if there are several.
struct LargestBounds {
  Bounds bounds;
  std::string of = {};
};

/// asked: of each class, the same.
LargestBounds largest_bounds(const RunSpec& spec, const Machine& machine, std::span<const Asked* const> asked) {
  LargestBounds largest{lower_bounds(machine, asked.front()->request, spec.groups ? &*spec.groups : nullptr)};
  if (!spec.other_classes.empty()) largest.of = class_text(*spec.groups);
  for (std::size_t i = 0; i < spec.other_classes.size(); ++i) {
    const Groups& groups = spec.other_classes[i];
    Bounds own = lower_bounds(make_machine(spec_of_class(spec, groups), {.switching = machine.switching}), asked[i + 1]->request, &groups);
    if (own.model_time_s(machine.cost) > largest.bounds.model_time_s(machine.cost)) largest = {std::move(own), class_text(groups)};
  }
  return largest;
}

std::string shape_table(const RunSpec& spec, const Machine& machine, const ShapeFacts& facts) {
  Rows rows;
  if (spec.map) rows.emplace_back("map", fmt::format("{}; bounds hold for ranks anywhere", *spec.map));
  if (spec.groups_text) rows.emplace_back("groups", groups_row(spec));
  rows.emplace_back("shape", fmt::format("{}: {}, {}", machine.topology.text(), counted(machine.topology.nodes(), "node"),
                                         counted(facts.channels, "channel")));
  rows.emplace_back("machine", fmt::format("{}, {}, contention {}", name(machine.switching),
                                           counted(static_cast<std::uint64_t>(machine.ports), "port"), name(machine.contention)));
  rows.emplace_back("diameter", std::to_string(facts.diameter));
  rows.emplace_back("average distance", fmt::format("{:.6g}", facts.average_distance));
  rows.emplace_back("status of a node", facts.least_status == facts.greatest_status
                                            ? grouped(facts.least_status)
                                            : fmt::format("{} to {}, average {:.6g}", grouped(facts.least_status),
                                                          grouped(facts.greatest_status), facts.average_status));
  rows.emplace_back("channels of a node", facts.least_channels_of_a_node == facts.most_channels_of_a_node
                                              ? std::to_string(facts.most_channels_of_a_node)
                                              : fmt::format("{} to {}", facts.least_channels_of_a_node, facts.most_channels_of_a_node));
  rows.emplace_back("bisection", counted(facts.bisection_links, "link"));
  rows.emplace_back("total exchange", fmt::format("bound (3), one port: {}; bound (4), all ports: {}", counted(facts.bound3, "step"),
                                                  counted(facts.bound4, "step")));
  return aligned(rows);
}

/// A machine on which a group's messages take any route, over all ports that its nodes have on the whole machine: what bounds its
/// algorithms bounds all that moves its data, through other groups too. None where there are no groups, or nodes or links are dead or slow.
std::optional<Machine> with_any_route(const RunSpec& spec, const Machine& group) {
  if (!spec.groups_text || !spec.shape.faults().empty()) return std::nullopt;
  const auto nodes = static_cast<std::int32_t>(group.topology.nodes());
  if (nodes > 1 << 20) return std::nullopt;
  const Topology complete({{nodes, Wiring::complete}});
  const int ports = spec.ports.value_or(0) > 0 ? *spec.ports : static_cast<int>(spec.shape.max_ports());
  CostModel cost = spec.cost;
  for (const double byte_s : cost.dimension_byte_s) cost.byte_s = std::min(cost.byte_s, byte_s);
  cost.dimension_byte_s.clear();
  return Machine(complete, std::min(ports, static_cast<int>(complete.max_ports())), group.switching, group.contention, {}, cost);
}

int bounds(const BoundsArguments& arguments) {
  TypedOptions options = arguments.setting;
  std::optional<Collective> collective;
  if (arguments.collective) collective = parse_collective(*arguments.collective, options);
  if (options["sizes"] && !collective)
    throw InputError(
        fmt::format("--sizes '{}': name the collective that they are of; for instance torus bounds total-exchange", *options["sizes"]));
  if (!options["on"] && !options["machine"]) options["on"] = facts_of(collective.value_or(Collective::broadcast)).usual_shape;
  RunSpec spec = parse_spec(Collective::multinode_broadcast, options);
  spec.collective = collective.value_or(spec.collective);
  const Machine machine = usual_machine(spec);
  const std::optional<Machine> any_route = with_any_route(spec, machine);
  const ShapeFacts facts = shape_facts(machine.topology);
  Json json{{"shape", machine.topology.text()},
            {"nodes", machine.topology.nodes()},
            {"ports", machine.ports},
            {"switching", name(machine.switching)},
            {"contention", name(machine.contention)},
            {"diameter", facts.diameter},
            {"average_distance", facts.average_distance},
            {"status_min", facts.least_status},
            {"status_max", facts.greatest_status},
            {"average_status", facts.average_status},
            {"channels", facts.channels},
            {"bisection_links", facts.bisection_links},
            {"bound3_steps", facts.bound3},
            {"bound4_steps", facts.bound4}};
  Table table{{"collective", "sources", "bytes", "steps", "one block a message", "model time", "because (steps; bytes)"}};
  if (any_route) table.front().insert(table.front().begin() + 6, {"steps by any route", "model time by any route"});
  if (spec.map) json["map"] = *spec.map;
  if (spec.groups_text) json.update({{"groups", *spec.groups_text}, {"group_count", group_count(spec)}});
  std::vector<std::vector<Asked>> of_classes;
  for (std::size_t i = 0; i <= spec.other_classes.size(); ++i)
    of_classes.push_back(collective ? std::vector<Asked>{one_asked(*collective, options, i)} : all_asked(options, i));
  for (std::size_t k = 0; k < of_classes.front().size(); ++k) {
    const Asked& asked = of_classes.front()[k];
    const std::string called(name(asked.request.collective));
    const std::string bytes = bytes_option(asked.request.bytes);
    Json entry{{"source_count", asked.sources}, {"bytes", asked.request.bytes}};
    if (!asked.left_out.empty()) {
      table.push_back({called, grouped(asked.sources), bytes, "-", "-", "-", asked.left_out});
      if (any_route) table.back().insert(table.back().begin() + 6, {"-", "-"});
      entry["left_out"] = asked.left_out;
      json["collectives"][called] = std::move(entry);
      continue;
    }
    std::vector<const Asked*> each;
    for (const std::vector<Asked>& all : of_classes) each.push_back(&all[k]);
    const auto [b, of] = largest_bounds(spec, machine, each);
    table.push_back({called, grouped(asked.sources), bytes, grouped(b.steps), grouped(b.single_block_steps),
                     seconds_text(b.model_time_s(machine.cost)),
                     fmt::format("{}{}; {}", of.empty() ? "" : of + ": ", b.steps_reason, b.bytes_reason)});
    if (!of.empty()) entry["of_groups"] = of;
    entry.update({{"steps_lower_bound", b.steps},
                  {"steps_lower_bound_reason", b.steps_reason},
                  {"steps_lower_bound_single_block", b.single_block_steps},
                  {"single_block_reason", b.single_block_reason},
                  {"channel_bytes_lower_bound", b.channel_bytes},
                  {"bytes_reason", b.bytes_reason},
                  {"model_time_lower_bound_s", b.model_time_s(machine.cost)},
                  {"model_time_simple_bound_s", b.simple_model_time_s(machine.cost)}});
    if (any_route) {
      const Bounds free = lower_bounds(*any_route, asked.request);
      const double time_s = free.model_time_s(any_route->cost);
      table.back().insert(table.back().begin() + 6, {grouped(free.steps), seconds_text(time_s)});
      entry.update({{"any_route_steps_lower_bound", free.steps}, {"any_route_model_time_lower_bound_s", time_s}});
    }
    json["collectives"][called] = std::move(entry);
  }
  answer(
      arguments.json, [&] { return json; },
      [&] {
        return shape_table(spec, machine, facts) + "\n" + aligned(table, {.left_out = {1, 2}});
      });
  return 0;
}

}  // namespace

Command bounds_command() {
  const auto arguments = std::make_shared<BoundsArguments>();
  Command command{.help = "Lower bounds, average distance, bisection of a shape"};
  command.add("collective", "COLLECTIVE", &arguments->collective,
              "of this one alone; default: broadcast, multi-node broadcast, total exchange");
  add_options(command, OptionGroup::machine, arguments->setting);
  command.add("--bytes", "SIZE", &arguments->setting["bytes"], "of each message; default: what `torus run` takes");
  command.add("--sizes", "RULE|FILE", &arguments->setting["sizes"], "of the collective's blocks, as for `torus run`");
  command.add("--source,--sources", "NODES", &arguments->setting["sources"], "as for `torus run`");
  command.add("--seed", "N", &arguments->setting["seed"], "of random sources; default 1");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.body = [arguments] { return bounds(*arguments); };
  return command;
}

}  // namespace torus::command
