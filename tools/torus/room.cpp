#include "tools/torus/room.hpp"

#include <fmt/format.h>
#include <limits>

#include "runtime/host/host_memory.hpp"
#include "runtime/model/figures.hpp"
#include "tools/torus/notation.hpp"

namespace torus::command {
namespace {

// Bytes that the engine takes beside the payload: never less than the least, seldom more than the usual ones.
constexpr double least_of_a_node = 64, usual_of_a_node = 1024;
constexpr double least_of_a_block = 4, usual_of_a_block = 64;

/// As many bytes as there are; those that no 64-bit number tells are as many as it can.
Bytes saturated(double bytes) { return bytes < 0x1p64 ? static_cast<Bytes>(bytes) : std::numeric_limits<Bytes>::max(); }

}  // namespace

std::optional<std::string> why_it_cannot_fit(Collective collective, const Topology& topology, Bytes bytes, std::uint64_t sources,
                                             std::uint32_t segments, Bytes limit) {
  // In doubles, which do not wrap: there may be 2^62 messages of 2^62 bytes.
  const double nodes = topology.nodes();
  const double messages = nodes * (collective == Collective::broadcast        ? 1.0
                                   : collective == Collective::total_exchange ? nodes
                                                                              : static_cast<double>(sources));
  constexpr auto blocks = static_cast<double>(most_blocks);
  if (segments > 1 && messages * segments > blocks) {
    return fmt::format("--segments {}: the nodes of {} would hold {} blocks in the end, and a run holds at most {}; {}", segments,
                       topology.text(), grouped(saturated(messages * segments)), grouped(most_blocks),
                       messages <= blocks ? fmt::format("--segments {} would do", saturated(blocks / messages)) : "choose a smaller --on");
  }
  const double needed = nodes * least_of_a_node + messages * (static_cast<double>(bytes) + least_of_a_block);
  const auto most = static_cast<double>(limit);
  if (needed <= most) return std::nullopt;
  const double left = most - nodes * usual_of_a_node - messages * usual_of_a_block;
  return fmt::format("--on {} --bytes {}: at the end of a {} the {} nodes hold at least {}, and {} may be used; {}", topology.text(),
                     bytes_option(bytes), name(collective), grouped(topology.nodes()), bytes_text(saturated(needed)), bytes_text(limit),
                     left >= messages && messages > 0
                         ? fmt::format("about --bytes {} would fit, or more --memory", saturated(left / messages))
                         : "choose a smaller --on or more --memory");
}

std::optional<std::string> why_it_cannot_be_planned(const Algorithm& algorithm, const Machine& machine, Bytes memory) {
  if (algorithm.planning_bytes == nullptr) return std::nullopt;
  const Bytes needed = algorithm.planning_bytes(machine), limit = memory > 0 ? memory : usable_memory();
  if (needed <= limit) return std::nullopt;
  return fmt::format("{} takes {} to make its tables for the {} nodes of {}, and {} may be used; choose a smaller --on or more --memory",
                     algorithm.name, bytes_text(needed), grouped(machine.topology.nodes()), machine.topology.text(), bytes_text(limit));
}

}  // namespace torus::command
