// Partials: they are combined where they meet, everybody is counted once, and whoever is not is named.
#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <torus/error.hpp>
#include <torus/report.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

using Wanted = Contributions::Wanted;

/// A line of five nodes; the last, node 4, gets all.
const Machine& line() {
  static const Machine machine(Topology::parse("5m"), 0, Switching::packet);
  return machine;
}

Contributions vector_of(Bytes bytes, Reduction reduction, Wanted wanted = Wanted::at_root) {
  return {.reduction = reduction, .wanted = wanted, .root = 4, .bytes = bytes};
}

/// Each node passes on what it has, combined with its own.
Program to_the_right(Node& self) {
  if (self.rank() > 0) co_await self.arrival();
  if (self.neighbour({0, +1})) self.forward(combine, {{0, +1}}, {{0}});
}

RunResult run_on_line(const std::function<Program(Node&)>& program, const Contributions& contributions,
                      const support::Workers& workers = {}) {
  return support::emulate(line(), Placement::contributed(line().topology, contributions), program, workers).result;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// What is said of a program or a placement that is refused.
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

std::string failure(const RunResult& result) { return failure_of(line(), result).value_or(""); }

constexpr ElementType all_types[] = {ElementType::u8,  ElementType::u16, ElementType::u32,  ElementType::u64,
                                     ElementType::i8,  ElementType::i16, ElementType::i32,  ElementType::i64,
                                     ElementType::f32, ElementType::f64, ElementType::bf16, ElementType::f16};

}  // namespace

TEST_CASE("every operator and type comes out right, in whole elements and none", "[unit]") {
  for (const ElementType type : all_types) {
    for (const Operator op : {Operator::sum, Operator::min, Operator::max, Operator::exclusive_or, Operator::prod, Operator::bitwise_and,
                              Operator::bitwise_or, Operator::average}) {
      if (is_bitwise(op) && is_float(type)) continue;
      for (const Bytes elements : {0U, 1U, 3U, 1000U}) {
        CAPTURE(std::string(name(type)), std::string(name(op)), elements);
        const RunResult result = run_on_line(to_the_right, vector_of(elements * size_of(type), {op, type}));
        CHECK(failure(result).empty());
        CHECK(result.verified);
        CHECK(result.combined_bytes == 4 * elements * size_of(type));
        CHECK(result.node_combined_sum == 4 * elements * size_of(type));
      }
    }
  }
}

TEST_CASE("partials go to a node by its rank: kept by its sender, or given away", "[unit]") {
  const Machine torus = Machine::make({.topology = "2x8", .contention = Contention::share});
  const auto doubling = [](Node& self) -> Program {
    for (NodeId bit = 1; bit < self.topology().nodes(); bit *= 2) {
      self.send(combine, self.rank() ^ bit, self.blocks());
      co_await self.step();
    }
  };
  const auto halving = [](Node& self) -> Program {
    NodeId bit = self.topology().nodes() / 2;
    for (; bit > 0 && self.rank() < bit; bit /= 2) co_await self.step();
    if (bit > 0) self.forward(combine, self.rank() ^ bit, self.blocks());
  };
  const auto run = [&](const auto& program, Wanted wanted) {
    return support::emulate(torus, Placement::contributed(torus.topology, {.wanted = wanted, .bytes = 40}), program).result;
  };
  const RunResult everywhere = run(doubling, Wanted::everywhere), at_root = run(halving, Wanted::at_root);
  CHECK(everywhere.verified);
  CHECK(everywhere.messages == 64);
  CHECK(everywhere.node_combined_sum == 160);
  CHECK(at_root.verified);
  CHECK(at_root.messages == 15);
  CHECK(at_root.steps == 4);
}

TEST_CASE("a damaged sum is found", "[unit]") {
  const auto program = [](Node& self) -> Program {
    if (self.rank() > 0) co_await self.arrival();
    if (self.rank() == 2) self.bytes(0)[5] ^= std::byte{1};
    if (self.neighbour({0, +1})) self.forward(combine, {{0, +1}}, {{0}});
  };
  const RunResult result = run_on_line(program, vector_of(64, {Operator::sum, ElementType::u8}));
  REQUIRE(result.wrong);
  CHECK(result.wrong->kind == WrongDelivery::Kind::damaged);
  CHECK(result.wrong->node == 4);
  CHECK(result.wrong->offset == 5);
}

TEST_CASE("contributors that are missing or counted twice are named, also where the bytes hide it", "[unit]") {
  using Kind = WrongDelivery::Kind;
  for (const Operator op : {Operator::sum, Operator::max, Operator::exclusive_or}) {
    CAPTURE(std::string(name(op)));
    const Contributions what = vector_of(8, {op, ElementType::u8});
    SECTION("a node that passes nothing on: " + std::string(name(op))) {
      const auto program = [](Node& self) -> Program {
        if (self.rank() > 0 && self.rank() != 3) co_await self.arrival();
        if (self.rank() == 3) self.forward(combine, {{0, +1}}, {{0}});
        if (self.rank() == 3) co_await self.arrival();
        if (self.rank() < 3) self.forward(combine, {{0, +1}}, {{0}});
      };
      const RunResult result = run_on_line(program, what);
      REQUIRE(result.wrong);
      CHECK(result.wrong->kind == Kind::unasked);  // node 3 has kept what came late
      CHECK(result.wrong->node == 3);
    }
    SECTION("a node without its own: " + std::string(name(op))) {
      const auto program = [](Node& self) -> Program {
        if (self.rank() == 2) self.release(0);
        if (self.rank() > 0) co_await self.arrival();
        if (self.neighbour({0, +1})) self.forward(combine, {{0, +1}}, {{0}});
      };
      const RunResult result = run_on_line(program, what);
      REQUIRE(result.wrong);
      CHECK(result.wrong->kind == Kind::lacks_contributor);
      CHECK(result.wrong->node == 4);
      CHECK(result.wrong->contributor == 2);
      CHECK(has(failure(result), "lacks the contribution of node "));
    }
    SECTION("replaced instead of combined: " + std::string(name(op))) {
      const auto program = [](Node& self) -> Program {
        if (self.rank() > 0) co_await self.arrival();
        if (self.rank() == 3)
          self.forward({{0, +1}}, {{0}});
        else if (self.neighbour({0, +1}))
          self.forward(combine, {{0, +1}}, {{0}});
      };
      const RunResult result = run_on_line(program, what);
      REQUIRE(result.wrong);
      CHECK(result.wrong->kind == Kind::lacks_contributor);
      CHECK(result.wrong->contributor == 4);
    }
    SECTION("kept and sent back: " + std::string(name(op))) {
      const auto program = [](Node& self) -> Program {
        if (self.rank() == 0) {
          self.send(combine, {{0, +1}}, {{0}});  // kept, and sent once more
          co_await self.step();
          self.forward(combine, {{0, +1}}, {{0}});
          co_return;
        }
        co_await self.arrival();
        if (self.rank() == 1) co_await self.arrival();
        if (self.neighbour({0, +1})) self.forward(combine, {{0, +1}}, {{0}});
      };
      const RunResult result = run_on_line(program, what);
      REQUIRE(result.wrong);
      CHECK(result.wrong->kind == Kind::contributor_twice);
      CHECK(result.wrong->contributor == 0);
    }
  }
}

TEST_CASE("what is sent is what has been combined up to the step, whatever the executor", "[unit]") {
  const Machine machine(Topology::parse("6x7"), 0, Switching::packet);
  // Everybody tells its neighbours, twice; register 0 stays as it is, the others gather.
  const auto program = [](Node& self) -> Program {
    for (int i = 0; i < 2; ++i) {
      for (const Leg leg : {Leg{0, +1}, Leg{0, -1}, Leg{1, +1}, Leg{1, -1}}) {
        self.send(i == 0 ? combine_into({1}) : combine_into({0, 1, 2}), {leg}, {{0}});
      }
      co_await self.step();
    }
  };
  const Placement placement = Placement::contributed(
      machine.topology, {.reduction = {Operator::sum, ElementType::u32}, .bytes = 40, .segments = 1, .registers = 3});
  RunOptions options;
  options.verify = false;
  const support::Outcome first = support::emulate(machine, placement, program, {}, options);
  CHECK(first.result.good());
  // Step 1: register 1 takes one arrival and combines three. Step 2: register 0 combines four, register 1 four, register 2 takes one.
  CHECK(first.result.combined_bytes == 42 * 40 * (3 + 4 + 4 + 3));
  CHECK(first.result.node_combined_sum == 40 * (3 + 4 + 4 + 3));
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const support::Outcome other = support::emulate(machine, placement, program, workers, options);
    CHECK(other.trace == first.trace);
    CHECK(other.result.trace_digest == first.result.trace_digest);
  }
}

TEST_CASE("runs of partials, and lists of them, go where each of their partials goes", "[unit]") {
  // On a ring each node tells the next: some of what it has, kept or given away, to be combined or to replace.
  constexpr std::uint32_t segments = 40, registers = 2, blocks = segments * registers;
  constexpr Step steps = 30;
  const Machine ring(Topology::parse("7"), 0, Switching::packet);
  using Values = std::vector<std::optional<std::uint32_t>>;
  struct Sent {
    std::vector<std::pair<BlockId, std::uint32_t>> partials;
    std::uint8_t registers;  // 0: they replace
  };
  for (const support::Workers& workers : {support::Workers{ExecutorKind::serial, 1}, support::Workers{ExecutorKind::threads, 3}}) {
    for (const Bytes longer : {0U, 4U}) {  // in blocks of one length, and of two
      CAPTURE(support::seed(), workers.text(), longer);
      std::array<std::vector<Sent>, 2> sent{std::vector<Sent>(7), std::vector<Sent>(7)};  // by the parity of the step and the receiver
      std::vector<std::uint64_t> wrong(7);
      const auto program = [&](Node& self) -> Program {
        std::mt19937_64 random(support::seed() * 7 + self.rank());
        const auto value = [&self](BlockId id) {
          std::uint32_t first = 0;
          std::memcpy(&first, self.bytes(id).data(), sizeof first);
          return first;
        };
        Values values(blocks);
        for (BlockId id = 0; id < segments; ++id) values[id] = value(id);
        for (Step step = 0; step < steps; ++step) {
          const BlockId from = static_cast<BlockId>(random() % blocks), end = from + 1 + static_cast<BlockId>(random() % (blocks - from));
          const bool gaps = random() % 4 == 0, gives = random() % 2 == 0;
          std::vector<BlockId> ids;
          for (BlockId id = from; id < end; ++id) {
            if (values[id] && !(gaps && random() % 3 == 0)) ids.push_back(id);
          }
          const auto into = static_cast<std::uint8_t>(random() % 4);
          Sent& message = sent[step % 2][(self.rank() + 1) % 7];
          message = {{}, into};
          for (const BlockId id : ids) message.partials.emplace_back(id, *values[id]);
          if (gives && into != 0) self.forward(Combine{into}, {{0, +1}}, ids);
          if (gives && into == 0) self.forward({{0, +1}}, ids);
          if (!gives && into != 0) self.send(Combine{into}, {{0, +1}}, ids);
          if (!gives && into == 0) self.send({{0, +1}}, ids);
          for (const BlockId id : ids) {
            if (gives) values[id].reset();
          }
          co_await self.step();
          const Sent& arrived = sent[step % 2][self.rank()];
          for (const auto& [id, number] : arrived.partials) {
            if (arrived.registers == 0) values[id] = number;
            for (BlockId target = id % segments, bit = 1; bit < 4; bit *= 2, target += segments) {
              if ((arrived.registers & bit) != 0) values[target] = values[target].value_or(0) + number;
            }
          }
          for (BlockId id = 0; id < blocks; ++id)
            wrong[self.rank()] += self.holds(id) != values[id].has_value() || (values[id] && value(id) != *values[id]) ? 1U : 0U;
        }
      };
      RunOptions options;
      options.verify = false;
      const Placement placement = Placement::contributed(
          ring.topology,
          {.reduction = {Operator::sum, ElementType::u32}, .bytes = 4 * segments + longer, .segments = segments, .registers = registers});
      const RunResult result = support::emulate(ring, placement, program, workers, options).result;
      CHECK(result.violations.empty());
      CHECK(wrong == std::vector<std::uint64_t>(7));
    }
  }
}

TEST_CASE("a fault damages the partial that it names, of some side by side", "[unit]") {
  const auto program = [](Node& self) -> Program {
    if (self.rank() > 0) co_await self.arrival();
    if (self.neighbour({0, +1})) self.forward(combine, {{0, +1}}, self.blocks());
  };
  Contributions what = vector_of(64, {Operator::exclusive_or, ElementType::u8});
  what.segments = 16;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RunOptions options;
    options.fault = Fault{.kind = FaultKind::corrupt, .step = 1, .node = 1, .seed = seed};
    const RunResult result = support::emulate(line(), Placement::contributed(line().topology, what), program, {}, options).result;
    REQUIRE(result.fault);
    REQUIRE(result.wrong);
    CHECK(result.wrong->kind == WrongDelivery::Kind::damaged);
    CHECK(std::vector{result.wrong->block} == result.fault->changed);
  }
}

TEST_CASE("what replaces a partial for which more arrives is a violation", "[unit]") {
  const auto program = [](bool both, bool held) {
    return [both, held](Node& self) -> Program {
      if (self.rank() == 2 && !held) self.release(0);
      if (self.rank() == 1) self.forward({{0, +1}}, {{0}});
      if (self.rank() == 3 && both) self.forward({{0, -1}}, {{0}});
      if (self.rank() == 3 && !both) self.forward(combine, {{0, -1}}, {{0}});
      co_await self.step();
    };
  };
  for (const auto& [both, held] : {std::pair{false, false}, std::pair{false, true}, std::pair{true, false}, std::pair{true, true}}) {
    CAPTURE(both, held);
    const RunResult result = run_on_line(program(both, held), vector_of(16, {}));
    REQUIRE(result.violations.size() == 1);
    CHECK(result.violations[0].kind == ViolationKind::replaced_and_more);
    CHECK(result.violations[0].node == 2);
    CHECK(has(result.violations[0].text, both ? "replaced twice in one step" : "replaced and combined in one step"));
  }
}

TEST_CASE("partials and registers are refused where there are none", "[unit]") {
  const auto sends = [](Combine into) {
    return [into](Node& self) -> Program {
      if (self.rank() == 0) self.send(into, {{0, +1}}, self.blocks());
      co_return;
    };
  };
  const Placement message = Placement::replicated(line().topology, {0}, 8);
  CHECK(has(refusal([&] { support::emulate(line(), message, sends(combine)); }), "leave out `combine`"));
  const Placement partials = Placement::contributed(line().topology, vector_of(8, {}));
  CHECK(has(refusal([&] { support::emulate(line(), partials, sends(combine_into({1}))); }), "they have 1"));
  CHECK(has(refusal([&] { support::emulate(line(), partials, sends(Combine{0})); }), "registers"));
}

TEST_CASE("what a refused reduction says would do leads to one that is not refused", "[unit]") {
  constexpr std::array operators{Operator::sum,  Operator::min,         Operator::max,        Operator::exclusive_or,
                                 Operator::prod, Operator::bitwise_and, Operator::bitwise_or, Operator::average};
  constexpr std::array types{ElementType::u8,  ElementType::u16, ElementType::u32, ElementType::u64, ElementType::i8,   ElementType::i16,
                             ElementType::i32, ElementType::i64, ElementType::f32, ElementType::f64, ElementType::bf16, ElementType::f16};
  for (const Operator op : operators) {
    for (const ElementType type : types) {
      for (const Values values : {Values::small, Values::real, Values::special}) {
        for (const auto& [nodes, bytes] :
             {std::pair(NodeId{4}, Bytes{8}), std::pair(NodeId{4}, Bytes{9}), std::pair(NodeId{3000}, Bytes{2})}) {
          Reduction reduction{op, type, values};
          Bytes of = bytes;
          std::string said = "none";
          for (int i = 0; i < 4 && !said.empty(); ++i) {
            said = refusal([&, n = nodes] { check_reduction(reduction, n, of); });
            CAPTURE(std::string(name(op)), std::string(name(type)), std::string(name(values)), said);
            if (said.empty()) break;
            REQUIRE(i < 3);
            const std::size_t end = said.rfind(" would do"), from = said.rfind("; ", end) + 2;
            const std::string would_do = said.substr(from, said.find_first_of(", ", from) - from), value = said.substr(from, end - from);
            if (said.starts_with("bytes"))
              of = std::stoull(value);
            else if (value.starts_with("values "))
              reduction.values = parse_values(value.substr(7));
            else
              reduction.type = parse_element_type(would_do);
          }
        }
      }
    }
  }
}

TEST_CASE("what cannot be reduced is refused in one line", "[unit]") {
  const auto refused = [&](const Contributions& what) { return refusal([&] { Placement::contributed(line().topology, what); }); };
  CHECK(refused(vector_of(8, {Operator::exclusive_or, ElementType::f32})) == "operator xor of f32: it takes integers; u32 would do");
  CHECK(refused(vector_of(9, {Operator::sum, ElementType::u16})) == "bytes 9: a vector of u16 has whole elements of 2 bytes; 10 would do");
  CHECK(refused(vector_of(8, {Operator::bitwise_and, ElementType::bf16})) == "operator and of bf16: it takes integers; u16 would do");
  CHECK(refused(vector_of(8, {Operator::sum, ElementType::i32, Values::real})) ==
        "values real of i32: they are floating-point numbers; f32 would do");
  CHECK(refused(vector_of(8, {Operator::sum, ElementType::f16, Values::special})) ==
        "values special with operator sum: they are for min and max; values real would do");
  Contributions far = vector_of(8, {});
  far.root = 5;
  CHECK(refused(far) == "root 5: ranks here go from 0 to 4");
  Contributions uncut = vector_of(8, {});
  uncut.segments = 0;
  CHECK(refused(uncut) == "segments 0: a vector has at least 1 segment");
  CHECK_THROWS_AS(check_reduction({Operator::sum, ElementType::f32}, (1U << 24U) + 1, 4), InputError);
  CHECK_NOTHROW(check_reduction({Operator::max, ElementType::f32}, (1U << 24U) + 1, 4));
  CHECK_NOTHROW(check_reduction({Operator::sum, ElementType::f64}, (1U << 24U) + 1, 8));
  for (const auto& [type, most] : {std::pair(ElementType::bf16, 256U), std::pair(ElementType::f16, 2048U)}) {
    CHECK_NOTHROW(check_reduction({Operator::sum, type}, most, 4));
    CHECK_THROWS_AS(check_reduction({Operator::sum, type}, most + 1, 4), InputError);
    CHECK_NOTHROW(check_reduction({Operator::sum, type, Values::real}, most + 1, 4));
    CHECK_NOTHROW(check_reduction({Operator::prod, type}, most + 1, 4));
  }
}

TEST_CASE("segments are cut in whole elements, the first ones an element longer", "[unit]") {
  const Topology topology = Topology::parse("3");
  const Placement vector =
      Placement::contributed(topology, {.reduction = {Operator::sum, ElementType::u32}, .bytes = 44, .segments = 4, .registers = 2});
  CHECK(vector.bytes(0) == 12);
  CHECK(vector.bytes(2) == 12);
  CHECK(vector.bytes(3) == 8);
  CHECK(vector.bytes(7) == 8);
  CHECK(vector.first_element(3) == 9);
  CHECK(vector.segment_of(7) == 3);
  CHECK(vector.exists(7));
  CHECK_FALSE(vector.exists(8));
  CHECK_FALSE(vector.wants(0, 4));
  const Placement owned = Placement::contributed(
      topology, {.reduction = {Operator::sum, ElementType::u8}, .wanted = Wanted::at_owner, .bytes = 5, .segments = 2});
  CHECK(owned.vector_segments() == 6);
  CHECK(owned.bytes(4) == 3);
  CHECK(owned.bytes(5) == 2);
  CHECK(owned.first_element(4) == 10);
  CHECK(owned.first_element(5) == 13);
  CHECK(owned.wants(2, 4));
  CHECK_FALSE(owned.wants(1, 4));
  CHECK(owned.wanted(2, 1) == 5);
}

TEST_CASE("a long vector is compared all along, part by part", "[unit]") {
  for (const std::uint32_t segments : {1U, 3U, 1250U}) {
    Contributions what = vector_of(20'000, {Operator::sum, ElementType::u16});
    what.segments = segments;
    const bool in_rows = segments > 3;  // blocks of 16 bytes, side by side
    const BlockId block = in_rows ? 709 : segments - 1;
    for (const Bytes spoilt : {Bytes{0}, in_rows ? Bytes{7} : Bytes{5'001}, in_rows ? Bytes{15} : Bytes{6'660}}) {
      CAPTURE(segments, spoilt);
      const auto program = [&](bool spoils) {
        return [=](Node& self) -> Program {
          if (self.rank() > 0) co_await self.arrival();
          if (self.rank() == 2 && spoils) self.bytes(block)[spoilt] ^= std::byte{1};
          std::vector<BlockId> all;
          for (BlockId segment = 0; segment < segments; ++segment) all.push_back(segment);
          if (self.neighbour({0, +1})) self.forward(combine, {{0, +1}}, all);
        };
      };
      for (const support::Workers& workers : support::every_executor()) {
        CAPTURE(workers.text());
        CHECK(failure(run_on_line(program(false), what, workers)).empty());
        const RunResult result = run_on_line(program(true), what, workers);
        REQUIRE(result.wrong);
        CHECK(result.wrong->kind == WrongDelivery::Kind::damaged);
        CHECK(result.wrong->block == block);
        CHECK(result.wrong->offset == spoilt);
      }
    }
  }
}

TEST_CASE("in a reduce-scatter nobody asks for what a dead owner would have", "[unit]") {
  // Nodes 0 and 1 are alive. They give each other its sum; what they hold for the dead node 2 does not matter.
  const Machine machine(Topology::parse("mesh:3").with_faults({.dead_nodes = {2}}), 0, Switching::packet);
  const Placement placement =
      Placement::contributed(machine.topology, {.reduction = {Operator::sum, ElementType::u16}, .wanted = Wanted::at_owner, .bytes = 20});
  const auto program = [](bool all, bool spoils) {
    return [=](Node& self) -> Program {
      const BlockId other = 1 - self.rank();
      if (spoils) self.bytes(2)[3] ^= std::byte{1};
      if (spoils && self.rank() == 0) self.release(2);
      if (all || self.rank() == 0) self.forward(combine, {{0, self.rank() == 0 ? +1 : -1}}, {{other}});
      if (!all && self.rank() == 1) self.release(other);
      co_await self.step();
    };
  };
  for (const bool spoils : {false, true}) {
    const RunResult right = support::emulate(machine, placement, program(true, spoils)).result;
    CHECK(failure_of(machine, right).value_or("") == "");
    CHECK(right.verified);
  }
  const RunResult lacks = support::emulate(machine, placement, program(false, false)).result;
  REQUIRE(lacks.wrong);
  CHECK(lacks.wrong->kind == WrongDelivery::Kind::lacks_contributor);
  CHECK(lacks.wrong->node == 0);
  CHECK(lacks.wrong->contributor == 1);
}

TEST_CASE("of several wrong bytes the lowest node's is named, whatever the workers", "[unit]") {
  // A scan along the line: each node keeps the sum of those up to itself.
  Contributions what = vector_of(16, {Operator::sum, ElementType::u8}, Wanted::of_prefix);
  what.segments = 2;
  const auto program = [](bool spoils) {
    return [spoils](Node& self) -> Program {
      if (self.rank() > 0) co_await self.arrival();
      if (self.neighbour({0, +1})) self.send(combine, {{0, +1}}, {{0, 1}});
      co_await self.step();
      if (spoils && self.rank() == 1) self.bytes(1)[2] ^= std::byte{1};
      if (spoils && self.rank() == 3) self.bytes(0)[1] ^= std::byte{1};
    };
  };
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    CHECK(failure(run_on_line(program(false), what, workers)).empty());
    const RunResult result = run_on_line(program(true), what, workers);
    REQUIRE(result.wrong);
    CHECK(result.wrong->node == 1);
    CHECK(result.wrong->block == 1);
    CHECK(result.wrong->offset == 2);
  }
}

TEST_CASE("of an owner every piece is compared", "[unit]") {
  const Machine pair(Topology::parse("mesh:2"), 0, Switching::packet);
  const Placement placement = Placement::contributed(
      pair.topology, {.reduction = {Operator::sum, ElementType::u8}, .wanted = Wanted::at_owner, .bytes = 12, .segments = 3});
  for (BlockId spoilt = 0; spoilt < 7; ++spoilt) {  // block 6: none
    CAPTURE(spoilt);
    const auto program = [spoilt](Node& self) -> Program {
      const BlockId other = 3 * (1 - self.rank());
      self.forward(combine, {{0, self.rank() == 0 ? +1 : -1}}, {{other, other + 1, other + 2}});
      co_await self.step();
      if (spoilt / 3 == self.rank()) self.bytes(spoilt)[1] ^= std::byte{1};
    };
    const RunResult result = support::emulate(pair, placement, program).result;
    CHECK(result.verified == (spoilt == 6));
    if (spoilt == 6) continue;
    REQUIRE(result.wrong);
    CHECK(result.wrong->block == spoilt);
    CHECK(result.wrong->node == spoilt / 3);
  }
}
