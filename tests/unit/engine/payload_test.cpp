/// What moves payload: lists of consecutive slots, the queue of copies, and the pool of slots.
#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "runtime/engine/payload/copier.hpp"
#include "runtime/engine/payload/partials.hpp"
#include "runtime/engine/payload/slot_pool.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::detail;
using torus::detail::CopyQueue;

namespace {

std::size_t one_by_one(const std::vector<std::uint32_t>& numbers) {
  std::size_t count = 1;
  while (count < numbers.size() && numbers[count] == numbers[count - 1] + 1) ++count;
  return count;
}

}  // namespace

TEST_CASE("a list rises one by one as far as each number follows the one before it", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int turn = 0; turn < 20'000; ++turn) {
    std::vector<std::uint32_t> numbers(1 + random() % 100);
    numbers[0] = static_cast<std::uint32_t>(random() % 4 == 0 ? 0xfffffff0U + random() % 16 : random());
    const std::uint64_t seldom = 1 + random() % 64;
    for (std::size_t i = 1; i < numbers.size(); ++i)
      numbers[i] = numbers[i - 1] + (random() % seldom == 0 ? static_cast<std::uint32_t>(random() % 3) : 1);
    CAPTURE(numbers);
    const std::size_t count = one_by_one(numbers), most = 1 + random() % 100;
    REQUIRE(consecutive(numbers) == count);
    REQUIRE(row_of(numbers, most) == (std::min(count, most) >= row ? std::min(count, most) : 0));
    REQUIRE(all_consecutive(numbers) == (count == numbers.size()));
    REQUIRE(all_zero(numbers) == std::all_of(numbers.begin(), numbers.end(), [](std::uint32_t number) { return number == 0; }));
    REQUIRE(any_zero(numbers) == (std::find(numbers.begin(), numbers.end(), 0U) != numbers.end()));
  }
  CHECK(all_zero(std::vector<std::uint32_t>(9)));
}

TEST_CASE("copies leave their queue in order, each with its place among those of its source and with the source after that", "[unit]") {
  CopyQueue queue;
  for (const CopyQueue::Copy& copy : {CopyQueue::Copy{7, 1, 10}, {7, 2, 10}, {7, 3, 10}, {8, 4, 20}, {7, 5, 10}}) queue.push(copy);
  const auto check = [&queue](unsigned from, unsigned to, std::size_t number, std::size_t of, unsigned next, unsigned next_bytes) {
    REQUIRE_FALSE(queue.empty());
    const CopyQueue::Turn turn = queue.pop();
    CHECK(turn.copy.from == from);
    CHECK(turn.copy.to == to);
    CHECK(turn.number == number);
    CHECK(turn.of == of);
    CHECK(turn.next == next);
    CHECK(turn.next_bytes == next_bytes);
  };
  check(7, 1, 0, 3, 8, 20);
  check(7, 2, 1, 3, 8, 20);
  queue.push({7, 6, 10});  // joins the last
  check(7, 3, 2, 3, 8, 20);
  check(8, 4, 0, 1, 7, 10);
  check(7, 5, 0, 2, 0, 0);
  check(7, 6, 1, 2, 0, 0);
  CHECK(queue.empty());
}

TEST_CASE("a full queue of copies takes one for each that leaves", "[unit]") {
  CopyQueue queue;
  for (unsigned i = 1; i <= CopyQueue::room; ++i) {
    CHECK(queue.size() == i - 1);
    queue.push({i / 4 + 1, i, 64});
  }
  CHECK(queue.size() == CopyQueue::room);
  for (unsigned i = 1; i <= 100; ++i) {
    CHECK(queue.pop().copy.to == i);
    queue.push({i, i + static_cast<unsigned>(CopyQueue::room), 64});
    CHECK(queue.size() == CopyQueue::room);
  }
  queue.clear();
  CHECK(queue.empty());
  queue.push({3, 9, 64});
  CHECK(queue.pop().of == 1);
}

TEST_CASE("a worker takes the same slots in every run, then those of others, each slot once, until there are none", "[unit]") {
  constexpr unsigned workers = 3;
  constexpr std::uint64_t expected = 3000;
  MemoryBudget budget(64 * 2000);
  const std::uint64_t most = SlotPool::units_for({expected, 64}, workers) + 2000;
  SlotPool pool({expected, 64}, 0, budget, workers);
  pool.open(pool.max_slots());
  pool.clear();
  std::vector<std::vector<Slot>> before;
  for (unsigned round = 0; round < 3; ++round) {
    // In another order of the workers in each round: what each gets first is its own all the same.
    std::vector<std::vector<Slot>> own(workers);
    for (unsigned i = 0; i < workers; ++i) {
      const unsigned worker = (i + round) % workers;
      for (int count = 0; count < 900; ++count) own[worker].push_back(pool.take(pool.free_lists(worker)));
    }
    if (round > 0) CHECK(own == before);
    before = own;
    std::set<Slot> seen;
    for (const std::vector<Slot>& slots : own) seen.insert(slots.begin(), slots.end());
    CHECK(seen.size() == 900 * workers);
    CHECK(seen.count(0) == 0);
    bool twice = false;
    const auto take_the_rest = [&] {
      while (!twice) twice = !seen.insert(pool.take(pool.free_lists(round))).second;
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
  SlotPool pool({100, 64}, 0, budget, workers);
  pool.open(pool.max_slots());
  pool.clear();
  const std::uint64_t slots = SlotPool::units_for({100, 64}, workers);
  for (std::uint64_t round = 0; round < 10 * slots; ++round) {  // worker 0 takes, worker 1 gives back
    const Slot slot = pool.take(pool.free_lists(0));
    pool.give_back(pool.free_lists(1), slot);
    pool.level();
  }
}

TEST_CASE("slots that were given back side by side are taken side by side, each once, whoever has them", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int turn = 0; turn < 20; ++turn) {
    const unsigned workers = 1 + static_cast<unsigned>(random() % 3);
    MemoryBudget budget(0);
    SlotPool pool({2000, 4}, 0, budget, workers);
    pool.open(pool.max_slots());
    pool.clear();
    CAPTURE(workers);
    std::vector<bool> taken(pool.expected());
    std::vector<std::pair<Slot, std::size_t>> rows;
    std::size_t held = 0;
    for (int move = 0; move < 3000; ++move) {
      FreeList& list = pool.free_lists(static_cast<unsigned>(random() % workers));
      const std::size_t count = 1 + random() % (random() % 2 == 0 ? 3 : 60);
      if (random() % 2 == 0 && held + count <= 1000) {
        Slot first = pool.take_row(list, count);
        for (std::size_t i = 0; i < count; ++i) {
          const Slot slot = first != 0 ? first + static_cast<Slot>(i) : pool.take(list);
          REQUIRE(slot < taken.size());
          REQUIRE_FALSE(taken[slot]);
          taken[slot] = true;
          if (first == 0) rows.emplace_back(slot, 1);
        }
        if (first != 0) rows.emplace_back(first, count);
        held += count;
      } else if (!rows.empty()) {
        std::swap(rows[random() % rows.size()], rows.back());
        const auto [first, all] = rows.back();
        const std::size_t back = 1 + random() % all;  // the first ones of a row
        for (std::size_t i = 0; i < back; ++i) taken[first + i] = false;
        pool.give_back(list, first, back);
        held -= back;
        rows.back() = {first + static_cast<Slot>(back), all - back};
        if (back == all) rows.pop_back();
      }
      if (move % 8 == 0) pool.level();
    }
  }
  MemoryBudget budget(0);
  SlotPool pool({2000, 4}, 0, budget, 1);
  pool.open(pool.max_slots());
  FreeList& list = pool.free_lists(0);
  const Slot first = pool.take(list);
  for (Slot i = 1; i < 100; ++i) REQUIRE(pool.take(list) == first + i);
  pool.give_back(list, first, 40);
  pool.give_back(list, first + 40, 60);
  CHECK(pool.take_row(list, 100) == first);
}

TEST_CASE("slots beyond those expected draw their bytes from the budget", "[unit]") {
  MemoryBudget budget(64 * 2000);
  SlotPool pool({3000, 64}, 0, budget, 1);
  pool.open(pool.max_slots());
  pool.clear();
  const auto take_all = [&] {
    while (true) pool.take(pool.free_lists(0));
  };
  CHECK_THROWS_AS(take_all(), RunError);
  CHECK_FALSE(budget.take(64 * 1000));
}

TEST_CASE("a slot is at most a quarter longer than its block, and a unit", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int turn = 0; turn < 20'000; ++turn) {
    const Bytes bytes = turn < 5000 ? static_cast<Bytes>(turn) : (random() >> 2U) >> random() % 62;
    const std::size_t of = LengthClass::of(bytes);
    CAPTURE(bytes, of);
    REQUIRE(of < LengthClass::count);
    REQUIRE(LengthClass::longest(of) >= bytes);
    REQUIRE(LengthClass::longest(of) - bytes <= bytes / 4);
    REQUIRE((of == 0 || LengthClass::longest(of - 1) < bytes));
    REQUIRE(LengthClass::of(LengthClass::longest(of)) == of);
  }
}

TEST_CASE("slots of many lengths never overlap, and all that were counted fit without a budget", "[unit]") {
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  for (int turn = 0; turn < 60; ++turn) {
    const unsigned workers = 1 + static_cast<unsigned>(random() % 4);
    std::vector<Bytes> blocks(1 + random() % 400);  // one is not empty, as where a run has slots of several lengths
    for (Bytes& bytes : blocks) bytes = random() % 3 == 0 ? 0 : (random() % 60'000) >> random() % 16;
    blocks.front() += 1;
    SlotLengths::ByClass by_class{};
    for (const Bytes bytes : blocks) ++by_class[LengthClass::of(bytes)];
    MemoryBudget budget(0);
    SlotPool pool({by_class, *std::max_element(blocks.begin(), blocks.end())}, 8, budget, workers);
    CAPTURE(workers, blocks.size(), pool.stride(), pool.lengths().all().size());
    pool.open(pool.max_slots());
    for (int round = 0; round < 2; ++round) {
      pool.clear();
      std::vector<bool> taken(pool.expected());
      const auto mark = [&](Slot slot, Bytes bytes, bool to) {
        const std::uint64_t units = std::max<Bytes>(1, (bytes + pool.stride() - 1) / pool.stride());
        REQUIRE(slot > 0);
        REQUIRE(slot + units <= pool.expected());
        for (std::uint64_t unit = slot; unit < slot + units; ++unit) {
          REQUIRE(taken[unit] != to);
          taken[unit] = to;
        }
      };
      std::vector<Slot> slots;
      for (const Bytes bytes : blocks) {
        slots.push_back(pool.take(pool.list_for(pool.free_lists(static_cast<unsigned>(slots.size() % workers)), bytes)));
        mark(slots.back(), bytes, true);
      }
      for (std::size_t move = 0; move < 4 * blocks.size(); ++move) {  // as a block that is forwarded by a worker of its own
        const std::size_t i = random() % blocks.size();
        FreeList& of_worker = pool.list_for(pool.free_lists(static_cast<unsigned>(i % workers)), blocks[i]);
        const Slot to = pool.take(of_worker);
        mark(to, blocks[i], true);
        mark(slots[i], blocks[i], false);
        pool.give_back(of_worker, std::exchange(slots[i], to));
      }
      CHECK(pool.used() < pool.expected());
    }
  }
}
