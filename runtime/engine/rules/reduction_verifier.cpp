#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>
#include <vector>

#include "runtime/engine/payload/payload.hpp"
#include "runtime/engine/rules/verifier.hpp"
#include "runtime/model/contribution.hpp"

namespace torus::detail {
namespace {

using Wanted = Contributions::Wanted;
using Kind = WrongDelivery::Kind;

/// The first of two mistakes.
void note(std::optional<WrongDelivery>& first, const std::optional<WrongDelivery>& wrong) {
  if (wrong && (!first || std::tie(wrong->node, wrong->block, wrong->offset) < std::tie(first->node, first->block, first->offset)))
    first = wrong;
}

/// Of one group, or of all nodes where they are one. Nodes have the ranks of the group, but for those of a mistake.
class ReductionVerifier {
 public:
  ReductionVerifier(const Members& members, NodeId group, const Payload& payload, std::uint64_t seed)
      : members_{members},
        group_{group},
        placement_{members.placement()},
        payload_{payload},
        seed_{seed_of_group(seed, group)},
        of_prefix_{placement_.contributions().wanted == Wanted::of_prefix} {}

  /// Which segments the slab's nodes of [from, to) hold, and whose contributions they have; the first mistake.
  std::optional<WrongDelivery> check_contributors(NodeId from, NodeId to) const {
    std::uint64_t prefix = 0, all = 0;
    for (NodeId node = 0; node < placement_.nodes() && !of_prefix_; ++node) all += key_of(node);
    if (of_prefix_) {
      for (NodeId node = 0; node < from; ++node) prefix += key_of(node);
    }
    std::optional<WrongDelivery> first;  // by the machine's ranks
    for (NodeId node = from; node < to; ++node) {
      if (of_prefix_) prefix += key_of(node);
      if (payload_.own.owns(rank_of(node))) note(first, wrong_at(node, of_prefix_ ? prefix : all));
    }
    return first;
  }

  /// Compares the bytes of part `part` of `parts` of the vector, at every node; the first mistake. A piece of the vector may begin and end
  /// within a segment: the time does not depend on how many there are.
  std::optional<WrongDelivery> check_bytes(unsigned part, unsigned parts) const {
    const Bytes unit = size_of(placement_.contributions().reduction.type);
    const Bytes most = std::max<Bytes>(unit, most_piece / unit * unit);
    std::optional<WrongDelivery> first;
    Place at;
    for (std::uint64_t piece = 0; at.segment < placement_.vector_segments(); ++piece) {
      const Place begin = at;
      Bytes bytes = 0;
      while (bytes < most && at.segment < placement_.vector_segments()) {
        const Bytes left = placement_.bytes(at.segment) - at.offset, more = std::min(left, most - bytes);
        bytes += more;
        at = more == left ? Place{at.segment + 1, 0} : Place{at.segment, at.offset + more};
      }
      if ((piece + group_) % parts == part) check_piece(begin, bytes, first);
    }
    return first;
  }

 private:
  /// The share of a node in a complete signature; 0 if it is dead.
  std::uint64_t key_of(NodeId node) const noexcept { return placement_.living(node) ? contributor_key(seed_, node) : 0; }

  static constexpr Bytes most_piece = 8192;  // the expected result and a contribution stay in the first-level cache

  /// Of a byte in the vector.
  struct Place {
    BlockId segment = 0;
    Bytes offset = 0;
  };

  NodeId rank_of(NodeId node) const noexcept { return members_.member(group_, node); }

  std::optional<WrongDelivery> wrong_at(NodeId node, std::uint64_t wanted) const {
    const NodeId rank = rank_of(node);
    std::optional<WrongDelivery> first;
    for (BlockId segment = 0; segment < placement_.vector_segments() && !first; ++segment) {
      if (!placement_.wanted_anywhere(segment) || placement_.empty(segment)) continue;
      const Slot slot = payload_.tables.find(rank, segment);
      if (!placement_.wants(node, segment)) {
        if (slot != 0) first = WrongDelivery{.kind = Kind::unasked, .node = rank, .block = segment};
      } else if (slot == 0) {
        first = WrongDelivery{.kind = Kind::missing, .node = rank, .block = segment};
      } else if (const std::uint64_t found = payload_.partials.signature(slot); found != wanted) {
        first = contributors_wrong(node, segment, found - wanted);
      }
    }
    return first;
  }

  /// Names the contributor that is missing or counted twice, if there is one alone.
  WrongDelivery contributors_wrong(NodeId node, BlockId segment, std::uint64_t difference) const {
    const NodeId last = of_prefix_ ? node : placement_.nodes() - 1, rank = rank_of(node);
    for (NodeId contributor = 0; contributor < placement_.nodes(); ++contributor) {
      const std::uint64_t key = contributor_key(seed_, contributor);
      if (difference == key) return {.kind = Kind::contributor_twice, .node = rank, .block = segment, .contributor = rank_of(contributor)};
      if (contributor <= last && difference == std::uint64_t{0} - key)
        return {.kind = Kind::lacks_contributor, .node = rank, .block = segment, .contributor = rank_of(contributor)};
    }
    return {.kind = Kind::contributors, .node = rank, .block = segment};
  }

  void check_piece(Place at, Bytes bytes, std::optional<WrongDelivery>& first) const {
    const Contributions& what = placement_.contributions();
    const Combiner combine = combiner_of(what.reduction);
    const std::uint64_t element = placement_.first_element(at.segment) + at.offset / size_of(what.reduction.type);
    alignas(64) std::byte expected[most_piece];
    alignas(64) std::byte contribution[most_piece];
    const std::span<const std::byte> right{expected, static_cast<std::size_t>(bytes)};
    bool first_living = true;
    for (NodeId node = 0; node < placement_.nodes(); ++node) {
      if (!placement_.living(node)) continue;
      std::byte* const to = first_living ? expected : contribution;
      fill_contribution({to, right.size()}, what.reduction, placement_.nodes(), seed_, node, element);
      if (!first_living) combine(expected, contribution, bytes);
      first_living = false;
      if (of_prefix_) compare(node, at, right, first);
    }
    switch (what.wanted) {
      case Wanted::of_prefix: break;
      case Wanted::at_root: compare(what.root, at, right, first); break;
      case Wanted::at_owner:
        each_segment(at, right, [&](Place there, std::span<const std::byte> bytes_there) {
          compare(there.segment / what.segments, there, bytes_there, first);
        });
        break;
      case Wanted::everywhere:
        for (NodeId node = 0; node < placement_.nodes(); ++node) compare(node, at, right, first);
        break;
    }
  }

  /// Calls f(place, bytes) for the bytes of each segment, from a place on.
  template <class F>
  void each_segment(Place at, std::span<const std::byte> bytes, F&& f) const {
    for (; !bytes.empty(); at = {at.segment + 1, 0}) {
      const std::size_t count = std::min<std::size_t>(bytes.size(), placement_.bytes(at.segment) - at.offset);
      if (count > 0) f(at, bytes.first(count));
      bytes = bytes.subspan(count);
    }
  }

  void compare(NodeId node, Place at, std::span<const std::byte> right, std::optional<WrongDelivery>& first) const {
    const NodeId rank = rank_of(node);
    if (!payload_.own.owns(rank) || !placement_.living(node)) return;
    each_segment(at, right, [&](Place there, std::span<const std::byte> wanted) {
      const std::byte* const held = payload_.slots.at(payload_.tables.find(rank, there.segment)) + there.offset;
      if (std::memcmp(held, wanted.data(), wanted.size()) == 0) return;
      std::size_t i = 0;
      while (held[i] == wanted[i]) ++i;
      note(first, WrongDelivery{.kind = Kind::damaged,
                                .node = rank,
                                .block = there.segment,
                                .offset = there.offset + i,
                                .got = std::to_integer<std::uint8_t>(held[i]),
                                .wanted = std::to_integer<std::uint8_t>(wanted[i])});
    });
  }

  const Members& members_;
  const NodeId group_;
  const Placement& placement_;
  const Payload& payload_;
  const std::uint64_t seed_;
  const bool of_prefix_;
};

}  // namespace

std::optional<WrongDelivery> verify_reduction(const Members& members, const Payload& payload, std::uint64_t seed, Executor& executor) {
  const Placement& placement = members.placement();
  const unsigned parts = executor.workers();
  const NodeId groups = members.groups_count();
  std::vector<std::optional<WrongDelivery>> found(parts);
  const auto first_found = [&] {
    std::optional<WrongDelivery> first;
    for (const auto& wrong : found) note(first, wrong);
    return first;
  };
  executor.run(ns_for_blocks(members.wanted_total(), 0), [&](unsigned part) {
    if (groups == 1 && members.groups() == nullptr) {
      found[part] = ReductionVerifier(members, 0, payload, seed)
                        .check_contributors(payload.own.part_begin(part, parts), payload.own.part_begin(part + 1, parts));
      return;
    }
    for (NodeId group = part; group < groups; group += parts)
      note(found[part], ReductionVerifier(members, group, payload, seed).check_contributors(0, placement.nodes()));
  });
  if (const auto wrong = first_found()) return wrong;
  executor.run(ns_for_blocks(members.wanted_total(), placement.longest()), [&](unsigned part) {
    for (NodeId group = 0; group < groups; ++group)
      note(found[part], ReductionVerifier(members, group, payload, seed).check_bytes(part, parts));
  });
  return first_found();
}

}  // namespace torus::detail
