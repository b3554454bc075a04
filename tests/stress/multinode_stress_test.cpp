/// The multi-node broadcasts on every square up to 32 x 32 and every partition.
#include "tests/support/multinode.hpp"

using namespace torus;
using namespace torus::multinode_broadcast;
using namespace torus::support;

TEST_CASE("with all nodes as sources steps and bytes are the closed forms, for every side up to 32 and every h", "[stress]") {
  support::Share share(4, 2);
  for (std::int32_t n = 11; n <= 32; ++n) {
    if (!share.takes_turn()) continue;
    check_all_sources(
        n, 2, n <= 16 ? std::span<const std::string_view>(multinode_broadcast::aggregate_distribute::prefix_names) : default_prefix);
  }
}

TEST_CASE("any sources are served on every side up to 32 and every h", "[stress]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  support::Share share(6, 3);
  for (std::int32_t n = 2; n <= 32; ++n) {
    const Machine machine = square(n);
    for (const std::int32_t h : divisors(n)) {
      if (!share.takes_turn()) continue;
      for (const auto& [label, sources] : source_sets(n, h, random)) {
        if (label == "half" && n > 20) continue;
        for (const std::string_view name : {"aggregate-distribute", "hierarchical --dcn scatter", "hierarchical --dcn broadcast"}) {
          CAPTURE(name, n, h, label);
          Request request = multinode_request(sources, 3);
          request.parameters.set("h", static_cast<std::uint64_t>(h));
          checked(name, machine, request);
        }
        if (h != 1) continue;
        for (const std::string_view name : {"ring", "log", "edst --variant synchronous", "edst --variant pipelined"}) {
          CAPTURE(name, n, label);
          checked(name, machine, multinode_request(sources, 3));
        }
      }
    }
  }
}
