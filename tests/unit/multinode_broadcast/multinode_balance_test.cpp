#include <algorithm>
#include <cmath>
#include <numeric>

#include "algorithms/multinode_broadcast/forecast.hpp"
#include "tests/support/aggregate_distribute.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/collect.hpp"

using namespace torus;
using namespace torus::multinode_broadcast;
using namespace torus::multinode_broadcast::aggregate_distribute;
using support::ddn_loads;
using support::DdnLoads;

namespace {

std::uint32_t spread(const std::vector<std::uint32_t>& loads) {
  const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
  return *most - *least;
}

/// Nodes whose messages all aggregate to DDN 0.
std::vector<NodeId> adversarial(std::int32_t n, std::int32_t h) {
  std::vector<NodeId> sources;
  for (NodeId node = 0; node < static_cast<NodeId>(n * n); ++node) {
    if (ddn_loads(n, h, Prefix::none, std::vector<NodeId>{node}).before[0] == 1) sources.push_back(node);
  }
  return sources;
}

}  // namespace

TEST_CASE("after a global prefix sum the DDNs' loads differ by at most one, whatever the sources", "[unit]") {
  std::mt19937_64 random(support::seed());
  for (std::int32_t n = 2; n <= 32; ++n) {
    for (const std::int32_t h : divisors(n)) {
      CAPTURE(n, h);
      const auto nodes = static_cast<NodeId>(n * n);
      std::vector<std::vector<NodeId>> sets{{},
                                            {nodes - 1},
                                            support::all_nodes(nodes),
                                            support::random_nodes(random, nodes, 2),
                                            support::random_nodes(random, nodes, static_cast<std::uint32_t>(n))};
      if (n <= 16) sets.push_back(adversarial(n, h));
      for (const std::vector<NodeId>& sources : sets) {
        CAPTURE(sources.size());
        for (const Prefix kind : {Prefix::global5, Prefix::global3, Prefix::diag5, Prefix::diag3, Prefix::hash, Prefix::none}) {
          const DdnLoads loads = ddn_loads(n, h, kind, sources);
          CHECK(std::accumulate(loads.before.begin(), loads.before.end(), 0U) == sources.size());
          CHECK(std::accumulate(loads.after.begin(), loads.after.end(), 0U) == sources.size());
          if (kind == Prefix::global5 || kind == Prefix::global3) CHECK(spread(loads.after) <= 1);
          if (kind == Prefix::diag5 || kind == Prefix::diag3) CHECK(spread(loads.after) <= static_cast<std::uint32_t>(n / h));
          if (kind == Prefix::none) CHECK(loads.after == loads.before);
        }
      }
    }
  }
}

TEST_CASE("sources that all aggregate to one DDN stay there without balancing and are spread evenly with it", "[unit]") {
  const std::vector<NodeId> sources = adversarial(16, 4);
  REQUIRE(sources.size() == 64);
  CHECK(ddn_loads(16, 4, Prefix::none, sources).after == std::vector<std::uint32_t>{64, 0, 0, 0});
  CHECK(ddn_loads(16, 4, Prefix::global5, sources).after == std::vector<std::uint32_t>{16, 16, 16, 16});
  CHECK(ddn_loads(16, 4, Prefix::diag5, sources).after == std::vector<std::uint32_t>{16, 16, 16, 16});
}

TEST_CASE("predictions go by the sources that the user expects, or by all nodes, never by the sources themselves", "[unit]") {
  const Machine machine(Topology::parse("20x20"));
  Request request;
  request.sources = {1, 2, 3};
  CHECK(assumed_sources(machine, request) == 400);
  request.expected_sources = 7.0;
  CHECK(assumed_sources(machine, request) == 7);
}

TEST_CASE("the fullest of many channels is a plausible maximum: between mean and cap, growing with their number", "[unit]") {
  CHECK(fullest(0, 100, 5) == 0);
  CHECK(fullest(7, 100, 5) == 5);
  for (const double mean : {0.01, 0.3, 1.0, 5.0, 40.0, 299.0, 301.0}) {
    CAPTURE(mean);
    CHECK(fullest(mean, 4, 1e9) <= fullest(mean, 1000, 1e9));
    CHECK(fullest(mean, 1000, 1e9) >= mean);
    CHECK(fullest(mean, 1000, 1e9) <= 4 + mean + 6 * std::sqrt(mean));
  }
}
