/// Collects the messages of a run for its page.
#pragma once

#include <optional>

#include <torus/session.hpp>

#include "tools/torus/view/playback.hpp"

namespace torus::command {

class PageWatcher : public Watcher {
 public:
  /// The page has the steps of the common clock, on which the run begins with this step.
  explicit PageWatcher(Step offset = 0) : offset_{offset} {}
  void begin(const TraceHeader& header, const Engine&) override { view_.emplace(header); }
  void step(const StepSends& sends) override {
    if (!sends.messages.empty()) view_->step(sends.messages, sends.phase != nullptr ? sends.phase : "", offset_);
  }
  View& view() { return *view_; }

 private:
  Step offset_;
  std::optional<View> view_;
};

}  // namespace torus::command
