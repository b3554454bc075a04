#include "runtime/engine/step_runner.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <random>
#include <span>
#include <utility>

#include "runtime/base/host.hpp"
#include "runtime/engine/network/group_network.hpp"
#include "runtime/engine/network/inbox.hpp"
#include "runtime/engine/network/outbox.hpp"

namespace torus::detail {
namespace {

/// The most groups of nodes in a batch.
constexpr std::uint64_t max_batch_groups = 16;

/// Nodes that send blocks of this length are shared out in smaller batches: with 16 batches a worker, the last worker to end copied alone
/// for 2 % of the time.
constexpr Bytes long_block = 16384;

/// Does a worker's part of a step. An exception from outside the programs (no memory for messages) ends the run like one of a program.
template <class F>
void failing(Worker& w, F&& part_of_step) noexcept {
  try {
    part_of_step();
  } catch (...) {
    w.findings.fail(w.node.rank(), std::current_exception());
  }
}

/// Tells Watch that a worker runs nodes, until the end of a scope.
class SeenByWatch {
 public:
  explicit SeenByWatch(Worker& w) noexcept : batches_{w.batches}, begun_{w.batches + 1} { store(begun_); }
  SeenByWatch(const SeenByWatch&) = delete;
  SeenByWatch& operator=(const SeenByWatch&) = delete;
  ~SeenByWatch() { store(begun_ + 1); }

 private:
  void store(std::uint32_t count) noexcept { std::atomic_ref(batches_).store(count, std::memory_order_relaxed); }

  std::uint32_t& batches_;
  const std::uint32_t begun_;
};

void end_program(Worker& w) {
  ++w.tally.ended;
  if (w.findings.error) [[unlikely]]
    w.findings.fail(w.node.rank(), std::exchange(w.findings.error, nullptr));
}

[[gnu::always_inline]] inline void resume(Node& node) {
  NodeAccess::wait(node) = Wait::none;
  NodeAccess::innermost(node).resume();
}

/// Resumes a program until its next wait.
[[gnu::always_inline]] inline void resume_until_wait(Node& node) {
  resume(node);
  while (NodeAccess::wait(node) == Wait::call) [[unlikely]] resume(node);
}

/// Gives a node its arrivals and resumes its program until its next wait. grouped: it sees its group as its machine.
template <bool grouped>
struct RunNode {
  RunState* run;
  Worker* worker;

  [[gnu::always_inline]] inline void operator()(Node& node, NodeId rank, ArrivedMessages& arrived) const {
    Worker& w = *worker;
    inbox::open(*run, w, rank, arrived);
    const Wait wait = NodeAccess::wait(node);
    if (wait == Wait::ended || (wait == Wait::arrival && arrived.size == 0)) return inbox::close(*run, w, arrived);
    running.arrivals = Arrivals(arrived.room.data(), arrived.size);
    running.node = &node;
    if constexpr (grouped) {
      const LocalArrivals local(*run, *run->members.groups(), w, rank, node, arrived);
      resume_until_wait(node);
    } else {
      resume_until_wait(node);
    }
    inbox::close(*run, w, arrived);
    switch (NodeAccess::wait(node)) {
      case Wait::step: outbox::activate(w, rank); break;
      case Wait::ended: end_program(w); break;
      default: break;
    }
  }
};

}  // namespace

StepRunner::StepRunner(const Machine& machine, const Placement& placement, const RunOptions& options, Fabric& fabric, Executor& executor,
                       Region<Node>& nodes)
    : machine_{machine},
      placement_{placement},
      seed_{options.seed},
      shuffled_{options.executor == ExecutorKind::shuffled},
      cache_{last_level_cache()},
      fabric_{fabric},
      executor_{executor},
      nodes_{nodes} {}

void StepRunner::run_step(std::uint64_t expected) {
  const Items items = items_of_step(expected);
  const unsigned called = executor_.worth(estimated_ns(expected));
  fabric_.run_by(called);
  if (called == 1)
    run_alone(items);
  else
    run_shared(items, called);
}

StepRunner::Items StepRunner::items_of_step(std::uint64_t expected) {
  fabric_.take_groups(groups_);
  // Few nodes in few groups are shared out one by one.
  const bool by_node = shuffled_ || (expected < 2048 && groups_.size() < std::size_t{8} * executor_.workers());
  if (!by_node) return {false, groups_.size(), max_batch_groups};
  single_nodes_ = take_nodes(groups_, room_for_nodes_);
  if (shuffled_) {
    std::mt19937_64 random(seed_ ^ (0x9E3779B97F4A7C15U * (fabric_.now() + 1)));
    std::shuffle(single_nodes_.begin(), single_nodes_.end(), random);
  }
  return {true, single_nodes_.size(), std::max<std::uint64_t>(1, single_nodes_.size())};
}

void StepRunner::run_alone(const Items& items) {
  Worker& w = fabric_.enter(0);
  failing(w, [&] {
    for (std::uint64_t item = 0; item < items.count; item += items.max_batch) {
      run_items(items.by_node, item, std::min(item + items.max_batch, items.count), w);
    }
  });
  fabric_.payload().copier.fence();
}

void StepRunner::run_shared(const Items& items, unsigned called) {
  const std::span<Worker> workers = std::span(fabric_.workers()).first(called);
  const std::uint64_t batches_each = items.by_node && placement_.longest() >= long_block ? 64 : 16;
  const std::uint64_t batch = std::clamp<std::uint64_t>(items.count / (workers.size() * batches_each), 1, items.max_batch);
  for (std::size_t i = 0; i < workers.size(); ++i)
    workers[i].share.items.assign(items.count * i / workers.size(), items.count * (i + 1) / workers.size());
  executor_.share(called, [&, by_node = items.by_node, batch](unsigned worker) {
    Worker& w = fabric_.enter(worker);
    failing(w, [&] {
      for (std::size_t i = 0; i < workers.size(); ++i) {  // its own share first
        Worker& owner = workers[(worker + i) % workers.size()];
        while (true) {
          const SharedRange<>::Piece piece = owner.share.items.take(batch);
          if (piece.empty()) break;
          run_items(by_node, piece.begin, piece.end, w);
        }
      }
    });
    fabric_.payload().copier.fence();
  });
}

/// What a step takes one worker, in nanoseconds. An estimate that affects only speed.
double StepRunner::estimated_ns(std::uint64_t nodes) const {
  const double ports = std::min<double>(machine_.ports, 8);
  const double copied =
      std::max(static_cast<double>(nodes) * ports * static_cast<double>(placement_.longest()), static_cast<double>(last_payload_));
  return static_cast<double>(nodes) * 100 + copied / 20;
}

/// Where the payload of the next step will not stay in the cache until its receivers send it on, it is stored past the cache. Personalised
/// blocks move on into slots that are in the cache anyway.
void StepRunner::carried(Bytes payload) {
  const double growth = last_payload_ > 0 ? std::max(1.0, static_cast<double>(payload) / static_cast<double>(last_payload_)) : 1.0;
  const bool leaves = placement_.one_block_a_bucket() && static_cast<double>(payload) * growth > static_cast<double>(cache_) / 2;
  fabric_.payload().copier.stream(leaves);
  last_payload_ = payload;
}

void StepRunner::run_items(bool by_node, std::uint64_t from, std::uint64_t to, Worker& w) {
  if (by_node) return run_nodes(single_nodes_.subspan(from, to - from), w);
  run_nodes(take_nodes({groups_.data() + from, to - from}, w.share.nodes), w);
}

/// The active nodes of some groups, ascending.
std::span<NodeId> StepRunner::take_nodes(std::span<const ActiveSet::Group> groups, std::vector<NodeId>& room) {
  ActiveSet& active = fabric_.active();
  room.resize(std::max(room.size(), groups.size() * ActiveSet::group_nodes));
  NodeId* end = room.data();
  for (const ActiveSet::Group group : groups) active.prefetch(group);
  for (const ActiveSet::Group group : groups) end = active.take_nodes(group, end);
  return {room.data(), end};
}

/// Runs nodes in order, and posts what they have sent.
void StepRunner::run_nodes(std::span<const NodeId> nodes, Worker& w) {
  const WorkerScope scope(w);
  const SeenByWatch seen(w);
  RunState& run = fabric_.run();
  if (run.members.groups() == nullptr) {
    inbox::run_in_stages(run, w, nodes, nodes_.data(), RunNode<false>{&run, &w});
  } else {
    inbox::run_in_stages(run, w, nodes, nodes_.data(), RunNode<true>{&run, &w});
  }
  outbox::finish(run, w);
}

}  // namespace torus::detail
