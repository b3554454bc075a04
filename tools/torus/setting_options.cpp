#include "tools/torus/setting_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/torus/planning.hpp"

namespace torus::command {

void add_collective(CLI::App& app, std::string& collective) {
  std::vector<std::string_view> names;
  for (const Collective each : collectives()) names.push_back(name(each));
  app.add_option("collective", collective, fmt::format("{}; or as MPI says it: bcast, allgather, alltoall", fmt::join(names, ", ")))
      ->type_name("COLLECTIVE")
      ->required();
}

void add_machine_options(CLI::App& app, TypedOptions& options) {
  app.add_option("--machine", options.machine, "defaults of a machine that exists: shape, ports, speeds; `torus list --machines` has all")
      ->type_name("MACHINE");
  app.add_option("--on", options.on,
                 "shape: 16x16, 8x8x8, 16x16m (m: a line), 4x4c (c: complete), 4x4x8t (t: twisted), mesh:4x6, 2^10, hypercube:10")
      ->type_name("SHAPE");
  app.add_option("--ports", options.ports, "messages a node may send, and receive, in a step; default: all")->type_name("N|all");
  app.add_option("--switching", options.switching, "how a message crosses several channels; default: what the algorithm was made for")
      ->type_name("packet|wormhole|circuit");
  app.add_option("--contention", options.contention, "two messages on a channel in one step; default: what the algorithm was made for")
      ->type_name("forbid|share");
  app.add_option("--routing", options.routing, "the order in which wormhole routes take the dimensions; default 0,1,..")
      ->type_name("D,D,..");
  app.add_option("--dead-link", options.dead_links, "links that carry nothing, either way: 3,4:+0, 7:-1; several with ; between")
      ->type_name("LINKS");
  app.add_option("--dead-links", options.random_dead_links,
                 "random:5: so many dead links, by the seed, that leave the machine in one piece")
      ->type_name("random:N");
  app.add_option("--dead-node", options.dead_nodes, "nodes that are dead with all their links: 7; several with ; between")
      ->type_name("NODES");
  app.add_option("--slow-link", options.slow_links, "links that take so many times as long for a byte: 3,4:+0:2; several with ; between")
      ->type_name("LINKS");
  app.add_option("--ts,--latency", options.start_up, "T_s, model time a step: 1us, 5e-7; default 1us")->type_name("TIME");
  app.add_option("--tc", options.byte_time,
                 "T_c, model time a byte on a channel; one for all, or 1e-10,2e-10: one a dimension; default 0.1ns")
      ->type_name("TIME");
  app.add_option("--bandwidth", options.bandwidth, "of a channel, instead of --tc: 100Gb/s, 12.5GB/s; or one a dimension")
      ->type_name("RATE");
  app.add_option("--th", options.hop_time, "T_h, model time a hop; default 0")->type_name("TIME");
  app.add_option("--tg", options.combine_time, "T_g, model time a byte that a node combines; default 0")->type_name("TIME");
}

void add_request_options(CLI::App& app, TypedOptions& options) {
  app.add_option("--bytes", options.bytes, "what MPI's count says, of a message, a vector or a node's block: 64, 4KiB, 1MiB")
      ->type_name("SIZE");
  app.add_option("--source,--sources,--root", options.sources,
                 "nodes: a rank, 3,4 or 0,0;3,4; random, random:S, all, none, row:i, column:i, diagonal, block:AxB, density:0.1")
      ->type_name("NODES");
  app.add_option("--op", options.op, "of reductions; default sum")->type_name("sum|min|max|xor");
  app.add_option("--type", options.type, "the elements of a reduction; default f32")->type_name("u8|u16|u32|u64|i8|i16|i32|i64|f32|f64");
  app.add_option("--seed", options.seed, "seed of the blocks' bytes and of random sources; default 1")->type_name("N");
  for (const ParameterOption& parameter : parameter_options(catalogue())) {
    app.add_option(fmt::format("--{}", parameter.name), options.parameters[std::string(parameter.name)],
                   fmt::format("{}, or auto; read by {}", parameter.meaning, fmt::join(parameter.readers, ", ")))
        ->type_name(parameter.words.empty() ? "N|auto" : fmt::format("{}|auto", fmt::join(parameter.words, "|")));
  }
  app.add_option("--expect", options.expect,
                 "sources that predictions expect; default: as many as --sources names, or all; programs never know them")
      ->type_name("S");
}

void add_host_options(CLI::App& app, TypedOptions& options) {
  app.add_option("--executor", options.executor, fmt::format("what runs the nodes; default {}", name(default_executor)))
      ->type_name("tbb|threads|serial|shuffled");
  app.add_option("--threads", options.threads, "workers; default: the host's cores")->type_name("N");
  app.add_option("--memory", options.memory, "maximum memory to use; default: 80 % of what is available")->type_name("SIZE");
  app.add_option("--plan-time", options.plan_time,
                 fmt::format("seconds that planning an algorithm may take; default {:g}, or {:g} where several are tried", plan_s_of_one,
                             plan_s_of_many))
      ->type_name("S");
}

}  // namespace torus::command
