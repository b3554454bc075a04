/// The bytes of all blocks, and which node holds which.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <torus/error.hpp>
#include <torus/placement.hpp>

#include "runtime/engine/copy_queue.hpp"
#include "runtime/engine/memory_budget.hpp"
#include "runtime/engine/region.hpp"

namespace torus::detail {

/// Slots of one size in one region, handed out by workers; and a table a node: bucket -> chain of slots.
///
/// A delivery takes a slot from the sending worker's stock, copies the bytes into it once and gives it to the receiver, whose it is from
/// then on. A freed slot goes to the stock of the worker that freed it and is the next to be used, still in its cache. Who may do what: a
/// node's table only the worker that runs the node; a stock only its worker; bytes whoever holds the slot.
class BlockStore {
  /// What block a held slot has, and the next slot of its bucket: where several blocks share a bucket.
  struct Facts {
    BlockId id;
    Slot next;
  };

 public:
  /// Bytes of a slot for blocks of at most `longest` bytes: whole cache lines for all but small blocks.
  static std::size_t stride_for(Bytes longest) noexcept {
    const Bytes unit = longest > 64 ? 64 : longest > 4 ? 8 : longest > 2 ? 4 : longest > 1 ? 2 : 1;
    return static_cast<std::size_t>((longest + unit - 1) / unit * unit);
  }
  /// Bytes of bookkeeping per slot, and per bucket.
  static std::size_t slot_overhead(const Placement& placement) noexcept { return placement.one_block_a_bucket() ? 0 : sizeof(Facts); }
  static constexpr std::size_t bucket_overhead = 4;
  /// Slots that a run uses beyond the blocks that nodes hold in the end: those on their way, and those that workers have at hand.
  static std::uint64_t spare_slots(std::uint64_t blocks, Bytes longest, unsigned workers) noexcept {
    return 2 * chunk_for(blocks, longest, workers) * workers;
  }

  /// blocks: that nodes hold in the end. Further copies, of programs that send what is held already, draw from the budget, which must
  /// outlive this.
  BlockStore(const Placement& placement, std::uint64_t blocks, MemoryBudget& budget, unsigned workers)
      : placement_{&placement},
        budget_{&budget},
        buckets_{placement.buckets()},
        chained_{!placement.one_block_a_bucket()},
        stride_{stride_for(placement.longest())},
        slot_bytes_{std::max<std::size_t>(1, stride_ + slot_overhead(placement))},
        chunk_{chunk_for(blocks, placement.longest(), workers)},
        stocks_(workers),
        shares_(workers + 1) {
    if (blocks > most_blocks) {
      throw InputError(std::to_string(blocks) + " blocks: a run holds at most " + std::to_string(most_blocks) +
                       "; choose a smaller shape or fewer segments");
    }
    expected_ = std::min(blocks + spare_slots(blocks, placement.longest(), workers), most_blocks) + 1;
    for (unsigned i = 0; i < workers; ++i) shares_[i] = {1 + (expected_ - 1) * i / workers, 1 + (expected_ - 1) * (i + 1) / workers};
    // Address space; for fewer slots, but all that are expected, where the process may not have so much of it.
    const std::uint64_t capacity =
        reserve_most(std::min(expected_ + budget.granted() / slot_bytes_, most_blocks + 1), expected_, [this](std::size_t slots) {
          bytes_ = {};
          bytes_ = Region<std::byte>(slots * stride_);
          if (chained_) facts_ = Region<Facts>(slots);
        });
    shares_[workers] = {expected_, capacity};
    table_ = Region<Slot>(std::size_t{placement.nodes()} * buckets_);
  }

  /// Lets the kernel provide the memory that the run will need.
  void populate(unsigned part, unsigned parts) {
    if (stride_ > 0) bytes_.populate(expected_ * stride_, part, parts);
    if (chained_) facts_.populate(expected_, part, parts);
    table_.populate(table_.size(), part, parts);
  }

  /// Forgets part `part` of `parts` of the tables; clear() then forgets the slots.
  void clear_tables(unsigned part, unsigned parts) {
    const std::size_t from = table_.size() * part / parts;
    const std::size_t to = table_.size() * (part + 1) / parts;
    if (to > from) std::memset(&table_[from], 0, (to - from) * sizeof(Slot));
  }
  void clear() noexcept {
    streaming_ = false;
    for (Share& share : shares_) share.next.store(share.begin, std::memory_order_relaxed);
    for (Stock& stock : stocks_) {
      stock.top = stock.base;
      stock.fresh = stock.fresh_end = 0;
    }
  }

  /// A worker's slots that belong to nobody: those given back, the latest first, and a range never used.
  struct alignas(64) Stock {
    Slot* top = nullptr;  // one past the latest of `freed`
    Slot* base = nullptr;
    Slot* limit = nullptr;
    Slot fresh = 0;
    Slot fresh_end = 0;
    std::vector<Slot> freed;
    std::uint64_t freed_slots() const noexcept { return static_cast<std::uint64_t>(top - base); }
  };
  Stock& stock(unsigned worker) noexcept { return stocks_[worker]; }
  /// Shares freed slots out again where they have piled up: a worker whose nodes drop what another's send would else collect them without
  /// end. One thread, between two steps.
  void level() {
    std::uint64_t all = 0, most = 0;
    for (const Stock& stock : stocks_) {
      all += stock.freed_slots();
      most = std::max(most, stock.freed_slots());
    }
    const std::uint64_t mean = all / stocks_.size();
    if (most <= mean + 4 * chunk_) return;
    auto poor = stocks_.begin();
    for (Stock& rich : stocks_) {
      while (rich.freed_slots() > mean + 1) {
        while (poor->freed_slots() >= mean) {
          if (++poor == stocks_.end()) return;
        }
        give_back(*poor, *--rich.top);
      }
    }
  }

  /// The slot in which a node holds a block; 0 if it does not.
  Slot find(NodeId node, BlockId id) const noexcept {
    const std::uint32_t bucket = placement_->bucket(id);
    return bucket == Placement::no_bucket ? 0 : find_at(node, bucket, id);
  }
  /// The same where the block's bucket is known.
  Slot find_at(NodeId node, std::uint32_t bucket, BlockId id) const noexcept {
    return *const_cast<BlockStore*>(this)->link_at(node, bucket, id);
  }
  /// The place in the node's table that names the slot; one that says 0 if the block is not held.
  [[gnu::always_inline]] inline Slot* link_at(NodeId node, std::uint32_t bucket, BlockId id) noexcept {
    Slot* link = table_.data() + (std::size_t{node} * buckets_ + bucket);
    if (!chained_) return link;
    Facts* const facts = facts_.data();
    for (Slot slot = *link; slot != 0 && facts[slot].id != id; slot = *link) link = &facts[slot].next;
    return link;
  }

  /// A slot that belongs to nobody yet. Throws RunError when the memory granted is used up.
  Slot take(Stock& stock) {
    if (stock.top != stock.base) return *--stock.top;
    if (stock.fresh == stock.fresh_end) refill(stock);
    return stock.fresh++;
  }
  [[gnu::always_inline]] inline void give_back(Stock& stock, Slot slot) {
    if (stock.top == stock.limit) grow(stock);
    *stock.top++ = slot;
  }

  /// Copies a block to a slot of its own.
  [[gnu::always_inline]] inline Slot copy_to_new(Stock& stock, Slot from, Bytes bytes) {
    const Slot to = take(stock);
    copy(to, from, bytes);
    return to;
  }
  /// The same, and give_back() of the slot it was in.
  [[gnu::always_inline]] inline Slot copy_and_give_back(Stock& stock, Slot from, Bytes bytes) {
    if (stock.top == stock.base) [[unlikely]] {
      const Slot to = copy_to_new(stock, from, bytes);
      give_back(stock, from);
      return to;
    }
    const Slot to = std::exchange(stock.top[-1], from);
    copy(to, from, bytes);
    return to;
  }

  /// Makes a node the holder of a slot that has been taken and filled. False if it holds the block already: the slot is then given back.
  bool adopt(Stock& stock, NodeId node, BlockId id, Slot slot) { return adopt_at(stock, node, placement_->bucket(id), id, slot); }
  [[gnu::always_inline]] inline bool adopt_at(Stock& stock, NodeId node, std::uint32_t bucket, BlockId id, Slot slot) {
    Slot& head = table_[std::size_t{node} * buckets_ + bucket];
    const Slot first = head;
    if (first != 0 && (!chained_ || find_at(node, bucket, id) != 0)) {
      give_back(stock, slot);
      return false;
    }
    if (chained_) facts_[slot] = {id, first};
    head = slot;
    return true;
  }

  /// Takes a held block away from a node and gives its slot to the caller; 0 if it is not held.
  Slot take_away(NodeId node, BlockId id) noexcept {
    const std::uint32_t bucket = placement_->bucket(id);
    return bucket == Placement::no_bucket ? 0 : take_away_at(link_at(node, bucket, id));
  }
  /// The same for a block that link_at() has been asked for.
  [[gnu::always_inline]] inline Slot take_away_at(Slot* link) noexcept {
    const Slot slot = *link;
    if (slot != 0) *link = after(slot);
    return slot;
  }
  /// Takes a held block away from a node; its slot is free for the next delivery. Nothing if it is not held.
  void release(Stock& stock, NodeId node, BlockId id) {
    if (const Slot slot = take_away(node, id); slot != 0) give_back(stock, slot);
  }

  /// What f of each_held() is going to look at.
  enum class Looks : bool { at_names, at_bytes };
  /// Calls f(id, slot) for all that a node holds, in the order of its table. Names and first bytes are fetched some blocks before f looks
  /// at them: they lie wherever they were put when they came.
  template <class F>
  void each_held(NodeId node, Looks looks, F&& f) const {
    constexpr std::uint32_t ahead = 16;
    const Slot* table = &table_[std::size_t{node} * buckets_];
    for (std::uint32_t bucket = 0; bucket < buckets_; ++bucket) {
      if (bucket + ahead < buckets_) {
        const Slot next = table[bucket + ahead];
        if (chained_) __builtin_prefetch(&facts_[next]);
        if (looks == Looks::at_bytes) __builtin_prefetch(at(next));
      }
      for (Slot slot = table[bucket]; slot != 0; slot = after(slot)) {
        f(chained_ ? facts_[slot].id : placement_->in_bucket(bucket), slot);
      }
    }
  }

  std::byte* at(Slot slot) noexcept { return bytes_.data() + std::size_t{slot} * stride_; }
  const std::byte* at(Slot slot) const noexcept { return bytes_.data() + std::size_t{slot} * stride_; }

  /// The one copy of a delivery.
  [[gnu::always_inline]] inline void copy(Slot to, Slot from, Bytes bytes) noexcept { copy(at(to), at(from), bytes); }
  [[gnu::always_inline]] inline void copy(std::byte* to, const std::byte* from, Bytes bytes) noexcept {
    if (one_line_each()) [[likely]]
      return copy_line(to, from);
    if (streams(bytes)) return stream(to, from, bytes);
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  /// Whether blocks have a cache line each, so that copy_line() serves.
  bool one_line_each() const noexcept { return stride_ == 64; }
  [[gnu::always_inline]] static inline void copy_line(std::byte* to, const std::byte* from) noexcept { std::memcpy(to, from, 64); }
  /// Whether blocks of 512 bytes or more are stored past the caches from now on. Between two steps.
  void stream(bool on) noexcept { streaming_ = on; }
  /// Whether blocks of so many bytes are.
  bool streams(Bytes bytes) const noexcept { return streaming_ && bytes >= 512; }
  /// Whether copies of so many bytes are worth putting off. (Shorter ones than 2 KiB in the caches take 2 per cent longer then.)
  bool puts_off(Bytes bytes) const noexcept { return bytes >= 2048 || streams(bytes); }
  /// Puts a copy off for which puts_off() is true. May make older ones: past the caches one, when 16 wait, so that the next source is known
  /// well before its turn comes; else all when there is no room.
  void put_off(CopyQueue& copies, const CopyQueue::Copy& copy) noexcept {
    if (streaming_ && copies.size() == 16)
      make_one(copies);
    else if (copies.size() == CopyQueue::room)
      make_all(copies);
    copies.push(copy);
  }
  void make_all(CopyQueue& copies) noexcept {
    while (!copies.empty()) make_one(copies);
  }
  /// Makes the oldest. Past the caches the next source is fetched, line by line, while a source is copied to all its targets.
  void make_one(CopyQueue& copies) noexcept {
    constexpr std::size_t first_lines = 64;  // what follows them the processor fetches by itself
    const CopyQueue::Turn turn = copies.pop();
    if (!streaming_) return copy(turn.copy.to, turn.copy.from, turn.copy.bytes);
    const std::size_t lines = std::min<std::size_t>(turn.next_bytes / 64, first_lines);
    const std::size_t fetched = lines * turn.number / turn.of;
    stream(at(turn.copy.to), at(turn.copy.from), turn.copy.bytes, at(turn.next) + 64 * fetched,
           lines * (turn.number + 1) / turn.of - fetched, turn.of);
  }
  /// After the last copy of a step: streamed bytes are visible to others once they have passed the barrier.
  void fence() const noexcept {
#if defined(__SSE2__)
    if (streaming_) _mm_sfence();
#endif
  }

  [[gnu::always_inline]] void prefetch(Slot slot) const noexcept { __builtin_prefetch(at(slot), 1); }
  /// To the second cache.
  [[gnu::always_inline]] void prefetch_far(Slot slot) const noexcept { __builtin_prefetch(at(slot), 1, 2); }
  [[gnu::always_inline]] void prefetch_bucket(NodeId node, std::uint32_t bucket) const noexcept {
    __builtin_prefetch(table_.data() + (std::size_t{node} * buckets_ + bucket), 1);
  }

 private:
  /// Slots in order, given to a worker before those of others: so it finds in its cache, and its part of the memory, what it used in the
  /// last run.
  struct alignas(64) Share {
    Share() = default;
    Share& operator=(std::pair<std::uint64_t, std::uint64_t> range) noexcept {
      std::tie(begin, end) = range;
      next.store(begin, std::memory_order_relaxed);
      return *this;
    }
    std::atomic<std::uint64_t> next{0};
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  /// Slots that a worker takes from a share at a time.
  static std::uint64_t chunk_for(std::uint64_t blocks, Bytes longest, unsigned workers) noexcept {
    const std::uint64_t of_a_quarter_mebibyte = (std::uint64_t{1} << 18U) / std::max<std::size_t>(stride_for(longest), 64);
    return std::max<std::uint64_t>(1, std::min(of_a_quarter_mebibyte, blocks / (std::uint64_t{8} * workers) + 1));
  }

  /// The next slot of a bucket.
  Slot after(Slot slot) const noexcept { return chained_ ? facts_[slot].next : 0; }

  [[gnu::cold, gnu::noinline]] static void grow(Stock& stock) {
    const auto count = static_cast<std::size_t>(stock.top - stock.base);
    stock.freed.resize(std::max<std::size_t>(1024, 2 * count));
    stock.base = stock.freed.data();
    stock.top = stock.base + count;
    stock.limit = stock.base + stock.freed.size();
  }

  [[gnu::cold, gnu::noinline]] void refill(Stock& stock) {
    const auto own = static_cast<std::size_t>(&stock - stocks_.data());
    const std::size_t workers = stocks_.size();
    for (std::size_t i = 0; i <= workers; ++i) {
      Share& share = shares_[i < workers ? (own + i) % workers : workers];
      const std::uint64_t next = share.next.load(std::memory_order_relaxed);
      if (next >= share.end) continue;
      if (i == workers && !budget_->take(chunk_ * slot_bytes_)) continue;
      const std::uint64_t first = share.next.fetch_add(chunk_, std::memory_order_relaxed);
      if (first >= share.end) continue;
      stock.fresh = static_cast<Slot>(first);
      stock.fresh_end = static_cast<Slot>(std::min(first + chunk_, share.end));
      return;
    }
    budget_->refuse("the blocks held and in flight need more than the " + std::to_string(expected_ - 1) + " places of " +
                    std::to_string(stride_) +
                    " bytes that were estimated, and the memory limit allows no more: the program makes more copies than nodes want; raise "
                    "the memory limit (RunOptions::memory_limit) or release blocks");
  }

  /// Stores past the cache: for payloads that nobody reads again soon and that would only push out what is read. Targets are 64-byte
  /// aligned. Meanwhile fetches `ahead` lines from `next` on, one for every `pitch` that it copies. (All in registers: what is handed over
  /// in memory waits behind the stores.)
  [[gnu::noinline]] static void stream(std::byte* target, const std::byte* source, Bytes bytes, const std::byte* next = nullptr,
                                       std::size_t ahead = 0, std::size_t pitch = 1) noexcept {
#if defined(__SSE2__)
    const std::size_t lines = bytes / 64;
    std::size_t turn = 1;
    for (std::size_t i = 0; i < lines; ++i) {
      if (--turn == 0) {
        turn = pitch;
        if (ahead > 0) {
          __builtin_prefetch(next, 0, 0);  // not to be kept in the further caches: it is read now and then not for long
          next += 64;
          --ahead;
        }
      }
      const auto* from = reinterpret_cast<const __m128i*>(source + 64 * i);
      auto* to = reinterpret_cast<__m128i*>(target + 64 * i);
      const __m128i a = _mm_load_si128(from);
      const __m128i b = _mm_load_si128(from + 1);
      const __m128i c = _mm_load_si128(from + 2);
      const __m128i d = _mm_load_si128(from + 3);
      _mm_stream_si128(to, a);
      _mm_stream_si128(to + 1, b);
      _mm_stream_si128(to + 2, c);
      _mm_stream_si128(to + 3, d);
    }
    std::memcpy(target + 64 * lines, source + 64 * lines, bytes - 64 * lines);
#else
    static_cast<void>(next), static_cast<void>(ahead), static_cast<void>(pitch);
    std::memcpy(target, source, bytes);
#endif
  }

  const Placement* placement_;
  MemoryBudget* budget_;
  std::uint32_t buckets_;
  bool chained_;
  bool streaming_ = false;
  std::size_t stride_;
  std::size_t slot_bytes_;  // with its bookkeeping
  std::uint64_t chunk_;
  std::uint64_t expected_ = 0;  // slots, and slot 0
  Region<std::byte> bytes_;
  Region<Facts> facts_;
  Region<Slot> table_;  // nodes x buckets
  std::vector<Stock> stocks_;
  std::vector<Share> shares_;  // one per worker, of the slots expected; and one of all others
};

}  // namespace torus::detail
