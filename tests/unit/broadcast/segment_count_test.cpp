#include <algorithm>
#include <cmath>

#include <torus/byte_sum.hpp>

#include "algorithms/broadcast/pipelines.hpp"
#include "algorithms/common/parameters.hpp"
#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::broadcast;

TEST_CASE("the first segments are a byte longer where the message does not divide", "[unit]") {
  CHECK(bytes_of_segments(12, 4, 1, 3) == 6);
  CHECK(bytes_of_segments(14, 4, 0, 1) == 4);
  CHECK(bytes_of_segments(14, 4, 2, 4) == 6);
  CHECK(bytes_of_segments(14, 4, 1, 3) == 7);
  CHECK(bytes_of_segments(3, 5, 0, 5) == 3);
  CHECK(bytes_of_segments(0, 5, 0, 5) == 0);
}

TEST_CASE("the best number of segments is the best of all numbers", "[unit]") {
  for (const double latency : {1.0, 4.0, 13.0, 40.0}) {
    for (const Bytes bytes : {1U, 7U, 64U, 1000U}) {
      for (const double start_up : {1.0, 16.0, 300.0, 1e6}) {
        const auto time = [&](std::uint64_t k) {
          const auto segments = static_cast<double>(k);
          return (segments + latency) * (start_up + static_cast<double>(bytes) / segments * 3.0);
        };
        double least = time(1);
        for (std::uint64_t k = 2; k <= bytes; ++k) least = std::min(least, time(k));
        CAPTURE(latency, bytes, start_up);
        CHECK(time(best_segments(latency, bytes, 1, 3.0, start_up, time)) == least);
      }
    }
  }
}

TEST_CASE("the best number of segments stays between one and a byte each, whatever is free", "[unit]") {
  const auto time = [](std::uint32_t) { return 0.0; };
  CHECK(best_segments(10, 1000, 1, 1.0, 0.0, time) == 1000);
  CHECK(best_segments(10, 1000, 1, 0.0, 1.0, time) == 1);
  CHECK(best_segments(10, 1000, 1, 0.0, 0.0, time) == 1);
  CHECK(best_segments(10, 0, 1, 1.0, 1.0, time) == 1);
  CHECK(best_segments(10, 1000, 1U << 24U, 1.0, 0.0, time) == 255);  // 2^24 nodes hold fewer than 2^32 blocks
  CHECK(best_segments(0, 1000, 1, 1.0, 0.0, time) == 1);
}

TEST_CASE("where even and odd numbers of segments cost differently the best of both is found", "[unit]") {
  for (const double penalty : {0.0, 0.4, 5.0}) {
    for (const std::uint64_t dear : {0U, 1U}) {
      for (double start_up = 0.5; start_up < 2000; start_up *= 1.3) {
        const auto time = [&](std::uint64_t k) {
          const auto segments = static_cast<double>(k);
          return (segments + 9 + (k % 2 == dear ? penalty : 0)) * (start_up + 1000 / segments);
        };
        double least = time(1);
        for (std::uint64_t k = 2; k <= 1000; ++k) least = std::min(least, time(k));
        CAPTURE(penalty, dear, start_up);
        if (penalty == 0.0) CHECK(time(best_segments(9, 1000, 1, 1.0, start_up, time)) == least);
        CHECK(time(best_segments(9, 1000, 1, 1.0, start_up, time)) <= 1.05 * least);
      }
    }
  }
}

TEST_CASE("a pipeline pays for a longer segment as long as one is on its way", "[unit]") {
  for (const Place places : {2U, 3U, 7U}) {
    for (const std::uint64_t segments : {1U, 2U, 3U, 5U}) {
      for (const Bytes bytes : {0U, 1U, 4U, 10U, 11U}) {
        ByteSum sum = 0;
        for (std::uint64_t t = 0; t < pipeline_steps(places, segments); ++t) {
          Bytes longest = 0;
          for (std::uint64_t s = 0; s < segments; ++s) {
            if (s <= t && t - s <= places - 2) longest = std::max(longest, bytes_of_segments(bytes, segments, s, s + 1));
          }
          sum += times_bytes(1, longest);
        }
        CHECK(pipeline_channel_bytes(places, bytes, segments) == sum);
      }
    }
  }
  CHECK(pipeline_steps(1, 5) == 0);
}
