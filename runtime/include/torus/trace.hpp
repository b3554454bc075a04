/// The trace: a run's messages as JSON lines, so that other programs can check the run. One header line, then one line a message; idle
/// steps have none.
///
/// runtime/trace/format.md says what each key means. The file does not depend on the executor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>
#include <torus/message.hpp>
#include <torus/reduction.hpp>

namespace torus {

class OutputFile;

/// The first line of a trace: the run, and the machine.
struct TraceHeader {
  Machine machine;
  std::string collective;            ///< broadcast, multinode-broadcast, total-exchange, scatter, gather, allgather; reduce, allreduce,
                                     ///< reduce-scatter, scan; barrier
  std::vector<NodeId> sources = {};  ///< ascending; local ranks where there are groups
  std::uint32_t segments = 1;
  Bytes block_bytes = 0;       ///< of the shortest block: bytes/segments rounded down
  std::string algorithm = {};  ///< UTF-8; bytes that are not are replaced
  std::uint64_t seed = 0;

  // For reductions.
  std::optional<Reduction> reduction = {};
  std::uint32_t registers = 1;
  /// The size of each block by its number, in groups by the local one; empty: all are alike. A block of no bytes is nothing: all hold it.
  std::vector<Bytes> sizes = {};
  bool overlap = false;  ///< contributors may be counted twice: min and max only

  /// Each group's nodes, by local rank; empty: all nodes are one group. See Groups.
  std::vector<std::vector<NodeId>> groups = {};

  bool costs_known = true;  ///< false: an older trace, which does not say T_s, T_c and T_h; machine.cost has the defaults
  std::uint64_t ports = 0;  ///< as a file says it, for the judge: a machine has no more than channels; 0: the machine's

  /// Whether all nodes are one group, so that they only have other ranks.
  bool mapped() const noexcept { return groups.size() == 1 && groups.front().size() == machine.topology.nodes(); }
};

/// The header as a line of JSON, without a line feed.
std::string to_json_line(const TraceHeader& header);

/// Writes a trace. The file is there, complete, after commit() and not before. A name that ends in .gz is compressed.
class TraceWriter {
 public:
  /// Throws InputError if the file cannot be created. The other functions throw RunError if the disk is full.
  TraceWriter(std::string path, const TraceHeader& header);
  TraceWriter(TraceWriter&&) noexcept;
  /// Removes what was written, unless commit() was called.
  ~TraceWriter();

  /// Names the phase of the step that is written next.
  void name_phase(std::string_view phase);
  /// Writes the messages of a step, which may be in any order. Steps must ascend.
  void write_step(std::span<const Message* const> messages);
  void commit();

 private:
  std::unique_ptr<OutputFile> file_;
  std::vector<const Message*> ordered_;
  std::string line_;
  std::string phase_;
};

}  // namespace torus
