// Blocks are passed on from the messages that brought them, without the node's table, where that is the same. Here they wander at random,
// singly and in bundles, in the order they came in and in any other, with looks at the table in between, and then go home: every byte must
// be there again.
#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <torus/engine.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

using Random = std::mt19937_64;
using Port = std::pair<Dimension, int>;

constexpr std::uint32_t blocks_a_node = 3;

bool coin(Random& random, std::uint64_t of = 2) { return support::random_below(random, of) == 0; }

/// The ports of a node of rings and lines.
std::vector<Port> ports_of(const Node& self) {
  std::vector<Port> ports;
  for (Dimension d = 0; d < self.dimensions(); ++d) {
    for (const int hop : {+1, -1}) {
      if (self.extent(d) > 1 && self.neighbour({d, hop})) ports.push_back({d, hop});
    }
  }
  return ports;
}

class Wanderer {
 public:
  Wanderer(Node& self, std::uint64_t seed) : self_{self}, random_{seed * 1000003 + self.rank()}, all_ports_{ports_of(self)} {}

  /// Passes on some of what has come in, by random ports, and perhaps some of what lay here.
  void wander(Arrivals arrivals) {
    free_ = all_ports_;
    std::shuffle(free_.begin(), free_.end(), random_);
    std::vector<const Message*> order;
    for (const Message& m : arrivals) order.push_back(&m);
    if (coin(random_, 3)) std::shuffle(order.begin(), order.end(), random_);
    for (const Message* m : order) {
      if (coin(random_, 8)) static_cast<void>(self_.holds(m->blocks().empty() ? 0 : m->blocks().front()));
      if (!coin(random_, 4)) pass_on(m->blocks());
    }
    if (!coin(random_, 4)) return;
    const std::span<const BlockId> held = self_.blocks();
    std::vector<BlockId> some(held.begin(), held.end());
    std::shuffle(some.begin(), some.end(), random_);
    for (std::size_t at = 0; at < some.size();) {
      const std::size_t count = std::min<std::size_t>(some.size() - at, 1 + support::random_below(random_, 3));
      send(std::span(some).subspan(at, count));
      at += count;
    }
  }

  /// Sends all that belongs elsewhere a hop nearer, dimension by dimension.
  void go_home() {
    std::map<Port, std::vector<BlockId>> bundles;
    for (const BlockId id : self_.blocks()) {
      const NodeId home = id / blocks_a_node;
      for (Dimension d = 0; d < self_.dimensions(); ++d) {
        const std::int32_t way = self_.topology().coordinate(home, d) - self_.coordinate(d);
        if (way == 0) continue;
        bundles[{d, way > 0 ? +1 : -1}].push_back(id);
        break;
      }
    }
    for (const auto& [port, blocks] : bundles) self_.forward({{port.first, port.second}}, blocks);
  }

 private:
  /// All of a message's blocks in one, or the first of them alone and the rest together.
  void pass_on(std::span<const BlockId> blocks) {
    if (blocks.size() > 1 && coin(random_)) {
      const std::size_t first = 1 + support::random_below(random_, blocks.size() - 1);
      if (send(blocks.first(first)) && !coin(random_, 3)) send(blocks.subspan(first));
    } else {
      send(blocks);
    }
  }

  bool send(std::span<const BlockId> blocks) {
    if (free_.empty()) return false;
    const auto [d, hop] = free_.back();
    free_.pop_back();
    const bool copied = coin(random_, 4);
    const std::vector<BlockId> copy(blocks.begin(), blocks.end());
    const std::span<const BlockId> sent = copied ? std::span<const BlockId>(copy) : blocks;
    if (coin(random_, 6))
      self_.forward({{d, hop}}, sent, std::vector<Word>{7});
    else
      self_.forward({{d, hop}}, sent);
    return true;
  }

  Node& self_;
  Random random_;
  std::vector<Port> all_ports_, free_;
};

Program wander(Node& self, std::uint64_t seed, Step steps) {
  Wanderer wanderer(self, seed);
  Arrivals arrivals;
  for (Step step = 0; step < steps; ++step) {
    wanderer.wander(arrivals);
    arrivals = co_await self.step();
  }
  Step home = 1;
  for (Dimension d = 0; d < self.dimensions(); ++d) home += static_cast<Step>(self.extent(d) - 1);
  for (Step step = 0; step < home; ++step) {
    wanderer.go_home();
    co_await self.step();
  }
}

}  // namespace

TEST_CASE("blocks that wander by any ways come home whole", "[property]") {
  CAPTURE(support::seed());
  for (const char* shape : {"3", "2x2", "4x4", "5x3m", "3x3x3", "2x1x5"}) {
    for (const Switching switching : {Switching::packet, Switching::circuit}) {
      const Machine machine(Topology::parse(shape), 0, switching);
      for (std::uint64_t seed = support::seed(); seed < support::seed() + 20; ++seed) {
        CAPTURE(shape, seed);
        RunOptions options;
        options.executor = seed % 2 == 0 ? ExecutorKind::shuffled : ExecutorKind::threads;
        options.threads = 2;
        Engine engine(machine, Placement::resident(machine.topology, blocks_a_node, seed % 3 == 0 ? 64 : 5), options);
        const RunResult result = engine.run([seed](Node& self) { return wander(self, seed, 12); });
        REQUIRE(result.violations.empty());
        REQUIRE(result.verified);
      }
    }
  }
}

TEST_CASE("a block that has been passed on cannot be passed on again", "[property]") {
  const Machine machine(Topology::parse("4"), 0, Switching::packet);
  for (const bool out_of_turn : {false, true}) {
    for (const std::size_t with_words : {0U, 1U, 2U, 3U}) {
      const std::size_t words = with_words % 2;
      const std::size_t words_again = with_words / 2;
      CAPTURE(out_of_turn, words, words_again);
      Engine engine(machine, Placement::resident(machine.topology, 2, 64), {});
      const RunResult result = engine.run([=](Node& self) -> Program {
        const BlockId mine = 2 * self.rank();
        const BlockId other = mine + 1;
        self.forward({{0, +1}}, {&mine, 1});
        self.forward({{0, -1}}, {&other, 1});
        const Arrivals arrivals = co_await self.step();
        const Message& m = arrivals[out_of_turn ? 1 : 0];
        self.forward({{0, +1}}, m.blocks(), std::vector<Word>(words));
        self.forward({{0, -1}}, m.blocks(), std::vector<Word>(words_again));
      });
      REQUIRE(result.violations.size() == 4);
      CHECK(result.violations.front().kind == ViolationKind::block_not_held);
    }
  }
}
