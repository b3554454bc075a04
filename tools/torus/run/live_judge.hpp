/// The judge of traces, for a run that goes on.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <torus/judge.hpp>
#include <torus/message.hpp>
#include <torus/result.hpp>

namespace torus::command {

/// Has the judge of traces look at the messages of a run as they come, without a trace.
class LiveJudge {
 public:
  explicit LiveJudge(const TraceHeader& header) : judge_{header} {}

  /// The messages of a step, in any order.
  void step(std::span<const Message* const> messages);
  /// What the judge has against the run; none if it finds what the engine found.
  std::optional<std::string> objection(const RunResult& result);

 private:
  Judge judge_;
  TraceMessage line_;
  bool going_ = true;
};

}  // namespace torus::command
