/// What the judge of traces keeps of a machine: which blocks there are, which have reached which nodes, and arrays that cost what messages
/// touch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <torus/machine.hpp>
#include <torus/trace.hpp>

namespace torus::detail {

/// An array of zeros whose pages stay untouched until they are used.
template <class T>
class Zeros {
 public:
  explicit Zeros(std::size_t size) : values_{static_cast<T*>(std::calloc(std::max<std::size_t>(size, 1), sizeof(T)))} {
    if (!values_) throw std::bad_alloc();
  }
  T& operator[](std::size_t i) noexcept { return values_[i]; }
  const T& operator[](std::size_t i) const noexcept { return values_[i]; }

 private:
  struct Free {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  std::unique_ptr<T[], Free> values_;
};

/// The (node, block) pairs such that the block has reached the node. A bitmap if that takes at most a quarter of the memory: pages without
/// a pair stay untouched. Else a hash set, of at most half the memory.
class Held {
 public:
  Held(std::uint64_t nodes, std::uint64_t blocks, Bytes memory) : blocks_{blocks}, most_{memory / 2 / hash_set_entry} {
    const double words = static_cast<double>(nodes) * static_cast<double>(blocks) / 64 + 1;
    if (words <= static_cast<double>(memory) / (4 * 8)) bits_.emplace(static_cast<std::size_t>(words));
  }

  bool has(std::uint64_t node, std::uint64_t block) const {
    const std::uint64_t pair = node * blocks_ + block;
    return bits_ ? ((*bits_)[pair / 64] >> (pair % 64) & 1U) != 0 : set_.count(pair) != 0;
  }
  /// False if it has the pair already.
  bool add(std::uint64_t node, std::uint64_t block) {
    const std::uint64_t pair = node * blocks_ + block;
    if (!bits_) return set_.insert(pair).second;
    std::uint64_t& word = (*bits_)[pair / 64];
    const std::uint64_t bit = std::uint64_t{1} << (pair % 64);
    const bool added = (word & bit) == 0;
    word |= bit;
    return added;
  }
  /// True if there is no memory for another pair.
  bool full() const noexcept { return set_.size() >= most_; }

 private:
  static constexpr Bytes hash_set_entry = 64;  // the entry, and its share of the buckets, of which there are two tables during growth
  std::uint64_t blocks_;
  std::uint64_t most_;
  std::optional<Zeros<std::uint64_t>> bits_;
  std::unordered_set<std::uint64_t> set_;
};

/// The nodes among which a collective runs, by rank: all of a machine, or a group's by their local ranks.
class Participants {
 public:
  explicit Participants(const Topology& topology) : nodes_{topology.nodes()}, dead_{topology.faults().dead_nodes} {}
  /// group: the machine's ranks, by local rank.
  Participants(const Topology& topology, const std::vector<NodeId>& group) : nodes_{static_cast<NodeId>(group.size())} {
    for (NodeId local = 0; local < nodes_ && !topology.whole(); ++local) {
      if (!topology.living(group[local])) dead_.push_back(local);
    }
  }

  NodeId nodes() const noexcept { return nodes_; }
  NodeId living_nodes() const noexcept { return nodes_ - static_cast<NodeId>(dead_.size()); }
  bool living(NodeId node) const noexcept { return dead_.empty() || !std::binary_search(dead_.begin(), dead_.end(), node); }

 private:
  NodeId nodes_;
  std::vector<NodeId> dead_;  // ascending
};

/// The blocks of a collective, numbered 0..count()-1: which nodes hold them first and which must hold them at the end. Dead nodes hold and
/// want nothing, yet blocks are numbered as if all nodes were alive.
class Blocks {
 public:
  Blocks(const TraceHeader& header, Participants participants)
      : participants_{std::move(participants)}, nodes_{participants_.nodes()}, sources_{header.sources} {
    std::erase_if(sources_, [this](NodeId source) { return source >= nodes_ || !participants_.living(source); });
    const std::string& c = header.collective;
    if (c == "reduce" || c == "allreduce" || c == "reduce-scatter" || c == "scan" || c == "barrier") {
      kind_ = Kind::none;  // partials are judged by their contributors
    } else if (c == "broadcast" || c == "multinode-broadcast") {
      segments_ = header.segments;
      count_ = sources_.size() * segments_;
      consecutive_ = !sources_.empty() && sources_.back() - sources_.front() + 1 == sources_.size();
    } else if (c == "total-exchange") {
      kind_ = Kind::exchanged;
      count_ = nodes_ * nodes_;
    } else {
      kind_ = c == "scatter" ? Kind::scattered : c == "gather" ? Kind::gathered : Kind::all_gathered;
      segments_ = header.segments;
      count_ = nodes_ * segments_;
    }
    if (kind_ == Kind::none || header.sizes.empty()) return;
    sizes_ = header.sizes;
    relief_.resize(nodes_);
    for (std::uint64_t i = 0; i < count_; ++i) {
      if (empty(i)) relieve(i);
    }
  }

  std::uint64_t count() const noexcept { return count_; }
  /// Whether a block has no bytes. Every node counts as holding such a block.
  bool empty(std::uint64_t number) const noexcept { return !sizes_.empty() && sizes_[id(number)] == 0; }
  bool partials() const noexcept { return kind_ == Kind::none; }

  /// The number of the block with this id, if it exists.
  std::optional<std::uint64_t> number(std::uint64_t id) const noexcept {
    if (kind_ != Kind::replicated) return id < count_ ? std::optional(id) : std::nullopt;
    const std::uint64_t source = origin(id);
    const std::uint64_t rank =
        consecutive_ ? source - sources_.front()
                     : static_cast<std::uint64_t>(std::lower_bound(sources_.begin(), sources_.end(), source) - sources_.begin());
    if (rank >= sources_.size() || sources_[rank] != source) return std::nullopt;
    return rank * segments_ + (id - source * segments_);
  }
  std::uint64_t id(std::uint64_t number) const noexcept {
    return kind_ == Kind::replicated ? std::uint64_t{sources_[number / segments_]} * segments_ + number % segments_ : number;
  }
  // None of these takes time or memory for each block: a header may name more of them than any trace could carry.

  /// Whether a living node holds a block before the first step. Without a division, which takes longer than the rest.
  bool starts_at(std::uint64_t node, std::uint64_t number) const noexcept {
    switch (kind_) {
      case Kind::replicated: return sources_[origin(number)] == node;
      case Kind::exchanged: return number - node * nodes_ < nodes_;
      case Kind::scattered: return sources_.front() == node;
      case Kind::gathered:
      case Kind::all_gathered:
      case Kind::none: break;
    }
    return number - node * segments_ < segments_;
  }
  /// Whether a living node must hold a block at the end.
  bool wanted_at(std::uint64_t node, std::uint64_t number) const noexcept {
    switch (kind_) {
      case Kind::exchanged: return number % nodes_ == node && living(number / nodes_);
      case Kind::scattered: return origin(number) == node;
      case Kind::gathered: return sources_.front() == node && living(origin(number));
      case Kind::all_gathered: return living(origin(number));
      case Kind::replicated:
      case Kind::none: break;
    }
    return true;
  }
  /// How many blocks must reach a living node: those that it must hold at the end and does not start with.
  std::uint64_t lacking_at(std::uint64_t node) const noexcept {
    const std::uint64_t all = lacking_with_empty_at(node);
    return sizes_.empty() ? all : all - static_cast<std::uint64_t>(empty_for_all_ + relief_[node]);
  }
  /// The lowest block that a living node must hold at the end, does not start with and has not received. There must be one.
  template <class Received>
  std::uint64_t first_lacking(std::uint64_t node, const Received& received) const {
    std::uint64_t number = kind_ == Kind::exchanged ? node : kind_ == Kind::scattered ? node * segments_ : 0;
    while (true) {
      const bool of_no_use = !wanted_at(node, number) || starts_at(node, number);  // as are all segments of that origin
      if (!of_no_use && !empty(number) && !received(number)) return number;
      number += kind_ == Kind::exchanged ? nodes_ : of_no_use ? segments_ - number % segments_ : 1;
    }
  }

 private:
  /// Takes a block of no bytes out of what the nodes lack.
  void relieve(std::uint64_t number) {
    const std::uint64_t from = kind_ == Kind::exchanged ? number / nodes_ : origin(id(number));  // of a scatter: the destination
    if (kind_ != Kind::scattered && !living(from)) return;
    switch (kind_) {
      case Kind::exchanged: relief_[number % nodes_] += from != number % nodes_ ? 1 : 0; break;
      case Kind::scattered: relief_[from] += from != sources_.front() ? 1 : 0; break;
      case Kind::gathered: relief_[sources_.front()] += from != sources_.front() ? 1 : 0; break;
      case Kind::replicated:
      case Kind::all_gathered:
        ++empty_for_all_;
        --relief_[from];
        break;
      case Kind::none: break;
    }
  }
  /// lacking_at(), as if no block were empty.
  std::uint64_t lacking_with_empty_at(std::uint64_t node) const noexcept {
    const std::uint64_t others = std::uint64_t{participants_.living_nodes()} - 1;
    switch (kind_) {
      case Kind::replicated:
        return count_ - (std::binary_search(sources_.begin(), sources_.end(), static_cast<NodeId>(node)) ? segments_ : 0);
      case Kind::exchanged: return others;
      case Kind::scattered: return sources_.front() == node ? 0 : segments_;
      case Kind::gathered: return sources_.front() == node ? others * segments_ : 0;
      case Kind::none: return 0;
      case Kind::all_gathered: break;
    }
    return others * segments_;
  }

  enum class Kind { replicated, exchanged, scattered, gathered, all_gathered, none };

  std::uint64_t origin(std::uint64_t number) const noexcept { return segments_ == 1 ? number : number / segments_; }
  bool living(std::uint64_t node) const noexcept { return participants_.living(static_cast<NodeId>(node)); }

  Kind kind_ = Kind::replicated;
  Participants participants_;
  std::uint64_t nodes_;
  std::vector<NodeId> sources_;  // the living ones, ascending
  bool consecutive_ = false;     // as are their numbers
  std::uint64_t segments_ = 1;
  std::uint64_t count_ = 0;
  std::vector<Bytes> sizes_;          // by id; none: no block is empty
  std::int64_t empty_for_all_ = 0;    // empty blocks that all nodes want
  std::vector<std::int64_t> relief_;  // by node: those that it alone wants, less those that it starts with
};

}  // namespace torus::detail
