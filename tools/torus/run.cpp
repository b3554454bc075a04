/// torus run COLLECTIVE: one run, verified, with its report.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include <torus/error.hpp>

#include "runtime/model/figures.hpp"
#include "runtime/trace/output_file.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/emulation.hpp"
#include "tools/torus/fault_option.hpp"
#include "tools/torus/harmless.hpp"
#include "tools/torus/interrupt.hpp"
#include "tools/torus/job.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/refusals.hpp"
#include "tools/torus/report.hpp"
#include "tools/torus/setting_options.hpp"
#include "tools/torus/step_table.hpp"
#include "tools/torus/subcommands.hpp"
#include "tools/torus/view.hpp"

namespace torus::command {
namespace {

struct RunArguments {
  std::string collective;
  TypedOptions setting;
  std::optional<std::string> trace, csv, view, repeat, digest, fault;
  bool judge = false;
  bool steps = false;
  bool json = false;
};

std::uint64_t parse_digest(const std::string& text) {
  std::uint64_t digest = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digest, 16);
  if (text.size() != 16 || error != std::errc{} || end != text.data() + text.size()) {
    throw InputError(fmt::format(
        "--digest '{}': a trace digest is 16 hexadecimal digits, as a report prints them; for instance 00c0ffee00c0ffee", text));
  }
  return digest;
}

int run(const RunArguments& arguments) {
  const Collective collective = parse_collective(arguments.collective);
  const Setting setting = make_setting(parse_spec(collective, arguments.setting), arguments.setting.algorithm, catalogue());
  Progress progress;
  EmulationOptions options;
  options.trace = arguments.trace;
  options.judge = arguments.judge;
  options.stop = &interrupted();
  if (arguments.repeat) options.repeat = static_cast<unsigned>(parse_whole("--repeat", *arguments.repeat, 1, 1000000));
  if (arguments.fault) options.fault = parse_fault(*arguments.fault, setting);
  if (arguments.digest) options.digest = parse_digest(*arguments.digest);
  if (options.repeat > 1 && (options.trace || arguments.steps || arguments.view)) {
    const std::string_view option = options.trace ? "--trace" : arguments.steps ? "--steps" : "--view";
    throw InputError(fmt::format("--repeat {}: a run whose messages are looked at, by {}, is no timed run; leave out --repeat or {}",
                                 options.repeat, option, option));
  }
  options.processes = processes();
  refuse_one_file_for_two("--trace", arguments.trace, "--csv", arguments.csv, ".csv");
  refuse_one_file_for_two("--trace", arguments.trace, "--view", arguments.view, ".html");
  refuse_one_file_for_two("--csv", arguments.csv, "--view", arguments.view, ".html");
  std::optional<OutputFile> csv;
  if (arguments.csv) csv.emplace(*arguments.csv);
  std::optional<OutputFile> page;
  if (arguments.view) page.emplace(*arguments.view);
  options.on_step = [&](Step step) {
    if (!progress.due()) return;
    const std::uint64_t steps = std::max<std::uint64_t>(setting.plan.likely_steps(), step);
    progress.show(
        fmt::format("step {} of {} ({} %)", grouped(step), grouped(steps), 100 * std::uint64_t{step} / std::max<std::uint64_t>(steps, 1)));
  };

  std::optional<StepTable> steps;
  if (arguments.steps) steps.emplace(setting);
  std::optional<View> view;
  if (arguments.view) view.emplace(header_of(setting));
  if (steps || view) {
    options.on_messages = [&](std::span<const Message* const> messages) {
      if (steps) steps->step(messages);
      if (view) view->step(messages);
    };
  }

  std::optional<FaultRecord> struck;
  options.on_fault = [&](const FaultRecord& record) { struck = record; };
  Emulation emulation = [&] {
    try {
      return emulate(setting, options);
    } catch (const RunError& error) {  // there is no report
      if (!struck) throw;
      throw RunError(
          fmt::format("{}; the fault: {} (--fault {})", error.what(), struck->text, fault_text(as_struck(*options.fault, *struck))));
    }
  }();
  if (struck) {
    const torus::Fault fault = as_struck(*options.fault, *struck);
    emulation.fault_option = fault_text(fault);
    if (emulation.result.verified && !emulation.failure && !emulation.interrupted)
      emulation.harmless = why_harmless(setting, fault, *struck).text;
  }
  if (options.fault && !emulation.result.fault && !emulation.failure && !emulation.interrupted) {
    emulation.failure = fmt::format("--fault '{}': there was nothing to strike; --trace shows what nodes send, and when", *arguments.fault);
  }
  progress.clear();
  if (csv && !emulation.interrupted) {
    const CsvLines lines = to_csv(setting, emulation);
    csv->write(lines.names + lines.values);
    csv->commit();
  }
  if (view && !emulation.interrupted) {
    view->name_phases(emulation.result);
    page->write(view->page());
    page->commit();
  }
  if (arguments.json) {
    nlohmann::ordered_json json = to_json(setting, emulation);
    if (steps) json["step_table"] = steps->json(emulation.result);
    print(json.dump() + "\n");
  } else {
    print(to_table(setting, emulation) + (steps ? steps->text(emulation.result) : ""));
  }
  if (!emulation.failure) return 0;
  throw RunError(*emulation.failure);
}

}  // namespace

Subcommand add_run(CLI::App& torus) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* app = torus.add_subcommand("run", "Run a collective, check every step, verify every byte, report");
  add_collective(*app, arguments->collective);
  app->add_option("--algorithm", arguments->setting.algorithm,
                  "see `torus list`; default: the applicable one with the minimum predicted model time")
      ->type_name("ALGORITHM");
  add_machine_options(*app, arguments->setting);
  add_request_options(*app, arguments->setting);
  add_host_options(*app, arguments->setting);
  app->add_option("--repeat", arguments->repeat, "timed repetitions in this process")->type_name("R");
  app->add_option("--trace", arguments->trace, "write every message to this file, compressed if it ends in .gz")->type_name("FILE");
  app->add_option("--view", arguments->view, "write a page that plays the run in any browser to this file")->type_name("FILE");
  app->add_option("--csv", arguments->csv, "write the report's figures to this file")->type_name("FILE");
  app->add_option("--digest", arguments->digest, "fail unless the trace digest is this one")->type_name("HEX");
  app->add_option("--fault", arguments->fault,
                  "inject a fault: KIND@step,node[,channel], with a + for from there on, random, or random:KIND; drop, double, corrupt, "
                  "truncate, swap, wrong-neighbour, "
                  "late, stall")
      ->type_name("random|FAULT");
  app->add_flag("--judge", arguments->judge,
                "have the judge of traces look at every message too; fail where bytes are not as predicted or a bound is beaten");
  app->add_flag("--steps", arguments->steps,
                "add a line a step: what it carried, its fullest channel, the nodes informed (of a reduction: complete), its phase");
  app->add_flag("--json", arguments->json, "print one JSON object");
  return {app, [arguments] { return run(*arguments); }};
}

}  // namespace torus::command
