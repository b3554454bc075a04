/// Reads a trace line by line, of this or any other program. A trace may be larger than memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torus/trace.hpp>

namespace torus {

/// A line of a trace after the first.
struct TraceMessage {
  Step step = 0;
  NodeId source = 0;
  NodeId destination = 0;
  std::vector<Leg> path;
  Bytes bytes = 0;
  std::vector<std::uint64_t> blocks;  ///< as written: another program's trace may name blocks that do not exist
  std::uint8_t registers = 0;         ///< that the blocks are combined into, a bit each; 0: they replace
  bool releases = false;              ///< the sender has given the blocks away
  std::string phase{};                ///< of the step, in its first line; empty: none, or another line

  /// Becomes what a trace says of a message; keeps its memory.
  void assign(const Message& message);
};

/// The message as a line of JSON, without a phase and without a line feed.
std::string to_json_line(const TraceMessage& message);

/// A hash of the message. A run's trace digest is the sum over its messages modulo 2^64, so that it does not depend on their order.
std::uint64_t message_digest(const TraceMessage& message);

/// Reads plain and gzip files, which it recognises by their first bytes; "-" is standard input.
///
/// Lines as `torus` and most programs write them are parsed by simdjson, others by nlohmann-json, which says what is wrong with one.
/// Messages are well formed: ranks and dimensions are the machine's, numbers fit their types. Anything else is an InputError of one line
/// that starts with the file's name and the line number. So is a key that it does not know.
class TraceReader {
 public:
  /// Reads the header. Throws InputError if there is no such file, or no header.
  explicit TraceReader(const std::string& path);
  ~TraceReader();

  const TraceHeader& header() const noexcept;
  /// The next message; false at the end of the trace.
  bool next(TraceMessage& message);
  /// The number of the last line read; the header's is 1.
  std::uint64_t line() const noexcept;
  /// Bytes of the file read so far, compressed as they are.
  std::uint64_t bytes_read() const noexcept;

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace torus
