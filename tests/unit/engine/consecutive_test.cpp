#include <algorithm>
#include <random>
#include <vector>

#include "runtime/engine/payload/partials.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::detail;

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
    REQUIRE(any_zero(numbers) == (std::find(numbers.begin(), numbers.end(), 0U) != numbers.end()));
  }
}
