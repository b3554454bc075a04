/// All of a result that is reproducible, as text.
#pragma once

#include <string>

#include <torus/report.hpp>

namespace torus::support {

inline std::string text_of(const Machine& machine, const RunResult& r) {
  std::string out;
  const auto add = [&out](auto... values) { ((out += std::to_string(values) + " "), ...); };
  add(r.steps, r.busy_steps, r.control_steps, r.messages, r.control_messages, r.hops, r.blocks_delivered, r.duplicates, r.bytes_delivered,
      r.control_bytes, r.bytes_hops, r.max_channel_load, r.channel_bytes_sum, r.channel_time_s * 1e9, r.route_hops_sum, r.combined_bytes,
      r.node_combined_sum, r.model_time_s * 1e9, r.trace_digest, r.violations_found, int{r.verified}, int{r.interrupted});
  if (r.violations.empty()) add(r.channel_bytes_max, r.channel_bytes_mean, r.channel_idle_share);  // else which message won is chance
  for (const PhaseTotals& p : r.phases) {
    out += std::string("; ") + (p.phase == nullptr ? "" : p.phase) + " ";
    add(p.steps, p.control_steps, p.messages, p.bytes, p.channel_bytes, p.model_time_s * 1e9);
  }
  for (const StepRecord& s : r.step_records) {
    out += std::string("; ") + (s.phase == nullptr ? "" : s.phase) + " ";
    add(s.messages, s.control_messages, s.hops, s.bytes, s.payload_bytes, s.most_bytes, s.combined_bytes, s.most_combined,
        s.channel_time_s * 1e9, s.longest_route);
  }
  for (const Violation& v : r.violations) out += "; " + v.text;
  if (r.fault) out += "; " + r.fault->text;
  return out + "; " + failure_of(machine, r).value_or("good");
}

}  // namespace torus::support
