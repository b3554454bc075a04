/// torus optimum: the fewest steps in which a machine can do its collectives, proven.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/optimum/search.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/traces/imported.hpp"

namespace torus::command {
namespace {

/// The options of a machine that decide how few steps do. The shape is the argument.
constexpr std::array<std::string_view, 7> taken{"ports", "switching", "routing", "dead-link", "dead-node", "dead-links", "seed"};

struct OptimumArguments {
  std::string shape;
  TypedOptions setting;
  std::optional<std::string> seconds, conflicts, proof, gossip, broadcast;
  bool json = false;
};

/// A number, what needs so many steps, and the files that show it.
struct NumberShown {
  std::string_view name, collectives;
  Collective played;
  const Fewest& fewest;
  const std::optional<std::string>& trace;
  std::string proof = {};  ///< the path without its ending, where a proof was written

  std::string number() const {
    if (fewest.proven()) return counted(fewest.at_least, "step") + ", proven";
    return fewest.at_most ? fmt::format("{} to {} steps", fewest.at_least, *fewest.at_most)
                          : fmt::format("{} or more", counted(fewest.at_least, "step"));
  }
};

/// The name of what its traces show.
const Algorithm fewest_algorithm{.name = "fewest-steps", .collective = Collective::broadcast};

void write_schedule(const RunSpec& spec, const Machine& machine, const NumberShown& part) {
  if (!part.trace) return;
  if (!part.fewest.at_most) throw RunError(fmt::format("{}: no schedule was found in that time; a larger --seconds may do", part.name));
  Request request = make_request(spec);
  request.collective = part.played;
  request.bytes = 8;
  if (part.played == Collective::broadcast) request.sources = {part.fewest.root};
  Setting setting = open_setting(machine, request, spec);
  setting.algorithm = &fewest_algorithm;
  write_trace(*part.trace, setting, optimum::played(machine, part.fewest.steps, part.played, part.fewest.root), fewest_algorithm.name);
}

/// The formula and its refutation, which is checked first. Returns whether there is one.
bool write_proof(const std::string& path, const Fewest& fewest) {
  if (!fewest.impossible) return false;
  const Impossible& impossible = *fewest.impossible;
  if (const std::string wrong = optimum::refutation_error(impossible.formula, impossible.proof); !wrong.empty())
    throw RunError(fmt::format("the proof that {} steps are impossible does not hold: {}", impossible.steps, wrong));
  for (const auto& [ending, text] : {std::pair(".cnf", impossible.formula.dimacs()), std::pair(".drat", impossible.proof)}) {
    OutputFile file(path + ending);
    file.write(text);
    file.commit();
  }
  return true;
}

std::string to_text(const Machine& machine, const std::vector<NumberShown>& parts) {
  Rows rows{{"machine", machine_text(machine)}};
  for (const NumberShown& part : parts) {
    rows.emplace_back(part.name, fmt::format("{}: {}", part.number(), part.collectives));
    rows.emplace_back("", fmt::format("at least {}: {}", part.fewest.at_least, part.fewest.reason));
    if (part.name == "gossip" && part.trace && !part.fewest.once)
      rows.emplace_back("", "of them, the all-reduce needs several partials at a node: the schedule plays the others");
    if (!part.proof.empty())
      rows.emplace_back("",
                        fmt::format("{0}.cnf: {1} steps as a formula of {2}; {0}.drat: its refutation, checked", part.proof,
                                    part.fewest.impossible->steps, counted(part.fewest.impossible->formula.clauses().size(), "clause")));
    if (part.trace) rows.emplace_back("", fmt::format("{}: a schedule, as {}", *part.trace, name(part.played)));
  }
  return aligned(rows);
}

Json to_json(const Machine& machine, const std::vector<NumberShown>& parts) {
  Json json{{"shape", machine.topology.text()},
            {"nodes", machine.topology.nodes()},
            {"ports", machine.ports},
            {"switching", name(machine.switching)}};
  for (const NumberShown& part : parts) {
    Json entry{{"steps_min", part.fewest.at_least}, {"proven", part.fewest.proven()}, {"reason", part.fewest.reason}};
    if (part.fewest.at_most) entry["steps_max"] = *part.fewest.at_most;
    if (part.played == Collective::broadcast) entry["root"] = part.fewest.root;
    if (!part.proof.empty()) entry["proof"] = part.proof;
    json[part.name] = std::move(entry);
  }
  return json;
}

int run_optimum(OptimumArguments& arguments) {
  arguments.setting["on"] = arguments.shape;
  const RunSpec spec = parse_spec(Collective::multinode_broadcast, arguments.setting);
  const Machine machine = make_machine(spec, NativeMachine{});
  constexpr NodeId most_nodes = 128;
  if (machine.topology.nodes() > most_nodes)
    throw InputError(fmt::format("{}: it has {}; up to {} are tried, for instance 4x4", arguments.shape,
                                 counted(machine.topology.nodes(), "node"), most_nodes));
  SolverLimit limit{.seconds = 20};
  if (arguments.seconds) limit.seconds = parse_real("--seconds", *arguments.seconds, 0.001, 1e6, "60");
  if (arguments.conflicts) {
    limit.conflicts = static_cast<int>(parse_whole("--conflicts", *arguments.conflicts, 1, 2'000'000'000));
    if (!arguments.seconds) limit.seconds.reset();
  }
  const Optimum found = fewest_steps(machine, limit, {.proof = arguments.proof.has_value(), .once = arguments.gossip.has_value()});
  std::vector<NumberShown> parts{{"broadcast", "broadcast and scatter; reduce and gather, with worms in the opposite order of dimensions",
                                  Collective::broadcast, found.broadcast, arguments.broadcast},
                                 {"gossip", "all-gather, total exchange, reduce-scatter, all-reduce, barrier",
                                  Collective::multinode_broadcast, found.gossip, arguments.gossip}};
  for (NumberShown& part : parts) {
    if (arguments.proof && write_proof(fmt::format("{}.{}", *arguments.proof, part.name), part.fewest))
      part.proof = fmt::format("{}.{}", *arguments.proof, part.name);
    write_schedule(spec, machine, part);
  }
  answer(
      arguments.json, [&] { return to_json(machine, parts); }, [&] { return to_text(machine, parts); });
  return 0;
}

}  // namespace

Command optimum_command() {
  const auto arguments = std::make_shared<OptimumArguments>();
  Command command{.help = "The fewest steps in which a small machine can do its collectives, proven"};
  command.require("shape", "SHAPE", &arguments->shape, "of up to 128 nodes, as --on has it: 4x4, mesh:3x4");
  for (const SettingOption& option : setting_options()) {
    if (std::find(taken.begin(), taken.end(), option.name) != taken.end())
      command.add(std::string(option.spelled), std::string(option.type), &arguments->setting[option.name], option.help);
  }
  command.describe("--switching", "default wormhole", "packet|wormhole");
  command.add("--seconds", "S", &arguments->seconds, "for each question to the solver; default 20");
  command.add("--conflicts", "N", &arguments->conflicts, "the same as a number of the solver's conflicts: the same answer everywhere");
  command.add_output("--gossip", ".jsonl", &arguments->gossip,
                     "write the schedule of an all-gather, which `torus run` plays as others, too");
  command.add_output("--broadcast", ".jsonl", &arguments->broadcast, "the same of a broadcast");
  command.add("--proof", "NAME", &arguments->proof, "write NAME.gossip.cnf, NAME.gossip.drat, and of broadcast: why no step less does");
  command.more_files = [arguments] {
    std::vector<NamedFile> files;
    if (!arguments->proof) return files;
    for (const char* end : {".broadcast.cnf", ".broadcast.drat", ".gossip.cnf", ".gossip.drat"}) {
      const std::string ending = std::string(end).substr(std::string_view(end).rfind('.'));
      files.push_back({"--proof", *arguments->proof + end, ending});
    }
    return files;
  };
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.body = [arguments] { return run_optimum(*arguments); };
  return command;
}

}  // namespace torus::command
