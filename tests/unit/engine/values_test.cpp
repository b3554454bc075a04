// Values of reductions: what is combined without rounding, what rounds, and what is not a number.
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <torus/error.hpp>
#include <torus/report.hpp>

#include "runtime/engine/processes/thread_processes.hpp"
#include "runtime/model/contribution.hpp"
#include "runtime/model/floats.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

constexpr ElementType float_types[] = {ElementType::f32, ElementType::f64, ElementType::bf16, ElementType::f16};
constexpr ElementType integer_types[] = {ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64,
                                         ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64};

using Vector = std::vector<std::byte>;

Vector contribution(const Reduction& reduction, NodeId nodes, NodeId node, std::size_t elements = 96) {
  Vector bytes(elements * size_of(reduction.type));
  detail::fill_contribution(bytes, reduction, nodes, support::seed(), node, 0);
  return bytes;
}

/// All contributions, combined in a random tree.
Vector combined(const Reduction& reduction, NodeId nodes, std::mt19937_64& random) {
  std::vector<Vector> left;
  for (NodeId node = 0; node < nodes; ++node) left.push_back(contribution(reduction, nodes, node));
  while (left.size() > 1) {
    std::swap(left[random() % left.size()], left.back());
    const Vector from = left.back();
    left.pop_back();
    Vector& into = left[random() % left.size()];
    detail::combiner_of(reduction)(into.data(), from.data(), into.size());
  }
  return left.front();
}

std::string text_of(const Reduction& reduction) {
  return std::string(name(reduction.op)) + " of " + std::string(name(reduction.type)) + ", " + std::string(name(reduction.values));
}

/// All that check_reduction() allows.
std::vector<Reduction> all_reductions(NodeId nodes) {
  std::vector<Reduction> all;
  for (int op = 0; op < 8; ++op) {
    for (int type = 0; type < 12; ++type) {
      for (int values = 0; values < 3; ++values) {
        const Reduction reduction{static_cast<Operator>(op), static_cast<ElementType>(type), static_cast<Values>(values)};
        try {
          check_reduction(reduction, nodes, 0);
          all.push_back(reduction);
        } catch (const InputError&) {
        }
      }
    }
  }
  return all;
}

double float_at(ElementType type, const std::byte* at) {
  const auto read = [at](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  if (type == ElementType::f32) return read(0.0F);
  if (type == ElementType::f64) return read(0.0);
  const auto bits = read(std::uint16_t{});
  return type == ElementType::bf16 ? detail::to_float<detail::BFloat16>(bits) : detail::to_float<detail::Binary16>(bits);
}

/// An integer, with the sign of its type, or a float that is a whole number.
std::int64_t whole_number(ElementType type, const std::byte* at) {
  if (is_float(type)) return static_cast<std::int64_t>(float_at(type, at));
  std::uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(type));
  const auto unused = static_cast<unsigned>(64 - 8 * size_of(type));
  const bool is_signed = type >= ElementType::i8 && type <= ElementType::i64;
  return is_signed ? static_cast<std::int64_t>(bits << unused) >> unused : static_cast<std::int64_t>(bits);
}

/// Whether an element is a sum, known modulo 2^64, divided by a count: of integers what their type leaves of the sum, towards zero; of
/// floats the nearest number.
bool is_average(ElementType type, const std::byte* at, std::uint64_t sum, NodeId count) {
  if (is_float(type)) {
    const double exact = static_cast<double>(sum) / count;  // floats are not negative here
    const double digits = type == ElementType::f64 ? 53 : type == ElementType::f32 ? 24 : type == ElementType::f16 ? 11 : 8;
    return std::abs(float_at(type, at) - exact) <= std::ldexp(exact, -static_cast<int>(digits)) * (1 + 1e-9);
  }
  const std::int64_t wrapped = whole_number(type, reinterpret_cast<const std::byte*>(&sum));
  const std::int64_t quotient = type == ElementType::u64 ? static_cast<std::int64_t>(sum / count) : wrapped / std::int64_t{count};
  return whole_number(type, at) == quotient;
}

const Machine& line() {
  static const Machine machine(Topology::parse("5m"), 0, Switching::packet);
  return machine;
}

RunResult run_on_line(const std::function<Program(Node&)>& program, const Contributions& what, const support::Workers& workers = {}) {
  return support::emulate(line(), Placement::contributed(line().topology, what), program, workers).result;
}

std::string failure(const RunResult& result) { return failure_of(line(), result).value_or(""); }

/// An all-reduce: sums go to the right, and the last node's goes back.
Program there_and_back(Node& self) {
  if (self.rank() > 0) co_await self.arrival();
  if (self.neighbour({0, +1})) {
    self.forward(combine, {{0, +1}}, {{0}});
    co_await self.arrival();
  }
  if (self.neighbour({0, -1})) self.send({{0, -1}}, {{0}});
}

/// Four nodes, all linked.
const Machine& clique() {
  static const Machine machine(Topology::parse("4c"), 0, Switching::packet);
  return machine;
}

}  // namespace

TEST_CASE("only sums and products of real values depend on the order", "[unit]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  for (const NodeId nodes : {1U, 2U, 3U, 17U, 64U, 200U}) {
    for (const Reduction& reduction : all_reductions(nodes)) {
      CAPTURE(nodes, text_of(reduction));
      const Vector once = combined(reduction, nodes, random);
      bool same = true;
      for (int turn = 0; turn < 3; ++turn) same = combined(reduction, nodes, random) == once && same;
      if (!rounds(reduction) || nodes <= 2) CHECK(same);
      if (rounds(reduction) && nodes >= 17) CHECK_FALSE(same);
      if (nodes > 1) CHECK(once != contribution(reduction, nodes, 0));
    }
  }
}

TEST_CASE("a part of a contribution is that part of the whole", "[unit]") {
  for (const Reduction& reduction : all_reductions(40)) {
    const Bytes size = size_of(reduction.type);
    const Vector all = contribution(reduction, 40, 7, 50);
    for (const std::size_t first : {1U, 5U, 8U, 13U}) {
      CAPTURE(text_of(reduction), first);
      Vector part((50 - first) * size);
      detail::fill_contribution(part, reduction, 40, support::seed(), 7, first);
      CHECK(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first * size)));
    }
  }
}

TEST_CASE("no integer operator leaves the same bits everywhere", "[unit]") {
  for (const ElementType type : integer_types) {
    for (const Operator op : {Operator::prod, Operator::bitwise_and, Operator::bitwise_or}) {
      std::mt19937_64 random(support::seed());
      const Vector result = combined({op, type}, 300, random);
      CAPTURE(text_of({op, type}));
      std::set<std::byte> bytes(result.begin(), result.end());
      CHECK(bytes.size() > 8);
    }
  }
}

TEST_CASE("minima and maxima of special values: NaN wins, and -0 is below +0", "[unit]") {
  const auto check = [](auto format, ElementType type) {
    using F = decltype(format);
    using Bits = typename F::Bits;
    constexpr auto minus = [](Bits bits) { return static_cast<Bits>(bits | F::sign); };
    constexpr auto nan = static_cast<Bits>(F::infinity | 1U);
    const std::vector<Bits> ascending{minus(F::infinity), minus(F::one), minus(3), minus(0), Bits{0}, Bits{3}, F::one, F::infinity};
    const auto both = [&](Operator op, Bits a, Bits b) {
      Bits into = a;
      detail::combiner_of({op, type, Values::special})(reinterpret_cast<std::byte*>(&into), reinterpret_cast<const std::byte*>(&b),
                                                       sizeof into);
      return into;
    };
    for (std::size_t i = 0; i < ascending.size(); ++i) {
      for (std::size_t j = 0; j < ascending.size(); ++j) {
        CAPTURE(std::string(name(type)), i, j);
        CHECK(both(Operator::min, ascending[i], ascending[j]) == ascending[std::min(i, j)]);
        CHECK(both(Operator::max, ascending[i], ascending[j]) == ascending[std::max(i, j)]);
      }
      for (const Bits each : {nan, minus(nan), F::quiet_nan}) {
        for (const Operator op : {Operator::min, Operator::max}) {
          CHECK(both(op, ascending[i], each) == F::quiet_nan);
          CHECK(both(op, each, ascending[i]) == F::quiet_nan);
          CHECK(both(op, each, minus(nan)) == F::quiet_nan);
        }
      }
    }
  };
  check(detail::Binary32(), ElementType::f32);
  check(detail::Binary64(), ElementType::f64);
  check(detail::BFloat16(), ElementType::bf16);
  check(detail::Binary16(), ElementType::f16);
}

TEST_CASE("special contributions have NaN, infinities, both zeros and denormals; real ones both signs and all bits", "[unit]") {
  std::map<int, int> classes;
  int negative = 0;
  std::uint32_t bits_seen = 0;
  for (NodeId node = 0; node < 8; ++node) {
    const Vector special = contribution({Operator::min, ElementType::f32, Values::special}, 8, node, 400);
    const Vector real = contribution({Operator::sum, ElementType::f32, Values::real}, 8, node, 400);
    for (std::size_t i = 0; i < 400; ++i) {
      float value = 0;
      std::memcpy(&value, special.data() + 4 * i, 4);
      ++classes[std::fpclassify(value)];
      if (value == 0 && std::signbit(value)) ++classes[-1];
      std::memcpy(&value, real.data() + 4 * i, 4);
      bits_seen |= std::bit_cast<std::uint32_t>(value);
      negative += value < 0 ? 1 : 0;
      CHECK((std::abs(value) >= 0x1p-8F && std::abs(value) < 1));
    }
  }
  for (const int each : {FP_NAN, FP_INFINITE, FP_ZERO, FP_SUBNORMAL, FP_NORMAL, -1}) CHECK(classes[each] > 30);
  CHECK((bits_seen & 0x7fffffU) == 0x7fffffU);
  CHECK((negative > 1000 && negative < 2200));
}

TEST_CASE("sums and products of real values are verified, with the error that they have", "[unit]") {
  for (const ElementType type : float_types) {
    for (const Operator op : {Operator::sum, Operator::prod, Operator::average}) {
      const Contributions what{.reduction = {op, type, Values::real}, .bytes = 4000 * size_of(type)};
      std::optional<double> error;
      for (const support::Workers& workers : support::every_executor()) {
        CAPTURE(text_of(what.reduction), workers.text());
        const RunResult result = run_on_line(there_and_back, what, workers);
        CHECK(failure(result).empty());
        CHECK(result.verified);
        REQUIRE(result.error_ulp);
        CHECK((*result.error_ulp > 0.4 && *result.error_ulp < 1024));
        if (error) CHECK(*result.error_ulp == *error);
        error = result.error_ulp;
      }
    }
    CHECK_FALSE(run_on_line(there_and_back, {.reduction = {Operator::max, type, Values::special}, .bytes = 800}).error_ulp);
    CHECK_FALSE(run_on_line(there_and_back, {.reduction = {Operator::sum, type}, .bytes = 800}).error_ulp);
  }
}

TEST_CASE("an average is the sum of the contributions divided by their number, at every node, of a scan too", "[unit]") {
  const auto along = [](Node& self) -> Program {  // each node's sum of those up to itself goes on
    if (self.rank() > 0) co_await self.arrival();
    if (self.neighbour({0, +1})) self.send(combine, {{0, +1}}, {{0}});
  };
  std::vector<ElementType> types(std::begin(integer_types), std::end(integer_types));
  types.insert(types.end(), std::begin(float_types), std::end(float_types));
  for (const ElementType type : types) {
    const Bytes size = size_of(type);
    for (const bool scan : {false, true}) {
      CAPTURE(std::string(name(type)), scan);
      const Contributions what{.reduction = {Operator::average, type},
                               .wanted = scan ? Contributions::Wanted::of_prefix : Contributions::Wanted::everywhere,
                               .bytes = 96 * size};
      Engine engine(line(), Placement::contributed(line().topology, what), {.executor = ExecutorKind::serial, .seed = support::seed()});
      CHECK(failure(scan ? engine.run(along) : engine.run(there_and_back)).empty());
      std::vector<std::uint64_t> sums(96);  // modulo 2^64
      for (NodeId node = 0; node < 5; ++node) {
        const Vector own = contribution(what.reduction, 5, node);
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<std::uint64_t>(whole_number(type, own.data() + i * size));
        const NodeId count = node + 1;
        if (!scan && count < 5) continue;
        for (NodeId at = scan ? node : 0; at <= node; ++at) {
          const std::span<const std::byte> held = engine.bytes(at, 0);
          REQUIRE(held.size() == 96 * size);
          for (std::size_t i = 0; i < sums.size(); ++i) REQUIRE(is_average(type, held.data() + i * size, sums[i], count));
        }
      }
    }
  }
}

TEST_CASE("an average is one of the living nodes, on any number of processes", "[unit]") {
  Faults faults;
  faults.dead_nodes = {4};
  const Machine machine(Topology::parse("5m").with_faults(faults), 0, Switching::packet);
  const Placement placement = Placement::contributed(machine.topology, {.reduction = {Operator::average, ElementType::i32}, .bytes = 400});
  const auto program = [](Node& self) -> Program {  // there_and_back(), of the first four
    if (self.rank() > 0) co_await self.arrival();
    if (self.rank() < 3) {
      self.forward(combine, {{0, +1}}, {{0}});
      co_await self.arrival();
    }
    if (self.rank() > 0) self.send({{0, -1}}, {{0}});
  };
  const RunResult result = support::emulate(machine, placement, program).result;
  CHECK(failure_of(machine, result).value_or("").empty());
  CHECK(result.verified);
  for (const unsigned count : {2U, 4U}) {
    std::vector<std::string> found(count);
    detail::run_as_processes(count, [&](Processes& processes) {
      const RunOptions options{.executor = ExecutorKind::serial, .processes = &processes};
      found[processes.self()] = failure_of(machine, Engine(machine, placement, options).run(program)).value_or("");
    });
    CHECK(found == std::vector<std::string>(count));
  }
}

TEST_CASE("a result that no rounding leads to is named, also one that is not a number", "[unit]") {
  for (const Operator op : {Operator::sum, Operator::prod, Operator::average}) {
    for (const auto& [value, offset] : std::vector<std::pair<float, Bytes>>{{3e4F, 8}, {NAN, 12}, {INFINITY, 0}, {0.0F, 4}}) {
      const auto program = [value = value, offset = offset](Node& self) -> Program {
        if (self.rank() > 0) co_await self.arrival();
        if (self.rank() == 4) std::memcpy(self.bytes(0).data() + offset, &value, sizeof value);
        if (self.neighbour({0, +1})) self.forward(combine, {{0, +1}}, {{0}});
      };
      const RunResult result = run_on_line(
          program, {.reduction = {op, ElementType::f32, Values::real}, .wanted = Contributions::Wanted::at_root, .root = 4, .bytes = 16});
      CAPTURE(value);
      REQUIRE(result.wrong);
      CHECK(result.wrong->kind == WrongDelivery::Kind::not_a_rounding);
      CHECK(result.wrong->node == 4);
      CHECK(result.wrong->offset == offset);
      CHECK(failure(result).find("no order of combining leads so far") != std::string::npos);
    }
  }
}

TEST_CASE("an all-reduce whose nodes combine in different orders is caught under real values, by any number of processes", "[unit]") {
  for (const ElementType type : float_types) {
    const auto placed = [&](Operator op, Values values) {
      return Placement::contributed(clique().topology, {.reduction = {op, type, values}, .bytes = 64 * size_of(type), .segments = 4});
    };
    for (const Operator op : {Operator::sum, Operator::prod, Operator::average}) {
      CAPTURE(std::string(name(type)), std::string(name(op)));
      const auto program = [](Node& self) -> Program {  // each adds up from its own on, in the order of the others' ranks
        for (NodeId other = 0; other < 4; ++other) {
          if (other != self.rank()) self.send(combine, {{0, static_cast<std::int32_t>((other + 4 - self.rank()) % 4)}}, self.blocks());
        }
        co_await self.arrival();
      };
      CHECK(support::emulate(clique(), placed(op, Values::small), program).result.verified);
      const RunResult alone = support::emulate(clique(), placed(op, Values::real), program).result;
      REQUIRE(alone.wrong);
      CHECK(alone.wrong->kind == WrongDelivery::Kind::disagrees);
      CHECK(alone.wrong->contributor == 0);
      CHECK(alone.wrong->node > 0);
      for (const unsigned count : {2U, 3U, 4U}) {
        std::vector<std::string> found(count);
        detail::run_as_processes(count, [&](Processes& processes) {
          const RunOptions options{.executor = ExecutorKind::serial, .processes = &processes};
          const RunResult result = Engine(clique(), placed(op, Values::real), options).run(program);
          found[processes.self()] = failure_of(clique(), result).value_or("nothing");
          if (result.error_ulp != alone.error_ulp) found[processes.self()] += ", another error";
        });
        CHECK(found == std::vector<std::string>(count, *failure_of(clique(), alone)));
      }
    }
  }
}
