/// torus regret COLLECTIVE: over a grid of machines and sizes, the best algorithm's model time in times the lower bound.
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <torus/error.hpp>

#include "runtime/trace/output_file.hpp"
#include "tools/torus/console.hpp"
#include "tools/torus/grid.hpp"
#include "tools/torus/interrupt.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/regret.hpp"
#include "tools/torus/setting_options.hpp"
#include "tools/torus/subcommands.hpp"

namespace torus::command {
namespace {

struct RegretArguments {
  std::string collective;
  TypedOptions setting;
  std::string algorithms = "all", run = "none";
  std::optional<std::string> csv;
  bool json = false;
};

int run_regret(const RegretArguments& arguments) {
  const Collective collective = parse_collective(arguments.collective);
  TypedOptions typed = arguments.setting;
  const auto take = [](std::optional<std::string>& option, const std::string& otherwise) {
    return std::exchange(option, std::nullopt).value_or(otherwise);
  };
  ComparisonOptions options;
  options.sizes = sizes_of(collective, std::exchange(typed.bytes, std::nullopt), default_regret_sizes(collective));
  options.algorithms = parse_algorithms("--algorithms", arguments.algorithms, collective, catalogue());
  if (arguments.run != "none" && arguments.run != "all")
    throw InputError(fmt::format("--run '{}': it must be none or all; for instance all", arguments.run));
  options.run_sizes = arguments.run == "all" ? options.sizes.size() : 0;
  options.stop = &interrupted();
  Progress progress;
  options.progress = &progress;
  RegretGrid grid;
  grid.shapes = parse_shapes(take(typed.on, default_regret_shapes(collective)));
  grid.ports = parse_port_counts(take(typed.ports, "1,all"));
  const std::string switchings = take(typed.switching, collective == Collective::total_exchange ? "packet" : "wormhole");
  for (const std::string_view word : split(switchings, ',')) grid.switchings.emplace_back(word);
  std::optional<OutputFile> csv;
  if (arguments.csv) csv.emplace(*arguments.csv);

  const Regret table = regret(collective, typed, grid, options);
  progress.clear();
  if (table.interrupted) throw RunError("interrupted; a table with gaps would mislead, so there is none");
  if (csv) {
    csv->write(to_csv(table));
    csv->commit();
  }
  print(arguments.json ? to_json(table).dump() + "\n" : to_table(table));
  if (!table.failure) return 0;
  throw RunError(*table.failure);
}

}  // namespace

Subcommand add_regret(CLI::App& torus) {
  const auto arguments = std::make_shared<RegretArguments>();
  CLI::App* app = torus.add_subcommand("regret", "How far the best algorithm is from the lower bound, over shapes, ports and sizes");
  add_collective(*app, arguments->collective);
  app->add_option("--algorithms", arguments->algorithms, "only these, with commas between; default all")->type_name("ALGORITHM,..");
  add_machine_options(*app, arguments->setting);
  app->get_option("--on")
      ->description("shapes with commas between: 8x8,16x16m,4x4x4; default: a set for the collective")
      ->type_name("SHAPE,..");
  app->get_option("--ports")->description("numbers with commas between, or all; default 1,all")->type_name("N|all,..");
  app->get_option("--switching")
      ->description("with commas between; default wormhole, total exchange: packet")
      ->type_name("packet|wormhole|circuit,..");
  app->get_option("--contention")->description("two messages on a channel in one step; default forbid");
  add_request_options(*app, arguments->setting);
  app->get_option("--bytes")
      ->description("64,4KiB or 1KiB:16MiB (times 4) or 1KiB:16MiB:x2; default 1KiB:256MiB, others 4:1MiB")
      ->type_name("SIZE,..");
  add_host_options(*app, arguments->setting);
  app->add_option("--run", arguments->run, "what to run and verify; default none")->type_name("none|all");
  app->add_option("--csv", arguments->csv, "write a line for each machine and size to this file")->type_name("FILE");
  app->add_flag("--json", arguments->json, "print one JSON object");
  return {app, [arguments] { return run_regret(*arguments); }};
}

}  // namespace torus::command
