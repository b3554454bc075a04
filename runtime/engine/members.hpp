/// What the machine's nodes hold first and want at the end, also where they are in groups: then a placement is one of a group's nodes, and
/// all of the engine that asks about a node asks here, by the machine's rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <torus/groups.hpp>
#include <torus/machine.hpp>
#include <torus/placement.hpp>

#include "runtime/base/words.hpp"

namespace torus::detail {

/// The seed of a group's blocks and contributions. Group 0 has those of a run alone; a block from another group has other bytes, which the
/// verifier notices.
constexpr std::uint64_t seed_of_group(std::uint64_t seed, NodeId group) noexcept {
  return group == 0 ? seed : mixed(seed + mixed_step * group);
}

class Members {
 public:
  /// groups: null where all nodes are one. All must outlive this. Throws InputError where the machine can have no such groups.
  Members(const Machine& machine, const Placement& placement, const Groups* groups = nullptr)
      : machine_{machine}, placement_{placement}, groups_{groups} {
    if (groups != nullptr) of_a_group_.emplace(groups->machine(machine));
  }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  const Placement& placement() const noexcept { return placement_; }
  /// Null where all nodes are one group.
  const Groups* groups() const noexcept { return groups_; }
  /// The machine as programs see it.
  const Machine& seen() const noexcept { return of_a_group_ ? *of_a_group_ : machine_; }
  NodeId nodes() const noexcept { return machine_.topology.nodes(); }
  NodeId groups_count() const noexcept { return groups_ == nullptr ? 1 : groups_->count(); }

  NodeId group_of(NodeId rank) const noexcept { return groups_ == nullptr ? 0 : groups_->group_of(rank); }
  /// The rank that a node's program sees.
  NodeId local(NodeId rank) const noexcept { return groups_ == nullptr ? rank : groups_->local(rank); }
  /// The machine's rank of a node of a group.
  NodeId member(NodeId group, NodeId local) const noexcept { return groups_ == nullptr ? local : groups_->member(group, local); }
  /// Whether a node runs a program: it lives, and is in a group.
  bool takes_part(NodeId rank) const noexcept {
    return machine_.topology.living(rank) && (groups_ == nullptr || groups_->group_of(rank) != Groups::none);
  }
  /// Nodes that run a program.
  NodeId running() const noexcept { return groups_ == nullptr ? machine_.topology.living_nodes() : groups_->living_members(); }
  std::uint64_t seed_of(NodeId rank, std::uint64_t seed) const noexcept { return seed_of_group(seed, group_of(rank)); }
  /// ", group 3", to follow a node or block in a text, or ", rank 5" where ranks are no nodes; empty where there are no groups.
  std::string text_of_group(NodeId rank) const {
    return groups_ == nullptr                        ? ""
           : groups_->renames()                      ? ", rank " + std::to_string(groups_->local(rank))
           : groups_->group_of(rank) == Groups::none ? ", no group"
                                                     : ", group " + std::to_string(groups_->number_of(groups_->group_of(rank)));
  }

  // As of a placement, by the machine's rank.

  std::uint64_t initial_count(NodeId rank) const noexcept { return takes_part(rank) ? placement_.initial_count(local(rank)) : 0; }
  BlockId initial(NodeId rank, std::uint64_t nth) const noexcept { return placement_.initial(local(rank), nth); }
  std::uint64_t wanted_count(NodeId rank) const noexcept { return in_a_group(rank) ? placement_.wanted_count(local(rank)) : 0; }
  BlockId wanted(NodeId rank, std::uint64_t nth) const noexcept { return placement_.wanted(local(rank), nth); }
  bool wants(NodeId rank, BlockId id) const noexcept { return in_a_group(rank) && placement_.wants(local(rank), id); }
  std::uint64_t initial_total() const noexcept { return placement_.initial_total() * groups_count(); }
  std::uint64_t wanted_total() const noexcept { return placement_.wanted_total() * groups_count(); }
  std::uint64_t most_held() const noexcept { return placement_.most_held() * groups_count(); }

 private:
  bool in_a_group(NodeId rank) const noexcept { return group_of(rank) != Groups::none; }

  const Machine& machine_;
  const Placement& placement_;
  const Groups* const groups_;
  std::optional<Machine> of_a_group_;
};

}  // namespace torus::detail
