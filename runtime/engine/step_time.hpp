/// The byte term of a step where channels differ in speed.
#pragma once

#include <span>

#include <torus/machine.hpp>
#include <torus/message.hpp>

#include "runtime/engine/slab.hpp"

namespace torus::detail {

/// The max over the channels of the bytes that a step's messages take over it times its T_c. O(legs of all messages); where channels are
/// shared or links slow, O(hops log hops). One thread: only machines whose channels differ pay for it.
/// Of the channels of a slab, by all messages that take them.
double byte_term(const Machine& machine, const Slab& own, std::span<const Message* const> messages);

}  // namespace torus::detail
