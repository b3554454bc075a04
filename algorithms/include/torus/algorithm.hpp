/// What an algorithm is: its requirements, its program and its predictions.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/byte_sum.hpp>
#include <torus/collective.hpp>
#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/node.hpp>
#include <torus/placement.hpp>
#include <torus/plan_cache.hpp>
#include <torus/program.hpp>
#include <torus/reduction.hpp>
#include <torus/requirements.hpp>
#include <torus/sizes.hpp>

namespace torus {

/// What sizes are multiples of: an element of a reduction, else a byte.
Bytes unit_of(Collective collective, const Reduction& reduction) noexcept;

/// The collective operation that is wanted, apart from the machine.
struct Request {
  Collective collective = Collective::broadcast;
  /// Ascending; where facts_of(collective).names_sources(), or the sizes are of_sources; ignored else (all nodes).
  std::vector<NodeId> sources;
  /// What the count of the MPI call says: facts_of(collective).unit.
  Bytes bytes = 0;
  Reduction reduction = {};  ///< where facts_of(collective).combines

  Parameters parameters;                   ///< that the algorithm declares: "segments", "h", ..
  std::optional<double> expected_sources;  ///< how many sources the predictions assume; programs never see it
  /// Sizes that differ, as of MPI's Alltoallv: where facts_of(collective).takes_sizes(). `bytes` is then their mean, rounded up. Programs
  /// that are not made for it never see it, and send blocks of no bytes as well.
  std::optional<SizeRule> sizes = {};

  /// Whether `sources` say who has blocks in a total exchange.
  bool exchanges_of_sources() const noexcept { return sizes && sizes->of_sources; }
  /// Whether `sources`, which may be several, are the nodes that have blocks.
  bool from_sources() const noexcept { return facts_of(collective).from_sources() || exchanges_of_sources(); }
  /// The rule of the sizes, as SizeRule::parse() has read it; empty: none.
  std::string_view size_rule() const noexcept { return sizes ? std::string_view(sizes->text) : std::string_view(); }
};

/// The sizes of a request that has a rule for them. Throws InputError.
Sizes sizes_of(NodeId nodes, const Request& request);

/// What an observer found: counts by part of the machine, before a phase and after it.
struct Observation {
  std::string name;                   ///< as a JSON key: "blocks_per_ddn"
  std::string title;                  ///< for people: "blocks a DDN"
  std::uint32_t h = 0;                ///< the partition; as many counts
  std::vector<std::uint64_t> before;  ///< by part
  std::vector<std::uint64_t> after;
};

/// Follows the messages of one run, for figures that only its algorithm can interpret.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// The messages of a step, in the order of the trace. Steps without messages may be left out.
  virtual void step(std::span<const Message* const> messages) = 0;
  /// Called once, after the run.
  virtual std::vector<Observation> finish() = 0;
};

/// What an algorithm will do for a request on a machine: its program and its predictions. A plan without a formula predicts nothing; its
/// runs are then held only to the rules of the machine, the bytes that must arrive and the lower bounds.
struct Plan {
  /// Makes a node's program. Called once a node, and for a few to measure frames. All nodes share what it captures, which outlives the run.
  std::function<Program(Node&)> start = {};
  std::uint32_t segments = 1;   ///< blocks that each source's message, or the request's bytes, are split into
  std::uint32_t registers = 1;  ///< partials of a segment that a node holds, in reductions
  /// Blocks that all nodes together hold and have on their way at once, at most, beyond those of the placement: copies of what a node
  /// keeps, or of what their receiver has. For the estimate of memory.
  std::uint64_t copies = 0;
  std::uint64_t steps = 0;                           ///< scheduled steps, by the paper's formula
  bool steps_exact = true;                           ///< false: at most so many
  bool bytes_exact = true;                           ///< false: channel_bytes and combined_bytes are upper limits, whatever steps_exact
  std::optional<std::uint64_t> steps_estimate = {};  ///< where that limit is far above the steps of a run: about so many
  std::string formula = {};                          ///< as text: "k*ceil(log_{2k+1} n)+(k-1)"; empty: nothing is predicted
  ByteSum channel_bytes = 0;                         ///< predicted sum over the steps of the most bytes on a channel
  ByteSum combined_bytes = 0;                        ///< the same of the most bytes that a node combines, in reductions
  /// Predicted sum over the steps of the byte terms (machine.hpp), of channels that differ in speed. Without it channel_bytes at the T_c of
  /// the slowest channel are a limit.
  std::optional<double> channel_time_s = {};
  /// Sum over the steps of the hops of the longest route, where the algorithm's own theory states it. Else a dry run counts the hops.
  std::optional<std::uint64_t> route_hops = {};
  Bytes table_bytes = 0;  ///< tables made by plan() and shared by all nodes
  /// At most, of a node's program beside the blocks and its own frame, which is measured: of the programs that it calls, and of its lists.
  Bytes node_bytes = 0;
  /// At most, of the messages that a node sends in two successive steps, on average over the nodes. A short message takes 64 bytes.
  Bytes message_bytes = 128;
  std::vector<std::pair<std::string, std::string>> notes = {};  ///< rows for the report: ("h", "5")
  /// Makes an observer of a run; none: there is nothing to observe.
  std::function<std::unique_ptr<RunObserver>()> observe = {};

  /// Whether it says steps, channel bytes and, with the hops, the model time. If not, those members mean nothing.
  bool predicts() const noexcept { return !formula.empty(); }
  /// Whether a run's steps are as predicted: exactly, or at most as many. The same of its bytes.
  bool agrees(std::uint64_t taken, std::uint64_t predicted) const noexcept { return steps_exact ? taken == predicted : taken <= predicted; }
  bool bytes_agree(double taken, double predicted) const noexcept {
    return steps_exact && bytes_exact ? taken == predicted : taken <= predicted;
  }
  /// The same of byte terms, which are sums of doubles.
  bool byte_terms_agree(double taken_s, double predicted_s) const noexcept {
    constexpr double rounding = 1e-9;
    return taken_s <= predicted_s * (1 + rounding) && (!steps_exact || !bytes_exact || taken_s >= predicted_s * (1 - rounding));
  }
  /// The steps of a run, exactly or about.
  std::uint64_t likely_steps() const noexcept { return steps_estimate.value_or(steps); }
  double model_time_s(const CostModel& cost) const noexcept {
    return cost.timed_steps(static_cast<double>(likely_steps()), channel_time_s.value_or(channel_bytes * cost.byte_s),
                            static_cast<double>(route_hops.value_or(0)), combined_bytes);
  }
};

/// The minimal machine that an algorithm is designed for: the default where a caller leaves settings open.
struct NativeMachine {
  Switching switching = Switching::wormhole;
  Contention contention = Contention::forbid;
  int ports = 0;  ///< 0: all
};

/// Plans for an algorithm that is made while the program runs: of a file, for instance. It must outlive all who plan.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  virtual Plan plan(const Machine& machine, const Request& request) const = 0;
};

/// How an algorithm plans: a function of the machine and the request. One that searches may keep what it finds in a cache, which does not
/// change the plan.
class Planner {
 public:
  using Plain = Plan (*)(const Machine& machine, const Request& request);
  using Searching = Plan (*)(const Machine& machine, const Request& request, PlanCache& cache);

  constexpr Planner(std::nullptr_t = nullptr) noexcept {}
  /// A function, or a lambda that captures nothing.
  template <std::convertible_to<Plain> F>
  constexpr Planner(F function) noexcept : plain_{function} {}
  template <std::convertible_to<Searching> F>
  constexpr Planner(F function) noexcept : searching_{function} {}

  constexpr Planner(const PlanSource& source) noexcept : source_{&source} {}

  Plan operator()(const Machine& machine, const Request& request, PlanCache& cache) const {
    if (source_ != nullptr) return source_->plan(machine, request);
    return plain_ != nullptr ? plain_(machine, request) : searching_(machine, request, cache);
  }
  /// The same with an empty cache.
  Plan operator()(const Machine& machine, const Request& request) const {
    PlanCache cache;
    return (*this)(machine, request, cache);
  }
  /// Whether it keeps what it finds, which took a search.
  constexpr bool searches() const noexcept { return searching_ != nullptr; }
  friend constexpr bool operator==(const Planner& planner, std::nullptr_t) noexcept {
    return planner.plain_ == nullptr && planner.searching_ == nullptr && planner.source_ == nullptr;
  }

 private:
  Plain plain_ = nullptr;
  Searching searching_ = nullptr;
  const PlanSource* source_ = nullptr;
};

/// A name that an earlier release gave to an algorithm, or to one of its variants.
struct FormerName {
  std::string_view name;             ///< "tree-mst"
  std::string_view parameters = {};  ///< as options of the command: "--along mst"
};

/// Why an algorithm works, for who learns it: plain sentences, without formulas.
struct Idea {
  std::string_view first = {};  ///< what moves first
  std::string_view then = {};   ///< what moves then
  std::string_view good = {};   ///< what that is good for, and what it costs

  constexpr bool said() const noexcept { return !first.empty(); }
};

/// A symbol of a formula in words.
struct Term {
  std::string_view symbol;   ///< "K"
  std::string_view meaning;  ///< "segments that go down each tree"
};

/// What is known of an algorithm's plans before one is made.
struct Offer {
  std::uint64_t steps = 0;  ///< that no plan is under, where that is more than Bounds say
  Bytes step_bytes = 0;     ///< that pass some channel in each step, at least
  bool slow = false;        ///< planning takes seconds: the command plans it where it is named, or where no other applies
};

struct Algorithm {
  std::string_view name;  ///< "wang-tseng"
  Collective collective;
  std::string_view source = {};      ///< paper, section, theorem
  std::string_view shapes = {};      ///< in words: "torus n x .. x n, any n, any k"
  std::string_view steps = {};       ///< in words: "k ceil(log_{2k+1} n) + k-1"
  Idea idea = {};                    ///< what `torus explain` says first
  std::span<const Term> terms = {};  ///< symbols of its formulas, where terms_of() does not know them or says something else
  NativeMachine native = {};
  Requirements needs = {};
  std::span<const Parameter> parameters = {};  ///< that it reads; it refuses all others
  /// What no field of Requirements states: the first rule that is broken, or none. Called only where `needs` and the parameters' domains
  /// hold. Cheap.
  std::optional<Refusal> (*also_requires)(const Machine& machine, const Request& request) = nullptr;
  /// For machines and requests that are not refused. May compute tables; the time counts as set-up.
  /// Errors: std::bad_alloc where there is no room for the tables. A plan that searches (its header says so) throws InputError or RunError,
  /// of one line, if it finds nothing.
  Planner plan = nullptr;
  /// Where planning may take longer than a short run: the command plans such an algorithm after the others, and not where this says that
  /// it cannot win. Cheap.
  Offer (*offer)(const Machine& machine, const Request& request) = nullptr;
  /// Memory that plan() takes at most, where that grows with the nodes and shapes are not refused for it.
  Bytes (*planning_bytes)(const Machine& machine) = nullptr;

  std::span<const FormerName> former_names = {};

  bool reads(std::string_view parameter) const noexcept;
};

/// Why an algorithm does not apply: the first of its requirements, the domains of its parameters and its own rules that does not hold; none
/// if it applies. With all that the refusal suggests, the algorithm applies; where a few corrections find no such values, it suggests
/// nothing. Cheap.
std::optional<Refusal> refuses(const Algorithm& algorithm, const Machine& machine, const Request& request);
/// The same as a line of text; empty if it applies.
std::string why_not(const Algorithm& algorithm, const Machine& machine, const Request& request);

/// "all", "one", "3 or more", "any": the ports that an algorithm uses.
std::string ports_text(const Algorithm& algorithm);

/// Where all nodes of a request's blocks start and end.
Placement placement_of(const Machine& machine, const Request& request, const Plan& plan);
/// The bytes of each block by its number, as a trace lists them; none unless the request has sizes.
std::vector<Bytes> sizes_of_blocks(const Machine& machine, const Request& request, const Plan& plan);

}  // namespace torus
