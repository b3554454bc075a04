/// The trace: a run's messages as JSON lines, for anybody to re-check. One header line, then one line a message; idle steps have none.
///
///   {"format":"torus-trace","version":1,"shape":[8,8],"wrap":[true,true],"ports":4,"switching":"wormhole","contention":"forbid",
///    "routing":[0,1],"collective":"broadcast","sources":[0],"segments":1,"block_bytes":4096,"algorithm":"wang-tseng","seed":1}
///   {"step":0,"src":0,"dst":18,"path":[[0,2],[1,2]],"bytes":4096,"blocks":[0]}
///
/// Steps ascend; the messages of a step are ordered by (src, path). One run, one file, whatever the executor.
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

/// What a trace says of the run before the first message. Of the machine, all but the costs.
struct TraceHeader {
  Machine machine;
  std::string collective;       ///< broadcast, multinode-broadcast, total-exchange, scatter, gather or allgather
  std::vector<NodeId> sources;  ///< ascending
  std::uint32_t segments = 1;
  Bytes block_bytes = 0;  ///< of the shortest block: that of a message is bytes/segments rounded down, which does not tell the bytes
  std::string algorithm;  ///< UTF-8; else the wrong bytes are replaced
  std::uint64_t seed = 0;
};

/// The header as its line, without the end of line.
std::string to_json_line(const TraceHeader& header);

/// Writes a trace. The file is there, complete, after commit() and not before. A name that ends in .gz is compressed.
class TraceWriter {
 public:
  /// Throws InputError if the file cannot be made; the others throw RunError if the disk is full.
  TraceWriter(std::string path, const TraceHeader& header);
  TraceWriter(TraceWriter&&) noexcept;
  /// Removes what was written, unless commit() was called.
  ~TraceWriter();

  /// Writes the messages of a step, given in any order. Steps must ascend.
  void write_step(std::span<const Message* const> messages);
  void commit();

 private:
  std::unique_ptr<OutputFile> file_;
  std::vector<const Message*> ordered_;
  std::string line_;
};

/// A number that changes if anything that the trace tells of a message changes. A run's trace digest is the sum over its messages,
/// modulo 2^64: it depends on neither order nor workers, and needs no file.
std::uint64_t message_digest(const Message& message) noexcept;

}  // namespace torus
