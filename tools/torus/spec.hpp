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

#include "tools/torus/presets.hpp"

namespace torus::command {

/// The options of a run as typed; empty: left out.
struct TypedOptions {
  std::optional<std::string> machine, on, ports, switching, contention, routing, algorithm, bytes, sources, seed, expect;
  std::optional<std::string> start_up, byte_time, bandwidth, hop_time, combine_time;
  std::optional<std::string> op, type;
  std::optional<std::string> dead_links, random_dead_links, dead_nodes, slow_links;
  std::optional<std::string> executor, threads, memory, plan_time;
  std::map<std::string, std::optional<std::string>, std::less<>> parameters;  ///< by name: "segments"

  /// Name and value of all that decides what a run reports: everything but the algorithm and the limits on
  /// memory and planning.
  std::vector<std::pair<std::string, std::string>> typed() const;
};

/// The same, parsed. What was left out has its default, or none where the default depends on the algorithm.
struct RunSpec {
  Collective collective = Collective::broadcast;
  Topology shape;
  const Preset* preset = nullptr;  ///< the machine that was named, if any: its ports and costs are the defaults
  std::optional<int> ports = {};   ///< 0: all
  std::optional<Switching> switching = {};
  std::optional<Contention> contention = {};
  std::vector<Dimension> routing = {};
  CostModel cost = {};
  Bytes bytes = 0;
  std::optional<std::string> sources = {};  ///< as typed: which nodes they are depends on shape and seed
  Reduction reduction = {};
  std::uint64_t seed = 1;
  Parameters parameters = {};
  std::optional<double> expected_sources = {};
  ExecutorKind executor = default_executor;
  unsigned threads = 0;                     ///< 0: the host's cores
  Bytes memory = 0;                         ///< of a process; 0: what the engine takes by itself
  unsigned processes = 1;                   ///< that do the run together
  std::optional<double> plan_limit_s = {};  ///< planning an algorithm may take so long
};

/// A parameter of some algorithms, as the option `--name` of the command.
struct ParameterOption {
  std::string_view name, meaning;
  std::vector<std::string_view> words;    ///< the values that some algorithm reads; empty: whole numbers
  std::vector<std::string_view> readers;  ///< names of the algorithms
};
/// All parameters that these algorithms declare, those of one collective or of all.
std::vector<ParameterOption> parameter_options(std::span<const Algorithm* const> algorithms,
                                               std::optional<Collective> collective = std::nullopt);

/// "broadcast", or as MPI calls it: "bcast". Throws InputError if there is no such collective.
Collective parse_collective(std::string_view text);
std::optional<Collective> find_collective(std::string_view text) noexcept;
/// "Bcast".
std::string_view mpi_name(Collective collective) noexcept;

/// The shape and bytes that a collective is run with by default.
std::string_view default_shape(Collective collective) noexcept;
Bytes default_bytes(Collective collective) noexcept;

/// Throws InputError where the collective carries no bytes, and some are asked for by --bytes, in these words.
void check_carries(Collective collective, Bytes bytes, std::string_view text);

/// The sizes of a table: those that --bytes names, or else the default. A barrier has the one size 0, and takes no other.
std::vector<Bytes> sizes_of(Collective collective, const std::optional<std::string>& typed, std::string_view otherwise);

/// Throws InputError on the first option that cannot be read or does not belong to the collective.
RunSpec parse_spec(Collective collective, const TypedOptions& options);

/// The shape with the faults that the options name. Random ones follow from the seed. Throws InputError.
Topology with_faults(const Topology& shape, const TypedOptions& options, std::uint64_t seed);

/// The machine; a preset and then `native` fill what the options leave open. Throws InputError where the shape has no such ports or
/// routing, or the preset no such shape.
Machine make_machine(const RunSpec& spec, const NativeMachine& native);

/// The request. Sources that are named are also those that predictions expect, unless --expect says otherwise. Throws InputError.
Request make_request(const RunSpec& spec);
/// The same. Throws InputError, before the sources are listed, if no algorithm can have the memory for it.
Request make_fitting_request(const RunSpec& spec);

/// The same ports, switching and contention.
bool same_rules(const Machine& a, const Machine& b) noexcept;
/// "wormhole, 4 ports, contention forbid".
std::string rules_text(const Machine& machine);
/// "16x16 (wormhole, 4 ports, contention forbid)".
std::string machine_text(const Machine& machine);

/// The algorithm of that name. Throws InputError that says what may have been meant.
const Algorithm& named_algorithm(std::string_view option, Collective collective, std::string_view wanted,
                                 std::span<const Algorithm* const> algorithms);

/// `all`, or names with commas between; in the order of the catalogue, which settles ties.
std::vector<const Algorithm*> parse_algorithms(std::string_view option, std::string_view text, Collective collective,
                                               std::span<const Algorithm* const> algorithms);

/// The algorithms of a collective, or those of a name; all where no word is given. Throws InputError "option 'word': rule", with what may
/// have been meant.
std::vector<const Algorithm*> algorithms_called(std::string_view option, const std::optional<std::string>& word, std::string_view rule);

}  // namespace torus::command
