#include <vector>

#include "runtime/engine/payload/copier.hpp"
#include "tests/support/catch.hpp"

using torus::detail::CopyQueue;

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
