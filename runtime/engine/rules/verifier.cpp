#include "runtime/engine/rules/verifier.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/engine/payload/payload.hpp"

namespace torus {
namespace {

using detail::Members;
using detail::Payload;
using detail::Slot;

/// The right bytes of all blocks, where blocks are few and held by many: comparing then costs no more than reading.
class References {
 public:
  References(const Members& members, std::uint64_t seed) : placement_{&members.placement()} {
    const Placement& placement = members.placement();
    const std::uint64_t blocks = placement.wanted_count(0);
    if (members.groups() != nullptr) return;  // a block has other bytes in each
    if (!placement.one_block_a_bucket() || blocks * placement.longest() > max_bytes) return;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const BlockId id = placement.wanted(0, i);
      if (placement.bucket(id) != i) return;
    }
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const BlockId id = placement.wanted(0, i);
      right_.emplace_back(placement.bytes(id));
      fill_block(right_.back(), seed, id);
    }
  }
  bool same(BlockId id, std::span<const std::byte> bytes) const noexcept {
    const std::uint32_t i = placement_->bucket(id);
    if (bytes.empty()) return true;  // a segment of no bytes has no address either
    return i < right_.size() && std::memcmp(right_[i].data(), bytes.data(), bytes.size()) == 0;
  }

 private:
  static constexpr Bytes max_bytes = Bytes{4} << 20U;
  const Placement* placement_;
  std::vector<std::vector<std::byte>> right_;
};

/// The first difference at a node, by block.
std::optional<WrongDelivery> wrong_at(const Members& members, const Payload& payload, std::uint64_t run_seed, const References& references,
                                      NodeId node) {
  const std::uint64_t seed = members.seed_of(node, run_seed);
  std::optional<WrongDelivery> first;
  const auto note = [&](const WrongDelivery& wrong) {
    if (!first || wrong.block < first->block) first = wrong;
  };
  std::uint64_t wanted = 0;
  const auto check = [&](BlockId id, Slot slot) {
    if (members.placement().empty(id)) return;
    if (!members.wants(node, id)) return note({.kind = WrongDelivery::Kind::unasked, .node = node, .block = id});
    ++wanted;
    const std::span<const std::byte> bytes{payload.slots.at(slot), static_cast<std::size_t>(members.placement().bytes(id))};
    if (references.same(id, bytes)) return;
    if (const auto wrong = first_wrong_byte(bytes, seed, id)) {
      note({.kind = WrongDelivery::Kind::damaged,
            .node = node,
            .block = id,
            .offset = wrong->offset,
            .got = std::to_integer<std::uint8_t>(wrong->got),
            .wanted = std::to_integer<std::uint8_t>(wrong->wanted)});
    }
  };
  payload.tables.each_held(node, check, [&payload](Slot slot) { __builtin_prefetch(payload.slots.at(slot)); });
  const std::uint64_t count = members.wanted_count(node);
  if (wanted == count) return first;
  for (std::uint64_t i = 0; i < count; ++i) {
    const BlockId id = members.wanted(node, i);
    if (payload.tables.find(node, id) != 0 || members.placement().empty(id)) continue;
    note({.kind = WrongDelivery::Kind::missing, .node = node, .block = id});
    break;
  }
  return first;
}

}  // namespace

std::optional<WrongDelivery> verify(const Members& members, const Payload& payload, std::uint64_t seed, Executor& executor,
                                    std::optional<double>& error_ulp) {
  if (members.placement().reduces()) return detail::verify_reduction(members, payload, seed, executor, error_ulp);
  const References references(members, seed);
  std::vector<std::optional<WrongDelivery>> found(executor.workers());
  executor.run(detail::ns_for_blocks(members.wanted_total(), members.placement().longest()), [&](unsigned worker) {
    const NodeId to = payload.own.part_begin(worker + 1, executor.workers());
    for (NodeId node = payload.own.part_begin(worker, executor.workers()); node < to && !found[worker]; ++node) {
      found[worker] = wrong_at(members, payload, seed, references, node);
    }
  });
  for (const auto& wrong : found) {
    if (wrong) return wrong;
  }
  return std::nullopt;
}

}  // namespace torus
