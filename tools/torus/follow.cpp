#include "tools/torus/follow.hpp"

#include <fmt/format.h>
#include <optional>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "runtime/engine/together.hpp"
#include "tools/torus/job.hpp"
#include "tools/torus/setting_options.hpp"

namespace torus::command {
namespace {

/// The setting that command_line() has written.
Setting read_setting(const std::string& line) {
  CLI::App app;
  std::string run, collective, repeat;
  TypedOptions typed;
  app.add_option("run", run);
  add_collective(app, collective);
  app.add_option("--algorithm", typed.algorithm);
  add_machine_options(app, typed);
  add_request_options(app, typed);
  add_host_options(app, typed);
  app.parse(line);
  return make_setting(parse_spec(parse_collective(collective), typed), typed.algorithm, catalogue());
}

}  // namespace

void lead(Processes& processes, const Setting& setting, const EmulationOptions& options) {
  std::string line = command_line(setting);
  line.erase(0, line.find(" run ") + 1);
  line = fmt::format("{} {} --memory {} --plan-time 1000000", options.repeat, line,
                     setting.memory > 0 ? setting.memory : memory_of_a_process());
  detail::gather_bytes(processes, detail::bytes_of(line));
  detail::exchange_each(processes, options.fault);
  detail::together(&processes, [] {});
}

int follow() {
  Processes& all = *processes();
  while (true) {
    std::string line = detail::text_of(detail::gather_bytes(all, {}).front());
    if (line.empty()) return 0;
    EmulationOptions options;
    options.processes = &all;
    options.repeat = static_cast<unsigned>(std::stoul(line));
    options.fault = detail::exchange_each(all, options.fault).front();
    line.erase(0, line.find(' ') + 1);
    try {
      std::optional<Setting> setting;
      detail::together(&all, [&] { setting = read_setting(line); });
      emulate(*setting, options);
    } catch (const std::exception&) {
      // All have thrown it, and the first one says it.
    }
  }
}

}  // namespace torus::command
