// A trace of mapped ranks as one by nodes: legal and complete, as if rank r were node r.
#include "tools/torus/view/by_node.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <torus/catalogue.hpp>
#include <torus/judge.hpp>
#include <torus/session.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/random_settings.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/view/contributors.hpp"

using namespace torus;

namespace {

/// What is followed of a run, by nodes.
class Followed {
 public:
  explicit Followed(const TraceHeader& header) : by_node_{header} {
    TraceHeader plain = by_node_.header();
    plain.groups.clear();
    judge_.emplace(plain);
    if (command::ContributorCounts::follows(header.collective)) counts_.emplace(header);
  }
  void step(std::span<const Message* const> messages) {
    std::vector<const Message*> sorted(messages.begin(), messages.end());
    std::sort(sorted.begin(), sorted.end(), trace_order);
    for (const Message* m : sorted) {
      line_.assign(*m);
      if (counts_) counts_->sent(line_);
      by_node_.rename(line_);
      judge_->message(line_);
    }
    if (counts_) counts_->end_step();
  }
  Verdict verdict() { return judge_->finish(); }
  /// Nodes that have all that they want of a reduction or a barrier; all, of what is neither.
  std::uint64_t complete() const { return counts_ ? counts_->complete() : nodes(); }
  /// Those that want anything of it.
  std::uint64_t wanting() const {
    std::uint64_t all = 0;
    for (NodeId node = 0; node < nodes(); ++node) all += !counts_ || counts_->wanted(node) > 0 ? 1U : 0U;
    return all;
  }

 private:
  NodeId nodes() const { return by_node_.header().machine.topology.nodes(); }

  command::ByNode by_node_;
  std::optional<Judge> judge_;
  std::optional<command::ContributorCounts> counts_;
  TraceMessage line_;
};

}  // namespace

TEST_CASE("a run of ranks on any nodes is one of the nodes", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  unsigned runs = 0;
  for (unsigned map = 0; map < 300; ++map) {
    std::mt19937_64 own(random());
    const Topology topology = support::random_topology(own, 24);
    const Machine machine(topology, own() % 2 == 0 ? all_ports : 1, Switching::wormhole, Contention::share);
    const std::vector<NodeId> nodes = support::random_map(own, topology);
    const Groups groups = Groups::mapped("", topology, nodes);
    const Request request = support::random_request(own, topology, support::random_bytes(own, 9));
    const Algorithm* drawn = support::some_algorithm(own, groups.machine(machine), request);
    if (drawn == nullptr) continue;
    const Algorithm& algorithm = *drawn;
    CAPTURE(map, std::string(algorithm.name), support::text_of(machine, request), nodes);
    std::optional<Followed> followed;
    RunOptions options;
    options.executor = ExecutorKind::serial;
    options.on_messages = [&](std::span<const Message* const> messages) { followed->step(messages); };
    try {
      const Plan plan = make_plan(algorithm, groups.machine(machine), request);
      followed.emplace(header_of(machine, &groups, request, plan, algorithm.name, 1));
      if (!run(algorithm, machine, groups, request, options).result.verified) continue;  // it sends more than queues have room for
    } catch (const RunError&) {                                                          // a search that finds nothing
      continue;
    } catch (const InputError&) {
      continue;
    }
    CHECK(followed->complete() == followed->wanting());
    if (request.collective == Collective::scan) continue;  // in the order of the ranks
    const Verdict verdict = followed->verdict();
    CAPTURE(verdict.violations);
    CHECK(verdict.ok);
    ++runs;
  }
  CHECK(runs > 150);
}
