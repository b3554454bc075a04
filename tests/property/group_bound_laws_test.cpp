/// Lower bounds of runs in groups of every kind, on machines of several speeds, with sizes that differ, under every switching and
/// contention.
#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>
#include <torus/groups.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/random_settings.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::support;

namespace {

std::int32_t random_divisor(std::mt19937_64& random, std::int32_t n) {
  std::int32_t divisor = 1 + static_cast<std::int32_t>(random_below(random, static_cast<std::uint64_t>(n)));
  while (n % divisor != 0) --divisor;
  return divisor;
}

/// Groups of any kind; of a file and of mapped ranks often.
Groups random_groups(std::mt19937_64& random, const Topology& topology, const Folder& folder) {
  const auto kind = random_below(random, 10);
  if (kind >= 8) {
    std::vector<NodeId> nodes(topology.nodes());
    std::iota(nodes.begin(), nodes.end(), 0U);
    for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random_below(random, i)]);
    return Groups::mapped(kind == 8 ? "" : "rows", topology, nodes);
  }
  std::string text;
  if (kind >= 4) {
    std::vector<NodeId> nodes(topology.nodes());
    std::iota(nodes.begin(), nodes.end(), 0U);
    for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random_below(random, i)]);
    const std::uint32_t size = 1 + random_below(random, std::min<NodeId>(12, topology.nodes()));
    const std::uint32_t count = 1 + random_below(random, topology.nodes() / size);
    std::string lines;
    for (std::uint32_t i = 0; i < count * size; ++i) lines += std::to_string(nodes[i]) + ((i + 1) % size == 0 ? "\n" : " ");
    return Groups::parse("file:" + folder.write("groups", lines), topology);
  }
  if (kind >= 2) {
    text = kind == 2 ? "slice:" : "stride:";
    for (Dimension d = 0; d < topology.dimensions(); ++d)
      text += (d == 0 ? "" : "x") + std::to_string(random_divisor(random, topology.extent(d)));
  } else {
    text = kind == 0 ? "rows" : "axis:" + std::to_string(random_below(random, static_cast<std::uint64_t>(topology.dimensions())));
  }
  return Groups::parse(text, topology);
}

void add_random_sizes(std::mt19937_64& random, Request& request) {
  if (!facts_of(request.collective).takes_sizes() || random_below(random, 3) != 0) return;
  const char* rules[] = {"zipf:1", "zeros:0.5", "uniform:0:64"};
  request.sizes = SizeRule::parse(rules[random_below(random, 3)]);
  if (request.sizes->fixed()) request.bytes = request.sizes->mean(unit_of(request.collective, request.reduction));
}

/// What is wrong with the figures of a run beside its bounds; empty if nothing is.
std::string beaten(const Run& run, const CostModel& cost) {
  constexpr double rounding = 1 - 1e-9;
  const RunResult& result = run.result;
  if (result.steps < run.bounds.steps) return "steps";
  if (static_cast<double>(result.channel_bytes_sum) < run.bounds.channel_bytes * rounding) return "bytes";
  if (static_cast<double>(result.node_combined_sum) < run.bounds.combined_bytes * rounding) return "combined bytes";
  if (result.channel_time_s < run.bounds.channel_time_s.value_or(0) * rounding) return "byte terms";
  if (result.model_time_s < run.bounds.model_time_s(cost) * rounding) return "model time";
  return "";
}

}  // namespace

TEST_CASE("no figure of a run in groups is below its lower bound", "[property]") {
  const Folder folder;
  std::mt19937_64 random(seed());
  Share share(20, 20);
  CAPTURE(seed());
  int runs = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t state = random();
    if (!share.takes_turn()) continue;
    std::mt19937_64 own(state);
    const Machine machine = random_machine(own, random_topology(own, 48), 2);
    std::optional<Groups> groups;
    try {
      groups = random_groups(own, machine.topology, folder);
    } catch (const InputError&) {  // part of a complete dimension
      continue;
    }
    if (groups->dilated() && machine.switching == Switching::packet) continue;
    const Machine seen = groups->machine(machine);
    Request request = random_request(own, seen.topology, random_bytes(own, 9));
    add_random_sizes(own, request);
    for (const Algorithm* algorithm : catalogue()) {
      if (algorithm->collective != request.collective || refuses(*algorithm, seen, request)) continue;
      CAPTURE(algorithm->name, text_of(machine, request), groups->text(), seen.topology.text(), request.sizes ? request.sizes->text : "");
      RunOptions options;
      options.executor = ExecutorKind::serial;
      std::optional<Run> run;
      try {
        run = torus::run(*algorithm, machine, *groups, request, options);
      } catch (const PredictionError& error) {
        FAIL_CHECK(error.what());
        continue;
      } catch (const RunError&) {  // a search that finds nothing
        continue;
      } catch (const InputError&) {
        continue;
      }
      ++runs;
      if (groups->dilated() && !run->result.violations.empty()) {  // groups meet
        CHECK(run->result.violations.front().kind ==
              (machine.contention == Contention::forbid ? ViolationKind::channel_used_twice : ViolationKind::queue_overflow));
        continue;
      }
      CHECK(complaint(*run) == "");
      CHECK(beaten(*run, seen.cost) == "");
      if (run->plan.predicts() && groups->by_routes() && machine.contention == Contention::forbid && run->plan.steps_exact &&
          run->plan.bytes_exact && request.collective != Collective::multinode_broadcast && seen.cost.hop_s == 0)
        CHECK(run->result.model_time_s <= run->plan.model_time_s(seen.cost) * (1 + 1e-9));
    }
  }
  CHECK(runs > 10000 / static_cast<int>(share.one_in()));
}
