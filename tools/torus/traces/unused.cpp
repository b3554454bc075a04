#include "tools/torus/traces/unused.hpp"

#include <algorithm>

#include <torus/collective.hpp>

#include "runtime/trace/contributors.hpp"

namespace torus::command {

std::uint64_t leave_out_unused(std::vector<TraceStep>& steps, const TraceHeader& header, std::uint32_t vector) {
  const NodeId nodes = header.machine.topology.nodes();
  const CollectiveFacts& facts = facts_of(header.collective);
  const NodeId root = header.sources.empty() ? 0 : header.sources.front();
  std::vector<std::vector<bool>> used(nodes, std::vector<bool>(std::size_t{header.registers} * vector, false));
  for (NodeId node = 0; node < nodes; ++node) {
    for (std::uint32_t block = 0; block < vector; ++block)
      used[node][block] = facts.wants(node, static_cast<NodeId>(block / header.segments), root);
  }
  std::uint64_t left_out = 0;
  // Backwards: what is used after a step, then what is used before it.
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    std::vector<std::pair<NodeId, std::uint64_t>> replaced;
    for (TraceMessage& m : step->messages) {
      const auto is_used = [&](std::uint64_t block) {
        bool is = false;
        detail::each_place(m, block, header.registers, vector, [&](std::uint64_t at, bool) { is = is || used[m.destination].at(at); });
        return is;
      };
      if (m.registers == 0) {
        for (const std::uint64_t block : m.blocks) replaced.emplace_back(m.destination, block);
      }
      left_out += std::erase_if(m.blocks, [&](std::uint64_t block) { return !is_used(block); });
    }
    for (const auto& list : {replaced, step->released}) {
      for (const auto& [node, block] : list) used[node].at(block) = false;
    }
    for (const TraceMessage& m : step->messages) {
      for (const std::uint64_t block : m.blocks) used[m.source].at(block) = true;
    }
  }
  return left_out;
}

}  // namespace torus::command
