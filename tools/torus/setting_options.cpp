#include "tools/torus/setting_options.hpp"

namespace torus::command {

void add_machine_options(CLI::App& app, SettingOptions& options) {
  app.add_option("--on", options.on, "shape: 16x16, 8x8x8, 16x16m (m: a line), 4x4c (c: complete), mesh:4x6, 2^10, hypercube:10")
      ->type_name("SHAPE");
  app.add_option("--ports", options.ports, "messages a node may send, and receive, in a step; default: all")->type_name("N");
  app.add_option("--switching", options.switching, "packet, wormhole or circuit; default: what the algorithm was made for")
      ->type_name("WORD");
  app.add_option("--contention", options.contention, "forbid or share")->type_name("WORD");
  app.add_option("--routing", options.routing, "the order in which wormhole routes take the dimensions; default 0,1,..")
      ->type_name("D,D,..");
  app.add_option("--ts", options.start_up, "T_s, model seconds a step; default 1e-6")->type_name("SECONDS");
  app.add_option("--tc", options.byte_time, "T_c, model seconds a byte on a channel; default 1e-10")->type_name("SECONDS");
  app.add_option("--th", options.hop_time, "T_h, model seconds a hop; default 0")->type_name("SECONDS");
}

void add_request_options(CLI::App& app, SettingOptions& options) {
  app.add_option("--bytes", options.bytes, "of each source's message (total exchange: of each block): 64, 4KiB, 1MiB")->type_name("SIZE");
  app.add_option("--source,--sources", options.sources,
                 "nodes: a rank, 3,4 or 0,0;3,4; random, random:S, all, none, row:i, column:i, diagonal, block:AxB, density:0.1")
      ->type_name("NODES");
  app.add_option("--seed", options.seed, "of the blocks' bytes and of random sources; default 1")->type_name("N");
  app.add_option("--segments", options.segments, "blocks that a message is cut in, or auto")->type_name("K");
  app.add_option("--h", options.h, "partition of the multi-node broadcast: a divisor of n")->type_name("H");
  app.add_option("--prefix", options.prefix, "prefix sum of the multi-node broadcast: global5, diag5, global3, diag3, hash or none")
      ->type_name("WORD");
  app.add_option("--chunk", options.chunk, "segments that a channel carries in a step, where trees are pipelined")->type_name("C");
  app.add_option("--expect", options.expect, "sources that the choice of an algorithm may assume; programs never know them")
      ->type_name("S");
}

void add_host_options(CLI::App& app, SettingOptions& options) {
  app.add_option("--executor", options.executor, "tbb, threads, serial or shuffled; default tbb")->type_name("WORD");
  app.add_option("--threads", options.threads, "workers; default: the host's cores")->type_name("N");
  app.add_option("--memory", options.memory, "most memory to use; default: 80 % of what is available")->type_name("SIZE");
}

}  // namespace torus::command
