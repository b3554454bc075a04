/// Which register of a node holds which partial when: MSCCL's programs keep partials in any cell of their buffers, an emulated node in the
/// registers of its segments.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

namespace torus::foreign {

/// Contributors, a bit each.
class Contributors {
 public:
  Contributors() = default;
  Contributors(NodeId one, NodeId of) : bits_((of + 63U) / 64) { bits_[one / 64] |= std::uint64_t{1} << (one % 64); }

  bool contains(const Contributors& other) const noexcept;
  void add(const Contributors& other);
  void remove(const Contributors& other);
  bool none() const noexcept;
  std::uint32_t count() const noexcept;
  /// The lowest that both have.
  std::optional<NodeId> first_common(const Contributors& other) const noexcept;
  friend bool operator==(const Contributors&, const Contributors&) = default;

 private:
  std::vector<std::uint64_t> bits_;
};
using ContributorSet = std::shared_ptr<const Contributors>;

/// A partial that a node sends in a step, or must hold at the end.
struct Need {
  static constexpr Step at_end = 0xffffffff;
  Step step = 0;
  ContributorSet what;
  std::uint32_t item = 0;  ///< of the caller's: what is sent
  std::uint8_t reg = 0;    ///< found: the sender's register
  bool releases = false;   ///< found
};
/// A partial that arrives: sends of step `visible` have it.
struct Arrival {
  Step visible = 0;
  ContributorSet what;
  std::uint32_t item = 0;
  std::uint8_t registers = 0;  ///< found: a bit each
  bool replaces = false;       ///< found: the result, which may as well replace what register 0 holds
};

/// Finds registers for one segment at one node. Both lists ascend in their steps. `wanted`: the node must hold the last need, of step
/// at_end, in register 0. A node starts with its own contribution there. Arrivals are combined with what a register holds; what is no
/// longer needed is released with its last use. What comes for nothing gets a register of its own, while there are any.
class RegisterPlan {
 public:
  RegisterPlan(ContributorSet own, bool wanted) : own_{std::move(own)}, wanted_{wanted} {}

  /// Empty if it found them. Otherwise what the node cannot do, for need `failed`; arrivals that came too early for it are in `early`, and
  /// `not_before` is a step in which they would be in time.
  std::string find(std::vector<Need>& needs, std::vector<Arrival>& arrivals);

  std::uint32_t registers = 1;  ///< used
  std::uint32_t failed = 0;     ///< item
  std::vector<std::uint32_t> early;
  Step not_before = 0;

 private:
  /// What one register holds over some steps: it only grows.
  struct Chain;
  void note_too_early(const Need& need, std::span<const Chain> chains, const std::vector<Arrival>& arrivals);

  ContributorSet own_;
  bool wanted_;
};

}  // namespace torus::foreign
