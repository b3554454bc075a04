// The bounds' product formulas against slow, obvious counting on small shapes, and against values worked out by hand.
#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include <torus/bounds.hpp>

#include "tests/support/catch.hpp"

namespace torus {
namespace {

const std::vector<std::string> small_shapes{"1",          "2",     "3",     "7",        "2m",       "5m",       "6c",       "2x2",
                                            "3x3",        "4x4",   "2x3x3", "mesh:2x2", "mesh:3x3", "mesh:4x4", "mesh:3x4", "mesh:3x5",
                                            "4x4c",       "3x3m",  "2x5",   "3x5",      "1x6",      "2x2x2",    "2^4",      "hypercube:4",
                                            "mesh:2x3x3", "3cx3c", "4cx4c", "2mx3x2c",  "5x3m",     "4mx3c",    "2cx7m"};

Topology shape(const std::string& text) { return Topology::parse(text); }

/// All channels of the machine, each once, as (from, to).
std::vector<std::pair<NodeId, NodeId>> all_channels(const Topology& t) {
  std::vector<std::pair<NodeId, NodeId>> result;
  for (NodeId v = 0; v < t.nodes(); ++v) {
    for (Dimension d = 0; d < t.dimensions(); ++d) {
      if (t.wiring(d) == Wiring::complete) {
        for (std::int32_t offset = 1; offset < t.extent(d); ++offset) result.emplace_back(v, *t.neighbour(v, d, offset));
      } else if (t.extent(d) > 1) {
        for (const std::int32_t direction : {+1, -1}) {
          if (const auto to = t.neighbour(v, d, direction)) result.emplace_back(v, *to);
        }
      }
    }
  }
  return result;
}

std::uint64_t status(const Topology& t, NodeId v) {
  std::uint64_t sum = 0;
  for (NodeId w = 0; w < t.nodes(); ++w) sum += static_cast<std::uint64_t>(t.distance(v, w));
  return sum;
}

/// The least number of links over a cut into halves, all halves tried.
std::uint64_t least_bisection(const Topology& t) {
  const auto channels = all_channels(t);
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t half = 0; half < (1U << t.nodes()); ++half) {
    if (static_cast<NodeId>(std::popcount(half)) != t.nodes() / 2) continue;
    std::uint64_t cut = 0;
    for (const auto& [from, to] : channels) cut += (half >> from & 1U) > (half >> to & 1U) ? 1U : 0U;
    least = std::min(least, cut);
  }
  return least;
}

Request broadcast(NodeId source, Bytes bytes) {
  return {.collective = Collective::broadcast, .sources = {source}, .bytes = bytes, .parameters = {}, .expected_sources = {}};
}
Request multinode(std::vector<NodeId> sources, Bytes bytes) {
  return {.collective = Collective::multinode_broadcast,
          .sources = std::move(sources),
          .bytes = bytes,
          .parameters = {},
          .expected_sources = {}};
}
Request exchange(Bytes bytes) {
  return {.collective = Collective::total_exchange, .sources = {}, .bytes = bytes, .parameters = {}, .expected_sources = {}};
}

}  // namespace

TEST_CASE("without a source there is nothing to do", "[unit]") {
  const Bounds bounds = lower_bounds(Machine(Topology::parse("4x4")), multinode({}, 100));
  CHECK(bounds.steps == 0);
  CHECK(bounds.channel_bytes == 0);
  CHECK(bounds.single_block_steps == 0);
  CHECK_FALSE(bounds.steps_reason.empty());
}

TEST_CASE("each of several messages needs what its broadcast needs, and they together what all need", "[unit]") {
  for (const char* text : {"8x8", "4x4x4", "12x40"}) {
    const Machine machine(shape(text));
    for (const Bytes bytes : {Bytes{64}, Bytes{65536}, Bytes{1048576}}) {
      CAPTURE(text, bytes);
      const double one = lower_bounds(machine, broadcast(5, bytes)).model_time_s(machine.cost);
      CHECK(lower_bounds(machine, multinode({5}, bytes)).model_time_s(machine.cost) == Approx(one));
      double before = one;
      for (const std::vector<NodeId>& sources : {std::vector<NodeId>{5, 9}, {5, 9, 13}, {1, 2, 3, 5, 9, 13}}) {
        const Bounds bounds = lower_bounds(machine, multinode(sources, bytes));
        CHECK(bounds.model_time_s(machine.cost) >= std::max(before, bounds.simple_model_time_s(machine.cost)) * (1 - 1e-12));
        before = bounds.model_time_s(machine.cost);
      }
    }
  }
  // Two sources of a mesh may be unlike, and on shared channels a node may inform all others at once.
  CHECK_FALSE(lower_bounds(Machine(shape("4x4m")), multinode({0, 5}, 100)).points.has_value());
  CHECK_FALSE(lower_bounds(Machine(shape("4x4"), 0, Switching::wormhole, Contention::share), multinode({0}, 100)).points.has_value());
}

TEST_CASE("on a line the longer side of the root bounds the steps, as what passes a channel is one message", "[unit]") {
  struct Case {
    const char* shape;
    NodeId source;
    std::uint64_t steps;
  };
  for (const Case& c :
       {Case{"7m", 1, 3}, Case{"9m", 4, 2}, Case{"9m", 3, 3}, Case{"1x27mx1", 13, 3}, Case{"28m", 13, 4}, Case{"2m", 0, 1}}) {
    CAPTURE(c.shape, c.source);
    CHECK(lower_bounds(Machine(shape(c.shape)), broadcast(c.source, 8)).steps == c.steps);
    CHECK(lower_bounds(Machine(shape(c.shape), 0, Switching::circuit), broadcast(c.source, 8)).steps == c.steps);
  }
  CHECK(lower_bounds(Machine(shape("7m"), 1), broadcast(1, 8)).steps == 3);
  CHECK(lower_bounds(Machine(shape("7m"), 2, Switching::wormhole, Contention::share), broadcast(1, 8)).steps == 2);
  CHECK(lower_bounds(Machine(shape("5m")), exchange(8)).steps == 3);  // the middle link: 1 x 3 + 2 x 1 of 2 x 3 pairs in two
  CHECK(lower_bounds(Machine(shape("6m")), exchange(8)).steps == 3);
}

TEST_CASE("statuses, distances and channels of a shape equal those counted node by node", "[unit]") {
  for (const std::string& text : small_shapes) {
    CAPTURE(text);
    const Topology t = shape(text);
    const ShapeFacts facts = shape_facts(t);
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t greatest = 0;
    std::uint64_t sum = 0;
    std::vector<std::int32_t> degree(t.nodes(), 0);
    for (NodeId v = 0; v < t.nodes(); ++v) {
      const std::uint64_t s = status(t, v);
      least = std::min(least, s);
      greatest = std::max(greatest, s);
      sum += s;
    }
    for (const auto& [from, to] : all_channels(t)) ++degree[from];
    CHECK(facts.least_status == least);
    CHECK(facts.greatest_status == greatest);
    CHECK(facts.average_status * t.nodes() == Approx(static_cast<double>(sum)));
    CHECK(facts.bound3 == (sum + t.nodes() - 1) / t.nodes());
    if (t.nodes() > 1) CHECK(facts.average_distance * t.nodes() * (t.nodes() - 1) == Approx(static_cast<double>(sum)));
    CHECK(facts.channels == all_channels(t).size());
    CHECK(facts.least_channels_of_a_node == *std::min_element(degree.begin(), degree.end()));
    CHECK(facts.most_channels_of_a_node == *std::max_element(degree.begin(), degree.end()));
  }
}

TEST_CASE("the narrow cut is the bisection width of small shapes, all halves tried", "[unit]") {
  for (const std::string& text : small_shapes) {
    CAPTURE(text);
    const Topology t = shape(text);
    if (t.nodes() == 1) {
      CHECK(shape_facts(t).bisection_links == 0);
      continue;
    }
    CHECK(shape_facts(t).bisection_links == least_bisection(t));
  }
}

TEST_CASE("total-exchange bounds (3) and (4) have the values of the literature", "[unit]") {
  CHECK(shape_facts(shape("8x8")).bound3 == 256);  // 2 * 8 * 16
  CHECK(shape_facts(shape("8x8")).bound4 == 64);   // 64 * 8 / 8
  CHECK(shape_facts(shape("4x4x4")).bound4 == 32);
  CHECK(shape_facts(shape("3x3x3")).bound4 == 9);
  CHECK(shape_facts(shape("6x6")).bound4 == 27);
  CHECK(shape_facts(shape("6x5")).bound4 == 23);
  CHECK(shape_facts(shape("10x7x3")).bound4 == 263);
  CHECK(shape_facts(shape("3x4x5")).bound4 == 36);
  CHECK(shape_facts(shape("mesh:4x6")).bound4 == 36);  // 24 / 6 * 9
  CHECK(shape_facts(shape("mesh:3x4x5")).bound4 == 72);
  CHECK(shape_facts(shape("hypercube:4")).bound4 == 8);  // N / 2
  CHECK(shape_facts(shape("5c")).bound3 == 4);
}

TEST_CASE("a broadcast takes ceil(log_{ports+1} N) steps, a packet also the eccentricity", "[unit]") {
  CHECK(lower_bounds(Machine(shape("16x16")), broadcast(0, 0)).steps == 4);                         // 5^3 < 256 <= 5^4
  CHECK(lower_bounds(Machine(shape("25x25"), 0, Switching::circuit), broadcast(0, 0)).steps == 4);  // 5^4 = 625
  CHECK(lower_bounds(Machine(shape("25x25")), broadcast(0, 0)).steps == 5);                         // worms in dimension order
  CHECK(lower_bounds(Machine(shape("16x16"), 1), broadcast(7, 0)).steps == 8);
  CHECK(lower_bounds(Machine(shape("16x16"), 2), broadcast(7, 0)).steps == 6);
  CHECK(lower_bounds(Machine(shape("16x16"), 0, Switching::packet), broadcast(7, 0)).steps == 16);
  CHECK(lower_bounds(Machine(shape("mesh:4x4"), 0, Switching::packet), broadcast(0, 0)).steps == 6);
  CHECK(lower_bounds(Machine(shape("1x1")), broadcast(0, 9)).steps == 0);
  CHECK(lower_bounds(Machine(shape("2")), broadcast(0, 9)).steps == 1);
}

TEST_CASE("where all must hear from all, what passes the middle bounds the steps", "[unit]") {
  const auto steps = [](const char* text, int ports, Contention contention = Contention::forbid) {
    return lower_bounds(Machine(shape(text), ports, Switching::wormhole, contention),
                        {.collective = Collective::allreduce, .sources = {}, .bytes = 4, .parameters = {}, .expected_sources = {}})
        .steps;
  };
  // 9 = 3^2 nodes round a ring, 4 and 5 of them, over 2 channels: 2 (1 x 3 + 3 x 1) < 20 pairs in two steps, 2 (1 x 5 + 3 x 3 + 4 x 1) in
  // three.
  CHECK(steps("9", 2) == 3);
  CHECK(steps("9", 2, Contention::share) == 2);
  // 32 channels, 4 steps of at most 5^3 pairs each: 16,000 of 128 x 128.
  CHECK(steps("16x16", 4) == 5);
  CHECK(steps("8x8", 4) == 3);
  CHECK(steps("12x40", 1) == 10);
  CHECK(steps("12x40", 4) == 6);  // 24 (1 x 240 + 3 x 625 + 240 x 1) = 56,520 of 240 x 240 pairs in five
  std::vector<NodeId> all(480);
  for (NodeId node = 0; node < 480; ++node) all[node] = node;
  CHECK(lower_bounds(Machine(shape("12x40"), 1), multinode(all, 4)).steps == 10);
  all.pop_back();
  CHECK(lower_bounds(Machine(shape("12x40"), 1), multinode(all, 4)).steps == 9);
}

TEST_CASE("nodes at a border tell fewer others than the ports say", "[unit]") {
  // A line of 9, two ports, from an end: 1, 2, 4 (the second has two channels), .. against 3^2 = 9.
  CHECK(lower_bounds(Machine(shape("9m")), broadcast(4, 0)).steps == 2);
  CHECK(lower_bounds(Machine(shape("9m")), broadcast(0, 0)).steps == 3);
  // A hypercube's nodes are all alike: log_5 16 = 2.
  CHECK(lower_bounds(Machine(shape("hypercube:4")), broadcast(3, 0)).steps == 2);
  // 3x3 mesh: corner 2 channels, then at best centre (4) and a side (3): 1, 3, 3 + 2 + 4 + 3 = 12 >= 9.
  CHECK(lower_bounds(Machine(shape("mesh:3x3")), broadcast(0, 0)).steps == 2);
  // Worms that may share a channel are bounded by the ports alone.
  CHECK(lower_bounds(Machine(shape("9m"), 2, Switching::wormhole, Contention::share), broadcast(0, 0)).steps == 2);
}

TEST_CASE("bytes: a node takes its message in over the channels that it has", "[unit]") {
  CHECK(lower_bounds(Machine(shape("8x8")), broadcast(0, 4096)).channel_bytes == 1024);
  CHECK(lower_bounds(Machine(shape("8x8"), 3), broadcast(0, 4096)).channel_bytes == Approx(4096.0 / 3));
  CHECK(lower_bounds(Machine(shape("mesh:8x8")), broadcast(9, 4096)).channel_bytes == 2048);  // a corner
  CHECK(lower_bounds(Machine(shape("8x8")), multinode({0, 1, 2}, 100)).channel_bytes == 75);
  CHECK(lower_bounds(Machine(shape("8x8")), multinode({0, 1, 2}, 100)).single_block_steps == 3);
  CHECK(lower_bounds(Machine(shape("3x3")), multinode({0, 1, 2, 3, 4, 5, 6, 7, 8}, 100)).channel_bytes == 200);  // each has its own
  CHECK(lower_bounds(Machine(shape("3m")), multinode({0, 2}, 10)).channel_bytes == 10);                          // both ends have their own
  CHECK(lower_bounds(Machine(shape("3m")), multinode({1, 2}, 10)).channel_bytes == 20);
}

TEST_CASE("a total exchange is bounded by cuts, by ways and by its diameter", "[unit]") {
  const Bounds all_port = lower_bounds(Machine(shape("16x16"), 0, Switching::packet), exchange(10));
  CHECK(all_port.steps == 16);
  CHECK(all_port.channel_bytes == 5120);
  CHECK(all_port.single_block_steps == 512);
  const Bounds one_port = lower_bounds(Machine(shape("16x16"), 1, Switching::packet), exchange(10));
  CHECK(one_port.channel_bytes == 20480);
  CHECK(one_port.single_block_steps == 2048);
  const Bounds worms = lower_bounds(Machine(shape("16x16"), 1, Switching::wormhole), exchange(10));
  CHECK(worms.steps == 8);
  CHECK(worms.channel_bytes == 5120);
  CHECK(worms.single_block_steps == 512);
  CHECK(lower_bounds(Machine(shape("16x16"), 1, Switching::wormhole, Contention::share), exchange(10)).single_block_steps == 255);
  // A line with one port: floor((n^2-1)/2), by its middle node.
  for (const std::int32_t n : {2, 3, 4, 9, 10}) {
    CHECK(lower_bounds(Machine(shape(std::to_string(n) + "m"), 1, Switching::packet), exchange(1)).single_block_steps ==
          static_cast<std::uint64_t>(n * n - 1) / 2);
  }
}

TEST_CASE("a total exchange around a hole is bounded by the ways that are left", "[unit]") {
  const Request request = exchange(100);
  // A line of 4 is left: 20 hops of 12 blocks, 4 a step with one port; 4 blocks over its middle.
  const Topology line = Topology("5").with_faults({.dead_nodes = {2}});
  const Bounds one_port = lower_bounds(Machine(line, 1, Switching::packet), request);
  CHECK(one_port.channel_bytes == 500);
  CHECK(one_port.steps == 3);
  CHECK(one_port.single_block_steps == 5);
  CHECK(lower_bounds(Machine(line, 2, Switching::packet), request).channel_bytes == 400);
  // Of 12 hops 2 take a way of 2, over 10 channels; 3 blocks of a node over 2 channels.
  const Topology four = Topology("4c").with_faults({.dead_links = {{0, 0, 1}}});
  CHECK(lower_bounds(Machine(four, 3, Switching::packet), request).channel_bytes == 150);
  CHECK(lower_bounds(Machine(four, 1, Switching::packet), request).channel_bytes == 350);
}

TEST_CASE("blocks of different sizes must cross the layers of each dimension", "[unit]") {
  Request request = exchange(100);
  request.sizes = SizeRule::parse("uniform:100:100");
  // A line of 6: 9 blocks over its middle. Two lines, one without its middle link: 36 blocks over that of the other.
  CHECK(lower_bounds(Machine(shape("6m"), 2, Switching::packet), request).channel_bytes == 900);
  const Topology rows = shape("2mx6m").with_faults({.dead_links = {{2, 1, 1}}});
  CHECK(lower_bounds(Machine(rows, 3, Switching::packet), request).channel_bytes == 3600);
}

TEST_CASE("blocks of different sizes may all take the fastest dimension", "[unit]") {
  CostModel cost;
  cost.dimension_byte_s = {4e-10, 1e-10};
  Request request;
  request.collective = Collective::gather;
  request.sources = {0};
  request.sizes = SizeRule::parse("uniform:100:100");
  request.bytes = 100;
  const Bounds bounds = lower_bounds(Machine(shape("2x4"), 1, Switching::wormhole, Contention::forbid, {}, cost), request);
  CHECK(bounds.channel_bytes == 700);
  REQUIRE(bounds.channel_time_s);
  CHECK(*bounds.channel_time_s == Approx(700 * 1e-10));
}

TEST_CASE("the halves of a twisted torus are no cuts of one dimension", "[unit]") {
  Machine machine(Topology("4x8t"), 4, Switching::packet);
  machine.cost.dimension_byte_s = {1e-12, 1};
  // Over the ends of the short dimension places 0 and 4 of the long one are one of four rings of fast links: each has 8 x 24 blocks for the
  // others, over 16 slow channels. Half the long dimension would have 256 blocks over 8.
  const Bounds bounds = lower_bounds(machine, exchange(100));
  REQUIRE(bounds.channel_time_s);
  CHECK(*bounds.channel_time_s == Approx(1200));
}

TEST_CASE("no bound of the greatest machines overflows", "[unit]") {
  CHECK(shape_facts(shape("2147483646")).bound3 == std::uint64_t{1073741823} * 1073741823);
  const Topology square = shape("32768x65536");
  CHECK(shape_facts(square).bound4 == (std::uint64_t{1} << 31U) * 65536 / 8);
  CHECK(lower_bounds(Machine(square), broadcast(0, 1)).steps == 14);  // 5^13 < 2^31 <= 5^14
}

TEST_CASE("an all-reduce is bounded by partitions of the nodes and by how long it takes to fill", "[unit]") {
  constexpr Bytes bytes = Bytes{1} << 26U;
  const auto of = [](const Machine& machine) {
    return lower_bounds(machine,
                        {.collective = Collective::allreduce, .sources = {}, .bytes = bytes, .parameters = {}, .expected_sources = {}});
  };
  const auto packets = [](const Topology& topology, std::vector<double> speeds = {}) {
    CostModel cost;
    cost.dimension_byte_s = std::move(speeds);
    return Machine(topology, 0, Switching::packet, Contention::forbid, {}, cost);
  };
  // Two squares that one link joins: the whole vector crosses it. Before the last link has died, two carry half of it each.
  std::vector<Link> dead{{3, 1, 1}, {11, 1, 1}};
  CHECK(of(packets(shape("mesh:4x8").with_faults({.dead_links = dead}))).channel_bytes == Approx(31.0 / 50 * bytes));
  dead.push_back({19, 1, 1});
  CHECK(of(packets(shape("mesh:4x8").with_faults({.dead_links = dead}))).channel_bytes == Approx(bytes));
  // A corner and its two neighbours lose a node that all depend on: three nodes, four links.
  CHECK(of(packets(shape("mesh:8x8").with_faults({.dead_nodes = {9}}))).channel_bytes == Approx(0.75 * bytes));
  // Two speeds: 24 of 25 nodes over 20 links of each; lines of fast links as classes.
  CHECK(of(packets(shape("mesh:5x5"), {1e-10, 1.5e-10})).channel_time_s == Approx(0.72e-10 * bytes));
  CHECK(of(packets(shape("mesh:4x4"), {1e-10, 50e-10})).channel_time_s == Approx(3.0 / 12 * 50e-10 * bytes));
  // Corners of a mesh, 14 hops apart, with two channels each.
  const Machine mesh = packets(shape("mesh:8x8"));
  const Bounds bounds = of(mesh);
  REQUIRE(bounds.filling.size() == 1);
  CHECK(bounds.filling.front().hops == 13);
  CHECK(bounds.filling.front().bytes_s == Approx(1e-10 * bytes / 2));
  CHECK(bounds.model_time_s(mesh.cost) == Approx(1.024 * bounds.simple_model_time_s(mesh.cost)).epsilon(0.001));
  const Machine holed = packets(shape("8x8").with_faults({.dead_links = {{9, 0, 1}}}));
  CHECK(of(holed).steps == 8);
}

TEST_CASE("a scan is bounded by the columns of its last dimension", "[unit]") {
  constexpr Bytes bytes = Bytes{1} << 20U;
  const auto of = [](const char* on, int ports, Switching switching = Switching::packet) {
    return lower_bounds(Machine(shape(on), ports, switching),
                        {.collective = Collective::scan, .sources = {}, .bytes = bytes, .parameters = {}, .expected_sources = {}});
  };
  const auto share = [&](const Bounds& bounds) { return bounds.channel_bytes / static_cast<double>(bytes); };
  CHECK(share(of("8x8", 0)) == Approx(4.0 / 5));  // four cuts and the wrap-around channel
  CHECK(share(of("8", 0)) == Approx(4.0 / 5));
  CHECK(share(of("5x15", 0)) == Approx(7.0 / 8));
  CHECK(share(of("6x6c", 0)) == Approx(3.0 / 13));  // 15 pairs but two within 1, 2 and 3, 4
  CHECK(share(of("4x4x8t", 0)) == Approx(4.0 / 9));
  CHECK(share(of("8x4t", 0)) == Approx(2.0 / 3));  // the twist moves along the first dimension
  CHECK(share(of("mesh:8x8", 0)) == Approx(1));
  // Over each of seven cuts between columns 8 sums up and 7 down, over each between rows one.
  CHECK(share(of("mesh:8x8", 1)) == Approx((7 * 15 + 7) / 64.0));
  CHECK(share(of("mesh:8x8", 1, Switching::wormhole)) == Approx(1));
  // Columns 7 apart on a line, 4 on a ring.
  CHECK(of("mesh:8x8", 0).filling.back().hops == 6);
  CHECK(of("mesh:8x8", 0).filling.back().bytes_s == Approx(1e-10 * bytes));
  CHECK(of("8x8", 0).filling.back().hops == 3);
  CHECK(of("8x8", 0).filling.back().bytes_s == Approx(1e-10 * bytes / 2));
}

TEST_CASE("where dimensions differ in speed, corners and lines bound all collectives as they are", "[unit]") {
  constexpr Bytes bytes = 1000;
  const auto seconds = [](const char* on, std::vector<double> speeds, Collective collective, NodeId root = 7) {
    CostModel cost;
    cost.dimension_byte_s = std::move(speeds);
    const Machine machine(shape(on), 0, Switching::packet, Contention::forbid, {}, cost);
    Request request{.collective = collective, .sources = {root}, .bytes = bytes, .parameters = {}, .expected_sources = {}};
    if (collective == Collective::multinode_broadcast) {
      for (NodeId node = 1; node < machine.topology.nodes(); ++node) request.sources.push_back(node);
      request.sources.front() = 0;
    }
    return lower_bounds(machine, request).channel_time_s.value();
  };
  // A corner has a channel of each dimension: of 2 and 4 s a byte they carry 3/4 bytes a second.
  for (const Collective collective : {Collective::multinode_broadcast, Collective::reduce_scatter})
    CHECK(seconds("mesh:5x8", {2, 4}, collective) == Approx(39 * bytes / 0.75));
  for (const Collective collective : {Collective::broadcast, Collective::reduce})
    CHECK(seconds("mesh:5x8", {2, 4}, collective) == Approx(bytes / 0.75));
  CHECK(seconds("mesh:5x8", {2, 2.5}, Collective::allreduce) == Approx(2.0 * 39 * bytes / (2 * (32 / 2.0 + 35 / 2.5))));
  // A line of three nodes with fast links among them: into it 9 blocks come over 3 channels of 100 s a byte.
  for (const Collective collective : {Collective::multinode_broadcast, Collective::reduce_scatter})
    CHECK(seconds("mesh:4x3", {100, 1}, collective) == Approx(9 * bytes / 0.03));
  CHECK(seconds("mesh:4x3", {100, 1}, Collective::broadcast) == Approx(bytes / 0.03));
  CHECK(seconds("mesh:4x3", {100, 1}, Collective::allreduce) == Approx(3.0 * bytes / 0.09));
}

}  // namespace torus
