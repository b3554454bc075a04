/// The command with algorithms, each with a mistake that users make: of an all-reduce along the lines, as `torus new` writes it.
/// Node (1,1) of 4x4 makes the mistake, in its first step or its second. One has a loop without end, in which its user interrupts it.
#include <atomic>
#include <signal.h>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#include <torus/main.hpp>

using namespace torus;

namespace {

enum class Bug {
  wrong_bytes,
  missing,
  replaced,
  twice,
  ports,
  contention,
  deadlock,
  endless,
  interrupted,
  null,
  exception,
  no_such_node,
  off_the_mesh,
  two_hops,
  not_held
};

// What the compiler knows nothing about. A pointer to a member of nothing: sanitizers let it crash.
int* volatile nowhere = reinterpret_cast<int*>(16);  // NOLINT(performance-no-int-to-ptr)
std::atomic<bool> never = false;

/// What node (1,1) does beside the algorithm, in the first dimension. Returns whether it skips its send.
bool mistake(Node& self, Bug bug, std::int32_t step) {
  const bool first = step == 1, second = step == 2;
  switch (bug) {
    case Bug::wrong_bytes:
      if (second) self.bytes(0)[5] ^= std::byte{1};
      return false;
    case Bug::missing:
      if (first) self.release(0);
      return first;
    case Bug::replaced:
      if (first) self.forward({{0, -1}}, self.blocks());
      return first;
    case Bug::twice:
      if (first) self.send(combine, {{0, -1}}, self.blocks());
      return first;
    case Bug::ports:
      if (second) self.send({{1, +1}}, std::span<const BlockId>());
      return false;
    case Bug::contention:
      if (second) self.send({{0, -1}}, std::span<const BlockId>());
      return false;
    case Bug::interrupted:
      if (second) ::kill(::getpid(), SIGTERM);
      [[fallthrough]];
    case Bug::endless:
      while (second && !never) {
      }
      return false;
    case Bug::null:
      if (second) *nowhere = 7;
      return false;
    case Bug::exception:
      if (second) throw std::logic_error("no such\nneighbour");
      return false;
    case Bug::no_such_node:
      if (second) self.send(combine, self.topology().nodes(), self.blocks());
      return false;
    case Bug::off_the_mesh:
      if (second) self.send({{1, -2}}, std::span<const BlockId>());
      return false;
    case Bug::two_hops:
      if (second) self.send({{1, +2}}, std::span<const BlockId>());
      return false;
    case Bug::not_held:
      if (second) {
        self.release(0);
        self.forward(combine, {{0, -1}}, std::vector<BlockId>{0});
      }
      return second;
    case Bug::deadlock: break;
  }
  return false;
}

Program program(Node& self, Bug bug) {
  const bool mistaken = self.rank() == 5;
  for (Dimension d = 0; d < self.dimensions(); ++d) {
    for (std::int32_t step = 1; step < self.extent(d); ++step) {
      const bool skips = mistaken && d == 0 && mistake(self, bug, step);
      if (!skips && self.coordinate(d) > 0 && !self.blocks().empty()) self.forward(combine, {{d, -1}}, self.blocks());
      if (mistaken && bug == Bug::deadlock && d == 1) {
        while (true) co_await self.arrival();
      }
      co_await self.step();
    }
  }
  for (Dimension d = self.dimensions() - 1; d >= 0; --d) {
    for (std::int32_t step = 1; step < self.extent(d); ++step) {
      if (self.coordinate(d) == step - 1 && !self.blocks().empty()) self.send({{d, +1}}, self.blocks());
      co_await self.step();
    }
  }
}

template <Bug bug>
Plan plan(const Machine&, const Request&) {
  return {.start = [](Node& self) { return program(self, bug); }};
}

template <Bug bug>
constexpr Algorithm with(std::string_view name) {
  return {.name = name,
          .collective = Collective::allreduce,
          .native = {.switching = Switching::packet},
          .needs = {.shape = Requirements::Shape::rings_and_lines},
          .plan = plan<bug>};
}

constexpr Algorithm wrong_bytes = with<Bug::wrong_bytes>("wrong-bytes"), missing = with<Bug::missing>("missing"),
                    replaced = with<Bug::replaced>("replaced"), twice = with<Bug::twice>("twice"), ports = with<Bug::ports>("ports"),
                    contention = with<Bug::contention>("contention"), deadlock = with<Bug::deadlock>("deadlock"),
                    endless = with<Bug::endless>("endless-loop"), interrupted = with<Bug::interrupted>("interrupted-loop"),
                    null = with<Bug::null>("null"), exception = with<Bug::exception>("exception"),
                    no_such_node = with<Bug::no_such_node>("no-such-node"), off_the_mesh = with<Bug::off_the_mesh>("off-the-mesh"),
                    two_hops = with<Bug::two_hops>("two-hops"), not_held = with<Bug::not_held>("not-held");

}  // namespace

TORUS_MAIN(wrong_bytes, missing, replaced, twice, ports, contention, deadlock, endless, interrupted, null, exception, no_such_node,
           off_the_mesh, two_hops, not_held)
