#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "algorithms/total_exchange/open_shop.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using total_exchange::OpenShopTable;

namespace {

using Demand = std::vector<std::vector<std::uint32_t>>;  // by job, by machine

std::uint32_t busiest(const Demand& demand) {
  std::uint32_t most = 0;
  std::vector<std::uint32_t> load(demand.front().size());
  for (const auto& job : demand) {
    most = std::max(most, std::accumulate(job.begin(), job.end(), 0U));
    for (std::size_t m = 0; m < job.size(); ++m) load[m] += job[m];
  }
  return std::max(most, *std::max_element(load.begin(), load.end()));
}

/// Whether the table gives every job what it needs, one machine at a time.
bool satisfied(const Demand& demand, const OpenShopTable& table, std::uint32_t slots) {
  Demand left = demand;
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    std::set<OpenShopTable::Job> busy;
    for (std::size_t m = 0; m < demand.front().size(); ++m) {
      const OpenShopTable::Job job = table.job_at(m, slot);
      if (job == OpenShopTable::none) continue;
      if (!busy.insert(job).second || left[job][m]-- == 0) return false;
    }
  }
  return std::all_of(left.begin(), left.end(), [](const auto& job) { return std::accumulate(job.begin(), job.end(), 0U) == 0; });
}

}  // namespace

TEST_CASE("any jobs fit in as many slots as the busiest job or machine has operations", "[unit]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  for (int round = 0; round < 300; ++round) {
    Demand demand(1 + support::random_below(random, 40), std::vector<std::uint32_t>(1 + support::random_below(random, 6)));
    for (auto& job : demand) {
      for (std::uint32_t& operations : job) operations = support::random_below(random, 2) == 0 ? 0 : support::random_below(random, 5);
    }
    const std::uint32_t slots = busiest(demand);
    OpenShopTable table(demand.front().size(), demand.size(), slots);
    for (std::size_t job = 0; job < demand.size(); ++job) {
      for (std::size_t m = 0; m < demand[job].size(); ++m) table.add(static_cast<OpenShopTable::Job>(job), m, demand[job][m]);
    }
    CAPTURE(round, demand.size(), demand.front().size(), slots);
    CHECK(satisfied(demand, table, slots));
  }
}

TEST_CASE("an operation that has no slot makes earlier ones move", "[unit]") {
  // Two machines, two slots: the jobs 0 and 1 take slot 0 of one machine each, so job 2 finds no slot that both it and machine 1 have free
  // once it is on machine 0 in slot 1, unless job 1 moves.
  OpenShopTable table(2, 3, 2);
  table.add(0, 0, 1);
  table.add(1, 1, 1);
  table.add(2, 0, 1);
  table.add(2, 1, 1);
  CHECK(satisfied({{1, 0}, {0, 1}, {1, 1}}, table, 2));
}
