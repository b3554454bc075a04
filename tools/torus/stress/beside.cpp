#include "tools/torus/stress/beside.hpp"

#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <vector>

#include <torus/report.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/run/watchdog.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/schedule_file.hpp"
#include "tools/torus/stress/repeat.hpp"

namespace torus::command {
namespace {

/// `torus run A .. + A .. --offset N`.
std::string command_of(const Setting& setting, Step offset) {
  std::string text =
      command_line(setting) + fmt::format(" + {}{}", name(setting.request.collective), algorithm_options(*setting.algorithm));
  for (const SettingOption& option : setting_options()) {
    if (is_of_each_collective(option) && option.print != nullptr) text += option.print(setting);
  }
  for (const auto& [name, value] : setting.request.parameters) text += fmt::format(" --{} {}", name, value);
  return text + fmt::format(" --offset {}", offset);
}

/// Whether a run is that of the collective alone.
bool same(const RunResult& a, const RunResult& b) noexcept {
  return a.trace_digest == b.trace_digest && a.steps == b.steps && a.messages == b.messages && a.bytes_delivered == b.bytes_delivered &&
         a.channel_bytes_sum == b.channel_bytes_sum && a.node_combined_sum == b.node_combined_sum && a.model_time_s == b.model_time_s;
}

}  // namespace

std::optional<WrongBeside> wrong_beside_itself(const Setting& setting, Step offset, const RunResult& alone) {
  const std::string command = command_of(setting, offset);
  const bool in_turn = offset >= alone.steps;
  Watchdog dog(setting, command), other_dog(setting, command);
  Member one = member_of(setting), other = one;
  one.watch = &dog.watch();
  other.watch = &other_dog.watch();
  other.offset = offset;
  SessionOptions options = options_of(setting);
  options.fewer_threads_do = true;
  options.stop = &interrupted();
  now_running(command);
  try {
    const SessionRun run = run_session(setting.whole(), std::vector{one, other}, options);
    now_running({});
    if (!run.violations.empty() && !in_turn) return std::nullopt;
    if (run.failure) return WrongBeside{*run.failure, command};
    for (const Run& each : run.each) {
      if (same(each.result, alone)) continue;
      return WrongBeside{fmt::format("beside itself it has digest {} and {}, alone {} and {}", digest_text(each.result.trace_digest),
                                     counted(each.result.steps, "step"), digest_text(alone.trace_digest), alone.steps),
                         command};
    }
    const double in_turn_s = run.one_after_the_other_s();
    const double idle_s = static_cast<double>(offset) * setting.whole().cost.start_up_s;
    if (run.model_time_s < alone.model_time_s * (1 - 1e-9) || run.model_time_s > (in_turn_s + idle_s) * (1 + 1e-9))
      return WrongBeside{fmt::format("beside itself it takes {} s, alone {} s", run.model_time_s, alone.model_time_s), command};
  } catch (const std::exception& error) {
    now_running({});
    return WrongBeside{error.what(), command};
  }
  return std::nullopt;
}

}  // namespace torus::command
