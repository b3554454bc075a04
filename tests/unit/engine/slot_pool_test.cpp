#include "runtime/engine/payload/slot_pool.hpp"

#include <set>
#include <vector>

#include "tests/support/catch.hpp"

using namespace torus;
using namespace torus::detail;

TEST_CASE("a worker takes the same slots in every run, then those of others, each slot once, until there are none", "[unit]") {
  constexpr unsigned workers = 3;
  constexpr std::uint64_t expected = 3000;
  MemoryBudget budget(64 * 2000);
  const std::uint64_t most = expected + SlotPool::spare_slots(expected, 64, workers) + 2000;
  SlotPool pool(expected, 64, 0, budget, workers);
  pool.open(pool.max_slots());
  pool.clear();
  std::vector<std::vector<Slot>> before;
  for (unsigned round = 0; round < 3; ++round) {
    // In another order of the workers in each round: what each gets first is its own all the same.
    std::vector<std::vector<Slot>> own(workers);
    for (unsigned i = 0; i < workers; ++i) {
      const unsigned worker = (i + round) % workers;
      for (int count = 0; count < 900; ++count) own[worker].push_back(pool.take(pool.free_list(worker)));
    }
    if (round > 0) CHECK(own == before);
    before = own;
    std::set<Slot> seen;
    for (const std::vector<Slot>& slots : own) seen.insert(slots.begin(), slots.end());
    CHECK(seen.size() == 900 * workers);
    CHECK(seen.count(0) == 0);
    bool twice = false;
    const auto take_the_rest = [&] {
      while (!twice) twice = !seen.insert(pool.take(pool.free_list(round))).second;
    };
    CHECK_THROWS_AS(take_the_rest(), RunError);
    CHECK_FALSE(twice);
    CHECK(seen.size() >= most - 500);  // all but what the other two have begun
    CHECK(seen.size() <= most);
    budget.refill();
    pool.clear();
  }
}

TEST_CASE("slots that pile up with a worker go to one that has none", "[unit]") {
  constexpr unsigned workers = 2;
  MemoryBudget budget(0);
  SlotPool pool(100, 64, 0, budget, workers);
  pool.open(pool.max_slots());
  pool.clear();
  const std::uint64_t slots = 100 + SlotPool::spare_slots(100, 64, workers);
  for (std::uint64_t round = 0; round < 10 * slots; ++round) {  // worker 0 takes, worker 1 gives back
    const Slot slot = pool.take(pool.free_list(0));
    pool.give_back(pool.free_list(1), slot);
    pool.level();
  }
}

TEST_CASE("slots beyond those expected draw their bytes from the budget", "[unit]") {
  MemoryBudget budget(64 * 2000);
  SlotPool pool(3000, 64, 0, budget, 1);
  pool.open(pool.max_slots());
  pool.clear();
  const auto take_all = [&] {
    while (true) pool.take(pool.free_list(0));
  };
  CHECK_THROWS_AS(take_all(), RunError);
  CHECK_FALSE(budget.take(64 * 1000));
}
