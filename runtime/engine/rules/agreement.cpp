#include <algorithm>
#include <span>
#include <vector>

#include "runtime/engine/payload/payload.hpp"
#include "runtime/engine/rules/verifier.hpp"
#include "runtime/model/digest.hpp"

namespace torus::detail {
namespace {

std::uint64_t hash_of_segment(const Payload& payload, const Placement& placement, NodeId rank, BlockId segment) noexcept {
  const std::span<const std::byte> bytes = payload.bytes(placement, rank, segment);
  return XXH3_64bits(bytes.data(), bytes.size()) | 1U;  // no 0
}

}  // namespace

bool must_agree(const Placement& placement) noexcept {
  return placement.reduces() && placement.contributions().wanted == Contributions::Wanted::everywhere &&
         rounds(placement.contributions().reduction);
}

std::vector<std::uint64_t> agreed_hashes(const Members& members, const Payload& payload) {
  const Placement& placement = members.placement();
  const NodeId first = first_living(members.seen().topology);
  std::vector<std::uint64_t> hashes;
  hashes.reserve(std::size_t{members.groups_count()} * placement.vector_segments());
  for (NodeId group = 0; group < members.groups_count(); ++group) {
    const NodeId rank = members.member(group, first);
    for (BlockId segment = 0; segment < placement.vector_segments(); ++segment)
      hashes.push_back(payload.own.owns(rank) ? hash_of_segment(payload, placement, rank, segment) : 0);
  }
  return hashes;
}

std::optional<WrongDelivery> first_disagreement(const Members& members, const Payload& payload, std::span<const std::uint64_t> agreed,
                                                Executor& executor) {
  const Placement& placement = members.placement();
  const NodeId first = first_living(members.seen().topology);
  const BlockId segments = placement.vector_segments();
  const unsigned parts = executor.workers();
  std::vector<std::optional<WrongDelivery>> found(parts);
  executor.run(ns_for_blocks(members.wanted_total(), placement.longest()), [&](unsigned part) {
    for (NodeId rank = payload.own.part_begin(part, parts); rank < payload.own.part_begin(part + 1, parts) && !found[part]; ++rank) {
      if (!members.takes_part(rank) || !placement.living(members.local(rank))) continue;
      const NodeId group = members.group_of(rank);
      const auto wanted = agreed.subspan(std::size_t{group} * segments, segments);
      for (BlockId segment = 0; segment < segments && !found[part]; ++segment) {
        if (hash_of_segment(payload, placement, rank, segment) == wanted[segment]) continue;
        found[part] = WrongDelivery{
            .kind = WrongDelivery::Kind::disagrees, .node = rank, .block = segment, .contributor = members.member(group, first)};
      }
    }
  });
  const auto wrong = std::find_if(found.begin(), found.end(), [](const auto& each) { return each.has_value(); });
  return wrong == found.end() ? std::nullopt : *wrong;
}

}  // namespace torus::detail
