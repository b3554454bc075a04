// The library's own header comes first, as in a program that uses the package and the library.
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>

#include <torus/engine.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

namespace {

using OwnQueue = boost::lockfree::spsc_queue<std::uint32_t, boost::lockfree::capacity<2>>;

// The engine keeps both indices of its queues in one cache line. The library keeps them apart.
static_assert(sizeof(OwnQueue) > BOOST_LOCKFREE_CACHELINE_BYTES && BOOST_LOCKFREE_CACHELINE_BYTES >= 64);

}  // namespace

TEST_CASE("a program's own lock-free queues and the engine's work in one program", "[unit]") {
  OwnQueue queue;
  const Machine machine(Topology::parse("8x8"), 0, Switching::packet);
  Engine engine(machine, Placement::resident(machine.topology, 1, 64), {.executor = ExecutorKind::serial});
  for (std::uint32_t round = 0; round < 5; ++round) {
    REQUIRE(queue.push(round));
    REQUIRE(queue.push(round + 100));
    REQUIRE_FALSE(queue.push(7));
    const RunResult result = engine.run([](Node& self) -> Program {
      self.forward({{0, +1}}, self.blocks());
      for (const Message& m : co_await self.step()) self.forward({{0, -1}}, m.blocks());
      co_await self.step();
    });
    REQUIRE(result.verified);
    std::uint32_t value = 0;
    REQUIRE((queue.pop(value) && value == round));
    REQUIRE((queue.pop(value) && value == round + 100));
    REQUIRE_FALSE(queue.pop(value));
  }
}
