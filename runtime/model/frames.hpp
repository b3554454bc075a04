/// The memory of coroutine frames, measured before a run.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include <torus/machine.hpp>
#include <torus/node.hpp>

namespace torus::detail {

/// The engine's pool gives frames in multiples of it.
inline constexpr std::size_t frame_unit = 32;

/// Bytes that the engine's pool needs for the programs that make(node) makes, on a node that is not open; none of them runs. A frame that
/// make() drops serves the next of its size. Throws what make() throws, and RunError where it does more with the node than Engine::run()
/// allows.
/// `named`: the node's rank in the whole machine, if that is another one.
Bytes frame_bytes(const Machine& machine, NodeId rank, const std::function<void(Node&)>& make, std::optional<NodeId> named = {});

/// The node for which frame_bytes() calls make() on this thread, by its rank in the whole machine; none if it calls none. The handler of a
/// signal may call it.
std::optional<NodeId> node_of_frames() noexcept;

}  // namespace torus::detail
