/// What this host's memory allows: a tree of copies, with plain and with streaming stores, in cache and out of it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <memory>
#include <vector>

#include "bench/copies.hpp"
#include "bench/program.hpp"

namespace torus::bench {
namespace {

struct Case {
  NodeId places;
  Bytes bytes;
  unsigned children;
};

void copy_limit(benchmark::State& state, const Case& at, Stores stores, ExecutorKind kind, unsigned threads) {
  const std::unique_ptr<Executor> executor = make_executor(kind, threads);
  Copies tree(at.places, at.bytes, tree_of_copies(at.places, at.children), *executor);
  tree.run(stores);
  for ([[maybe_unused]] auto _ : state) state.SetIterationTime(tree.run(stores));
  if (!tree.complete()) state.SkipWithError("a place lacks the payload");
  const auto delivered = static_cast<double>(tree.delivered()) * static_cast<double>(state.iterations());
  state.counters["copied_bytes/s"] = benchmark::Counter(delivered, benchmark::Counter::kIsRate);
}

}  // namespace

void register_benchmarks(const Settings& settings) {
  for (const NodeId places : {4096U, 1048576U}) {
    const bool large = places > 4096;
    if (large && !settings.large) continue;
    for (const Bytes bytes : large ? std::vector<Bytes>{1024, 4096} : std::vector<Bytes>{4096, 65536}) {
      for (const unsigned children : {1U, large ? 4U : 6U}) {
        for (const Stores stores : {Stores::plain, Stores::streaming}) {
          for (const unsigned threads : thread_counts()) {
            const std::string name = fmt::format("copy-limit{}/{}/nodes:{}/bytes:{}/children:{}/threads:{}", large ? "/large" : "",
                                                 bench::name(stores), places, bytes, children, threads);
            const Case at{places, bytes, children};
            add(name, [=, kind = settings.executor](benchmark::State& state) {
              copy_limit(state, at, stores, kind, threads);
            })->Unit(benchmark::kMicrosecond);
          }
        }
      }
    }
  }
}

}  // namespace torus::bench
