#include "runtime/engine/rules/average.hpp"

#include <vector>

#include "runtime/model/contribution.hpp"

namespace torus::detail {
namespace {

/// Contributions to the results of each node of a group, by its rank there: all, or those of the nodes up to itself.
std::vector<NodeId> contributions_by_node(const Placement& placement) {
  std::vector<NodeId> counts;
  NodeId living = 0;
  for (NodeId node = 0; node < placement.nodes(); ++node) {
    if (placement.living(node)) ++living;
    counts.push_back(living);
  }
  if (placement.contributions().wanted != Contributions::Wanted::of_prefix) counts.assign(placement.nodes(), living);
  return counts;
}

}  // namespace

void divide_averages(const Members& members, Payload& payload, Executor& executor) {
  const Placement& placement = members.placement();
  const Divider divide = divider_of(placement.contributions().reduction);
  if (divide == nullptr) return;
  const std::vector<NodeId> contributions = contributions_by_node(placement);
  const unsigned parts = executor.workers();
  executor.run(ns_for_blocks(members.wanted_total(), placement.longest()), [&](unsigned part) {
    for (NodeId node = payload.own.part_begin(part, parts); node < payload.own.part_begin(part + 1, parts); ++node) {
      const std::uint64_t wanted = members.takes_part(node) ? members.wanted_count(node) : 0;
      for (std::uint64_t i = 0; i < wanted; ++i) {
        const BlockId segment = members.wanted(node, i);
        if (const Slot slot = payload.tables.find(node, segment); slot != 0)
          divide(payload.slots.at(slot), placement.bytes(segment), contributions[members.local(node)]);
      }
    }
  });
}

}  // namespace torus::detail
