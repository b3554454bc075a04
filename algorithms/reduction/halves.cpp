#include "algorithms/reduction/halves.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/reduction/segment_bytes.hpp"

namespace torus::reduction {
namespace {

void give(Node& self, const Halves& halves, std::uint64_t step) {
  self.phase("reduce-scatter");
  for (const Gift& gift : halves.gives(self, step)) {
    if (!gift.blocks.empty()) self.forward(combine, gift.route, gift.blocks);
  }
}

void give_back(Node& self, const Halves& halves, std::uint64_t step) {
  self.phase("all-gather");
  for (const Gift& gift : halves.returns(self, step)) {
    if (!gift.blocks.empty()) self.send(gift.route, gift.blocks);
  }
}

Program reduce_scatter(Node& self, const Halves& halves) {
  for (std::uint64_t step = 0; step < halves.steps(); ++step) {
    give(self, halves, step);
    co_await self.step();
  }
}

Program allreduce(Node& self, const Halves& halves) {
  co_await reduce_scatter(self, halves);
  for (std::uint64_t step = halves.steps(); step-- > 0;) {
    give_back(self, halves, step);
    co_await self.step();
  }
}

}  // namespace

Plan plan_halves(const Machine& machine, const Request& request, std::shared_ptr<const Halves> halves, const std::string& formula,
                 std::optional<std::uint64_t> hops) {
  const std::uint64_t nodes = machine.topology.nodes();
  const bool both = request.collective == Collective::allreduce;
  const std::uint64_t count = both ? 2 : 1;
  Plan plan;
  plan.segments = static_cast<std::uint32_t>(halves->pieces() * (both ? nodes : 1));
  plan.steps = count * halves->steps();
  plan.formula = (both ? "2 " : "") + formula;
  if (hops) plan.route_hops = plan.steps * *hops;
  const Halves::Load load = halves->load();
  const SegmentBytes segment(request, plan.segments);
  plan.channel_bytes = segment.of(count * load.channel);
  plan.combined_bytes = segment.of(load.combined);
  plan.bytes_exact = segment.equal;
  plan.table_bytes = halves->table_bytes();
  plan.node_bytes = nodes * halves->pieces() * sizeof(BlockId);
  plan.start = both ? std::function<Program(Node&)>([halves](Node& self) { return allreduce(self, *halves); })
                    : [halves](Node& self) { return reduce_scatter(self, *halves); };
  return plan;
}

std::vector<BlockId>& blocks_for(std::vector<Gift>& gifts, const Route& route) {
  const auto same = [&](const Gift& gift) { return std::equal(gift.route.begin(), gift.route.end(), route.begin(), route.end()); };
  const auto found = std::find_if(gifts.begin(), gifts.end(), same);
  return found != gifts.end() ? found->blocks : gifts.emplace_back(Gift{route, {}}).blocks;
}

}  // namespace torus::reduction
