#include "tools/torus/follow.hpp"

#include <fmt/format.h>
#include <optional>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "runtime/engine/together.hpp"
#include "tools/torus/job.hpp"
#include "tools/torus/setting_options.hpp"

namespace torus::command {

Lead lead_of(const Setting& setting, const EmulationOptions& options) {
  std::string line = command_line(setting);
  line.erase(0, line.find(" run ") + 1);
  const Bytes memory = setting.memory > 0 ? setting.memory : memory_of_a_process();
  return {fmt::format("{} --memory {} --plan-time 1000000", line, memory),
          {options.repeat, setting.request.expected_sources, options.fault}};
}

Setting led_by(const Lead& lead) {
  CLI::App app;
  std::string run, collective, algorithm;
  TypedOptions typed;
  app.add_option("run", run);
  add_collective(app, collective);
  app.add_option("--algorithm", algorithm);
  add_machine_options(app, typed);
  add_request_options(app, typed);
  add_host_options(app, typed);
  app.parse(lead.line);
  const RunSpec spec = parse_spec(parse_collective(collective), typed);
  const Algorithm& named = named_algorithm("--algorithm", spec.collective, algorithm, catalogue());
  Setting setting = open_setting(make_machine(spec, named.native), make_fitting_request(spec), spec);
  // The line says how many sources there are, not for how many the first process has planned: parameters are chosen by that.
  setting.request.expected_sources = lead.beside.expected_sources;
  if (const auto why_not = plan_with(setting, named)) throw InputError(*why_not);
  return setting;
}

void lead(Processes& processes, const Setting& setting, const EmulationOptions& options) {
  const Lead lead = lead_of(setting, options);
  detail::gather_bytes(processes, detail::bytes_of(lead.line));
  detail::exchange_each(processes, lead.beside);
  detail::together(&processes, [] {});
}

int follow() {
  Processes& all = *processes();
  while (true) {
    Lead lead;
    lead.line = detail::text_of(detail::gather_bytes(all, {}).front());
    if (lead.line.empty()) return 0;
    lead.beside = detail::exchange_each(all, lead.beside).front();
    EmulationOptions options;
    options.processes = &all;
    options.repeat = lead.beside.repeat;
    options.fault = lead.beside.fault;
    try {
      std::optional<Setting> setting;
      detail::together(&all, [&] { setting = led_by(lead); });
      emulate(*setting, options);
    } catch (const std::exception&) {
      // All have thrown it, and the first one says it.
    }
  }
}

}  // namespace torus::command
