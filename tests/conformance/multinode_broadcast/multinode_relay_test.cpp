/// The multi-node broadcasts by way of a plane, of one node, and by a swath for each source or one for all; and messages split over all
/// subnetworks.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "algorithms/common/integers.hpp"
#include "algorithms/lines/deal.hpp"
#include "tests/support/multinode.hpp"
#include "tests/support/run.hpp"

using namespace torus;
using namespace torus::support;

namespace {

Machine torus_of(const char* shape, int ports = 0, std::vector<Dimension> routing = {}) {
  return Machine(Topology::parse(shape), ports, Switching::wormhole, Contention::forbid, std::move(routing));
}

std::uint64_t number_in(const Plan& plan, std::string_view note) {
  for (const auto& [name, value] : plan.notes) {
    if (name == note) return std::stoull(value);
  }
  return 0;
}

Request all_of(const Machine& machine, Bytes bytes) {
  Request request = multinode_request(all_nodes(machine.topology.nodes()), bytes);
  request.expected_sources = machine.topology.nodes();
  return request;
}

std::uint64_t sum_of_logs(const Topology& topology, std::uint64_t base) {
  std::uint64_t sum = 0;
  for (const DimensionShape& d : topology.shape()) sum += ceil_log(base, static_cast<std::uint64_t>(d.extent));
  return sum;
}

/// Steps of the broadcast whose schedule goes out, for the same pieces.
std::uint64_t swath_steps(const Machine& machine, std::uint64_t h, Bytes bytes) {
  Request request{.collective = Collective::broadcast, .sources = {0}, .bytes = bytes, .parameters = {}, .expected_sources = {}};
  request.parameters.set("h", h);
  return find_algorithm(Collective::broadcast, machine.ports == 1 ? "strip" : "swath")->plan(machine, request).steps;
}

}  // namespace

TEST_CASE("by way of the plane: with all nodes as sources steps and bytes are the closed forms", "[conformance]") {
  for (const char* shape : {"1", "1x1", "2", "7", "2x2", "3x3", "4x4", "5x5", "6x6", "7x7", "10x10", "2x2x2", "3x3x3", "4x4x4", "5x5x5",
                            "2x2x2x2", "3x3x3x3", "2^5"}) {
    const Machine machine = torus_of(shape);
    const auto n = static_cast<std::uint64_t>(machine.topology.extent(0)), k = static_cast<std::uint64_t>(machine.topology.dimensions());
    const std::uint64_t base = n < 2 ? 1 : k;  // dimensions with links
    for (const char* trees : {"lines", "diagonals"}) {
      for (std::uint64_t reach = 0; reach <= (base < 2 ? 0U : 3U); ++reach) {
        for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{37}}) {
          CAPTURE(shape, trees, reach, bytes);
          Request request = all_of(machine, bytes);
          request.parameters.set("trees", trees);
          request.parameters.set("pieces", 1 + base * reach);
          const Emulation e = checked("hyperplane", machine, request);
          CHECK(static_cast<double>(e.result.channel_bytes_sum) == e.plan.channel_bytes);
          const std::uint64_t tree = ceil_log(std::string(trees) == "lines" ? 3 : 2 * k + 1, n);
          const std::uint64_t exchange = k < 2 || n < 2 ? 0 : ceil_log(k + 1, machine.topology.nodes() / n);
          CHECK(e.result.steps >= reach + 2 * tree + exchange);
          CHECK(e.result.steps <= reach + 2 * tree + exchange + (k > 2 ? 1 : 0));
        }
      }
    }
  }
}

TEST_CASE("by way of the plane 8x8x8 takes seven steps and 4x4x4 four", "[conformance]") {
  Request request = multinode_request({5}, 8);
  request.parameters.set("pieces", 1);
  request.parameters.set("trees", "diagonals");
  CHECK(checked("hyperplane", torus_of("8x8x8"), request).result.steps == 7);
  CHECK(checked("hyperplane", torus_of("4x4x4"), request).result.steps == 4);
}

TEST_CASE("by way of the root: steps are those of the trees and of the swath, and the bytes of all sources are exact", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (const char* shape : {"1", "7", "1x6", "3x9", "6x6", "5x8", "2x3x5", "4x4x4"}) {
    for (int ports = 1; ports <= static_cast<int>(Topology::parse(shape).max_ports()); ++ports) {
      const Machine machine = torus_of(shape, ports);
      for (const std::uint32_t one_in : {1U, 4U}) {
        Request request = one_in == 1 ? all_of(machine, 53) : multinode_request(random_nodes(random, machine.topology.nodes(), one_in), 53);
        for (std::uint64_t h = 0; h <= 6; ++h) {
          request.parameters.set("h", h);
          if (refuses(multinode_algorithm("relay"), machine, request)) continue;
          CAPTURE(shape, ports, one_in, h);
          const Emulation e = checked("relay", machine, request);
          CHECK(e.result.steps == sum_of_logs(machine.topology, ports == 1 ? 2 : 3) + swath_steps(machine, number_in(e.plan, "h"), 53));
          if (one_in == 1) CHECK(static_cast<double>(e.result.channel_bytes_sum) == e.plan.channel_bytes);
        }
      }
    }
  }
}

TEST_CASE("swaths takes the predicted steps for the number of sources that it was told, and at most the predicted bytes", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (const char* shape : {"1", "7", "1x6", "3x9", "6x6", "8x8", "5x8", "2x3x5", "4x4x4"}) {
    for (const int ports : {1, 2, 0}) {
      if (ports > static_cast<int>(Topology::parse(shape).max_ports())) continue;
      const Machine machine = torus_of(shape, ports);
      for (const std::size_t sources : {0U, 1U, 2U, 5U}) {
        std::vector<NodeId> nodes = all_nodes(machine.topology.nodes());
        std::shuffle(nodes.begin(), nodes.end(), random);
        nodes.resize(std::min(nodes.size(), sources));
        std::sort(nodes.begin(), nodes.end());
        Request request = multinode_request(nodes, 530);
        request.expected_sources = static_cast<double>(nodes.size());
        for (std::uint64_t h = 0; h <= 6; ++h) {
          request.parameters.set("h", h);
          if (refuses(multinode_algorithm("swaths"), machine, request)) continue;
          CAPTURE(shape, ports, sources, h);
          const Emulation e = checked("swaths", machine, request);
          CHECK(e.result.steps == e.plan.steps);
          CHECK(static_cast<double>(e.result.channel_bytes_sum) <= e.plan.channel_bytes);
          if (nodes.size() != 1) continue;
          const std::uint64_t learning = number_in(e.plan, "steps to learn the sources");
          CHECK(e.result.steps == learning + swath_steps(machine, number_in(e.plan, "h"), 530));
          // With one source every step has a node with its name alone, or none.
          CHECK(static_cast<double>(e.result.channel_bytes_sum) + 4.0 * static_cast<double>(learning) >= e.plan.channel_bytes);
        }
      }
    }
  }
}

TEST_CASE("a swath for each source, where fewer are expected: at most the steps of those that there are", "[conformance]") {
  Request request = multinode_request({3, 17, 20}, 100);
  request.expected_sources = 2;
  const Emulation e = checked("swaths", square(6), request);
  REQUIRE(e.plan.steps_estimate.has_value());
  CHECK(*e.plan.steps_estimate < e.plan.steps);
}

TEST_CASE("one swath for all sources: on a diagonal no ring is shared, and each phase takes the steps of its trees", "[conformance]") {
  for (const std::int32_t n : {4, 7, 9, 16}) {
    for (const std::int32_t s : {1, 2, 3, 4}) {
      for (std::int32_t h = n / (2 * s) + 1; h * s <= n; ++h) {  // one window of classes
        std::vector<NodeId> sources;
        for (std::int32_t i = 0; i < s; ++i) sources.push_back(static_cast<NodeId>((n + 1) * (i * n / s)));
        Request request = multinode_request(sources, 4096);
        request.parameters.set("h", static_cast<std::uint64_t>(h));
        CAPTURE(n, s, h);
        const Emulation e = checked("joint-swath", square(n), request);
        const auto log3 = [](std::int32_t places) { return std::uint64_t{ceil_log(3, static_cast<std::uint64_t>(places))}; };
        CHECK(phase_steps(e.result, "scatter") >= log3(h));
        CHECK(phase_steps(e.result, "scatter") <= log3((n + s - 1) / s + 1));  // the rows of a source, and its own
        CHECK(phase_steps(e.result, "rows") == log3(n));
        CHECK(phase_steps(e.result, "gather pieces") == lines::RowClasses(n, s * h).gather_steps());
        const Bytes piece = (request.bytes + 2 * static_cast<Bytes>(h) - 1) / (2 * static_cast<Bytes>(h));
        CHECK(phase_bytes(e.result, "rows") <= log3(n) * (piece + 2));  // blocks differ by a byte
      }
    }
  }
}

TEST_CASE("one swath for all sources: rows take long messages in shares, which costs steps and saves bytes", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  int cases = 0, with_shares = 0;
  for (const char* shape : {"5x8", "7x4", "8x8", "4x4x4", "2x3x5"}) {
    for (const int ports : {1, 0}) {
      const Machine machine = torus_of(shape, ports);
      for (const std::size_t sources : {1U, 3U, 6U}) {
        std::vector<NodeId> nodes = all_nodes(machine.topology.nodes());
        std::shuffle(nodes.begin(), nodes.end(), random);
        nodes.resize(sources);
        std::sort(nodes.begin(), nodes.end());
        const auto share_steps = [&](Bytes bytes) {
          Request request = multinode_request(nodes, bytes);
          request.expected_sources = static_cast<double>(sources);
          CAPTURE(shape, ports, sources, bytes);
          return phase_steps(checked("joint-swath", machine, request).result, "gather shares");
        };
        CHECK(share_steps(8) == 0);
        ++cases;
        if (share_steps(1 << 20) > 0) ++with_shares;
      }
    }
  }
  CHECK(with_shares > cases / 2);
}

TEST_CASE("one swath for all sources: what comes half by each way round a ring is as much by either", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  std::size_t compared = 0;
  for (const char* shape : {"8x8", "6x6", "4x4x4"}) {
    const Machine machine = torus_of(shape, 0);
    std::vector<NodeId> nodes = all_nodes(machine.topology.nodes());
    std::shuffle(nodes.begin(), nodes.end(), random);
    nodes.resize(6);
    std::sort(nodes.begin(), nodes.end());
    Request request = multinode_request(nodes, (Bytes{1} << 20U) + support::random_below(random, 1000));
    request.expected_sources = 6;
    // In the last step, the shares of the place on the other side of the ring: blocks by node, dimension and direction.
    using Ways = std::map<std::pair<NodeId, Dimension>, std::array<std::size_t, 2>>;
    Ways last;
    RunOptions options;
    options.executor = ExecutorKind::serial;
    options.on_messages = [&](std::span<const Message* const> messages) {
      if (messages.empty()) return;
      last.clear();
      for (const Message* m : messages) last[{m->destination(), m->dimension()}][m->direction() > 0 ? 0 : 1] += m->blocks().size();
    };
    const Run e = run(multinode_algorithm("joint-swath"), machine, request, options);
    CAPTURE(shape, nodes);
    CHECK(support::complaint(e) == "");
    if (phase_steps(e.result, "gather shares") == 0) continue;
    for (const auto& [at, ways] : last) {
      CAPTURE(at.first, at.second, ways[0], ways[1]);
      CHECK(std::max(ways[0], ways[1]) - std::min(ways[0], ways[1]) <= 1);
      ++compared;
    }
  }
  CHECK(compared > 64);
}

TEST_CASE("one swath for all sources takes less time than one for each", "[conformance]") {
  for (const char* shape : {"16x16", "8x8x8", "12x40"}) {
    for (const int ports : {1, 0}) {
      for (const Bytes bytes : {Bytes{16} << 10U, Bytes{64} << 10U, Bytes{256} << 10U}) {
        CAPTURE(shape, ports, bytes);
        const Machine machine = torus_of(shape, ports);
        Request request = multinode_request({1, 50, 77, 130}, bytes);
        request.expected_sources = 4;
        const auto time = [&](std::string_view name) {
          return multinode_algorithm(name).plan(machine, request).model_time_s(machine.cost);
        };
        CHECK(time("joint-swath") < 0.75 * time("swaths"));
      }
    }
  }
}

TEST_CASE("a swath for each source takes less time than one for all on small tori of few ports", "[conformance]") {
  const auto check = [](const char* shape, int ports, const std::vector<NodeId>& sources) {
    CAPTURE(shape, ports);
    const Machine machine = torus_of(shape, ports);
    Request request = multinode_request(sources, Bytes{1} << 20U);
    request.expected_sources = static_cast<double>(sources.size());
    const Emulation each = checked("swaths", machine, request), joint = checked("joint-swath", machine, request);
    CHECK(each.result.model_time_s < 0.75 * joint.result.model_time_s);
    CHECK(each.plan.model_time_s(machine.cost) < 0.75 * joint.plan.model_time_s(machine.cost));
  };
  check("2x8", 1, {2, 3, 5});
  check("8x2", 2, {5, 15});
}

TEST_CASE("the sources become known in the fewest steps that arcs of rings, or the plane, allow", "[conformance]") {
  const auto learning = [](const char* shape, int ports) {
    const Emulation e = checked("joint-swath", torus_of(shape, ports), multinode_request({}, 8));
    CHECK(e.result.steps == number_in(e.plan, "steps to learn the sources"));
    return e.result.steps;
  };
  CHECK(learning("3", 0) == 1);
  CHECK(learning("8", 0) == 3);
  CHECK(learning("40", 0) == 6);
  CHECK(learning("12x40", 0) == 10);
  CHECK(learning("16x16", 0) == 7);
  CHECK(learning("8x8x8", 0) == 7);
  CHECK(learning("8", 1) == 5);
  CHECK(learning("16x16", 1) == 14);
}

TEST_CASE("messages split over the subnetworks: each gets the same blocks from any sources, and all bytes are exact", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (const std::int32_t n : {4, 6, 9, 12}) {
    const Machine machine = square(n);
    for (const std::int32_t h : multinode_broadcast::divisors(n)) {
      for (const auto& [label, sources] : source_sets(n, h, random)) {
        for (const std::string_view name : {"hierarchical --dcn scatter", "hierarchical --dcn broadcast"}) {
          CAPTURE(name, n, h, label);
          Request request = multinode_request(sources, 7);
          request.parameters.set("h", static_cast<std::uint64_t>(h));
          request.parameters.set("prefix", "split");
          CHECK(checked(name, machine, request).plan.segments == static_cast<std::uint32_t>(h == 1 ? 2 : 2 * h));
          if (h > 1) CHECK(blocks_after_balancing(name, machine, request) == std::vector(static_cast<std::size_t>(h), 2 * sources.size()));
        }
      }
      Request request = all_of(machine, static_cast<Bytes>(10 * h));
      request.parameters.set("h", static_cast<std::uint64_t>(h));
      request.parameters.set("prefix", "split");
      for (const std::string_view name : {"hierarchical --dcn scatter", "hierarchical --dcn broadcast"}) {
        CAPTURE(name, n, h);
        const Emulation e = checked(name, machine, request);
        CHECK(static_cast<double>(e.result.channel_bytes_sum) == e.plan.channel_bytes);
      }
    }
  }
}
