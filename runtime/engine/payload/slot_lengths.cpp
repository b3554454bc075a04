#include "runtime/engine/payload/slot_lengths.hpp"

#include <cmath>
#include <numeric>

#include "runtime/engine/estimate.hpp"

namespace torus::detail {
namespace {

/// Adds the lengths of a list of blocks, each of which is held `times` times. nth(i): the block's number. Looks at one of `every`, from
/// `first` on.
template <class Nth>
void add_lengths(SlotLengths::ByClass& lengths, const Placement& placement, std::uint64_t count, std::uint64_t first, std::uint64_t every,
                 std::uint64_t times, Nth&& nth) {
  for (std::uint64_t i = first; i < count; i += every) lengths[LengthClass::of(placement.bytes(nth(i)))] += every * times;
}

/// The lengths of what the nodes of a slab hold, first or in the end, whichever are more of each.
SlotLengths::ByClass lengths_held(const Members& members, const Slab& slab) {
  const Placement& placement = members.placement();
  SlotLengths::ByClass first{}, last{};
  if (placement.one_block_a_bucket()) {  // all nodes want the same
    NodeId any = 0, alike = 0;
    for (NodeId node = slab.begin(); node < slab.end(); ++node) {
      if (members.wanted_count(node) > 0) any = node, ++alike;
    }
    add_lengths(last, placement, alike > 0 ? members.wanted_count(any) : 0, 0, 1, alike, [&](auto i) { return members.wanted(any, i); });
    return last;
  }
  // Some of many pairs stand for all, as many of each destination. A table is looked through, since its sizes follow no rule.
  constexpr std::uint64_t most_looked_at = std::uint64_t{1} << 22U;
  const bool all = placement.hashes() || placement.sizes()->rule().kind == SizeRule::Kind::table;
  const std::uint64_t every = all ? 1 : std::uint64_t{slab.nodes()} * placement.buckets() / most_looked_at + 1;
  for (NodeId node = slab.begin(); node < slab.end(); ++node) {
    add_lengths(first, placement, members.initial_count(node), node % every, every, 1, [&](auto i) { return members.initial(node, i); });
    if (slab.whole()) continue;  // in the end the same blocks are elsewhere
    add_lengths(last, placement, members.wanted_count(node), node % every, every, 1, [&](auto i) { return members.wanted(node, i); });
  }
  for (std::size_t i = 0; i < first.size(); ++i) first[i] = std::max(first[i], last[i]);
  return first;
}

}  // namespace

SlotLengths::SlotLengths(const ByClass& blocks, Bytes longest) {
  double count = 0, bytes = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    count += static_cast<double>(blocks[i]);
    bytes += static_cast<double>(blocks[i]) * static_cast<double>(LengthClass::longest(i));
  }
  // A longer unit rounds blocks up, a shorter one has more bookkeeping a block: 8 bytes a unit. Slots have numbers of 32 bits.
  const double least = std::max(1.0, std::max(4 * std::sqrt(bytes / std::max(count, 1.0)), bytes * 0x1p-31));
  unit_ = std::bit_floor(static_cast<Bytes>(least));
  if (longest <= unit_) {
    *this = SlotLengths(static_cast<std::uint64_t>(count), longest);
    return;
  }
  one_ = false;
  shortest_ = LengthClass::of(unit_);
  all_.resize(LengthClass::of(longest) - shortest_ + 1);
  for (std::size_t i = 0; i < all_.size(); ++i) all_[i] = {(LengthClass::longest(shortest_ + i) + unit_ - 1) / unit_, 0};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i] > 0) all_[std::max(i, shortest_) - shortest_].blocks += blocks[i];
  }
}

std::uint64_t most_held(const Members& members, const Slab& slab) noexcept {
  const Placement& placement = members.placement();
  if (slab.whole()) return members.most_held();
  const std::uint64_t copies = placement.copies() / placement.nodes() * slab.nodes();
  if (placement.reduces()) return (placement.most_held() - placement.copies()) / placement.nodes() * slab.nodes() + copies;
  std::uint64_t first = 0, last = 0;
  for (NodeId node = slab.begin(); node < slab.end(); ++node) {
    first += members.initial_count(node);
    last += members.wanted_count(node);
  }
  return std::max(first, last) + copies;
}

SlotLengths slots_held(const Members& members, const Slab& slab) {
  const Placement& placement = members.placement();
  const std::uint64_t all = most_held(members, slab);
  if (!placement.sizes() || placement.reduces() || placement.longest() == 0) return {all, std::min(placement.longest(), out_of_reach)};
  SlotLengths::ByClass lengths = lengths_held(members, slab);
  // Copies are of all lengths alike.
  const std::uint64_t held = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  const double copies = held > 0 && all > held ? static_cast<double>(all - held) / static_cast<double>(held) : 0;
  for (std::uint64_t& each : lengths) each += static_cast<std::uint64_t>(std::ceil(copies * static_cast<double>(each)));
  return {lengths, placement.longest()};
}

}  // namespace torus::detail
