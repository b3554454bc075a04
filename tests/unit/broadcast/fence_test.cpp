#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <torus/byte_sum.hpp>

#include "algorithms/broadcast/pipelines.hpp"
#include "algorithms/common/parameters.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::broadcast;

namespace {

using At = std::pair<std::uint32_t, std::uint32_t>;

/// Where a port leads, if it is used.
std::optional<At> end_of(std::uint32_t r, std::uint32_t c, At at, bool east) {
  const FencePort port = east ? east_port(r, c, at.first, at.second) : south_port(r, c, at.first, at.second);
  if (port.fence == 0) return std::nullopt;
  const std::uint32_t down = !east || port.diagonal ? 1 : 0;
  const std::uint32_t right = east || port.diagonal ? 1 : 0;
  return At{(at.first + down) % r, (at.second + right) % c};
}

/// The step in which each segment is sent to each node, by playing the node program: the port whose turn it is sends what came before.
std::vector<std::map<At, std::uint64_t>> play(std::uint32_t r, std::uint32_t c, std::uint64_t segments) {
  struct Duty {
    std::uint64_t next;
  };
  std::vector<std::map<At, std::uint64_t>> sent(segments);
  std::map<std::pair<At, bool>, Duty> duties;
  std::uint64_t missing = segments * (std::uint64_t{r} * c - 1);
  for (std::uint32_t i = 0; i < r; ++i) {
    for (std::uint32_t j = 0; j < c; ++j) {
      for (const bool east : {true, false}) {
        const FencePort port = east ? east_port(r, c, i, j) : south_port(r, c, i, j);
        if (port.fence != 0) duties[{{i, j}, east}] = {port.fence - 1};
      }
    }
  }
  for (std::uint64_t t = 0; missing > 0; ++t) {
    REQUIRE(t <= segments + r + c);
    std::map<At, int> receives;
    for (auto& [port, duty] : duties) {
      const auto& [at, east] = port;
      if (((at.first + at.second + t) % 2 == 0) != east || duty.next >= segments) continue;
      if (at != At{0, 0}) {
        const auto came = sent[duty.next].find(at);
        if (came == sent[duty.next].end() || came->second >= t) continue;
      }
      const At to = *end_of(r, c, at, east);
      REQUIRE(to != At{0, 0});
      REQUIRE(++receives[to] == 1);
      REQUIRE(sent[duty.next].emplace(to, t).second);
      duty.next += 2;
      --missing;
    }
  }
  return sent;
}

}  // namespace

TEST_CASE("each fence is a spanning tree and no port serves both", "[unit]") {
  for (std::uint32_t r = 2; r <= 9; ++r) {
    for (std::uint32_t c = 2; c <= 9; ++c) {
      std::map<At, int> fed[2];
      for (std::uint32_t i = 0; i < r; ++i) {
        for (std::uint32_t j = 0; j < c; ++j) {
          for (const bool east : {true, false}) {
            const FencePort port = east ? east_port(r, c, i, j) : south_port(r, c, i, j);
            if (const auto to = end_of(r, c, {i, j}, east)) ++fed[port.fence - 1][*to];
          }
        }
      }
      for (const auto& fence : fed) {
        CHECK(fence.size() == std::size_t{r} * c - 1);
        for (const auto& [node, times] : fence) {
          CHECK(times == 1);
          CHECK(node != At{0, 0});
        }
      }
    }
  }
}

TEST_CASE("segments reach every node in the step of the closed form, one at a time", "[unit]") {
  for (std::uint32_t r = 2; r <= 9; ++r) {
    for (std::uint32_t c = 2; c <= 9; ++c) {
      for (const std::uint64_t segments : {1U, 2U, 3U, 8U, 13U}) {
        CAPTURE(r, c, segments);
        const auto sent = play(r, c, segments);
        std::uint64_t last = 0;
        for (std::uint64_t s = 0; s < segments; ++s) {
          for (const auto& [at, step] : sent[s]) {
            const auto [i, j] = at;
            REQUIRE(step == (s % 2 == 0 ? fence_step(c, i, j, s) : fence_step(r, j, i, s)));
            last = std::max(last, step);
          }
        }
        REQUIRE(fence_steps(r, c, segments) == last + 1);
        REQUIRE(fence_steps(r, c, segments) <= segments + r + c);
        if (r % 2 == 0 && c % 2 == 0) REQUIRE(fence_steps(r, c, segments) == segments + r + c);
      }
    }
  }
}

TEST_CASE("the predicted bytes are those of the longest segment of every step, idle steps free", "[unit]") {
  for (std::uint32_t r = 2; r <= 7; ++r) {
    for (std::uint32_t c = 2; c <= 7; ++c) {
      for (const std::uint64_t segments : {1U, 2U, 3U, 5U, 8U, 13U, 16U, 31U}) {
        for (const Bytes bytes : {0U, 5U, 13U, 30U, 104U, 109U}) {
          CAPTURE(r, c, segments, bytes);
          std::vector<Bytes> longest(fence_steps(r, c, segments), 0);
          const auto sent = play(r, c, segments);
          for (std::uint64_t s = 0; s < segments; ++s) {
            const Bytes length = bytes_of_segments(bytes, segments, s, s + 1);
            for (const auto& [at, step] : sent[s]) longest[step] = std::max(longest[step], length);
          }
          ByteSum sum = 0;
          for (const Bytes length : longest) sum += times_bytes(1, length);
          REQUIRE(fence_channel_bytes(r, c, bytes, segments) == sum);
        }
      }
    }
  }
}
