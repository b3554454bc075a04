/// Schedules of other programs: reads what a synthesizer has written, and lays it onto a machine as a Schedule, which nodes follow() and
/// the judge of traces judges.
///
/// The kind of a file follows from its content:
///
/// - *MSCCL XML* (`<algo>`), as SCCL, TACCL, TE-CCL, ForestColl and others write it. Its program is asynchronous. It is read in lock step:
///   each message leaves in the first step in which its threadblock, its dependencies and its queue allow it.
/// - *TE-CCL JSON* (`"7-Flows"`): a flow is a hop in the step of its epoch.
/// - *ForestColl trees* (`<trees>`): each node passes a chunk on as soon as it has it.
/// - *Traces* of this program, see runtime/trace/format.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>
#include <torus/machine.hpp>
#include <torus/schedule.hpp>

namespace torus {

/// Immutable; copies share what was read.
class ForeignSchedule {
 public:
  enum class Kind : std::uint8_t { trace, msccl, teccl, forestcoll };

  /// The kind of a file, by its first bytes. "-", standard input, is a trace. Throws InputError if there is no such file.
  static Kind kind_of(const std::string& path);
  /// Reads a file, plain or gzip. Throws InputError of one line: the file, the element (gpu, threadblock and step; flow; tree; line), and
  /// what is wrong with it.
  static ForeignSchedule read(const std::string& path);

  Kind kind() const noexcept;
  /// What the file calls it; else the name of its kind.
  const std::string& name() const noexcept;
  Collective collective() const noexcept;
  NodeId ranks() const noexcept;
  /// Ranks with something to send: all, or some of a multi-node broadcast; the root alone, where there is one.
  const std::vector<NodeId>& sources() const noexcept;
  /// Blocks that a message, or a vector, is cut into.
  std::uint32_t segments() const noexcept;
  /// Whether the file says that blocks differ in size. A schedule has no sizes: they are those of the run that plays it.
  bool uneven() const noexcept;
  /// The machine for which files of this kind are written.
  NativeMachine native() const noexcept;
  /// How the file was read, and what that means for steps and model time: a line.
  std::string reading() const;

  /// The schedule on a machine, with a node for each rank. Messages take the shortest route in the machine's routing order, where the file
  /// names none; under packet switching a hop a step. Throws InputError: the machine has another number of nodes, a flow has no link, or
  /// what the file says of the data cannot be true (it names the place).
  struct Placed {
    Schedule schedule;
    std::uint32_t registers = 1;  ///< partials of a segment that a node holds at once, in reductions
  };
  Placed on(const Machine& machine, std::span<const NodeId> node_of_rank) const;

  /// What a kind of file says; the readers implement it.
  class Content;
  explicit ForeignSchedule(std::shared_ptr<const Content> content) noexcept : content_{std::move(content)} {}

 private:
  std::shared_ptr<const Content> content_;
};

/// "MSCCL XML", "TE-CCL JSON", "ForestColl trees", "trace".
std::string_view name(ForeignSchedule::Kind kind) noexcept;

/// Rank r is node r.
std::vector<NodeId> row_major(const Topology& topology);

}  // namespace torus
