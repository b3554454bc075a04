#include <torus/inline_vector.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

using Three = InlineVector<int, 3>;

TEST_CASE("an inline vector is a short list in place", "[unit]") {
  Three list{4, 5};
  CHECK(list.size() == 2);
  CHECK(list[0] == 4);
  CHECK(list.back() == 5);
  list.push_back(6);
  CHECK(list == Three{4, 5, 6});
  list.pop_back();
  list.pop_back();
  CHECK(list == Three{4});
  list.clear();
  CHECK(list.empty());
  CHECK(Three(3, 7) == Three{7, 7, 7});
}

TEST_CASE("copies of an inline vector are lists of their own", "[unit]") {
  Three a{1, 2, 3};
  Three b = a;
  b[0] = 9;
  CHECK(a == Three{1, 2, 3});
  CHECK(b == Three{9, 2, 3});
  a = Three{5};
  CHECK(a == Three{5});
  CHECK_FALSE(a == b);
  CHECK_FALSE(Three{1, 2} == Three{1, 3});
}

TEST_CASE("an inline vector refuses to grow over its capacity", "[unit]") {
  Three list{1, 2, 3};
  CHECK_THROWS_AS(list.push_back(4), InputError);
  CHECK(list == Three{1, 2, 3});
  CHECK_THROWS_AS(Three({1, 2, 3, 4}), InputError);
}

TEST_CASE("an inline vector works at compile time", "[unit]") {
  constexpr int sum = [] {
    Three list{1, 2};
    list.push_back(3);
    int total = 0;
    for (const int value : list) total += value;
    return total;
  }();
  CHECK(sum == 6);
}
