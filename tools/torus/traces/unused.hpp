/// Partials of a reduction that come to nothing: some algorithms send, for the sake of a regular pattern, what nobody needs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <torus/trace_reader.hpp>

namespace torus::command {

/// A step of a trace.
struct TraceStep {
  std::vector<TraceMessage> messages;
  std::vector<std::pair<NodeId, std::uint64_t>> released;  ///< partials that nodes give away, sent or left out
};

/// Leaves out the partials whose receiver neither sends nor wants what becomes of them. Messages may then have no block. `vector`: segments
/// of the whole vector; all blocks are below it times the registers. Returns how many partials.
std::uint64_t leave_out_unused(std::vector<TraceStep>& steps, const TraceHeader& header, std::uint32_t vector);

}  // namespace torus::command
