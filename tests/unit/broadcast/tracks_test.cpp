// The routes of the square-torus broadcasts: the papers' examples, and what every track of a stage must have in common.
#include "algorithms/broadcast/tracks.hpp"

#include <cstdlib>
#include <numeric>
#include <set>
#include <vector>

#include "tests/support/catch.hpp"

namespace torus::broadcast {
namespace {

std::vector<Dimension> ascending(std::int32_t k) {
  std::vector<Dimension> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// Net hops by dimension, from 0.
std::vector<std::int32_t> displacement(std::int32_t k, const Route& route) {
  std::vector<std::int32_t> sum(static_cast<std::size_t>(k), 0);
  for (const Leg& leg : route) sum[static_cast<std::size_t>(leg.dimension)] += leg.hops;
  return sum;
}

/// The number of the supernode that a displacement leads to from supernode 0, in stage i of the circuit scheme: y_1 - sum of y_m, m > d, if
/// y_d is the same number (i < k).
std::int32_t circuit_place(std::int32_t k, std::int32_t stage, const std::vector<std::int32_t>& y) {
  std::int32_t place = y[0];
  for (std::int32_t m = k - stage + 2; m <= k; ++m) place -= y[static_cast<std::size_t>(m) - 1];
  return place;
}

/// The number of a supernode in stage i of the wormhole scheme: f_1 = y_k, f_i = y_1 - y_k - .. - y_{k-i+2}.
std::int32_t wormhole_place(std::int32_t k, std::int32_t stage, const std::vector<std::int32_t>& y) {
  return stage == 1 && k > 1 ? y[static_cast<std::size_t>(k) - 1] : circuit_place(k, stage, y);
}

}  // namespace

TEST_CASE("circuit tracks of two and three dimensions are those of the papers", "[unit]") {
  CHECK(circuit_track(2, 1, 1, 3) == Route{{0, 3}, {1, 3}});
  CHECK(circuit_track(2, 1, 2, -3) == Route{{1, -3}, {0, -3}});
  CHECK(circuit_track(2, 2, 1, 3) == Route{{0, 3}});
  CHECK(circuit_track(2, 2, 2, 3) == Route{{1, -3}});
  CHECK(circuit_track(3, 1, 3, 4) == Route{{1, 1}, {0, 4}, {2, 4}, {1, -1}});
  CHECK(circuit_track(3, 1, 3, -4) == Route{{1, -1}, {0, -4}, {2, -4}, {1, 1}});
  CHECK(circuit_track(3, 2, 3, 2) == Route{{2, -2}, {1, 2}});
  CHECK(circuit_track(3, 3, 3, 2) == Route{{2, -2}});
  CHECK(circuit_track(3, 1, 3, 2, 7) == Route{{1, 7}, {0, 14}, {2, 14}, {1, -7}});
}

TEST_CASE("wormhole rows of two and three dimensions are those of the papers", "[unit]") {
  const std::vector<Dimension> plane = ascending(2);
  CHECK(wormhole_row(plane, 1, 1, 5) == Route{{0, 5}, {1, 5}});
  CHECK(wormhole_row(plane, 1, 2, 5) == Route{{1, 5}});
  CHECK(wormhole_row(plane, 2, 2, 5) == Route{{1, -5}});
  const std::vector<Dimension> space = ascending(3);
  CHECK(wormhole_row(space, 1, 2, 5) == Route{{1, 5}, {2, 5}});
  CHECK(wormhole_row(space, 2, 1, 5) == Route{{1, 5}, {2, -5}});
  CHECK(wormhole_row(space, 2, 2, 5) == Route{{0, 5}});
  CHECK(wormhole_row(space, 2, 3, 5) == Route{{2, -5}});
  CHECK(aligned_wormhole_row(space, 2, 2, 5) == Route{{0, 5}, {1, 5}});
  const std::vector<Dimension> turned{1, 0};
  CHECK(wormhole_row(turned, 1, 1, 5) == Route{{1, 5}, {0, 5}});
}

TEST_CASE("every track and row of a stage leads to the supernode that it is meant for, by a port of its own", "[unit]") {
  for (std::int32_t k = 1; k <= 7; ++k) {
    const std::vector<Dimension> order = ascending(k);
    for (std::int32_t stage = 1; stage <= k; ++stage) {
      CAPTURE(k, stage);
      std::set<std::pair<Dimension, bool>> circuit_ports;
      std::set<std::pair<Dimension, bool>> wormhole_ports;
      for (std::int32_t row = 1; row <= k; ++row) {
        for (const std::int32_t a : {+9, -9}) {
          CAPTURE(row, a);
          const Route track = circuit_track(k, stage, row, a);
          CHECK(circuit_place(k, stage, displacement(k, track)) == a);
          // Before the last stage a track also keeps to the spanned subgroup: y_d is the place, dimensions 2..d-1 are untouched.
          if (stage < k) CHECK(displacement(k, track)[static_cast<std::size_t>(k - stage)] == a);
          circuit_ports.emplace(track[0].dimension, track[0].hops > 0);
          const Route message = wormhole_row(order, stage, row, a);
          CHECK(wormhole_place(k, stage, displacement(k, message)) == a);
          wormhole_ports.emplace(message[0].dimension, message[0].hops > 0);
          for (std::size_t leg = 1; leg < message.size(); ++leg) CHECK(message[leg].dimension > message[leg - 1].dimension);
        }
      }
      CHECK(circuit_ports.size() == 2 * static_cast<std::size_t>(k));
      CHECK(wormhole_ports.size() == 2 * static_cast<std::size_t>(k));
    }
  }
}

}  // namespace torus::broadcast
