#include <fmt/format.h>

#include <torus/report.hpp>
#include <torus/session.hpp>

#include "runtime/base/figures.hpp"

namespace torus {

void JudgeWatcher::begin(const TraceHeader& header, const Engine&) { judge_.emplace(header); }

void JudgeWatcher::step(const StepSends& sends) {
  for (const Message* m : sends.messages) {
    line_.assign(*m);
    going_ = going_ && judge_->message(line_);
  }
}

const Verdict& JudgeWatcher::verdict() {
  if (!verdict_) verdict_ = judge_->finish();
  return *verdict_;
}

std::optional<std::string> JudgeWatcher::objection(const Run& run) {
  const RunResult& result = run.result;
  const Verdict& found = verdict();
  if (!found.ok) return "the judge: " + found.violations.front();
  const bool same = found.digest == result.trace_digest && found.messages == result.messages && found.hops == result.hops &&
                    found.busy_steps == result.busy_steps && found.channel_bytes == result.channel_bytes_sum &&
                    found.max_channel_load == result.max_channel_load;
  if (same && found.channel_time_s == result.channel_time_s) return run.check.surprise;
  if (same) {
    return fmt::format("the judge finds a byte term of {} s, the engine {} s: the bytes on each channel times its T_c",
                       found.channel_time_s, result.channel_time_s);
  }
  return fmt::format(
      "the judge counts {}, {}, {}, {} on the fullest channels, load {}, digest {}; the engine {}, "
      "{}, {}, {}, {}, {}",
      counted(found.messages, "message"), counted(found.hops, "hop"), counted(found.busy_steps, "busy step"),
      counted(found.channel_bytes, "byte"), found.max_channel_load, digest_text(found.digest), result.messages, result.hops,
      result.busy_steps, result.channel_bytes_sum, result.max_channel_load, digest_text(result.trace_digest));
}

void TraceWatcher::begin(const TraceHeader& header, const Engine&) { writer_.emplace(path_, header); }

void TraceWatcher::step(const StepSends& sends) {
  if (sends.messages.empty()) return;
  if (sends.phase != nullptr) writer_->name_phase(sends.phase);
  writer_->write_step(sends.messages);
}

}  // namespace torus
