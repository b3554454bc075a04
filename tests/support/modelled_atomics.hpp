/// Atomics whose operations may come in any order and see any value that the language allows: the policy `Atomics` of the engine's
/// lock-free protocols in tests.
///
/// The model. Every location keeps all that was stored to it. A load may see any store that is not older than what its thread has seen, by
/// itself or through a store with release that an acquire has read, a fence or a release sequence. Data that is not atomic is watched by
/// vector clocks: two accesses, one of them a write, of which neither happens before the other are a data race. wait() sleeps until
/// notified, as a futex does. After Kang et al., A promising semantics for relaxed-memory concurrency, POPL 2017, without promises.
///
/// What the model leaves out: a load never sees a store of the future, stores to a location are ordered as they are made, compare-exchange
/// fails only where the values differ. Sequential consistency of single loads and stores is taken for that of fences around them.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/interleaving.hpp"
#include "tests/support/where.hpp"

namespace torus::support {

/// An order that a protocol names: where, and for what. An exchange that may fail names two.
struct OrderSite {
  std::string file;
  unsigned line = 0, column = 0;
  bool of_failure = false;
  friend auto operator<=>(const OrderSite&, const OrderSite&) = default;
  std::string text() const { return file.substr(file.rfind('/') + 1) + ":" + std::to_string(line) + (of_failure ? " (failure)" : ""); }
};
using Orders = std::map<OrderSite, std::memory_order>;

class MemoryModel {
 public:
  using Clock = std::array<std::uint32_t, Interleaving::max_threads>;
  using Operation = Interleaving::Operation;
  using Kind = Operation::Kind;

  static MemoryModel& instance() {
    static MemoryModel model;
    return model;
  }

  /// Explores; `weakened` orders take the place of those that the protocol names.
  Interleaving::Findings explore(const std::function<Interleaving::Program()>& make, const Orders& weakened, std::uint64_t most,
                                 std::optional<std::uint64_t> seed) {
    weakened_ = weakened;
    return scheduler.explore(
        make, [this] { reset(); }, most, seed);
  }
  /// Orders other than relaxed that explorations have come by.
  Orders& met() noexcept { return met_; }

  std::memory_order order(std::memory_order named, const Where& where, bool of_failure = false) {
    if (named == std::memory_order_relaxed) return named;
    const OrderSite site{where.file_name(), where.line(), where.column(), of_failure};
    met_.emplace(site, named);
    const auto other = weakened_.find(site);
    return other == weakened_.end() ? named : other->second;
  }

  std::size_t location(const void* address, std::uint64_t value) {
    for (std::size_t i = 0; i < locations_.size(); ++i) {
      if (locations_[i].address == address) return i;
    }
    locations_.push_back({address, {Store{.value = value}}});
    return locations_.size() - 1;
  }

  std::uint64_t load(std::size_t at, std::memory_order order) {
    scheduler.before({Kind::read, at});
    begin(at, false);
    return see(at, order, choose(at, [](const Store&) { return true; }));
  }
  void store(std::size_t at, std::uint64_t value, std::memory_order order) {
    scheduler.before({Kind::write, at});
    begin(at, true);
    append(at, value, order, {});
  }
  /// Exchanges the last value for f(value); returns it.
  template <class F>
  std::uint64_t exchange(std::size_t at, std::memory_order order, F&& f) {
    scheduler.before({Kind::write, at});
    begin(at, true);
    return exchange_last(at, order, f);
  }
  bool compare_exchange(std::size_t at, std::uint64_t& expected, std::uint64_t value, std::memory_order success,
                        std::memory_order failure) {
    scheduler.before({Kind::write, at});
    begin(at, true);
    const std::size_t i = choose(at, [expected](const Store& store) { return store.value != expected; });
    if (locations_[at].stores[i].value == expected) {
      exchange_last(at, success, [value](std::uint64_t) { return value; });
      return true;
    }
    expected = see(at, failure, i);
    return false;
  }
  void fence(std::memory_order order) {
    scheduler.before({Kind::fence, 0});
    Thread& me = tick();
    if (order != std::memory_order_release && order != std::memory_order_relaxed) me.now.join(me.read_relaxed);
    if (order == std::memory_order_seq_cst) {
      join(me.now.view, last_fence_);
      last_fence_ = me.now.view;
    }
    if (order != std::memory_order_acquire && order != std::memory_order_relaxed) me.at_release_fence = me.now;
  }
  void wait(std::size_t at, std::uint64_t old, std::memory_order order) {
    scheduler.before({Kind::wait, at});
    while (locations_[at].stores.back().value == old) scheduler.sleep();
    begin(at, false);
    see(at, order, choose(at, [old](const Store& store) { return store.value != old; }));
  }
  void notify(std::size_t at, bool all) {
    scheduler.before({Kind::notify, at});
    scheduler.notify(at, all);
  }

  /// An access to data that is not atomic.
  void plain(const void* address, bool write) {
    if (!scheduler.running()) return;
    Accesses& accesses = accesses_of(address);
    check(accesses.plain_writes, "write");
    check(accesses.atomic_writes, "atomic write");
    if (write) {
      check(accesses.plain_reads, "read");
      check(accesses.atomic_reads, "atomic read");
    }
    note(write ? accesses.plain_writes : accesses.plain_reads);
  }

  Interleaving scheduler;

 private:
  using View = std::vector<std::uint32_t>;  // by location: the oldest store that may be seen
  static void join(View& view, const View& other) {
    if (view.size() < other.size()) view.resize(other.size());
    for (std::size_t i = 0; i < other.size(); ++i) view[i] = std::max(view[i], other[i]);
  }
  /// What a thread knows of others.
  struct Knowledge {
    View view;
    Clock clock{};
    void join(const Knowledge& other) {
      MemoryModel::join(view, other.view);
      for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other.clock[i]);
    }
  };
  struct Store {
    std::uint64_t value = 0;
    View view = {};          // of who acquires it
    Clock clock = {};        // likewise
    std::uint64_t made = 0;  // Interleaving::now()
    Knowledge released() const { return {view, clock}; }
  };
  struct Location {
    const void* address;
    std::vector<Store> stores;
  };
  struct Thread {
    Knowledge now, read_relaxed, at_release_fence;
  };
  struct Accesses {
    const void* address;
    Clock plain_reads{}, plain_writes{}, atomic_reads{}, atomic_writes{};
  };

  void reset() {
    locations_.clear();
    accesses_.clear();
    threads_ = {};
    for (unsigned i = 0; i < Interleaving::max_threads; ++i) threads_[i].now.clock[i] = 1;
    last_fence_.clear();
  }
  Thread& me() noexcept { return threads_[scheduler.thread()]; }
  Thread& tick() noexcept {
    ++me().now.clock[scheduler.thread()];
    return me();
  }
  std::uint32_t& seen(std::size_t at) {
    View& view = me().now.view;
    if (view.size() <= at) view.resize(at + 1);
    return view[at];
  }

  /// An operation on an atomic location.
  void begin(std::size_t at, bool write) {
    tick();
    Accesses& accesses = accesses_of(locations_[at].address);
    check(accesses.plain_writes, "write");
    if (write) check(accesses.plain_reads, "read");
    note(write ? accesses.atomic_writes : accesses.atomic_reads);
  }
  /// The store that a load sees: the last one, or an older one that will do. Where the thread could have come before the last store, older
  /// ones are left to the executions in which it does.
  template <class Fits>
  std::size_t choose(std::size_t at, Fits&& fits) {
    const std::vector<Store>& stores = locations_[at].stores;
    const std::size_t last = stores.size() - 1;
    if (stores[last].made > scheduler.able_since()) return last;
    std::vector<std::size_t> options{last};
    for (std::size_t i = seen(at); i < last; ++i) {
      if (fits(stores[i])) options.push_back(i);
    }
    return options[scheduler.choose(options.size())];
  }
  std::uint64_t see(std::size_t at, std::memory_order order, std::size_t i) {
    const Store& store = locations_[at].stores[i];
    seen(at) = static_cast<std::uint32_t>(i);
    const bool acquires = order != std::memory_order_relaxed && order != std::memory_order_release;
    (acquires ? me().now : me().read_relaxed).join(store.released());
    return store.value;
  }
  void append(std::size_t at, std::uint64_t value, std::memory_order order, const Knowledge& sequence) {
    Location& location = locations_[at];
    seen(at) = static_cast<std::uint32_t>(location.stores.size());
    const bool releases = order != std::memory_order_relaxed && order != std::memory_order_acquire;
    Knowledge released = releases ? me().now : me().at_release_fence;
    released.join(sequence);
    location.stores.push_back({value, released.view, released.clock, scheduler.now()});
  }
  template <class F>
  std::uint64_t exchange_last(std::size_t at, std::memory_order order, F&& f) {
    const Store last = locations_[at].stores.back();
    see(at, order, locations_[at].stores.size() - 1);
    append(at, f(last.value), order, last.released());
    return last.value;
  }

  Accesses& accesses_of(const void* address) {
    for (Accesses& each : accesses_) {
      if (each.address == address) return each;
    }
    accesses_.push_back({address});
    return accesses_.back();
  }
  void check(const Clock& others, const char* what) {
    const Clock& mine = me().now.clock;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (others[i] <= mine[i]) continue;
      return scheduler.fail("data race of thread " + std::to_string(scheduler.thread()) + " with a " + what + " by thread " +
                            std::to_string(i));
    }
  }
  void note(Clock& clock) noexcept { clock[scheduler.thread()] = me().now.clock[scheduler.thread()]; }

  std::vector<Location> locations_;
  std::vector<Accesses> accesses_;
  std::array<Thread, Interleaving::max_threads> threads_;
  View last_fence_;
  Orders weakened_, met_;
};

/// In a thread, or at the end: what must hold.
inline void must(bool holds, const char* what) {
  if (!holds) MemoryModel::instance().scheduler.fail(what);
}

struct ModelledAtomics {
  /// Operations on memory that all threads see.
  template <class T>
  class Ref {
   public:
    explicit Ref(T& object) noexcept : object_{&object} {}

    T load(std::memory_order order, Where where = Where::current()) const {
      if (!running()) return *object_;
      return from(model().load(at(), model().order(order, where)));
    }
    void store(T value, std::memory_order order, Where where = Where::current()) {
      if (running()) model().store(at(), bits(value), model().order(order, where));
      *object_ = value;
    }
    T exchange(T value, std::memory_order order, Where where = Where::current()) {
      return modify(order, where, [value](T) { return value; });
    }
    T fetch_add(T value, std::memory_order order, Where where = Where::current()) {
      return modify(order, where, [value](T old) { return static_cast<T>(old + value); });
    }
    T fetch_and(T value, std::memory_order order, Where where = Where::current()) {
      return modify(order, where, [value](T old) { return static_cast<T>(old & value); });
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order success, std::memory_order failure,
                                 Where where = Where::current()) {
      std::uint64_t old = bits(expected);
      const std::size_t location = at();
      const bool done =
          model().compare_exchange(location, old, bits(value), model().order(success, where), model().order(failure, where, true));
      if (done)
        *object_ = value;
      else
        expected = from(old);
      return done;
    }
    bool compare_exchange_strong(T& expected, T value, std::memory_order order, Where where = Where::current()) {
      return compare_exchange_strong(expected, value, order, order == std::memory_order_relaxed ? order : std::memory_order_acquire, where);
    }
    void wait(T old, std::memory_order order, Where where = Where::current()) const {
      model().wait(at(), bits(old), model().order(order, where));
    }
    void notify_one() const { notify(false); }
    void notify_all() const { notify(true); }

   private:
    static MemoryModel& model() noexcept { return MemoryModel::instance(); }
    static bool running() noexcept { return model().scheduler.running(); }
    static std::uint64_t bits(T value) noexcept { return static_cast<std::uint64_t>(value); }
    static T from(std::uint64_t bits) noexcept { return static_cast<T>(bits); }
    std::size_t at() const { return model().location(object_, bits(*object_)); }
    void notify(bool all) const {
      if (running()) model().notify(at(), all);
    }
    template <class F>
    T modify(std::memory_order order, const Where& where, F&& f) {
      const T old =
          running() ? from(model().exchange(at(), model().order(order, where), [&f](std::uint64_t last) { return bits(f(from(last))); }))
                    : *object_;
      *object_ = f(old);
      return old;
    }

    T* object_;
  };

  template <class T>
  class Atomic : public Ref<T> {
   public:
    Atomic(T value = {}) noexcept : Ref<T>(value_), value_{value} {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;
    bool compare_exchange_weak(T& expected, T value, std::memory_order success, std::memory_order failure, Where where = Where::current()) {
      return this->compare_exchange_strong(expected, value, success, failure, where);
    }
    bool compare_exchange_weak(T& expected, T value, std::memory_order order, Where where = Where::current()) {
      return this->compare_exchange_strong(expected, value, order, where);
    }

   private:
    T value_;
  };

  template <class T>
  class Plain {
   public:
    Plain(T value = {}) noexcept : value_{value} {}
    Plain(const Plain&) = delete;
    operator T() const {
      MemoryModel::instance().plain(this, false);
      return value_;
    }
    Plain& operator=(T value) {
      MemoryModel::instance().plain(this, true);
      value_ = value;
      return *this;
    }
    T operator++() { return *this = static_cast<T>(*this + 1); }

   private:
    T value_;
  };

  static void fence(std::memory_order order, Where where = Where::current()) {
    MemoryModel& model = MemoryModel::instance();
    model.fence(model.order(order, where));
  }
  static std::uint64_t read_word(const std::uint8_t* bytes) {
    for (int i = 0; i < 8; ++i) MemoryModel::instance().plain(bytes + i, false);
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, 8);
    return word;
  }
  static void clear_word(std::uint8_t* bytes) {
    for (int i = 0; i < 8; ++i) MemoryModel::instance().plain(bytes + i, true);
    std::memset(bytes, 0, 8);
  }
};

}  // namespace torus::support
