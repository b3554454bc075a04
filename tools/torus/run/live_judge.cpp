#include "tools/torus/run/live_judge.hpp"

#include <fmt/format.h>

#include <torus/report.hpp>

#include "runtime/base/figures.hpp"

namespace torus::command {

void LiveJudge::step(std::span<const Message* const> messages) {
  for (const Message* m : messages) {
    line_.assign(*m);
    going_ = going_ && judge_.message(line_);
  }
}

std::optional<std::string> LiveJudge::objection(const RunResult& result) {
  const Verdict verdict = judge_.finish();
  if (!verdict.ok) return "the judge: " + verdict.violations.front();
  const bool same = verdict.digest == result.trace_digest && verdict.messages == result.messages && verdict.hops == result.hops &&
                    verdict.busy_steps == result.busy_steps && verdict.channel_bytes == result.channel_bytes_sum &&
                    verdict.max_channel_load == result.max_channel_load;
  if (same && verdict.channel_time_s == result.channel_time_s) return std::nullopt;
  if (same) {
    return fmt::format("the judge finds a byte term of {} s, the engine {} s: the bytes on each channel times its T_c",
                       verdict.channel_time_s, result.channel_time_s);
  }
  return fmt::format(
      "the judge counts {}, {}, {}, {} on the fullest channels, load {}, digest {}; the engine {}, "
      "{}, {}, {}, {}, {}",
      counted(verdict.messages, "message"), counted(verdict.hops, "hop"), counted(verdict.busy_steps, "busy step"),
      counted(verdict.channel_bytes, "byte"), verdict.max_channel_load, digest_text(verdict.digest), result.messages, result.hops,
      result.busy_steps, result.channel_bytes_sum, result.max_channel_load, digest_text(result.trace_digest));
}

}  // namespace torus::command
