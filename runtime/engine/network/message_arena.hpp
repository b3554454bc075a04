/// Memory of the messages of a step: a worker's own, freed all at once when the step is two barriers old.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torus/error.hpp>
#include <torus/message.hpp>

#include "runtime/base/region.hpp"
#include "runtime/engine/memory_budget.hpp"
#include "runtime/model/digest.hpp"

namespace torus::detail {

/// Not thread-safe for writing; all workers may read it after the barrier. It is also the only way to the private parts of a Message.
class MessageArena {
 public:
  static_assert(std::endian::native == std::endian::little, "legs, block ids and digests are read as words, low bytes first");
  static_assert(sizeof(Message) == 40 && sizeof(Leg) == 8, "a message of one block over one leg is one cache line");

  MessageArena() = default;
  /// memory: whole cache lines. The budget pays for those that are used, in pieces.
  MessageArena(std::span<std::byte> memory, MemoryBudget& budget) noexcept
      : begin_{memory.data()}, next_{begin_}, end_{begin_}, limit_{begin_ + memory.size()}, budget_{&budget} {}

  /// Writes a message, without its first bucket and slots. bytes: its size on a channel.
  [[gnu::always_inline]] inline Message& write(std::uint64_t step_and_source, NodeId destination, Bytes bytes, RouteView legs,
                                               std::span<const BlockId> blocks, std::span<const Word> header) {
    const std::size_t size = size_of(blocks.size(), legs.size(), header.size());
    if (static_cast<std::size_t>(end_ - next_) < size) [[unlikely]]
      extend(size);
    auto* m = new (std::exchange(next_, next_ + size)) Message;
    m->destination_ = destination;
    m->header_words_ = static_cast<std::uint32_t>(header.size());
    m->legs_ = static_cast<std::uint32_t>(legs.size());
    m->blocks_ = static_cast<std::uint32_t>(blocks.size());
    m->step_and_source_ = step_and_source;
    m->bytes_ = bytes;
    std::byte* const after_legs = write_legs(m->after(), legs);
    std::byte* const after_blocks = write_blocks(after_legs, blocks);
    if (!header.empty()) std::memcpy(after_blocks, header.data(), header.size_bytes());
    return *m;
  }
  /// A message as it lies in memory, in whole words, and a copy of one from another process.
  static std::span<const std::byte> image(const Message& m) noexcept {
    return {reinterpret_cast<const std::byte*>(&m), size_of(m.blocks_, m.legs_, m.header_words_)};
  }
  static const Message& in_place(std::span<const std::byte> image) noexcept { return *reinterpret_cast<const Message*>(image.data()); }
  Message& adopt(std::span<const std::byte> image) {
    if (static_cast<std::size_t>(end_ - next_) < image.size()) [[unlikely]]
      extend(image.size());
    std::byte* const to = std::exchange(next_, next_ + image.size());
    auto* const m = new (to) Message;
    std::memcpy(to, image.data(), image.size());
    return *m;
  }

  // Routes beside those that messages travel: see Groups::carries(). They cross borders behind the images.
  void keep(const Message& m, RouteView route) {
    grow(kept_, 1);
    kept_.push_back({&m, kept_legs_.size(), route.size()});
    grow(kept_legs_, route.size());
    kept_legs_.insert(kept_legs_.end(), route.begin(), route.end());
  }
  /// At most, of a message: see grow().
  static std::size_t most_kept(std::size_t legs) noexcept { return (sizeof(Kept) + sizeof(Leg) * legs) * 9 / 8; }
  /// Empty: none is kept. Valid until the next keep().
  RouteView kept(const Message& m) const noexcept {
    const auto at = std::lower_bound(kept_.begin(), kept_.end(), &m, [](const Kept& a, const Message* b) { return a.message < b; });
    if (at == kept_.end() || at->message != &m) return {};
    return {kept_legs_.data() + at->first, at->count};
  }
  /// Writes what a message says to memory of size_with(): with other ends and another route, and the slots of its blocks.
  static Message& rewrite(std::byte* to, const Message& m, NodeId source, NodeId destination, RouteView route) noexcept {
    auto* const copy = new (to) Message;
    std::memcpy(to, &m, sizeof m);
    set_source(*copy, source);
    copy->destination_ = destination;
    copy->legs_ = static_cast<std::uint32_t>(route.size());
    const std::size_t lists = list_of_slots(m) - 8 * std::size_t{m.legs_} + (m.blocks_ > 1 ? sizeof(std::uint32_t) * m.blocks_ : 0);
    std::memcpy(write_legs(copy->after(), route), m.after() + 8 * std::size_t{m.legs_}, lists);
    return *copy;
  }
  /// After a program has seen the copy: what it has forwarded of the message.
  static void take_back(Message& m, const Message& copy) noexcept {
    m.only_slot_ = copy.only_slot_;
    if (m.blocks_ > 1) std::memcpy(slots(m), slots(copy), sizeof(std::uint32_t) * m.blocks_);
  }
  static std::size_t size_with(const Message& m, RouteView route) noexcept { return size_of(m.blocks_, route.size(), m.header_words_); }
  /// Marks a message of a reduction, before its digest is taken.
  static void mark(Message& m, std::uint8_t registers, bool releases) noexcept {
    m.bytes_ |= Bytes{registers} << Message::registers_at | (releases ? Message::released : 0);
  }
  /// The digest of a message. To be called some time after it is written, when the stores have left the core.
  static std::uint64_t digest(const Message& m) noexcept { return digest_of_image(&m.step_and_source_, m.blocks_, m.legs_); }
  /// Writes a message of one block over one leg without a header: exactly one cache line. leg: see word_of().
  [[gnu::always_inline]] inline Message& write_one(std::uint64_t step_and_source, NodeId destination, Bytes bytes, BlockId id,
                                                   std::uint64_t leg) {
    return *write_line(allocate_lines(1), step_and_source, destination, bytes, id, leg);
  }
  /// Room for some messages of a cache line each.
  [[gnu::always_inline]] inline std::byte* allocate_lines(std::size_t count) {
    if (static_cast<std::size_t>(end_ - next_) < 64 * count) [[unlikely]]
      extend(64 * count);
    return std::exchange(next_, next_ + 64 * count);
  }

  /// A message of one block over one leg that waits outside of the arena. Words that all of them share are written once: a draft is used
  /// again and again.
  class Draft {
   public:
    /// bytes: the size of each message on a channel.
    void begin(Bytes bytes) noexcept { write_line(line_, 0, 0, bytes, 0, 0); }
    /// slot: the sender's. write() replaces it by the receiver's.
    [[gnu::always_inline]] void fill(std::uint64_t step_and_source, NodeId destination, BlockId id, std::uint64_t leg, std::uint32_t bucket,
                                     std::uint32_t slot) noexcept {
      Message& m = message();
      m.destination_ = destination;
      m.first_bucket_ = bucket;
      m.only_slot_ = slot;
      m.step_and_source_ = step_and_source;
      write_leg_and_block(m, leg, id);
    }
    NodeId destination() const noexcept { return message().destination_; }
    std::uint32_t slot() const noexcept { return message().only_slot_; }
    /// Writes the message to a line of an arena. Returns its digest.
    [[gnu::always_inline]] std::uint64_t write(std::byte* line, std::uint32_t slot) const noexcept {
      auto* const m = new (line) Message;
      std::memcpy(line, line_, sizeof line_);
      m->only_slot_ = slot;
      std::uint64_t leg = 0;
      std::memcpy(&leg, message().after(), sizeof leg);
      return digest_of_one(message().step_and_source_, message().bytes_, leg, static_cast<std::uint32_t>(only_block(message())));
    }

   private:
    Message& message() noexcept { return *reinterpret_cast<Message*>(line_); }
    const Message& message() const noexcept { return *reinterpret_cast<const Message*>(line_); }

    alignas(8) std::byte line_[64];
  };

  /// A leg as it lies in memory.
  static std::uint64_t word_of(Leg leg) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(leg.hops)} << 32U | static_cast<std::uint32_t>(leg.dimension);
  }
  static std::uint64_t step_and_source(Step step, NodeId source) noexcept { return std::uint64_t{source} << 32U | step; }
  static NodeId source_of(std::uint64_t step_and_source) noexcept { return static_cast<NodeId>(step_and_source >> 32U); }

  // Written while a program of a group sees a message: see LocalArrivals. In halves of words, as programs read them.
  static void set_source(Message& m, NodeId source) noexcept {
    static_assert(std::endian::native == std::endian::little, "the source is in the upper half of the word");
    std::memcpy(reinterpret_cast<std::byte*>(&m.step_and_source_) + sizeof(Step), &source, sizeof source);
  }
  static void set_destination(Message& m, NodeId destination) noexcept { m.destination_ = destination; }
  /// No message is delivered without one.
  static Leg& first_leg(Message& m) noexcept { return *reinterpret_cast<Leg*>(m.after()); }
  static std::span<Leg> legs(Message& m) noexcept { return {reinterpret_cast<Leg*>(m.after()), m.legs_}; }

  /// Whether a message is one block over one leg without a header.
  static bool is_one(const Message& m) noexcept { return m.blocks_ == 1 && m.legs_ == 1 && m.header_words_ == 0; }
  /// The receiver's slot of an only block; 0 once the receiver has forwarded the block.
  static std::uint32_t& only_slot(Message& m) noexcept { return m.only_slot_; }
  static std::uint32_t only_slot(const Message& m) noexcept { return m.only_slot_; }
  /// The id of the block of a message for which is_one() is true, with the 4 zero bytes behind it. Meaningless for other messages.
  static std::uint64_t only_block(const Message& m) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, m.after() + 8, sizeof word);
    return word;
  }
  /// For a message of several partials: the first of the adjacent slots in which they are, in order; 0 if their slots are listed.
  static std::uint32_t& first_of_row(Message& m) noexcept { return m.only_slot_; }
  static std::uint32_t first_of_row(const Message& m) noexcept { return m.only_slot_; }
  /// For any other message of several blocks: the length of the prefix that the receiver has forwarded.
  static std::uint32_t& forwarded(Message& m) noexcept { return m.only_slot_; }
  static std::uint32_t forwarded(const Message& m) noexcept { return m.only_slot_; }
  static std::uint32_t& first_bucket(Message& m) noexcept { return m.first_bucket_; }
  static std::uint32_t first_bucket(const Message& m) noexcept { return m.first_bucket_; }
  /// The receiver's slots with the blocks' bytes, one a block.
  static std::uint32_t* slots(Message& m) noexcept {
    return m.blocks_ == 1 ? &m.only_slot_ : reinterpret_cast<std::uint32_t*>(m.after() + list_of_slots(m));
  }
  static const std::uint32_t* slots(const Message& m) noexcept {
    return m.blocks_ == 1 ? &m.only_slot_ : reinterpret_cast<const std::uint32_t*>(m.after() + list_of_slots(m));
  }
  /// The slot of a block of a message that its receiver has not seen yet.
  static std::uint32_t slot(const Message& m, std::size_t i) noexcept {
    return m.only_slot_ != 0 ? m.only_slot_ + static_cast<std::uint32_t>(i) : slots(m)[i];
  }
  /// A message for the end of a list: its only_block() matches no block. Never written to.
  static Message* no_block() {
    alignas(64) static std::byte line[64];
    static Message* const message = [] {
      Message* const m = write_line(line, 0, 0, 0, 0, 0);
      std::memset(m->after() + 8, 0xff, 8);
      return m;
    }();
    return message;
  }

  /// Forgets all messages; keeps the memory that the budget has paid for.
  void clear() noexcept {
    most_ = used();
    next_ = begin_;
    kept_.clear();
    kept_legs_.clear();
  }
  /// The most bytes that messages have taken at one time, since begin_run(), without the routes that are kept.
  std::size_t used() const noexcept { return std::max(most_, static_cast<std::size_t>(next_ - begin_)); }
  /// Forgets all messages and that memory: the budget has been refilled.
  void begin_run() noexcept {
    next_ = end_ = begin_;
    most_ = 0;
    kept_.clear();
    kept_legs_.clear();
  }

  /// What a message takes, in whole cache lines, so that two messages never share one.
  static std::size_t size_of(std::size_t blocks, std::size_t legs, std::size_t header_words) noexcept {
    const std::size_t slots = blocks > 1 ? 4 * blocks : 0;
    return (sizeof(Message) + Message::room_for_ids(blocks) + slots + 8 * legs + 4 * header_words + 63) / 64 * 64;
  }

  template <class F>
  void for_each(F&& f) const {
    for (const std::byte* at = begin_; at < next_;) {
      const auto* message = reinterpret_cast<const Message*>(at);
      f(*message);
      at += size_of(message->blocks_, message->legs_, message->header_words_);
    }
  }

 private:
  /// Where the list of slots begins, behind the fields.
  static std::size_t list_of_slots(const Message& m) noexcept {
    return 8 * std::size_t{m.legs_} + Message::room_for_ids(m.blocks_) + sizeof(Word) * m.header_words_;
  }

  /// Both return the end of what they have written.
  static std::byte* write_legs(std::byte* to, RouteView legs) noexcept {
    for (Leg leg : legs) {
      // Read in halves, as programs have just written it. A read of the whole would wait until all stores before it have left the core,
      // such as those of the block copied last. Without this g++ makes one read of the two.
      asm("" : "+r"(leg.hops));
      const std::uint64_t word = word_of(leg);
      std::memcpy(to, &word, sizeof word);
      to += sizeof word;
    }
    return to;
  }
  /// The ids, the last of an odd number together with the zeros after it: a read of one piece is fast where one store wrote it.
  static std::byte* write_blocks(std::byte* to, std::span<const BlockId> blocks) noexcept {
    const std::size_t paired = blocks.size() / 2 * 2;
    if (paired > 0) std::memcpy(to, blocks.data(), paired * sizeof(BlockId));
    to += paired * sizeof(BlockId);
    if (paired == blocks.size()) return to;
    const std::uint64_t last = blocks.back();
    std::memcpy(to, &last, sizeof last);
    return to + sizeof last;
  }

  [[gnu::always_inline]] static inline Message* write_line(std::byte* line, std::uint64_t step_and_source, NodeId destination, Bytes bytes,
                                                           BlockId id, std::uint64_t leg) {
    auto* m = new (line) Message;
    m->destination_ = destination;
    m->header_words_ = 0;
    m->legs_ = 1;
    m->blocks_ = 1;
    m->step_and_source_ = step_and_source;
    m->bytes_ = bytes;
    write_leg_and_block(*m, leg, id);
    return m;
  }
  [[gnu::always_inline]] static inline void write_leg_and_block(Message& m, std::uint64_t leg, BlockId id) noexcept {
    std::memcpy(m.after(), &leg, 8);
    const std::uint64_t ids = id;
    std::memcpy(m.after() + 8, &ids, 8);
  }

  /// By an eighth, since these lists are large and keep their memory.
  template <class T>
  static void grow(std::vector<T>& list, std::size_t more) {
    if (list.size() + more > list.capacity()) list.reserve(list.size() + std::max<std::size_t>(list.size() / 8, 64) + more);
  }
  /// Makes room for a message, and some more.
  [[gnu::cold, gnu::noinline]] void extend(std::size_t size) {
    constexpr std::size_t piece = std::size_t{1} << 18U;
    const std::size_t lacking = size - static_cast<std::size_t>(end_ - next_);
    const auto left = static_cast<std::size_t>(limit_ - end_);
    std::size_t more = std::min(std::max(lacking, piece), left);
    if (more >= lacking && !budget_->take(more)) more = budget_->take(lacking) ? lacking : 0;
    if (more < lacking) {
      budget_->refuse("the messages of a step need more than the " + std::to_string(end_ - begin_) +
                      " bytes that a worker has for them, by " + std::to_string(lacking) +
                      ", and the memory limit allows no more; raise the memory limit (RunOptions::memory_limit) or send smaller bundles");
    }
    end_ += more;
  }

  struct Kept {
    const Message* message;
    std::size_t first, count;  // of the legs
  };

  std::byte* begin_ = nullptr;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;    // of what is paid for
  std::byte* limit_ = nullptr;  // of the address space
  MemoryBudget* budget_ = nullptr;
  std::size_t most_ = 0;
  std::vector<Kept> kept_;  // by address, as messages are written
  std::vector<Leg> kept_legs_;
};

/// The memory of all arenas, in one piece: so 32 bits name the cache line at which a message begins. Address space only, until it is used.
class MessageMemory {
 public:
  /// Each arena may use the whole budget, which must outlive them. Less where the process may not have so much address space.
  MessageMemory(std::size_t arenas, MemoryBudget& budget) : budget_{&budget} {
    reserve_most(std::min<Bytes>(budget.granted(), addressable / arenas - small), small - 1, [&](std::size_t share) {
      pitch_ = share / small * small + small;
      memory_ = Region<std::byte>(arenas * pitch_);
    });
    for (std::size_t i = 0; i < arenas; ++i) memory_.on_small_pages(i * pitch_, small);
  }

  MessageArena arena(std::size_t i) noexcept { return MessageArena({memory_.data() + i * pitch_, pitch_}, *budget_); }

  /// Which arena a message lies in.
  std::size_t arena_of(const Message& m) const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&m) - memory_.data()) / pitch_;
  }

  /// Cache lines are numbered from here.
  std::byte* first_line() noexcept { return memory_.data(); }

 private:
  static constexpr std::size_t small = std::size_t{1} << 21U;  // a huge page would be more than most machines' messages need
  static constexpr Bytes addressable = Bytes{1} << 38U;        // by 32 bits for a cache line

  MemoryBudget* budget_;
  std::size_t pitch_ = 0;
  Region<std::byte> memory_;
};

}  // namespace torus::detail
