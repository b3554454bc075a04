/// Counts what waits at the nodes of a run, for its report: beside the judge, where that was asked for. It gives up where the count would
/// take more than some 250 MB.
#pragma once

#include <optional>

#include <torus/session.hpp>

#include "runtime/trace/buffers.hpp"

namespace torus::command {

class BufferWatcher : public Watcher {
 public:
  void begin(const TraceHeader& header, const Engine&) override { buffers_.emplace(header); }
  void step(const StepSends& sends) override {
    for (const Message* m : sends.messages) {
      if (!buffers_) return;
      line_.assign(*m);
      buffers_->message(line_);
      if (buffers_->blocks() > most_blocks) buffers_.reset();
    }
  }
  void complete(RunResult& result) override {
    if (buffers_) result.buffered = buffers_->most();
  }

 private:
  static constexpr std::uint64_t most_blocks = std::uint64_t{1} << 22U;

  std::optional<detail::Buffers> buffers_;
  TraceMessage line_;  // scratch
};

}  // namespace torus::command
