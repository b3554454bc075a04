#include "algorithms/broadcast/span.hpp"

#include <algorithm>
#include <set>

#include "algorithms/broadcast/tracks.hpp"
#include "algorithms/common/hops.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/refusal.hpp"
#include "algorithms/common/segment.hpp"

namespace torus::broadcast {
namespace {

/// Shares the segment out in a stage; returns what is kept.
std::int32_t tell(Node& self, std::int32_t stage, std::int32_t length) {
  return segment::split(length, self.machine().ports, [&](const segment::Child& child) {
    self.send(RouteView(circuit_track(self.dimensions(), stage, child.track, child.offset)), self.blocks(),
              {static_cast<Word>(child.length)});
  });
}

Step stage_steps(const Machine& machine) {
  return ceil_log(static_cast<std::uint64_t>(machine.ports) + 1, static_cast<std::uint64_t>(machine.topology.extent(0)));
}

/// The hops of the longest message of each step, summed: in a stage all lines of supernodes do the same.
std::int64_t route_hops(const Machine& machine) {
  const Dimension k = machine.topology.dimensions();
  std::int64_t sum = 0;
  for (std::int32_t stage = 1; stage <= k; ++stage) {
    std::set<std::int32_t> lengths{machine.topology.extent(0)};
    for (Step step = 0; step < stage_steps(machine); ++step) {
      std::int64_t longest = 0;
      segment::split_all(lengths, machine.ports, [&](const segment::Child& child) {
        const Route route = circuit_track(k, stage, child.track, child.offset);
        longest = std::max(longest, hops_of(machine.topology, RouteView(route)));
      });
      sum += longest;
    }
  }
  return sum;
}

std::optional<std::string> refuses(const Machine& machine, const Request& request) {
  return refusal::first_of(refusal::of_shape_but_square("span", machine), refusal::of_switching("span", machine, Switching::circuit),
                           refusal::of_segments("span", request));
}

Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = [steps = stage_steps(machine)](Node& self) { return span_program(self, steps); };
  plan.steps = static_cast<std::uint64_t>(machine.topology.dimensions()) * stage_steps(machine);
  plan.route_hops = static_cast<std::uint64_t>(route_hops(machine));
  plan.formula = "k*ceil(log_" + std::to_string(machine.ports + 1) + " n)";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes + sizeof(Word));
  return plan;
}

}  // namespace

Program span_program(Node& self, Step stage_steps) {
  std::int32_t length = 1;
  if (self.blocks().empty()) {
    const Arrivals came = co_await self.arrival();
    length = static_cast<std::int32_t>(came.front().header()[0]);
  }
  const Step end = stage_steps * static_cast<Step>(self.dimensions());
  while (self.now() < end) {
    if (self.now() % stage_steps == 0) length = self.extent(0);  // a stage begins: every holder has a line of supernodes to itself
    const Step stage = self.now() / stage_steps + 1;
    length = tell(self, static_cast<std::int32_t>(stage), length);
    if (length == 1 && stage * stage_steps == end) co_return;  // nothing is left in the last stage
    co_await self.step();
  }
}

const Algorithm span{
    .name = "span",
    .collective = Collective::broadcast,
    .source = "Wang, Tseng, Ni & Sheu, Theorems 1, 2, 5, 6 and section 5",
    .shapes = "torus n x .. x n, any n, any k",
    .ports = "1 .. 2k",
    .steps = "k ceil(log_{a+1} n), a ports",
    .native = {.switching = Switching::circuit},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
