#include <iostream>

#include <torus/catalogue.hpp>
#include <torus/session.hpp>
using namespace torus;

// Round a ring, segment by segment: the sums first, then the results.
Program around(Node& self) {
  const std::int32_t n = self.extent(0), x = self.coordinate(0);
  const auto segment = [n](std::int32_t i) { return static_cast<BlockId>(modulo(i, n)); };
  for (std::int32_t e = n - 1; e > 0; --e) {
    self.forward(combine, {{0, +1}}, {{segment(x + e)}});  // given away, and added there
    co_await self.step();
  }
  for (std::int32_t e = 0; e < n - 1; ++e) {
    self.send({{0, +1}}, {{segment(x - e)}});
    co_await self.step();
  }
}

Plan plan(const Machine& machine, const Request& request) {
  const std::uint32_t n = machine.topology.nodes();
  Plan plan;
  plan.start = around;
  plan.segments = n;
  plan.steps = 2 * (n - 1);
  plan.formula = "2 (n - 1)";
  plan.channel_bytes = times_bytes(plan.steps, placement_of(machine, request, plan).longest());  // of the segments
  plan.combined_bytes = plan.channel_bytes / 2;
  return plan;
}

const Algorithm ring{
    .name = "around", .collective = Collective::allreduce, .needs = {.shape = Requirements::Shape::torus, .dimensions = 1}, .plan = plan};

int main() {
  const Machine machine = Machine::make({.topology = "16", .switching = Switching::packet});
  const Request request{.collective = Collective::allreduce, .bytes = 65536};  // sums of floats
  JudgeWatcher judge;
  const Member member{.algorithm = &ring, .request = request, .watchers = {&judge}};
  const Run own = run_session(machine, {&member, 1}).each.front();
  const Run rings = run(*find_algorithm(Collective::allreduce, "rings"), machine, request);
  const bool good = own.check.good() && own.result.verified;
  std::cout << (good ? "verified and judged: " : "wrong: ") << own.result.steps << " steps, " << own.result.channel_bytes_sum
            << " bytes on the fullest channels; rings: " << rings.result.steps << " steps, " << rings.result.channel_bytes_sum
            << " bytes; at least " << own.bounds.steps << " and " << own.bounds.channel_bytes << '\n';
}
