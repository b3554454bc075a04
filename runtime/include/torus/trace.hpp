/// The trace: a run's messages as JSON lines, so that anybody can check the run. One header line, then one line a message; idle steps have
/// none.
///
///   {"format":"torus-trace","version":1,"shape":[8,8],"wrap":[true,true],"ports":4,"switching":"wormhole","contention":"forbid",
///    "routing":[0,1],"collective":"broadcast","sources":[0],"segments":1,"block_bytes":4096,"algorithm":"wang-tseng","seed":1}
///   {"step":0,"src":0,"dst":18,"path":[[0,2],[1,2]],"bytes":4096,"blocks":[0]}
///
/// Where dimensions differ in speed, the header has "tc_s":[1e-10,2e-10], seconds a byte by dimension; a trace says no other cost.
/// Where something is broken, it has "dead_nodes":[7], "dead_links":[[11,0,1]] and "slow_links":[[3,1,-1,4]]: node, dimension, direction
/// (complete: offset), and the factor. A link is both channels; dead nodes need not get anything.
/// Steps ascend; the messages of a step are ordered by (src, path). The file does not depend on the executor.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <torus/machine.hpp>
#include <torus/message.hpp>

namespace torus {

class OutputFile;

/// The first line of a trace: the run, and the machine without its costs, but for speeds that differ.
struct TraceHeader {
  Machine machine;
  std::string collective;       ///< broadcast, multinode-broadcast, total-exchange, scatter, gather or allgather
  std::vector<NodeId> sources;  ///< ascending
  std::uint32_t segments = 1;
  Bytes block_bytes = 0;  ///< of the shortest block: bytes/segments rounded down
  std::string algorithm;  ///< UTF-8; bytes that are not are replaced
  std::uint64_t seed = 0;
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

  /// Writes the messages of a step, which may be in any order. Steps must ascend.
  void write_step(std::span<const Message* const> messages);
  void commit();

 private:
  std::unique_ptr<OutputFile> file_;
  std::vector<const Message*> ordered_;
  std::string line_;
};

}  // namespace torus
