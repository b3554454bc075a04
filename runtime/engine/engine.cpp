#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/engine.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "runtime/base/region.hpp"
#include "runtime/engine/barrier.hpp"
#include "runtime/engine/estimate.hpp"
#include "runtime/engine/fabric.hpp"
#include "runtime/engine/idle_steps.hpp"
#include "runtime/engine/ledger.hpp"
#include "runtime/engine/members.hpp"
#include "runtime/engine/network/group_network.hpp"
#include "runtime/engine/processes/accord.hpp"
#include "runtime/engine/processes/slab.hpp"
#include "runtime/engine/processes/together.hpp"
#include "runtime/engine/rules/average.hpp"
#include "runtime/engine/rules/injector.hpp"
#include "runtime/engine/rules/verifier.hpp"
#include "runtime/engine/step_runner.hpp"
#include "runtime/engine/watch.hpp"

namespace torus {
namespace {

using detail::Barrier;
using detail::Fabric;
using detail::NodeAccess;
using detail::StepCounts;
using detail::Worker;
using detail::WorkerScope;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr std::size_t max_named_waiters = 8;

/// The placement, if it was made for the nodes of this topology, the machine's or a group's.
const Placement& fitting(const Placement& placement, const Topology& topology, const char* what) {
  const NodeId nodes = topology.nodes();
  if (placement.nodes() == nodes) return placement;
  throw InputError("a placement for " + counted(placement.nodes(), "node") + " on a " + what + " of " + counted(nodes, "node") + " (" +
                   topology.text() + "): make the placement from the " + what + "'s topology");
}

/// Returns the executor's threads at the end of a scope.
class ExecutorLease {
 public:
  explicit ExecutorLease(Executor& executor) noexcept : executor_{executor} {}
  ExecutorLease(const ExecutorLease&) = delete;
  ExecutorLease& operator=(const ExecutorLease&) = delete;
  ~ExecutorLease() { executor_.release(); }

 private:
  Executor& executor_;
};

}  // namespace

class Engine::Impl {
 public:
  Impl(const Machine& machine, std::optional<Groups> groups, const Placement& placement, RunOptions options)
      : machine_{machine},
        groups_{std::move(groups)},
        placement_{groups_ ? fitting(placement, groups_->topology(), "group") : fitting(placement, machine.topology, "machine")},
        members_(machine_, placement_, groups_ ? &*groups_ : nullptr),
        options_{std::move(options)},
        topology_{machine_.topology},
        processes_{options_.processes != nullptr && options_.processes->count() > 1 ? options_.processes : nullptr},
        slab_{processes_ != nullptr ? detail::Slab(topology_, processes_->count(), processes_->self()) : detail::Slab(topology_)} {
    if (!is_reporter()) options_.on_fault = nullptr;
    if (processes_ != nullptr) detail::check_same(*processes_, machine_, members_, options_);
    if (options_.fault && options_.fault->node >= topology_.nodes()) {
      throw InputError("a fault at node " + std::to_string(options_.fault->node) + ": " + topology_.text() + " has nodes 0 to " +
                       std::to_string(topology_.nodes() - 1));
    }
    detail::run_on_all(processes_, [this] { allocate(); });
    memory_of_all_ = estimate_.total();
    if (processes_ != nullptr) {
      const std::vector<Bytes> each = detail::exchange_each(*processes_, estimate_.total());
      memory_of_all_ = std::accumulate(each.begin(), each.end(), Bytes{0});
    }
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  RunResult run(const std::function<Program(Node&)>& program) {
    TORUS_ASSERT(!running_ && "one run at a time, and not from within a program of the same engine");
    running_ = true;
    const ExecutorLease lease(*executor_);
    RunResult result;
    result.processes = slab_.processes();
    result.memory_bytes = memory_of_all_;
    try {
      const Clock::time_point setup_start = Clock::now();
      prepare(program);
      result.setup_s = std::exchange(allocation_s_, 0) + seconds_since(setup_start);  // allocation counts once, in the first run
      const Clock::time_point run_start = Clock::now();
      {
        const detail::Watched watched(options_.watch, fabric_->workers());
        emulate(result);
      }
      if (injector_) result.fault = injector_->record();
      if (placement_.reduces() && result.violations.empty() && !result.interrupted && !result.hang)
        detail::divide_averages(members_, fabric_->payload(), *executor_);
      result.run_s = seconds_since(run_start);
      result.threads = executor_->threads();
      close(result);
      result.used_bytes = used();
      if (result.violations.empty() && !result.interrupted && options_.verify) {
        const Clock::time_point verify_start = Clock::now();
        check_bytes(result);
        result.verify_s = seconds_since(verify_start);
        result.verified = !result.wrong && !result.hang;
      }
    } catch (...) {
      end_run(false);
      throw;
    }
    end_run(result.violations.empty() && !result.interrupted && !result.hang);
    return result;
  }

  std::span<const std::byte> bytes_of(NodeId node, BlockId id) const {
    TORUS_ASSERT(node < topology_.nodes());
    if (!slab_.owns(node)) return {};
    return std::as_const(*fabric_).payload().bytes(placement_, node, id);
  }

  std::span<const std::byte> bytes_of(const Message& m, std::size_t i) const {
    TORUS_ASSERT(i < m.blocks().size() && processes_ == nullptr);
    return {std::as_const(*fabric_).payload().slots.at(detail::MessageArena::slot(m, i)),
            static_cast<std::size_t>(placement_.bytes(m.blocks()[i]))};
  }

 private:
  unsigned parts() const noexcept { return executor_->workers(); }
  NodeId part_begin(unsigned part) const { return slab_.part_begin(part, parts()); }
  /// What carries the messages of running nodes.
  detail::Network* network() noexcept { return group_network_ ? static_cast<detail::Network*>(&*group_network_) : &*fabric_; }
  /// Whether this process reports on the run: it calls the functions of the options.
  bool is_reporter() const noexcept { return slab_.self() == 0; }

  /// What this process's nodes take one thread, in nanoseconds, at `each` a node. An estimate that affects only speed.
  double nodes_ns(double each) const { return static_cast<double>(slab_.nodes()) * each; }

  void allocate() {
    const Clock::time_point start = Clock::now();
    executor_ = make_executor(options_.executor, options_.threads, options_.fewer_threads_do || options_.threads == 0);
    estimate_ = detail::estimate_of(machine_, members_, slab_, options_.program_memory, parts());
    const Bytes limit = options_.memory_limit > 0 ? options_.memory_limit : usable_memory(estimate_.total());
    detail::refuse_too_large(estimate_, limit, machine_, members_, slab_, parts());
    const ExecutorLease lease(*executor_);
    fabric_.emplace(machine_, members_, slab_, detail::spare_bytes(estimate_, limit), parts(), options_.keep_memory.get());
    if (groups_) group_network_.emplace(*fabric_, *groups_);
    nodes_ = detail::Region<Node>(topology_.nodes());
    world_ = {&members_.seen(), network(), 0};
    executor_->run(nodes_ns(200) + static_cast<double>(estimate_.total()) / 8, [&](unsigned part) {
      fabric_->make(part, parts());
      for (NodeId rank = part_begin(part); rank < part_begin(part + 1); ++rank) {
        Node& node = *new (&nodes_[rank]) Node;
        NodeAccess::world(node) = &world_;
        NodeAccess::rank(node) = members_.local(rank);
      }
    });
    fabric_->made();
    step_runner_.emplace(machine_, placement_, options_, *fabric_, *executor_, nodes_);
    ledger_.emplace(machine_, members_, *fabric_);
    if (processes_ != nullptr)
      barrier_ = std::make_unique<detail::Accord>(*processes_, *fabric_, *ledger_);
    else
      barrier_ = std::make_unique<detail::LocalBarrier>(*fabric_, *ledger_);
    allocation_s_ = seconds_since(start);
  }

  void prepare(const std::function<Program(Node&)>& program) {
    fabric_->begin_run();
    step_runner_->begin_run();
    ledger_->begin_run();
    barrier_->begin_run(options_.on_messages != nullptr, program);
    injector_.reset();
    if (options_.fault) injector_.emplace(*options_.fault, *fabric_, nodes_, processes_, options_.on_fault);
    world_.now = 0;
    world_.network = &fabric_->closed();
    executor_->run(nodes_ns(20), [&](unsigned part) { fabric_->clear_tables(part, parts()); });
    executor_->run(nodes_ns(200) + detail::ns_for_blocks(members_.initial_total(), placement_.longest()), [&](unsigned part) {
      Worker& w = fabric_->workers()[part];
      NodeId rank = part_begin(part);
      const WorkerScope scope(w);
      try {
        for (; rank < part_begin(part + 1); ++rank) prepare_node(w, rank, program);
      } catch (...) {
        w.findings.fail(rank, std::current_exception());
      }
    });
    barrier_->throw_failure(std::nullopt);
    world_.network = network();
  }

  void prepare_node(Worker& w, NodeId rank, const std::function<Program(Node&)>& program) {
    Node& node = nodes_[rank];
    if (!members_.takes_part(rank)) {
      NodeAccess::wait(node) = Wait::ended;
      return;
    }
    fabric_->place_initial(w, rank, options_.seed);
    NodeAccess::wait(node) = Wait::none;
    NodeAccess::last_arrival(node) = 0;
    detail::running.node = &node;
    w.node.step_and_source = detail::MessageArena::step_and_source(0, rank);  // where a crash is
    NodeAccess::innermost(node) = program(node).take();
  }

  /// What is used: the part of the estimate that depends on the run is counted.
  Bytes used() const noexcept {
    const Bytes programs_estimated = Bytes{slab_.nodes()} * options_.program_memory.node;
    Bytes bytes = estimate_.payload + estimate_.blocks + estimate_.nodes - programs_estimated + fabric_->payload().beyond_expected();
    for (const Worker& w : fabric_->workers()) bytes += w.used();
    return bytes;
  }

  /// clean: all programs have ended by themselves, and nothing is in flight.
  void end_run(bool clean) noexcept {
    destroy_programs();
    if (!clean) fabric_->sweep();
    running_ = false;
  }

  void destroy_programs() noexcept {
    world_.network = &fabric_->ended();  // their locals' destructors may still call their nodes
    executor_->run(nodes_ns(20), [&](unsigned part) {
      const WorkerScope scope(fabric_->workers()[part]);
      for (NodeId rank = part_begin(part); rank < part_begin(part + 1); ++rank) {
        if (!NodeAccess::innermost(nodes_[rank])) continue;
        detail::running.node = &nodes_[rank];
        detail::ProgramPromise::destroy();
      }
    });
  }

  /// The loop of steps.
  void emulate(RunResult& result) {
    const std::uint64_t idle_limit = options_.idle_steps > 0 ? options_.idle_steps : detail::usual_idle_steps(topology_);
    std::uint64_t idle = 0;
    Barrier::LocalCounts local{slab_.nodes(), 0};
    std::optional<Step> last_traffic;
    while (true) {
      step_runner_->run_step(local.active);
      StepCounts counts = ledger_->count();
      if (barrier_->end_step(counts, local, asked_to_stop(), result)) return;
      ledger_->book(counts, result);
      StepRecord& record = counts.record;  // not a copy, which would wait for the stores of its fields
      step_runner_->carried(local.payload);
      const bool over = counts.in_flight == 0;  // no node waits for the barrier, and no message crosses it
      if (over && !(injector_ && injector_->pending())) {
        if (counts.ended < members_.running()) result.hang = name_the_waiting(last_traffic, false);
        return;
      }
      if (record.messages > 0) cross_with_messages(record, result);
      ledger_->add(record, result);
      if (options_.on_step) options_.on_step(fabric_->now());
      idle = record.messages > 0 ? 0 : idle + 1;
      if (record.messages > 0) last_traffic = fabric_->now();
      fabric_->begin_step();
      world_.now = fabric_->now();
      if (injector_) [[unlikely]]
        local.active += injector_->begin_step();
      if (barrier_->stopped(asked_to_stop())) {
        result.interrupted = true;
        return;
      }
      if (idle > idle_limit) {
        result.hang = name_the_waiting(last_traffic, true);
        return;
      }
      if (world_.now == std::numeric_limits<Step>::max() / 2) throw RunError("a run of more than 2^31 steps");
    }
  }

  bool asked_to_stop() const noexcept { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }

  void close(RunResult& result) {
    detail::Ledger::Totals totals = ledger_->totals(*executor_);
    barrier_->gather(totals);
    ledger_->close(totals, result);
  }

  void check_bytes(RunResult& result) {
    gather_wrong(result, [&] { return verify(members_, fabric_->payload(), options_.seed, *executor_, result.error_ulp); });
    if (result.error_ulp) barrier_->gather(*result.error_ulp);
    if (result.wrong || !detail::must_agree(placement_)) return;
    std::vector<std::uint64_t> agreed;
    detail::run_on_all(processes_, [&] { agreed = detail::agreed_hashes(members_, fabric_->payload()); });
    barrier_->gather(agreed);
    gather_wrong(result, [&] { return detail::first_disagreement(members_, fabric_->payload(), agreed, *executor_); });
  }

  /// find: the first mistake of this process.
  void gather_wrong(RunResult& result, const std::function<std::optional<WrongDelivery>()>& find) {
    detail::run_on_all(processes_, [&] { result.wrong = find(); });
    if (result.wrong && groups_) result.wrong->place_in(*groups_);
    barrier_->gather(result.wrong, placement_.reduces());
  }

  void cross_with_messages(StepRecord& record, RunResult& result) {
    ledger_->note_channels(barrier_->load(), record, result);
    if (options_.on_phase && is_reporter() && record.phase != nullptr) options_.on_phase(record.phase);
    if (!barrier_->observed()) return;
    const std::span<const Message* const> messages = barrier_->all_messages();
    if (options_.on_messages && is_reporter()) options_.on_messages(messages);
  }

  Hang name_the_waiting(std::optional<Step> last_traffic, bool stepping) {
    Hang hang;
    hang.last_traffic = last_traffic;
    hang.stepping = stepping;
    for (NodeId rank = slab_.begin(); rank < slab_.end(); ++rank) {
      Node& node = nodes_[rank];
      if (NodeAccess::wait(node) == Wait::ended) continue;
      if (++hang.nodes > max_named_waiters) continue;
      const Step last = NodeAccess::last_arrival(node);
      hang.first.push_back({rank, NodeAccess::wait(node), last == 0 ? std::nullopt : std::optional<Step>(last - 1)});
    }
    barrier_->gather(hang, max_named_waiters);
    return hang;
  }

  const Machine machine_;
  const std::optional<Groups> groups_;  // none: all nodes are one
  const Placement placement_;           // of the machine's nodes, or of a group's
  const detail::Members members_;
  RunOptions options_;
  const Topology& topology_;
  Processes* const processes_;  // null: this one alone
  const detail::Slab slab_;
  std::unique_ptr<Executor> executor_;
  MemoryEstimate estimate_;
  Bytes memory_of_all_ = 0;
  double allocation_s_ = 0;
  bool running_ = false;

  std::optional<Fabric> fabric_;
  std::optional<detail::GroupNetwork> group_network_;  // where there are groups
  detail::Region<Node> nodes_;
  detail::World world_;
  std::optional<detail::StepRunner> step_runner_;
  std::optional<detail::Ledger> ledger_;
  std::unique_ptr<Barrier> barrier_;
  std::optional<detail::Injector> injector_;  // of a run with a fault
};

std::shared_ptr<detail::KeptPages> kept_memory() { return std::make_shared<detail::KeptPages>(); }

Engine::Engine(const Machine& machine, const Placement& placement, RunOptions options)
    : impl_{std::make_unique<Impl>(machine, std::nullopt, placement, std::move(options))} {}
Engine::Engine(const Machine& machine, const Groups& groups, const Placement& placement, RunOptions options)
    : impl_{std::make_unique<Impl>(machine, groups, placement, std::move(options))} {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
RunResult Engine::run(const std::function<Program(Node&)>& program) { return impl_->run(program); }
std::span<const std::byte> Engine::bytes(NodeId node, BlockId id) const { return impl_->bytes_of(node, id); }
std::span<const std::byte> Engine::bytes(const Message& message, std::size_t i) const { return impl_->bytes_of(message, i); }

}  // namespace torus
