#include "runtime/trace/buffers.hpp"

#include <algorithm>
#include <map>

namespace torus::detail {

void Buffers::message(const TraceMessage& m) {
  if (m.blocks.empty()) return;
  const bool alike = header_.sizes.empty() || !header_.groups.empty();
  for (const std::uint64_t block : m.blocks) {
    const Bytes bytes = alike || block >= header_.sizes.size() ? m.bytes / m.blocks.size() : header_.sizes[block];
    if (const auto node = waits_.find(m.source); node != waits_.end()) {
      if (const auto wait = node->second.find(block); wait != node->second.end()) wait->second.until = m.step;
    }
    if (waits_[m.destination].try_emplace(block, Wait{m.step, m.step, bytes}).second) ++blocks_;
  }
}

Buffered Buffers::most() const {
  Buffered most;
  for (const auto& [node, waits] : waits_) {
    std::map<Step, Buffered> come, gone;
    for (const auto& [block, wait] : waits) {
      if (wait.until <= wait.since) continue;
      ++come[wait.since].blocks;
      come[wait.since].bytes += wait.bytes;
      ++gone[wait.until].blocks;
      gone[wait.until].bytes += wait.bytes;
    }
    Buffered now;
    auto leaves = gone.begin();
    for (const auto& [step, arrived] : come) {
      for (; leaves != gone.end() && leaves->first <= step; ++leaves) {
        now.blocks -= leaves->second.blocks;
        now.bytes -= leaves->second.bytes;
      }
      now.blocks += arrived.blocks;
      now.bytes += arrived.bytes;
      most.blocks = std::max(most.blocks, now.blocks);
      most.bytes = std::max(most.bytes, now.bytes);
    }
  }
  return most;
}

}  // namespace torus::detail
