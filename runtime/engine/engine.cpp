#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <utility>

#include <torus/engine.hpp>

#include "runtime/engine/active_set.hpp"
#include "runtime/engine/arrival_flags.hpp"
#include "runtime/engine/auditor.hpp"
#include "runtime/engine/fabric.hpp"
#include "runtime/engine/inbox.hpp"
#include "runtime/engine/outbox.hpp"
#include "runtime/engine/region.hpp"
#include "runtime/engine/verifier.hpp"
#include "runtime/engine/worker.hpp"
#include "runtime/host/host_memory.hpp"

namespace torus {
namespace {

using detail::ActiveSet;
using detail::Fabric;
using detail::NodeDoor;
using detail::Worker;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

constexpr std::size_t most_named_waiters = 8;

/// Groups of nodes that a worker takes on at a time, at most.
constexpr std::uint64_t groups_at_once = 16;

/// Nodes that send blocks of so many bytes are taken on fewer at a time: with 16 parts of a step for each worker, the last one to end
/// copied alone for two per cent of the time.
constexpr Bytes long_block = 16384;

/// Lets this thread run nodes for a worker. Afterwards it goes on with what it ran before, if a program runs an engine of its own.
class RunningNodes {
 public:
  explicit RunningNodes(Worker& w) noexcept { detail::running.worker = &w; }
  RunningNodes(const RunningNodes&) = delete;
  RunningNodes& operator=(const RunningNodes&) = delete;
  ~RunningNodes() { detail::running = before_; }

 private:
  const detail::Running before_ = detail::running;
};

/// What no host has: products stop there, so that sums of a few of them do not overflow either.
constexpr Bytes out_of_reach = Bytes{1} << 60U;

Bytes times(Bytes a, Bytes b) noexcept {
  Bytes product = 0;
  return __builtin_mul_overflow(a, b, &product) ? out_of_reach : std::min(product, out_of_reach);
}

}  // namespace

MemoryEstimate estimate_memory(const Machine& machine, const Placement& placement, Bytes program_bytes, unsigned workers) {
  const Topology& topology = machine.topology;
  const Bytes nodes = topology.nodes();
  const Bytes slots = static_cast<Bytes>(topology.channel_slots());
  const Bytes blocks = std::max(placement.initial_total(), placement.wanted_total());
  const Bytes link = machine.contention == Contention::share ? detail::SharedLinks::bytes_each() : detail::ExclusiveLinks::bytes_each();
  constexpr Bytes usual_frame = 384;
  MemoryEstimate estimate;
  const Bytes longest = std::min(placement.longest(), out_of_reach);
  const Bytes block_slots = blocks + detail::SlotPool::spare_slots(blocks, longest, workers);
  estimate.payload = times(block_slots, detail::SlotPool::stride_for(longest));
  estimate.blocks = times(block_slots, detail::NodeTables::slot_overhead(placement)) +
                    times(nodes * detail::NodeTables::bucket_overhead, placement.buckets());
  estimate.nodes = nodes * (sizeof(Node) + usual_frame + slots * link + detail::ArrivalFlags::bytes_each(slots)) +
                   detail::ChannelTable::entries_for(machine) * sizeof(detail::ChannelEntry) +
                   2 * ActiveSet::bytes_for(topology.nodes(), workers);
  estimate.flight = 2 * (nodes * 64 + placement.initial_total() * 8);
  estimate.programs = std::min(program_bytes, out_of_reach);
  return estimate;
}

class Engine::Impl {
 public:
  Impl(const Machine& machine, const Placement& placement, RunOptions options)
      : machine_{machine},
        placement_{placement},
        options_{std::move(options)},
        topology_{machine_.topology},
        executor_{make_executor(options_.executor, options_.threads)},
        estimate_{estimate_memory(machine_, placement_, options_.program_bytes, executor_->workers())},
        limit_{options_.memory_limit > 0 ? options_.memory_limit : usable_memory()} {
    const Clock::time_point start = Clock::now();
    refuse_too_large();
    // Messages, and copies beyond those wanted: what the limit leaves, and a little where it leaves next to nothing.
    constexpr Bytes least_spare = Bytes{1} << 24U;
    const Bytes spare = std::min(limit_ - estimate_.total() + estimate_.flight + least_spare, out_of_reach);
    fabric_ = std::make_unique<Fabric>(machine_, placement_, spare, executor_->workers());
    nodes_ = detail::Region<Node>(topology_.nodes());
    world_ = {&machine_, fabric_.get(), 0};
    executor_->run([&](unsigned part) {
      fabric_->make(part, parts());
      for (NodeId rank = part_begin(part); rank < part_begin(part + 1); ++rank) {
        Node& node = *new (&nodes_[rank]) Node;
        NodeDoor::world(node) = &world_;
        NodeDoor::rank(node) = rank;
      }
    });
    fabric_->made();
    allocation_s_ = seconds_since(start);
  }

  ~Impl() { destroy_programs(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  RunResult run(const std::function<Program(Node&)>& start) {
    RunResult result;
    result.threads = parts();
    result.memory_bytes = estimate_.total();
    try {
      const Clock::time_point setup_start = Clock::now();
      prepare(start);
      result.setup_s = std::exchange(allocation_s_, 0) + seconds_since(setup_start);  // allocation counts once, in the first run
      const Clock::time_point run_start = Clock::now();
      emulate(result);
      result.run_s = seconds_since(run_start);
      total(result);
      if (result.violations.empty() && !result.interrupted && options_.verify) {
        const Clock::time_point verify_start = Clock::now();
        result.wrong = verify(placement_, fabric_->payload(), options_.seed, *executor_);
        result.verify_s = seconds_since(verify_start);
        result.verified = !result.wrong && !result.hang;
      }
    } catch (...) {
      destroy_programs();
      fabric_->sweep();
      throw;
    }
    destroy_programs();
    if (!result.violations.empty() || result.interrupted || result.hang) fabric_->sweep();
    return result;
  }

  std::span<const std::byte> bytes_of(NodeId node, BlockId id) const {
    return std::as_const(*fabric_).payload().bytes(placement_, node, id);
  }

 private:
  // ---- set-up ----

  unsigned parts() const noexcept { return executor_->workers(); }
  NodeId part_begin(unsigned part) const { return static_cast<NodeId>(std::uint64_t{topology_.nodes()} * part / parts()); }

  void refuse_too_large() const {
    if (estimate_.total() <= limit_) return;
    const std::uint64_t blocks = std::max<std::uint64_t>(1, std::max(placement_.initial_total(), placement_.wanted_total()));
    const Bytes rest = estimate_.total() - estimate_.payload;
    std::string text = "a run of " + std::to_string(topology_.nodes()) + " nodes and " + std::to_string(blocks) + " blocks of " +
                       std::to_string(placement_.longest()) + " bytes needs " + bytes_text(estimate_.total()) + " (blocks " +
                       bytes_text(estimate_.payload) + ", their bookkeeping " + bytes_text(estimate_.blocks) + ", nodes " +
                       bytes_text(estimate_.nodes) + ", messages " + bytes_text(estimate_.flight) + ", programs " +
                       bytes_text(estimate_.programs) + ") and " + bytes_text(limit_) + " may be used; ";
    if (const Bytes fitting = fitting_bytes(rest, blocks); fitting > 0) {
      text += "blocks of at most " + std::to_string(fitting) + " bytes would fit";
    } else {
      text += "choose a smaller shape: without any payload it needs " + bytes_text(rest);
    }
    throw InputError(text);
  }

  /// The longest blocks for which there is room beside `rest`; 0 if for none.
  Bytes fitting_bytes(Bytes rest, std::uint64_t blocks) const {
    if (rest >= limit_) return 0;
    Bytes fitting = 0;
    for (Bytes too_long = (limit_ - rest) / blocks + 1; too_long - fitting > 1;) {
      const Bytes bytes = fitting + (too_long - fitting) / 2;
      const std::uint64_t slots = blocks + detail::SlotPool::spare_slots(blocks, bytes, executor_->workers());
      (times(slots, detail::SlotPool::stride_for(bytes)) <= limit_ - rest ? fitting : too_long) = bytes;
    }
    return fitting;
  }

  void prepare(const std::function<Program(Node&)>& start) {
    fabric_->begin_run();
    world_.now = 0;
    world_.network = &fabric_->closed();
    last_payload_ = 0;
    executor_->run([&](unsigned part) { fabric_->clear_tables(part, parts()); });
    executor_->run([&](unsigned part) {
      Worker& w = fabric_->workers()[part];
      NodeId rank = part_begin(part);
      const RunningNodes running(w);
      try {
        for (; rank < part_begin(part + 1); ++rank) prepare_node(w, rank, start);
      } catch (...) {
        w.findings.fail(rank, std::current_exception());
      }
    });
    throw_failure();
    world_.network = fabric_.get();
  }

  void prepare_node(Worker& w, NodeId rank, const std::function<Program(Node&)>& start) {
    Node& node = nodes_[rank];
    fabric_->place_initial(w, rank, options_.seed);
    NodeDoor::wait(node) = Wait::none;
    NodeDoor::last_arrival(node) = 0;
    detail::running.node = &node;
    NodeDoor::innermost(node) = start(node).take();
  }

  void destroy_programs() noexcept {
    executor_->run([&](unsigned part) {
      const RunningNodes running(fabric_->workers()[part]);
      for (NodeId rank = part_begin(part); rank < part_begin(part + 1); ++rank) {
        if (!NodeDoor::innermost(nodes_[rank])) continue;
        detail::running.node = &nodes_[rank];
        detail::ProgramPromise::destroy();
      }
    });
  }

  // ---- the loop of steps ----

  void emulate(RunResult& result) {
    const std::uint64_t idle_limit = idle_steps_allowed();
    std::uint64_t idle = 0;
    std::uint64_t expected_active = topology_.nodes();
    std::optional<Step> last_traffic;
    while (true) {
      run_step(expected_active);
      if (gather_receives(result)) return;
      throw_failure();
      if (gather_violations(result)) return;
      StepRecord record = gather_record(result);
      expected_active = 0;
      std::uint64_t ended = 0;
      for (Worker& w : fabric_->workers()) {
        expected_active += std::exchange(w.tally.activated, 0);
        ended += w.tally.ended;
      }
      if (expected_active == 0) {  // nobody waits for the barrier and nothing crosses it
        if (ended < topology_.nodes()) result.hang = name_the_waiting(last_traffic, false);
        return;
      }
      if (record.messages > 0) cross_with_messages(record, result);
      result.step_records.push_back(record);
      if (options_.on_step) options_.on_step(fabric_->now());
      idle = record.messages > 0 ? 0 : idle + 1;
      if (record.messages > 0) last_traffic = fabric_->now();
      fabric_->begin_step();
      world_.now = fabric_->now();
      if (options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed)) {
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

  /// Steps without a message after which nodes that only pass barriers are taken to wait for ever.
  std::uint64_t idle_steps_allowed() const {
    if (options_.idle_steps > 0) return options_.idle_steps;
    std::uint64_t sides = 0;
    for (const DimensionShape& dimension : topology_.shape()) sides += static_cast<std::uint64_t>(dimension.extent);
    return 64 + 4 * sides;
  }

  /// Runs all active nodes once. `expected` is how many there are, or a few more.
  void run_step(std::uint64_t expected) {
    ActiveSet& active = fabric_->active();
    std::vector<Worker>& workers = fabric_->workers();
    active.take_groups(groups_);
    const bool shuffled = options_.executor == ExecutorKind::shuffled;
    // Few nodes in few groups are shared out singly.
    const bool by_node = shuffled || (expected < 2048 && groups_.size() < 8 * workers.size());
    if (by_node) {
      single_nodes_ = take_nodes(groups_, room_for_nodes_);
      if (shuffled) shuffle(single_nodes_);
    }
    const std::uint64_t items = by_node ? single_nodes_.size() : groups_.size();
    const std::uint64_t most = by_node ? std::max<std::uint64_t>(1, items) : groups_at_once;
    const bool alone = workers.size() == 1 || not_worth_a_barrier(expected);
    fabric_->run_alone(alone);
    if (alone) {
      failing(workers[0], [&] {
        for (std::uint64_t item = 0; item < items; item += most) run_items(by_node, item, std::min(item + most, items), workers[0]);
      });
      fabric_->payload().copier.fence();
      return;
    }
    const std::uint64_t parts_each = by_node && placement_.longest() >= long_block ? 64 : 16;
    const std::uint64_t batch = std::clamp<std::uint64_t>(items / (workers.size() * parts_each), 1, most);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      workers[i].share.cursor.store(items * i / workers.size(), std::memory_order_relaxed);
      workers[i].share.end = items * (i + 1) / workers.size();
    }
    executor_->share([&, by_node, batch](unsigned worker) {
      Worker& w = workers[worker];
      // First its own share, the same nodes in every step as long as all are active; then what the others have left.
      failing(w, [&] {
        for (std::size_t i = 0; i < workers.size(); ++i) {
          Worker& owner = workers[(worker + i) % workers.size()];
          while (true) {
            const std::uint64_t from = owner.share.cursor.fetch_add(batch, std::memory_order_relaxed);
            if (from >= owner.share.end) break;
            run_items(by_node, from, std::min(from + batch, owner.share.end), w);
          }
        }
      });
      fabric_->payload().copier.fence();
    });
  }

  /// Does a worker's part of a step. What is thrown there outside of programs (no memory for what they have sent) ends the run like what
  /// they throw.
  template <class F>
  static void failing(Worker& w, F&& part_of_step) noexcept {
    try {
      part_of_step();
    } catch (...) {
      w.findings.fail(w.node.rank(), std::current_exception());
    }
  }

  /// A step of a few microseconds is done before other workers have noticed it. Only a guess at speed: the result is the same.
  bool not_worth_a_barrier(std::uint64_t nodes) const {
    const double ports = std::min<double>(machine_.ports, 8);
    const double copied =
        std::max(static_cast<double>(nodes) * ports * static_cast<double>(placement_.longest()), static_cast<double>(last_payload_));
    return static_cast<double>(nodes) * 100 + copied / 20 < 8000;  // nanoseconds
  }

  void shuffle(std::span<NodeId> nodes) const {
    std::mt19937_64 random(options_.seed ^ (0x9E3779B97F4A7C15U * (fabric_->now() + 1)));
    std::shuffle(nodes.begin(), nodes.end(), random);
  }

  /// Runs some of the active nodes, or those of some groups.
  void run_items(bool by_node, std::uint64_t from, std::uint64_t to, Worker& w) {
    if (by_node) return run_nodes(single_nodes_.subspan(from, to - from), w);
    run_nodes(take_nodes({groups_.data() + from, to - from}, w.share.nodes), w);
  }

  /// The active nodes of some groups, ascending.
  std::span<NodeId> take_nodes(std::span<const ActiveSet::Group> groups, std::vector<NodeId>& room) {
    ActiveSet& active = fabric_->active();
    room.resize(std::max(room.size(), groups.size() * ActiveSet::group_nodes));
    NodeId* end = room.data();
    for (const ActiveSet::Group group : groups) active.prefetch(group);
    for (const ActiveSet::Group group : groups) end = active.take_nodes(group, end);
    return {room.data(), end};
  }

  /// Runs nodes in order.
  void run_nodes(std::span<const NodeId> nodes, Worker& w) {
    detail::RunState& run = fabric_->run();
    const RunningNodes running(w);
    detail::inbox::run_in_stages(run, w, nodes, nodes_.data(), [&run, &w](Node& node, NodeId rank, detail::ArrivedMessages& arrived) {
      run_node(run, w, node, rank, arrived);
    });
    detail::outbox::finish(run, w);
  }

  /// Gives a node what arrived for it and lets its program go on to its next wait.
  [[gnu::always_inline]] static void run_node(detail::RunState& run, Worker& w, Node& node, NodeId rank, detail::ArrivedMessages& arrived) {
    detail::inbox::open(run, w, rank, arrived);
    const Wait wait = NodeDoor::wait(node);
    if (wait == Wait::ended || (wait == Wait::arrival && arrived.size == 0)) return detail::inbox::close(run, w, arrived);
    detail::running.arrivals = Arrivals(arrived.room.data(), arrived.size);
    detail::running.node = &node;
    resume(node);
    while (NodeDoor::wait(node) == Wait::call) [[unlikely]] resume(node);
    detail::inbox::close(run, w, arrived);
    switch (NodeDoor::wait(node)) {
      case Wait::step: detail::outbox::activate(w, rank); break;
      case Wait::ended: end_program(node, w); break;
      default: break;
    }
  }

  [[gnu::always_inline]] static void resume(Node& node) {
    NodeDoor::wait(node) = Wait::none;
    NodeDoor::innermost(node).resume();
  }

  static void end_program(const Node& node, Worker& w) {
    ++w.tally.ended;
    if (w.findings.error) [[unlikely]]
      w.findings.fail(node.rank(), std::exchange(w.findings.error, nullptr));
  }

  // ---- at the barrier ----

  void throw_failure() {
    const detail::Findings* first = nullptr;
    for (const Worker& w : fabric_->workers()) {
      const detail::Findings& found = w.findings;
      if (found.failure && (first == nullptr || found.failed_node < first->failed_node)) first = &found;
    }
    if (first != nullptr) std::rethrow_exception(first->failure);
    if (fabric_->out_of_memory()) {
      throw RunError("step " + std::to_string(fabric_->now()) +
                     ": a send found no room within the memory limit, and its program went on; raise --memory");
    }
  }

  /// True if a node has more messages of the last step than ports, which is seen when it runs: the violations are then in the result. To be
  /// asked before what was thrown meanwhile is: that is of a later step.
  bool gather_receives(RunResult& result) {
    const std::vector<Worker>& workers = fabric_->workers();
    if (std::none_of(workers.begin(), workers.end(), [](const Worker& w) { return w.findings.suspect_receives; })) return false;
    report_violations(audit(machine_, fabric_->messages_of(fabric_->now() - 1)), result);
    return true;
  }

  /// True if a message of this step breaks a rule: the violations are then in the result.
  bool gather_violations(RunResult& result) {
    const std::vector<Worker>& workers = fabric_->workers();
    if (std::none_of(workers.begin(), workers.end(), [](const Worker& w) { return w.findings.suspect; })) return false;
    Violations found = audit(machine_, fabric_->messages_of(fabric_->now()));
    for (const Worker& w : workers) found.add(w.findings.violations);
    report_violations(found, result);
    return true;
  }

  void report_violations(const Violations& found, RunResult& result) const {
    if (found.empty()) {
      throw RunError("step " + std::to_string(fabric_->now()) +
                     ": a message was not delivered although it breaks no rule; this is an error of the engine");
    }
    result.violations = found.told();
    result.violations_found = found.found();
  }

  StepRecord gather_record(RunResult& result) {
    StepRecord record;
    NodeId phase_node = 0;
    for (Worker& w : fabric_->workers()) {
      detail::Tally& tally = w.tally;
      StepRecord part = std::exchange(tally.step, {});
      const std::uint64_t singles = std::exchange(tally.single_blocks, 0);
      part.messages += singles;
      part.bytes += singles * placement_.longest();
      if (singles > 0) part.most_bytes = std::max(part.most_bytes, placement_.longest());
      result.blocks_delivered += singles + std::exchange(tally.blocks, 0);
      result.bytes_hops += part.bytes + std::exchange(tally.further_bytes_hops, 0);
      result.trace_digest += std::exchange(tally.digest, 0);
      record.messages += part.messages;
      record.control_messages += part.control_messages;
      record.hops += part.messages + std::exchange(tally.further_hops, 0);
      record.bytes += part.bytes;
      record.payload_bytes += part.bytes - sizeof(Word) * std::exchange(tally.header_words, 0);
      record.most_bytes = std::max(record.most_bytes, part.most_bytes);
      record.longest_route = std::max(record.longest_route, part.longest_route);
      if (part.phase != nullptr && (record.phase == nullptr || tally.phase_node < phase_node)) {
        record.phase = part.phase;
        phase_node = tally.phase_node;
      }
    }
    if (record.messages > 0) record.longest_route = std::max(record.longest_route, 1U);
    expect_payload(record.payload_bytes);
    return record;
  }

  /// Guesses what the next step carries, from this and the last one, and has it stored past the caches where it would not stay in them
  /// until its receivers send it on. Where it would, the next step's copies read it there. Personalised blocks move on into slots that are
  /// in the cache anyway.
  void expect_payload(Bytes carried) {
    const double growth = last_payload_ > 0 ? std::max(1.0, static_cast<double>(carried) / static_cast<double>(last_payload_)) : 1.0;
    const bool leaves = placement_.one_block_a_bucket() && static_cast<double>(carried) * growth > static_cast<double>(cache_) / 2;
    fabric_->payload().copier.stream(leaves);
    last_payload_ = carried;
  }

  void cross_with_messages(StepRecord& record, RunResult& result) {
    std::uint64_t load = 1;
    if (fabric_->shares_channels() || options_.on_messages) {
      const std::vector<const Message*> messages = fabric_->messages_of(fabric_->now());
      if (fabric_->shares_channels()) load = fabric_->share_channels(messages, record);
      if (options_.on_messages) options_.on_messages(messages);
    }
    result.max_channel_load = std::max(result.max_channel_load, load);
  }

  Hang name_the_waiting(std::optional<Step> last_traffic, bool stepping) {
    Hang hang;
    hang.last_traffic = last_traffic;
    hang.stepping = stepping;
    for (NodeId rank = 0; rank < topology_.nodes(); ++rank) {
      Node& node = nodes_[rank];
      if (NodeDoor::wait(node) == Wait::ended) continue;
      if (++hang.nodes > most_named_waiters) continue;
      const Step last = NodeDoor::last_arrival(node);
      hang.first.push_back({rank, NodeDoor::wait(node), last == 0 ? std::nullopt : std::optional<Step>(last - 1)});
    }
    return hang;
  }

  // ---- the sums ----

  void total(RunResult& result) const {
    result.steps = result.step_records.size();
    for (const StepRecord& record : result.step_records) {
      result.busy_steps += record.messages > 0 ? 1 : 0;
      result.messages += record.messages;
      result.control_messages += record.control_messages;
      result.hops += record.hops;
      result.bytes_delivered += record.payload_bytes;
      result.control_bytes += record.bytes - record.payload_bytes;
      result.channel_bytes_sum += record.most_bytes;
      result.model_time_s += machine_.cost.step(record.most_bytes, record.longest_route);
    }
    for (const Worker& w : fabric_->workers()) result.duplicates += w.tally.duplicates;
    std::vector<detail::ChannelUse> uses(parts());
    executor_->run([&](unsigned part) { uses[part] = fabric_->channel_use(part, parts()); });
    detail::ChannelUse use;
    for (const detail::ChannelUse& each : uses) {
      use.used += each.used;
      use.bytes += each.bytes;
      use.most_bytes = std::max(use.most_bytes, each.most_bytes);
    }
    const auto channels = static_cast<double>(std::max<std::uint64_t>(1, topology_.channels()));
    result.channel_bytes_max = use.most_bytes;
    result.channel_bytes_mean = static_cast<double>(use.bytes) / channels;
    result.channel_idle_share = 1 - static_cast<double>(use.used) / channels;
  }

  const Machine machine_;
  const Placement placement_;
  RunOptions options_;
  const Topology& topology_;
  std::unique_ptr<Executor> executor_;
  const MemoryEstimate estimate_;
  const Bytes limit_;
  const Bytes cache_ = last_level_cache();
  double allocation_s_ = 0;

  std::unique_ptr<Fabric> fabric_;
  detail::Region<Node> nodes_;
  detail::World world_;
  Bytes last_payload_ = 0;                // of the step before
  std::vector<ActiveSet::Group> groups_;  // of the present step, if nodes are shared out in groups
  std::span<NodeId> single_nodes_;        // of the present step, if singly
  std::vector<NodeId> room_for_nodes_;
};

Engine::Engine(const Machine& machine, const Placement& placement, RunOptions options)
    : impl_{std::make_unique<Impl>(machine, placement, std::move(options))} {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
RunResult Engine::run(const std::function<Program(Node&)>& start) { return impl_->run(start); }
std::span<const std::byte> Engine::bytes(NodeId node, BlockId id) const { return impl_->bytes_of(node, id); }

}  // namespace torus
