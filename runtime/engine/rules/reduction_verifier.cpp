#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/engine/payload/payload.hpp"
#include "runtime/engine/rules/verifier.hpp"
#include "runtime/model/contribution.hpp"
#include "runtime/model/exact.hpp"

namespace torus::detail {
namespace {

using Wanted = Contributions::Wanted;
using Kind = WrongDelivery::Kind;

/// The first of two mistakes.
void note(std::optional<WrongDelivery>& first, const std::optional<WrongDelivery>& wrong) {
  if (wrong && (!first || std::tie(wrong->node, wrong->block, wrong->offset) < std::tie(first->node, first->block, first->offset)))
    first = wrong;
}

/// Verifies one group, or all nodes where they are one. Nodes have the ranks of the group, but for those of a mistake.
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
  /// error_ulp: see Exact.
  std::optional<WrongDelivery> check_bytes(unsigned part, unsigned parts, double& error_ulp) const {
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
      if ((piece + group_) % parts != part) continue;
      if (rounds(placement_.contributions().reduction))
        check_piece<Rounded>(begin, bytes, first, error_ulp);
      else
        check_piece<InAnyOrder>(begin, bytes, first, error_ulp);
    }
    return first;
  }

 private:
  /// The share of a node in a complete signature; 0 if it is dead.
  std::uint64_t key_of(NodeId node) const noexcept { return placement_.living(node) ? contributor_key(seed_, node) : 0; }

  static constexpr Bytes most_piece = 8192;  // the expected result and a contribution stay in the first-level cache

  /// The place of a byte in the vector.
  struct Place {
    BlockId segment = 0;
    Bytes offset = 0;
  };

  NodeId rank_of(NodeId node) const noexcept { return members_.member(group_, node); }

  /// Whether a node wants all segments and has them with all contributors: a look at all together, since that is the common case.
  bool all_complete(NodeId node, NodeId rank, std::uint64_t wanted) const {
    const Wanted by = placement_.contributions().wanted;
    if ((by != Wanted::everywhere && by != Wanted::of_prefix) || !placement_.living(node)) return false;
    bool complete = true;
    for (const Slot slot : payload_.tables.links_to(rank, 0, placement_.vector_segments()))
      complete &= slot != 0 && payload_.partials.signature(slot) == wanted;
    return complete;
  }

  std::optional<WrongDelivery> wrong_at(NodeId node, std::uint64_t wanted) const {
    const NodeId rank = rank_of(node);
    std::optional<WrongDelivery> first;
    if (all_complete(node, rank, wanted)) return first;
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

  /// What results are compared with: the bytes that any order of combining leads to.
  class InAnyOrder {
   public:
    InAnyOrder(const ReductionVerifier& verifier, Bytes bytes)
        : bytes_{bytes},
          combine_{combiner_of(verifier.placement_.contributions().reduction)},
          divide_{divider_of(verifier.placement_.contributions().reduction)} {}

    void add(std::span<const std::byte> contribution) {
      divided_ = false;
      if (count_++ == 0)
        std::memcpy(expected_, contribution.data(), contribution.size());
      else
        combine_(expected_, contribution.data(), contribution.size());
    }
    /// held: bytes of a segment, from `offset` in it on; those of the piece from `first` on should be there.
    std::optional<WrongDelivery> differs(std::span<const std::byte> held, Bytes offset, std::size_t first, double&) {
      if (divide_ != nullptr && !std::exchange(divided_, true)) {
        std::memcpy(averages_, expected_, bytes_);
        divide_(averages_, bytes_, count_);
      }
      const std::byte* const wanted = (divide_ != nullptr ? averages_ : expected_) + first;
      if (std::memcmp(held.data(), wanted, held.size()) == 0) return std::nullopt;
      std::size_t i = 0;
      while (held[i] == wanted[i]) ++i;
      return WrongDelivery{.kind = Kind::damaged,
                           .offset = offset + i,
                           .got = std::to_integer<std::uint8_t>(held[i]),
                           .wanted = std::to_integer<std::uint8_t>(wanted[i])};
    }

   private:
    alignas(64) std::byte expected_[most_piece];
    alignas(64) std::byte averages_[most_piece];
    const Bytes bytes_;
    const Combiner combine_;
    const Divider divide_;
    NodeId count_ = 0;
    bool divided_ = true;  // nothing is there yet
  };

  /// The same where the order matters: the exact results.
  class Rounded {
   public:
    Rounded(const ReductionVerifier& verifier, Bytes bytes)
        : element_{size_of(verifier.placement_.contributions().reduction.type)},
          exact_{exact_results(verifier.placement_.contributions().reduction, static_cast<std::size_t>(bytes / element_))} {}

    void add(std::span<const std::byte> contribution) { exact_->add(contribution.data()); }
    std::optional<WrongDelivery> differs(std::span<const std::byte> held, Bytes offset, std::size_t first, double& error_ulp) const {
      const auto wrong = exact_->first_wrong(held.data(), first / element_, held.size() / element_, error_ulp);
      if (!wrong) return std::nullopt;
      return WrongDelivery{.kind = Kind::not_a_rounding,
                           .offset = offset + (wrong->element * element_ - first),
                           .got_number = wrong->got,
                           .exact_number = wrong->exact};
    }

   private:
    Bytes element_;
    std::unique_ptr<Exact> exact_;
  };

  template <class Reference>
  void check_piece(Place at, Bytes bytes, std::optional<WrongDelivery>& first, double& error_ulp) const {
    const Contributions& what = placement_.contributions();
    const std::uint64_t element = placement_.first_element(at.segment) + at.offset / size_of(what.reduction.type);
    Reference reference(*this, bytes);
    alignas(64) std::byte contribution[most_piece];
    const std::span<std::byte> own{contribution, static_cast<std::size_t>(bytes)};
    const auto compare = [&](NodeId node, Place from, Bytes count) {
      compare_at(node, from, count, first, [&](std::span<const std::byte> held, Bytes offset, std::size_t in_run) {
        return reference.differs(held, offset, in_run, error_ulp);
      });
    };
    for (NodeId node = 0; node < placement_.nodes(); ++node) {
      if (!placement_.living(node)) continue;
      fill_contribution(own, what.reduction, placement_.nodes(), seed_, node, element);
      reference.add(own);
      if (of_prefix_) compare(node, at, bytes);
    }
    switch (what.wanted) {
      case Wanted::of_prefix: break;
      case Wanted::at_root: compare(what.root, at, bytes); break;
      case Wanted::at_owner: {
        std::size_t before = 0;
        each_segment(at, bytes, [&](Place there, Bytes count) {
          compare_at(there.segment / what.segments, there, count, first, [&](std::span<const std::byte> held, Bytes offset, std::size_t) {
            return reference.differs(held, offset, before, error_ulp);
          });
          before += static_cast<std::size_t>(count);
        });
        break;
      }
      case Wanted::everywhere:
        for (NodeId node = 0; node < placement_.nodes(); ++node) compare(node, at, bytes);
        break;
    }
  }

  /// Calls f(place, bytes) for the bytes of each segment, from a place on.
  template <class F>
  void each_segment(Place at, Bytes bytes, F&& f) const {
    for (; bytes > 0; at = {at.segment + 1, 0}) {
      const Bytes count = std::min(bytes, placement_.bytes(at.segment) - at.offset);
      if (count > 0) f(at, count);
      bytes -= count;
    }
  }

  /// Calls differs(held, offset in the segment, bytes before them) for what a node holds of some bytes of the vector, and notes what is
  /// wrong with it.
  template <class F>
  void compare_at(NodeId node, Place at, Bytes bytes, std::optional<WrongDelivery>& first, F&& differs) const {
    const NodeId rank = rank_of(node);
    if (!payload_.own.owns(rank) || !placement_.living(node)) return;
    for (std::size_t before = 0; before < bytes;) {
      const Bytes block = placement_.bytes(at.segment);
      Bytes count = std::min(bytes - before, block - at.offset);
      std::size_t in_a_row = 0;
      if (at.offset == 0 && count == block && placement_.uniform()) {
        in_a_row = payload_.partials.row_of(payload_.tables.links_to(rank, at.segment, static_cast<std::size_t>((bytes - before) / block)));
        if (in_a_row > 0) count = in_a_row * block;
      }
      const std::byte* const held = payload_.slots.at(payload_.tables.find(rank, at.segment)) + at.offset;
      if (auto wrong = differs(std::span(held, static_cast<std::size_t>(count)), at.offset, before)) {
        wrong->node = rank;
        wrong->block = at.segment;
        if (in_a_row > 0) {
          wrong->block += static_cast<BlockId>(wrong->offset / block);
          wrong->offset %= block;
        }
        note(first, wrong);
      }
      before += static_cast<std::size_t>(count);
      at = {at.segment + static_cast<BlockId>(std::max<std::size_t>(in_a_row, 1)), 0};
    }
  }

  const Members& members_;
  const NodeId group_;
  const Placement& placement_;
  const Payload& payload_;
  const std::uint64_t seed_;
  const bool of_prefix_;
};

}  // namespace

std::optional<WrongDelivery> verify_reduction(const Members& members, const Payload& payload, std::uint64_t seed, Executor& executor,
                                              std::optional<double>& error_ulp) {
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
  std::vector<double> errors_ulp(parts);
  executor.run(ns_for_blocks(members.wanted_total(), placement.longest()), [&](unsigned part) {
    for (NodeId group = 0; group < groups; ++group)
      note(found[part], ReductionVerifier(members, group, payload, seed).check_bytes(part, parts, errors_ulp[part]));
  });
  if (rounds(placement.contributions().reduction)) error_ulp = *std::max_element(errors_ulp.begin(), errors_ulp.end());
  return first_found();
}

}  // namespace torus::detail
