// SPDX-License-Identifier: MIT
/// torus bounds: what no algorithm can beat on a shape.
#include "algorithms/bounds.hpp"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/figures.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/setting_options.hpp"
#include "tools/torus/subcommands.hpp"

namespace torus::command {
namespace {

struct BoundsArguments {
  SettingOptions setting;
  bool json = false;
};

std::string shape_table(const Machine& machine, const ShapeFacts& facts) {
  Rows rows;
  rows.emplace_back("shape", fmt::format("{}: {} nodes, {} channels", machine.topology.text(), grouped(machine.topology.nodes()),
                                         grouped(facts.channels)));
  rows.emplace_back("machine",
                    fmt::format("{}, {} ports, contention {}", name(machine.switching), machine.ports, name(machine.contention)));
  rows.emplace_back("diameter", std::to_string(facts.diameter));
  rows.emplace_back("average distance", fmt::format("{:.6g}", facts.average_distance));
  rows.emplace_back("status of a node", facts.least_status == facts.greatest_status
                                            ? grouped(facts.least_status)
                                            : fmt::format("{} to {}, average {:.6g}", grouped(facts.least_status),
                                                          grouped(facts.greatest_status), facts.average_status));
  rows.emplace_back("channels of a node", facts.least_channels_of_a_node == facts.most_channels_of_a_node
                                              ? std::to_string(facts.most_channels_of_a_node)
                                              : fmt::format("{} to {}", facts.least_channels_of_a_node, facts.most_channels_of_a_node));
  rows.emplace_back("bisection", fmt::format("{} links", grouped(facts.bisection_links)));
  rows.emplace_back("total exchange", fmt::format("bound (3), one port: {} steps; bound (4), all ports: {} steps", grouped(facts.bound3),
                                                  grouped(facts.bound4)));
  return aligned(rows);
}

int bounds(const BoundsArguments& arguments) {
  const Machine machine = make_machine(arguments.setting, default_shape(Collective::broadcast), NativeMachine{});
  const ShapeFacts facts = shape_facts(machine.topology);
  nlohmann::ordered_json json{{"shape", machine.topology.text()},
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
  std::vector<std::vector<std::string>> table{
      {"collective", "sources", "bytes", "steps", "one block a message", "model time", "because (steps; bytes)"}};
  for (const Collective collective : {Collective::broadcast, Collective::multinode_broadcast, Collective::total_exchange}) {
    SettingOptions options = arguments.setting;
    // The sources that were asked for are those of the multi-node broadcast, unless there is just one; the others have theirs by
    // definition.
    if (collective == Collective::total_exchange) options.sources.reset();
    if (collective == Collective::broadcast && options.sources &&
        parse_sources("--sources", *options.sources, machine.topology, 1).size() != 1) {
      options.sources.reset();
    }
    const Request request = make_request(collective, options, machine.topology);
    const Bounds b = lower_bounds(machine, request);
    table.push_back({std::string(name(collective)), grouped(request.sources.size()), bytes_option(request.bytes), grouped(b.steps),
                     grouped(b.single_block_steps), seconds_text(b.model_time_s(machine.cost)),
                     fmt::format("{}; {}", b.steps_reason, b.bytes_reason)});
    json["collectives"][std::string(name(collective))] = {{"source_count", request.sources.size()},
                                                          {"bytes", request.bytes},
                                                          {"steps_lower_bound", b.steps},
                                                          {"steps_lower_bound_reason", b.steps_reason},
                                                          {"steps_lower_bound_single_block", b.single_block_steps},
                                                          {"single_block_reason", b.single_block_reason},
                                                          {"channel_bytes_lower_bound", b.channel_bytes},
                                                          {"bytes_reason", b.bytes_reason},
                                                          {"model_time_lower_bound_s", b.model_time_s(machine.cost)}};
  }
  print(arguments.json ? json.dump() + "\n" : shape_table(machine, facts) + "\n" + aligned(table));
  return 0;
}

}  // namespace

Subcommand add_bounds(CLI::App& torus) {
  const auto arguments = std::make_shared<BoundsArguments>();
  CLI::App* app = torus.add_subcommand("bounds", "Lower bounds, average distance, bisection of a shape");
  add_machine_options(*app, arguments->setting);
  app->add_option("--bytes", arguments->setting.bytes, "of each message; default: what `torus run` takes")->type_name("SIZE");
  app->add_option("--source,--sources", arguments->setting.sources, "as for `torus run`")->type_name("NODES");
  app->add_option("--seed", arguments->setting.seed, "of random sources; default 1")->type_name("N");
  app->add_flag("--json", arguments->json, "print one JSON object");
  return {app, [arguments] { return bounds(*arguments); }};
}

}  // namespace torus::command
