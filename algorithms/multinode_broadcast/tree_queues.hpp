/// The blocks that a node still has to pass on in the trees, by direction, first in, first out.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include <torus/node.hpp>

#include "algorithms/multinode_broadcast/bundle.hpp"
#include "algorithms/multinode_broadcast/forest.hpp"

namespace torus::multinode {

class TreeQueues {
 public:
  TreeQueues(Node& self, const Forest& forest) : self_{self}, forest_{forest}, queues_(forest.trees()) {
    for (const BlockId block : self.blocks()) push(block);
  }

  bool empty() const noexcept { return waiting_ == 0; }

  void take(const Message& m) {
    for (const BlockId block : m.blocks()) push(block);
  }

  /// At most `chunk` blocks a direction; 0: all.
  void send(std::size_t chunk) {
    for (std::size_t d = 0; d < queues_.size(); ++d) {
      Queue& queue = queues_[d];
      const std::size_t there = queue.blocks.size() - queue.head;
      if (there == 0) continue;
      const std::size_t count = chunk == 0 ? there : std::min(chunk, there);
      self_.send({forest_.leg(static_cast<Direction>(d))}, std::span<const BlockId>(queue.blocks).subspan(queue.head, count));
      waiting_ -= count;
      queue.head += count;
      if (queue.head < queue.blocks.size()) continue;
      queue.blocks.clear();
      queue.head = 0;
    }
  }

 private:
  struct Queue {
    Bundle blocks;
    std::size_t head = 0;
  };

  void push(BlockId block) {
    for (unsigned onward = forest_.onward(self_.topology(), self_.rank(), block); onward != 0; onward &= onward - 1) {
      queues_[static_cast<std::size_t>(std::countr_zero(onward))].blocks.push_back(block);
      ++waiting_;
    }
  }

  Node& self_;
  const Forest& forest_;
  std::vector<Queue> queues_;
  std::size_t waiting_ = 0;
};

}  // namespace torus::multinode
