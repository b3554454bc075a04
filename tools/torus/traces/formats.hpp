/// A trace in formats that other programs read: torus export.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torus/trace_reader.hpp>

#include "runtime/base/output_file.hpp"
#include "tools/torus/view/trace_groups.hpp"

namespace torus::command {

/// Reads a trace step by step.
class TraceSteps {
 public:
  explicit TraceSteps(const std::string& path) : reader_{path}, groups_{reader_.header()}, path_{path} {}

  const TraceGroups& groups() const noexcept { return groups_; }
  const TraceHeader& header() const noexcept { return reader_.header(); }
  /// The messages of the next step that has any, in the order of the trace. False at its end. Throws InputError if steps do not ascend.
  bool next(std::vector<TraceMessage>& messages);
  std::uint64_t line() const noexcept { return reader_.line(); }

 private:
  TraceReader reader_;
  const TraceGroups groups_;
  std::string path_;
  std::optional<TraceMessage> first_;  // of the next step
  bool begun_ = false;
};

/// What was written: a line without its end.
using Note = std::string;

/// Perfetto's TrackEvents: counters by step, a slice for each channel and step, the steps and phases. Time is model time, 1 ns at least.
/// Beyond the limit there are no slices of channels from that step on; the note and an event say so.
constexpr std::uint64_t max_perfetto_slices = 200'000;
/// Throws InputError where this build has no protozero.
Note export_perfetto(TraceSteps& steps, OutputFile& file);

/// Graphviz: the messages of a step; or, without one, the SpanningTree of the run, with the origin if one is given.
constexpr std::uint64_t max_dot_edges = 100'000;
Note export_dot(TraceSteps& steps, std::optional<Step> step, std::optional<NodeId> origin, OutputFile& file);

/// GOAL, the schedules of LogGOPSim: sends and receives by rank. What a rank does in a step requires what it did in its step before.
constexpr std::uint64_t max_goal_messages = 10'000'000;  ///< GOAL goes by rank, so that all are in memory
Note export_goal(TraceSteps& steps, OutputFile& file);

/// MSCCL's XML: a program whose gpus are the nodes, whatever ranks they have. Throws InputError on a collective that MSCCL does not have,
/// on dead nodes, and where not all nodes are sources.
constexpr std::uint64_t max_msccl_messages = 1'000'000;
Note export_msccl(TraceSteps& steps, OutputFile& file);

}  // namespace torus::command
