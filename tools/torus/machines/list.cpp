/// torus list: every algorithm, what it needs and what it promises; on a machine, which apply and why the others do not.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <span>
#include <utility>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/papers/references.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"

namespace torus::command {
namespace {

struct ListArguments {
  std::optional<std::string> what;
  TypedOptions machine;
  bool machines = false;
  bool json = false;
};

/// Machines of --machine, with the source of each figure.
std::string machines_text(std::span<const Preset> machines) {
  std::string text;
  for (const Preset& preset : machines) {
    text += fmt::format("{:<12}{}\n", preset.name, preset.title);
    text += fmt::format("{:12}shape {}: {} ({})\n", "", preset.shape, preset.rule, torus::command::text(preset.shapes));
    text += fmt::format("{:12}{} ports of {} ({})\n", "", preset.ports, speed_text(preset), torus::command::text(preset.speed));
    text += fmt::format("{:12}T_s {} ({})\n", "", seconds_text(preset.start_up_s), torus::command::text(preset.start_up));
  }
  text += fmt::format("\nOn one of them:\n  {0} compare allreduce --machine {1} --run none\n  {0} bounds allreduce --machine {1}\n",
                      program(), machines.front().name);
  return text;
}

Json machines_json(std::span<const Preset> machines) {
  Json json = Json::array();
  for (const Preset& preset : machines) {
    json.push_back({{"machine", preset.name},
                    {"title", preset.title},
                    {"shape", preset.shape},
                    {"shape_rule", preset.rule},
                    {"shapes_from", torus::command::text(preset.shapes)},
                    {"ports", preset.ports},
                    {"bytes_per_s", preset.bytes_per_s},
                    {"speed_from", torus::command::text(preset.speed)},
                    {"ts_s", preset.start_up_s},
                    {"start_up_from", torus::command::text(preset.start_up)}});
  }
  return json;
}

/// Why an algorithm does not run on the machine that was typed, with one block from one source; none if it does.
std::optional<std::string> why_not_on(const TypedOptions& options, const Algorithm& algorithm) {
  TypedOptions asked = options;
  if (facts_of(algorithm.collective).combines) asked["type"] = "f64";  // there is no --type: one whose sums are exact on every machine
  const RunSpec spec = parse_spec(algorithm.collective, asked);
  Request request;
  request.collective = algorithm.collective;
  request.bytes = spec.bytes;
  request.reduction = spec.reduction;
  request.sources = {0};
  return why_not_here(algorithm, open_setting(make_machine(spec, algorithm.native), std::move(request), spec));
}

/// An own algorithm need not say everything.
std::string_view said(std::string_view words) { return words.empty() ? "not said" : words; }

/// Three lines: as columns of a table the longest formulas would leave no room for the rest.
std::string in_words(const Algorithm& algorithm) {
  return fmt::format("  {:<23} {}{}; ports: {}; shapes: {}\n{:26}steps: {}\n{:26}source: {}\n", algorithm.name,
                     name(algorithm.native.switching), algorithm.native.contention == Contention::share ? ", channels shared" : "",
                     ports_text(algorithm), said(algorithm.shapes), "", said(algorithm.steps), "", said(algorithm.source));
}

/// What else there is to say of one algorithm: its papers, its parameters, and the command that runs it.
std::string in_detail(const Algorithm& algorithm) {
  std::string text;
  for (const Reference* reference : references_of(algorithm)) text += fmt::format("{:26}paper: {}\n", "", reference->text());
  for (const Parameter& parameter : algorithm.parameters) {
    text += fmt::format("{:26}--{} {}: {}\n", "", parameter.name,
                        parameter.words.empty() ? "N" : fmt::format("{}", fmt::join(parameter.words, "|")), parameter.meaning);
  }
  return text + fmt::format("{:26}{} run {} --algorithm {} --steps\n", "", program(), name(algorithm.collective), algorithm.name);
}

/// The algorithms of a collective, of a name, or that cite a paper with the word in its authors, title or year; all without a word.
std::vector<const Algorithm*> listed(const std::optional<std::string>& what) {
  std::vector<const Algorithm*> citing;
  for (const Algorithm* algorithm : catalogue()) {
    const auto has_word = [&](const Reference* each) { return std::ranges::count(references_of(*algorithm), each) > 0; };
    if (what && !find_collective(*what) && std::ranges::any_of(references_with(*what), has_word)) citing.push_back(algorithm);
  }
  const bool named = !what || std::ranges::any_of(catalogue(), [&](const Algorithm* each) { return each->name == *what; });
  if (!named && !citing.empty()) return citing;
  return algorithms_called("list", what,
                           "it must be a collective, an algorithm that `torus list` names, or of a paper that `torus paper` names");
}

int list(const ListArguments& arguments) {
  if (arguments.machines) {
    if (!arguments.machine.typed().empty()) throw InputError("--machines: it lists machines; leave out the rest");
    const std::span<const Preset> machines = arguments.what ? std::span(&preset_called(*arguments.what), 1) : presets();
    answer(
        arguments.json,
        [&] {
          return Json{{"machines", machines_json(machines)}};
        },
        [&] { return machines_text(machines); });
    return 0;
  }
  const auto is_machine = [&](const Preset& preset) { return preset.name == arguments.what; };
  if (std::ranges::any_of(presets(), is_machine))
    throw InputError(fmt::format("list '{0}': it is a machine; write {1} list --machines {0}", *arguments.what, program()));
  if (arguments.what == "machines") throw InputError("list 'machines': it is an option; write torus list --machines");
  const std::vector<const Algorithm*> algorithms = listed(arguments.what);
  const bool on_machine = !arguments.machine.typed().empty();
  const bool one = arguments.what && !find_collective(*arguments.what);
  Json json{{"algorithms", Json::array()}};
  std::string text;
  std::optional<Collective> last;
  for (const Algorithm* algorithm : algorithms) {
    const Collective collective = algorithm->collective;
    if (last != collective) text += fmt::format("{}{} (MPI: {})\n", last ? "\n" : "", name(collective), facts_of(collective).mpi);
    last = collective;
    Json entry{{"collective", name(collective)},
               {"mpi", facts_of(collective).mpi},
               {"algorithm", algorithm->name},
               {"switching", name(algorithm->native.switching)},
               {"contention", name(algorithm->native.contention)},
               {"ports", ports_text(*algorithm)},
               {"shapes", algorithm->shapes},
               {"steps", algorithm->steps},
               {"source", algorithm->source}};
    if (on_machine) {
      const std::optional<std::string> why_not = why_not_on(arguments.machine, *algorithm);
      entry["applies"] = !why_not;
      if (why_not) entry["why_not"] = *why_not;
      text += fmt::format("  {:<23} {}\n", algorithm->name, why_not.value_or(fmt::format("applies; steps: {}", said(algorithm->steps))));
    } else {
      text += in_words(*algorithm) + (one ? in_detail(*algorithm) : "");
    }
    entry["references"] = Json::array();
    for (const Reference* reference : references_of(*algorithm)) entry["references"].push_back(Json(reference->text()));
    json["algorithms"].push_back(std::move(entry));
  }
  answer(
      arguments.json, [&] { return json; }, [&] { return text; });
  return 0;
}

}  // namespace

Command list_command() {
  const auto arguments = std::make_shared<ListArguments>();
  Command command{.help = "Every algorithm: the machine it needs, the shapes it covers, its steps, its source"};
  command.add("what", "COLLECTIVE|ALGORITHM|PAPER|MACHINE", &arguments->what,
              "only those of a collective, an algorithm by name, with its parameters, or those of a paper by author, title or year; with "
              "--machines, one machine");
  add_options(command, OptionGroup::machine, arguments->machine);
  command.footer = "With a machine, says of each algorithm whether it applies there, or why not: torus list --on 6x4 --ports 2";
  command.add("--machines", "", &arguments->machines, "the machines that --machine knows, with the sources of their figures");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.body = [arguments] { return list(*arguments); };
  return command;
}

}  // namespace torus::command
