/// What a run is asked to be: the options as typed, and what they mean. They are parsed once, here.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/executor.hpp>
#include <torus/groups.hpp>

#include "tools/torus/machines/presets.hpp"
#include "tools/torus/setting/names.hpp"

namespace torus::command {

/// The options of a run as typed, by name: "on" for --on, "segments" for a parameter. What is left out has no value.
class TypedOptions {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  std::optional<std::string>& operator[](std::string_view name);
  const std::optional<std::string>& operator[](std::string_view name) const;

  /// Name and value of all that decides what a run reports: everything but the algorithm and the limits on memory and planning; or with
  /// these.
  Pairs typed(bool with_limits = false) const;
  /// The parameters of algorithms.
  Pairs parameters() const;

 private:
  std::map<std::string, std::optional<std::string>, std::less<>> values_;
};

/// What decides which algorithm is taken where none is named.
enum class ChooseBy { model_time, run_time };

/// A setting as asked for, parsed. What was left out has its default, or none where the default depends on the algorithm.
struct RunSpec {
  Collective collective = Collective::broadcast;
  Topology shape;                               ///< of the whole machine
  std::optional<std::string> groups_text = {};  ///< as typed
  std::optional<std::string> map = {};          ///< of the ranks, as typed; none: rank r is node r
  std::optional<Groups> groups = {};            ///< of the shape, or all its ranks where there is a map; the first class of them
  std::vector<Groups> other_classes = {};       ///< of the groups in which something else is dead or slow
  const Preset* preset = nullptr;               ///< the machine that was named, if any: its ports and costs are the defaults
  std::optional<int> ports = {};                ///< 0: all
  std::optional<Switching> switching = {};
  std::optional<Contention> contention = {};
  std::vector<Dimension> routing = {};
  CostModel cost = {};
  Bytes bytes = 0;
  std::optional<std::string> sources = {};  ///< as typed: which nodes they are depends on shape and seed
  std::optional<SizeRule> sizes = {};       ///< of blocks; then `bytes` is their mean
  Reduction reduction = {};
  std::uint64_t seed = 1;
  Parameters parameters = {};
  std::optional<std::string> schedule = {};  ///< a file of another program that is played, instead of an algorithm
  std::optional<double> expected_sources = {};
  std::optional<ChooseBy> choose_by = {};  ///< none was typed: by model time
  ExecutorKind executor = default_executor;
  unsigned threads = 0;                     ///< 0: the host's cores
  Bytes memory = 0;                         ///< of a process; 0: what the engine takes by itself
  unsigned processes = 1;                   ///< that do the run together
  std::optional<double> plan_limit_s = {};  ///< planning an algorithm may take so long
  std::optional<double> step_limit_s = {};  ///< a node's program may take so long in a step
};

/// Throws InputError where the collective carries no bytes, and some are asked for by --bytes, in these words.
void check_carries(Collective collective, Bytes bytes, std::string_view text);

/// The sizes of a table: those that --bytes names, or else the default. A barrier has the one size 0, and takes no other. Where --sizes
/// says the mean by itself, that alone.
std::vector<Bytes> table_sizes(Collective collective, const std::optional<std::string>& typed, std::string_view otherwise,
                               const TypedOptions& options);

/// The rule of --sizes. Throws InputError where the collective has no blocks of different sizes, or where --bytes, if it is given, says a
/// mean that the rule says by itself.
SizeRule parse_size_rule(Collective collective, std::string_view text, const std::optional<std::string>& bytes);
/// Throws InputError on the first option that cannot be read or does not belong to the collective.
RunSpec parse_spec(Collective collective, const TypedOptions& typed);

/// Throws InputError: the option is for other collectives, its owners.
[[noreturn]] void refuse_foreign(Collective collective, std::string_view option, std::string_view value, const std::string& owners);
/// Throws it where the collective is none of the owners.
void check_owned(Collective collective, std::string_view option, std::string_view value, bool (*owns)(const CollectiveFacts&));

/// What an algorithm sees of the shape: that of a group, where there are groups.
inline const Topology& seen_shape(const RunSpec& spec) noexcept { return spec.groups ? spec.groups->topology() : spec.shape; }
/// Throws InputError if groups are asked for: `what`, such as "torus explain", does not know them.
void refuse_groups(const std::optional<std::string>& groups, std::string_view what);
/// Makes the groups of the shape, or lays its ranks out by the map. To be called again where the shape changes. Throws InputError.
void place_groups(RunSpec& spec);
/// "group 3", or "groups like 3": those of a class.
std::string class_text(const Groups& groups);
/// The number of groups, of all classes together.
NodeId group_count(const RunSpec& spec);
/// The spec for a class of its groups alone.
RunSpec spec_of_class(const RunSpec& spec, const Groups& groups);
/// Has a file played, whose ranks are its own matter. None: nothing is changed.
void play(RunSpec& spec, const std::optional<std::string>& schedule);

/// The machine that an algorithm sees: the whole one, or that of a group. A preset and then `native` fill what the options leave open;
/// where hops of groups may be several of the machine, worms and shared channels do. Throws InputError where the shape has no such ports or
/// routing, the preset no such shape, or the machine no such groups.
Machine make_machine(const RunSpec& spec, const NativeMachine& native);

/// The request, of each group where there are groups. Sources that are named are also those that predictions expect, unless --expect says
/// otherwise. Throws InputError.
Request make_request(const RunSpec& spec);
/// The same. Throws InputError, before the sources are listed, if no algorithm can have the memory for it.
Request make_fitting_request(const RunSpec& spec);

/// The same ports, switching and contention.
bool same_rules(const Machine& a, const Machine& b) noexcept;
/// "wormhole, 4 ports, contention forbid".
std::string rules_text(const Machine& machine);
/// "16x16 (wormhole, 4 ports, contention forbid)".
std::string machine_text(const Machine& machine);

}  // namespace torus::command
