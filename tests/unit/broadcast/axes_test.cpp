/// Axes of a mesh, and parts of them that are halved.
#include "algorithms/broadcast/axes.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::broadcast;

namespace {

Machine machine_of(const char* shape, std::vector<Dimension> routing = {}) {
  return Machine(Topology::parse(shape), 1, Switching::wormhole, Contention::forbid, std::move(routing));
}

NodeId end_of(const Topology& topology, NodeId from, const Route& route) {
  for (const Leg& leg : route) from = topology.neighbour(from, leg.dimension, leg.hops).value();
  return from;
}

using Channel = std::tuple<NodeId, Dimension, std::int32_t>;

/// Whether two routes share a channel.
bool meet(const Topology& topology, NodeId a, const Route& first, NodeId b, const Route& second) {
  std::set<Channel> channels;
  const auto walk = [&](NodeId at, const Route& route, auto&& visit) {
    for (const Leg& leg : route) {
      const std::int32_t direction = leg.hops > 0 ? +1 : -1;
      for (std::int32_t h = leg.hops; h != 0; h -= direction) {
        visit(Channel{at, leg.dimension, direction});
        at = topology.neighbour(at, leg.dimension, direction).value();
      }
    }
  };
  walk(a, first, [&](const Channel& channel) { channels.insert(channel); });
  bool met = false;
  walk(b, second, [&](const Channel& channel) { met |= channels.count(channel) > 0; });
  return met;
}

}  // namespace

TEST_CASE("the linear array follows the ranks and the routing says where halves are informed", "[unit]") {
  const Machine slow_first = machine_of("3x4");
  const Machine fast_first = machine_of("3x4", {1, 0});
  CHECK(Axis::linear_array(slow_first).target() == Target::near);
  CHECK(Axis::linear_array(fast_first).target() == Target::far);
  for (NodeId node = 0; node < 12; ++node) {
    CHECK(Axis::linear_array(slow_first).place(slow_first.topology, node) == node);
    CHECK(Axis::linear_array(fast_first).place(fast_first.topology, node) == node);
  }
  // Neither ascending nor descending: by coordinates in the order of routing.
  const Machine mixed = machine_of("3x4x5", {1, 2, 0});
  CHECK(Axis::linear_array(mixed).target() == Target::near);
  const std::vector<std::int32_t> at{2, 3, 1};
  CHECK(Axis::linear_array(mixed).place(mixed.topology, mixed.topology.rank(at)) == (3 * 5 + 1) * 3 + 2);
}

TEST_CASE("a route along an axis ends at its place, in routing order and without a wrap-around link", "[unit]") {
  for (const Machine& machine :
       {machine_of("3x4x2"), machine_of("3x4x2", {2, 1, 0}), machine_of("3x4x2", {1, 2, 0}), machine_of("mesh:3x4x2")}) {
    const Axis array = Axis::linear_array(machine);
    REQUIRE(array.places() == 24);
    for (NodeId from = 0; from < 24; ++from) {
      for (Place to = 0; to < 24; ++to) {
        const Route route = array.route(machine, from, to);
        const NodeId end = end_of(machine.topology, from, route);
        REQUIRE(array.place(machine.topology, end) == to);
        std::size_t turn = 0;
        for (const Leg& leg : route) {
          while (turn < machine.routing.size() && machine.routing[turn] != leg.dimension) ++turn;
          REQUIRE(turn < machine.routing.size());
          const std::int32_t reached = machine.topology.coordinate(from, leg.dimension) + leg.hops;
          REQUIRE((0 <= reached && reached < machine.topology.extent(leg.dimension)));
        }
      }
    }
    const Axis line = Axis::along(machine, 1);
    CHECK(line.places() == 4);
    CHECK(line.target() == Target::near);
    CHECK(line.route(machine, 0, 3) == Route{{1, 3}});
  }
}

// The classes of Barnett et al. for i < j < k < l: (2) and (3) both to the right or left, (4) towards each other, (5) away from each other.
// With XY routing, {1, 0} here, none but (5) shares a channel; with the other order none but (4) does.
TEST_CASE("routes of the array that go the same way share no channel, nor do those that the target rule allows to meet", "[unit]") {
  for (const Machine& machine :
       {machine_of("mesh:3x4"), machine_of("mesh:3x4", {1, 0}), machine_of("mesh:5x6", {1, 0}), machine_of("5x3", {1, 0}),
        machine_of("mesh:2x3x2"), machine_of("mesh:2x3x2", {2, 1, 0}), machine_of("mesh:2x3x2", {1, 2, 0})}) {
    const Axis array = Axis::linear_array(machine);
    const Topology& topology = machine.topology;
    std::vector<NodeId> node(array.places());
    for (NodeId n = 0; n < topology.nodes(); ++n) node[array.place(topology, n)] = n;
    const auto route = [&](Place from, Place to) { return array.route(machine, node[from], to); };
    std::size_t conflicts = 0;
    for (Place l = 3; l < array.places(); ++l) {
      for (Place k = 2; k < l; ++k) {
        for (Place j = 1; j < k; ++j) {
          for (Place i = 0; i < j; ++i) {
            REQUIRE(!meet(topology, node[i], route(i, j), node[k], route(k, l)));
            REQUIRE(!meet(topology, node[j], route(j, i), node[l], route(l, k)));
            const bool towards = meet(topology, node[i], route(i, j), node[l], route(l, k));
            const bool away = meet(topology, node[j], route(j, i), node[k], route(k, l));
            REQUIRE(!(array.target() == Target::far ? towards : away));
            conflicts += (array.target() == Target::far ? away : towards) ? 1U : 0U;
          }
        }
      }
    }
    CHECK(conflicts > 0);  // the other rule would not do
  }
}

TEST_CASE("a holder of a linear array sends to the place that lies in the other half as it does in its own", "[unit]") {
  CHECK(halve(whole_row(42, 0), Target::like) == Halves{{0, 21, 0, 0}, {21, 42, 21, +1}});
  CHECK(halve(whole_row(42, 23), Target::like) == Halves{{21, 42, 23, 0}, {0, 21, 2, -1}});
  CHECK(halve(whole_row(7, 3), Target::like) == Halves{{0, 4, 3, 0}, {4, 7, 6, +1}});  // the last place of a shorter half
}

TEST_CASE("axes know when each begins, who is informed where and which pieces a row has", "[unit]") {
  const Machine machine = machine_of("3x4x5");
  const Axes down = Axes::descending(machine);
  CHECK(down.begin(0) == 0);
  CHECK(down.begin(1) == 3);
  CHECK(down.begin(2) == 5);
  CHECK(down.steps() == 7);
  CHECK(down.informed_along(machine.topology, 7, 7) == 0);
  CHECK(down.informed_along(machine.topology, 8, 7) == 0);  // in the root's row
  CHECK(down.informed_along(machine.topology, 7 + 5, 7) == 1);
  CHECK(down.informed_along(machine.topology, 7 + 5 + 20, 7) == 2);
  const Axes up = Axes::ascending(machine);
  CHECK(up.pieces_of_place(0) == 20);
  CHECK(up.pieces_of_place(1) == 5);
  CHECK(up.pieces_of_place(2) == 1);
  CHECK(up.first_piece_of_row(machine.topology, 47, 0) == 0);
  CHECK(up.first_piece_of_row(machine.topology, 47, 1) == 40);
  CHECK(up.first_piece_of_row(machine.topology, 47, 2) == 45);
}

TEST_CASE("the leg over a bit leads to the node with that bit flipped, inside the mesh", "[unit]") {
  for (const char* shape : {"8x4", "mesh:8x4", "1x2x16", "4x1x8", "hypercube:5"}) {
    const Topology topology = Topology::parse(shape);
    for (NodeId node = 0; node < 32; ++node) {
      for (NodeId bit = 1; bit < 32; bit <<= 1U) {
        const Leg leg = leg_over_bit(topology, node, bit);
        REQUIRE(topology.neighbour(node, leg.dimension, leg.hops) == (node ^ bit));
        const std::int32_t reached = topology.coordinate(node, leg.dimension) + leg.hops;
        REQUIRE((0 <= reached && reached < topology.extent(leg.dimension)));
      }
    }
  }
}

namespace {

struct Transfer {
  Place from, to;
};

/// The transfers of every step, found by following all parts.
std::vector<std::vector<Transfer>> transfers(Place places, Place root, Target target) {
  std::vector<std::vector<Transfer>> steps;
  std::vector<Part> parts{whole_row(places, root)};
  while (std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.size() > 1; })) {
    std::vector<Part> next;
    std::vector<Transfer> step;
    for (const Part& part : parts) {
      if (part.size() == 1) {
        next.push_back(part);
        continue;
      }
      const Halves halves = halve(part, target);
      step.push_back({part.holder, halves.given.holder});
      next.push_back(halves.kept);
      next.push_back(halves.given);
    }
    steps.push_back(std::move(step));
    parts = std::move(next);
  }
  return steps;
}

constexpr Target both[]{Target::near, Target::far};

}  // namespace

TEST_CASE("a step cuts a part as evenly as can be and leaves the holder the larger half", "[unit]") {
  // Seven places, the holder in the middle: it keeps 0..3 and gives 4..6 away, to the nearest or to the farthest place.
  CHECK(halve(whole_row(7, 3), Target::near) == Halves{{0, 4, 3, 0}, {4, 7, 4, +1}});
  CHECK(halve(whole_row(7, 3), Target::far) == Halves{{0, 4, 3, 0}, {4, 7, 6, +1}});
  CHECK(halve(whole_row(7, 4), Target::near) == Halves{{3, 7, 4, 0}, {0, 3, 2, -1}});
  CHECK(halve(whole_row(7, 4), Target::far) == Halves{{3, 7, 4, 0}, {0, 3, 0, -1}});
  // Once away from the root, the side stays and so does the direction.
  CHECK(halve(Part{4, 7, 6, +1}, Target::far) == Halves{{5, 7, 6, +1}, {4, 5, 4, +1}});
  CHECK(halve(Part{0, 3, 0, -1}, Target::far) == Halves{{0, 2, 0, -1}, {2, 3, 2, -1}});
}

TEST_CASE("halving informs every place once in ceil(log2 places) steps", "[unit]") {
  for (const Target target : both) {
    for (Place places = 1; places <= 67; ++places) {
      for (Place root = 0; root < places; ++root) {
        const auto steps = transfers(places, root, target);
        REQUIRE(steps.size() == ceil_log(2, places));
        std::vector<int> informed(places, 0);
        informed[root] = 1;
        for (const auto& step : steps) {
          std::vector<int> before = informed;
          for (const Transfer& t : step) {
            REQUIRE(before[t.from] == 1);
            ++informed[t.to];
          }
        }
        REQUIRE(std::all_of(informed.begin(), informed.end(), [](int times) { return times == 1; }));
      }
    }
  }
}

TEST_CASE("the halves given away cost places - 1 pieces over the steps", "[unit]") {
  for (Place places = 1; places <= 67; ++places) {
    for (Place root = 0; root < places; ++root) {
      std::vector<Part> parts{whole_row(places, root)};
      Place cost = 0;
      for (std::uint32_t step = 0; step < ceil_log(2, places); ++step) {
        Place longest = 0;
        for (std::size_t i = 0, n = parts.size(); i < n; ++i) {
          if (parts[i].size() < 2) continue;
          const Halves halves = halve(parts[i], Target::near);
          longest = std::max(longest, halves.given.size());
          parts[i] = halves.kept;
          parts.push_back(halves.given);
        }
        cost += longest;
      }
      REQUIRE(cost == places - 1);
    }
  }
}

TEST_CASE("far makes all messages but the root's flow towards the root, near all away from it", "[unit]") {
  for (Place places = 1; places <= 67; ++places) {
    for (Place root = 0; root < places; ++root) {
      for (const auto& step : transfers(places, root, Target::far)) {
        for (const Transfer& t : step) REQUIRE((t.from == root || (t.from < root) == (t.to > t.from)));
      }
      for (const auto& step : transfers(places, root, Target::near)) {
        for (const Transfer& t : step) REQUIRE((t.from == root || (t.from > root) == (t.to > t.from)));
      }
    }
  }
}

TEST_CASE("a place knows by itself the part that it is given", "[unit]") {
  for (const Target target : both) {
    for (Place places = 1; places <= 40; ++places) {
      for (Place root = 0; root < places; ++root) {
        CHECK(first_part(places, root, root, target) == whole_row(places, root));
        std::vector<Part> parts{whole_row(places, root)};
        for (std::size_t i = 0; i < parts.size(); ++i) {  // grows while it is walked
          while (parts[i].size() > 1) {
            const Halves halves = halve(parts[i], target);
            REQUIRE(first_part(places, root, halves.given.holder, target) == halves.given);
            parts[i] = halves.kept;
            parts.push_back(halves.given);
          }
        }
      }
    }
  }
}
