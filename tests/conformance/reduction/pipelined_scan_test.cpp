// The scan in a pipeline: every contributor once, in the steps that it claims, and no channel carries a segment twice.
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/reduction/scan_in_pieces.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/judged.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

const Algorithm& pipelined() { return *find_algorithm(Collective::scan, "pipelined"); }

Request scan_of(Bytes bytes, std::uint32_t segments, Reduction reduction = {Operator::sum, ElementType::u32}) {
  Request request = support::reduction_request(Collective::scan, bytes, reduction);
  if (segments > 0) request.parameters.set("segments", segments);
  return request;
}

const reduction::ScanTable* table_alone = nullptr;  ///< that a test plays

/// The steps of a single segment with all ports.
std::uint64_t claimed_steps(const Topology& topology) {
  std::vector<std::uint64_t> extents;
  for (const DimensionShape& d : topology.shape()) {
    if (d.extent > 1) extents.push_back(static_cast<std::uint64_t>(d.extent));
  }
  if (extents.empty()) return 0;
  if (extents.size() == 2 && extents[1] > 2) return extents[0] + extents[1] - (extents[1] % 2 == 0 ? 1 : 2);
  std::uint64_t steps = extents[0] - 1;
  for (std::size_t d = 1; d < extents.size(); ++d) steps += 2 * (extents[d] - 1);
  return steps;
}

}  // namespace

TEST_CASE("a pipelined scan gives every node the contributions up to its own, on every shape, with any ports and segments",
          "[conformance]") {
  std::vector<Topology> shapes = support::telling_shapes();
  for (const char* text : {"7x5", "1x7x2", "5mx3", "2x3x5m", "3x2mx2x2", "4cx3m", "5x3c", "4x8t", "2x4x4t", "hypercube:5", "13", "2x9"})
    shapes.push_back(Topology::parse(text));
  for (const Topology& topology : shapes) {
    for (const int ports : {1, 2, 3, 0}) {
      if (ports > topology.max_ports()) continue;
      Machine machine(topology, ports, Switching::packet);
      machine.cost.combine_s = 5e-11;
      for (const std::uint32_t segments : {1U, 2U, 7U}) {
        CAPTURE(topology.text(), ports, segments);
        const auto [run, complaint] = support::judged(pipelined(), machine, scan_of(28 * 4, segments));
        CHECK(complaint == "");
        CHECK(run.result.channel_bytes_sum <= run.result.steps * (28 * 4 / segments));
        if (ports == 0 && segments == 1) CHECK(run.result.steps == claimed_steps(topology));
        if (ports == 0 && segments == 7 && topology.nodes() > 1) CHECK(run.result.steps == claimed_steps(topology) + 6);
      }
    }
  }
}

TEST_CASE("with one port very long vectors go from rank to rank, two segments in three steps", "[conformance]") {
  for (const char* shape : {"8x8", "5x5", "7x9", "4x16", "6x6c", "3x4", "5mx3", "1x4x1x5c"}) {
    Machine machine(Topology::parse(shape), 1, Switching::packet);
    machine.cost.combine_s = 5e-11;
    const std::uint32_t segments = 8 * machine.topology.nodes();
    CAPTURE(shape);
    const auto [run, complaint] = support::judged(pipelined(), machine, scan_of(Bytes{segments} * 4, segments));
    CHECK(complaint == "");
    CHECK(run.plan.notes.back() == std::pair<std::string, std::string>{"steps from two segments to two", "3"});
    CHECK(run.result.steps <= segments / 2 * 3 + 2 * machine.topology.nodes());
  }
}

TEST_CASE("vectors of middle size go in pieces, with more of them under way than the first node could send, in fewer steps than segments",
          "[conformance]") {
  struct Case {
    const char* shape;
    int ports;
    std::uint64_t steps;  ///< at most: in to the roots, between them, and out, and what the ports delay
  };
  for (const auto& [shape, ports, steps] : std::vector<Case>{{"4x4x4", 0, 12},
                                                             {"4x4x4", 1, 28},
                                                             {"3x4x5", 0, 14},
                                                             {"mesh:8x8", 1, 36},
                                                             {"6x6c", 2, 14},
                                                             {"6x6c", 0, 10},
                                                             {"4x4x8t", 2, 28},
                                                             {"7x9", 1, 26}}) {
    Machine machine(Topology::parse(shape), ports, Switching::packet);
    machine.cost.combine_s = 5e-12;
    for (const Bytes bytes : {Bytes{65536}, Bytes{65536 + 12}}) {
      CAPTURE(shape, ports, bytes);
      const auto [run, complaint] = support::judged(pipelined(), machine, scan_of(bytes, 0));
      CHECK(complaint == "");
      CHECK(run.result.steps <= steps);
      CHECK(run.plan.notes.front().first == "pieces");
      CHECK(run.result.channel_bytes_sum > run.result.steps * (bytes / run.plan.segments));  // several pieces in a message
    }
  }
}

TEST_CASE("pieces of a scan come together on every shape of two and three dimensions", "[conformance]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int i = 0; i < 12; ++i) {
    std::string shape;
    const int axes = 2 + static_cast<int>(support::random_below(random, 2));
    for (int axis = 0; axis < axes; ++axis) {
      const std::array<const char*, 3> wirings{"", "m", "c"};
      shape += (axis > 0 ? "x" : "") + std::to_string(1 + support::random_below(random, axes == 2 ? 8 : 6)) +
               wirings.at(support::random_below(random, 3));
    }
    const Topology topology = Topology::parse(shape);
    for (const int ports : {1, 2, 0}) {
      if (ports > topology.max_ports()) continue;
      Machine machine(topology, ports, Switching::packet);
      machine.cost.combine_s = 5e-11;
      for (const reduction::ScanTable& table : reduction::tables_in_pieces(machine)) {
        CAPTURE(shape, ports, table.segments, table.schedule.steps(1));
        const Request request = scan_of(table.segments * 2 * sizeof(std::uint32_t), 0);
        table_alone = &table;
        Algorithm by_table = pipelined();
        by_table.plan = +[](const Machine& on, const Request& of, PlanCache&) { return reduction::plan_in_turns(on, of, {*table_alone}); };
        const auto [run, complaint] = support::judged(by_table, machine, request);
        CHECK(complaint == "");
        CHECK(run.result.steps == run.plan.steps);
        CHECK(static_cast<double>(run.result.channel_bytes_sum) == run.plan.channel_bytes);
      }
    }
  }
}

TEST_CASE("a pipelined scan does without the links that none of its messages needs", "[conformance]") {
  const auto dead = [](const char* shape, std::vector<Link> links, int ports) {
    return Machine(Topology::parse(shape).with_faults({.dead_links = std::move(links)}), ports, Switching::packet);
  };
  for (const int ports : {1, 2, 0}) {
    for (const Machine& machine : {dead("6x6", {{3, 0, 1}, {9, 0, 1}, {11, 1, 1}}, ports), dead("3x4x4", {{0, 0, 1}, {4, 1, 1}}, ports)}) {
      CAPTURE(machine.topology.text(), ports);
      CHECK(support::judged(pipelined(), machine, scan_of(1 << 12, 64)).complaint == "");
    }
    CHECK(refuses(pipelined(), dead("6x6", {{3, 1, 1}}, ports), scan_of(64, 0)));   // within a row
    CHECK(refuses(pipelined(), dead("6x6", {{11, 0, 1}}, ports), scan_of(64, 0)));  // of the ends of rows
  }
}

TEST_CASE(
    "a pipelined scan of a long vector takes at most half the model time of the one by halves with one port, and five eighths with more",
    "[conformance]") {
  for (const char* shape : {"8x8", "mesh:8x8", "4x4x4", "16x16", "6x6c", "mesh:16", "15", "3x4x5", "4x4x8t"}) {
    const Topology topology = Topology::parse(shape);
    for (const int ports : {1, 2, 0}) {
      const Machine machine(topology, ports, Switching::packet);
      const auto time = [&](std::string_view name) {
        const Algorithm& algorithm = *find_algorithm(Collective::scan, name);
        const Request request = scan_of(Bytes{1} << 20U, 0);
        return refuses(algorithm, machine, request) ? 1e9 : make_plan(algorithm, machine, request).model_time_s(machine.cost);
      };
      CAPTURE(shape, ports);
      CHECK(time("pipelined") <= (ports == 1 ? 0.5 : 0.625) * time("sklansky"));
    }
  }
}
