/// The border between a group's terms, in which its programs speak, and the machine's, in which all else of the engine does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>

#include <torus/groups.hpp>
#include <torus/node.hpp>

#include "runtime/engine/fabric.hpp"

namespace torus::detail {

/// Stands behind the nodes of a run with groups: it turns the legs of what they send into the machine's. A run without groups has none, so
/// that its sends ask nothing.
class GroupNetwork final : public Network {
 public:
  /// Both must outlive this.
  GroupNetwork(Fabric& fabric, const Groups& groups) noexcept;

  void send(Node&, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release) override;
  void send_partials(Node&, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header, bool release,
                     std::uint8_t registers) override;
  void send_block(Node&, Dimension dimension, std::int32_t hops, BlockId block) override;
  void forward_block(Node&, Dimension dimension, std::int32_t hops, BlockId block) override;
  bool holds(const Node& node, BlockId id) override { return fabric_.holds(node, id); }
  std::span<const BlockId> blocks(const Node& node) override { return fabric_.blocks(node); }
  std::span<std::byte> bytes(const Node& node, BlockId id) override { return fabric_.bytes(node, id); }
  void release(Node& node, BlockId id) override { fabric_.release(node, id); }
  void enter_phase(const Node& node, const char* phase) override { fabric_.enter_phase(node, phase); }
  void* allocate_frame(Node& node, std::size_t bytes) override { return fabric_.allocate_frame(node, bytes); }
  void free_frame(Node& node, void* frame, std::size_t bytes) noexcept override { fabric_.free_frame(node, frame, bytes); }
  void keep_error(Node& node, std::exception_ptr error) noexcept override { fabric_.keep_error(node, std::move(error)); }
  std::exception_ptr take_error(Node& node) noexcept override { return fabric_.take_error(node); }

 private:
  /// What a single hop of a group is on the machine.
  struct Hop {
    Leg leg = {};
    std::uint32_t slot = Channels::no_slot;  ///< of its channel; none if it may leave the group, or is several hops
  };
  [[gnu::always_inline]] inline const Hop& hop(Dimension dimension, std::int32_t hops) const noexcept;

  /// Any leg. Apart, so that hops keep what they need in registers.
  [[gnu::noinline]] void forward_leg(Node& node, Dimension dimension, std::int32_t hops, BlockId block);
  /// The machine's route; none, with a violation, if it breaks a rule of the group.
  std::optional<RouteView> machine_route(Worker& w, RouteView route);

  Fabric& fabric_;
  const Groups& groups_;
  std::array<Hop, 4 * max_dimensions> hops_;  // 4 a dimension: of -1, 0, +1, and none
};

/// Writes a node's arrivals in the terms of its group, and at the end of its scope in the machine's again: in place, or, where they carry
/// other routes, in copies that take their places in the list, since forwarding finds blocks by their address. A message has one receiver,
/// so that nobody else reads it meanwhile.
class LocalArrivals {
 public:
  /// For the node of this rank of the machine.
  [[gnu::always_inline]] inline LocalArrivals(const RunState& run, const Groups& groups, Worker& w, NodeId rank, const Node& node,
                                              ArrivedMessages& arrived)
      : worker_{w}, rank_{rank}, first_{arrived.room.data()}, end_{first_ + arrived.size} {
    if (groups.dilated() || groups.turned()) [[unlikely]] {
      localise_all(run, groups, w, rank, {first_, end_});
      return;
    }
    const NodeId own = node.rank(), *const locals = groups.locals();
    const Dimension* const dimensions = groups.local_dimensions();
    MachineTerms* terms = w.in.machine_terms.data();
    for (Message* const* at = first_; at != end_; ++at, ++terms) {
      Message& m = **at;
      if (m.destination() != rank || m.route().size() != 1) [[unlikely]] {
        localise(groups, w, rank, m, *terms);
        continue;
      }
      Leg& leg = MessageArena::first_leg(m);
      *terms = {m.source(), leg};
      MessageArena::set_destination(m, own);
      MessageArena::set_source(m, locals[m.source()]);
      leg.dimension = dimensions[leg.dimension];
    }
  }
  LocalArrivals(const LocalArrivals&) = delete;
  LocalArrivals& operator=(const LocalArrivals&) = delete;
  [[gnu::always_inline]] inline ~LocalArrivals() {
    if (!worker_.in.originals.empty()) [[unlikely]]
      put_back(worker_);
    const MachineTerms* terms = worker_.in.machine_terms.data();
    for (Message* const* at = first_; at != end_; ++at, ++terms) {
      MessageArena::first_leg(**at) = terms->first_leg;
      MessageArena::set_source(**at, terms->source);
      MessageArena::set_destination(**at, rank_);
    }
    if (!worker_.in.further_terms.empty()) [[unlikely]]
      restore_rest(worker_);
  }

 private:
  // Static, so that the object stays in registers.
  static RouteView kept_route(const RunState& run, const Worker& w, const Message& m) noexcept;
  /// Any message, and in any groups.
  [[gnu::cold, gnu::noinline]] static void localise(const Groups& groups, Worker& w, NodeId rank, Message& m, MachineTerms& terms);
  [[gnu::cold, gnu::noinline]] static void localise_all(const RunState& run, const Groups& groups, Worker& w, NodeId rank,
                                                        std::span<Message*> arrived);
  [[gnu::cold, gnu::noinline]] static void put_back(Worker& w) noexcept;
  [[gnu::cold, gnu::noinline]] static void restore_rest(Worker& w) noexcept;

  Worker& worker_;
  const NodeId rank_;
  Message** const first_;
  Message** const end_;  // the program may make the list of arrivals empty
};

}  // namespace torus::detail
