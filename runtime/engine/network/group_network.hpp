/// The border between a group's terms, in which its programs speak, and the machine's, in which all else of the engine does.
#pragma once

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
  GroupNetwork(Fabric& fabric, const Groups& groups) noexcept : fabric_{fabric}, groups_{groups} {}

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
  /// The machine's route; none, with a violation, if it breaks a rule of the group.
  std::optional<RouteView> machine_route(Worker& w, RouteView route);

  Fabric& fabric_;
  const Groups& groups_;
};

/// Writes a node's arrivals in the terms of its group, and at the end of its scope in the machine's again: in place, since forwarding finds
/// blocks by their address. A message has one receiver, so that nobody else reads it meanwhile.
class LocalArrivals {
 public:
  /// node: that gets them.
  LocalArrivals(const Groups& groups, Worker& w, const Node& node, ArrivedMessages& arrived);
  LocalArrivals(const LocalArrivals&) = delete;
  LocalArrivals& operator=(const LocalArrivals&) = delete;
  ~LocalArrivals();

 private:
  Worker& worker_;
  Message* const* const first_;
  const std::size_t size_;  // the program may make the list of arrivals empty
};

}  // namespace torus::detail
