// The check of refutations: of the smallest formula that needs a few steps, by hand.
#include "algorithms/optimum/formula.hpp"
#include "tests/support/catch.hpp"

using torus::optimum::Clause;
using torus::optimum::Formula;
using torus::optimum::refutation_error;

namespace {

/// Three pigeons in two holes: variable 2 p + h + 1 says that pigeon p sits in hole h.
Formula pigeons(int left_out = -1) {
  Formula formula;
  for (int i = 0; i < 6; ++i) formula.variable();
  int index = 0;
  const auto add = [&](Clause clause) {
    if (index++ != left_out) formula.add(std::move(clause));
  };
  for (int p = 0; p < 3; ++p) add({2 * p + 1, 2 * p + 2});
  for (int hole = 1; hole <= 2; ++hole) {
    add({-hole, -(hole + 2)});
    add({-hole, -(hole + 4)});
    add({-(hole + 2), -(hole + 4)});
  }
  return formula;
}

}  // namespace

TEST_CASE("a refutation holds where each clause follows by unit propagation", "[unit]") {
  CHECK(refutation_error(pigeons(), "-1 0\n0\n") == "");
  CHECK(refutation_error(pigeons(), "c by hand\n1 0\n") == "");  // after which the empty clause follows by itself
  CHECK(refutation_error(pigeons(), "d 3 4 0\n-1 -1 0\n") == "line 2: its clause does not follow by unit propagation");
  CHECK(refutation_error(pigeons(), "") == "it ends before the empty clause follows");
  CHECK(refutation_error(pigeons(), "0\n") == "line 1: its clause does not follow by unit propagation");
  CHECK(refutation_error(pigeons(), "d 2 1 0\n0\n") == "line 2: its clause does not follow by unit propagation");
  CHECK(refutation_error(pigeons(), "d 1 3 0\n") == "line 1: it removes a clause that is not there");
  for (const char* wrong : {"-1\n", "7 0\n", "x 0\n", "-7 0\n", "d 9 0\n"}) {
    CAPTURE(wrong);
    CHECK(refutation_error(pigeons(), wrong) == "line 1: it is no clause of the formula's variables that ends in 0");
  }
}

TEST_CASE("no refutation holds of a formula that has lost a constraint", "[unit]") {
  for (int left_out = 0; left_out < 9; ++left_out) {
    CAPTURE(left_out);
    CHECK(refutation_error(pigeons(left_out), "-1 0\n0\n") != "");
    CHECK(refutation_error(pigeons(left_out), "1 0\n0\n") != "");
  }
}

TEST_CASE("at most so many of a list are true, and no more is said", "[unit]") {
  for (int n = 1; n <= 8; ++n) {
    for (int most = 1; most <= 3; ++most) {
      for (unsigned chosen = 0; chosen < 1U << static_cast<unsigned>(n); ++chosen) {
        Formula formula;
        std::vector<int> literals;
        for (int i = 0; i < n; ++i) literals.push_back(formula.variable());
        formula.at_most(literals, most);
        int count = 0;
        for (int i = 0; i < n; ++i) {
          const bool is = (chosen >> static_cast<unsigned>(i) & 1U) != 0;
          count += is ? 1 : 0;
          formula.add({is ? literals[static_cast<std::size_t>(i)] : -literals[static_cast<std::size_t>(i)]});
        }
        CAPTURE(n, most, chosen);
        CHECK((refutation_error(formula, "") == "") == (count > most));
      }
    }
  }
}
