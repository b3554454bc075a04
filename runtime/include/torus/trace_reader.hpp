/// Reads a trace, ours or anybody's, a line at a time: a trace may be larger than memory.
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
  std::vector<std::uint64_t> blocks;  ///< as written: a foreign trace may name what no run of ours has
};

/// The same number as message_digest() of the message that the line tells of.
std::uint64_t message_digest(const TraceMessage& message);

/// Reads plain and gzip files alike, told apart by their first bytes; "-" is standard input.
///
/// Everything it hands out is well formed: ranks and dimensions are the machine's, numbers fit. Anything else is an InputError of one line
/// that starts with the file's name and the line number. Keys that the format does not know are passed over.
class TraceReader {
 public:
  /// Reads the header. Throws InputError if there is no such file, or no header.
  explicit TraceReader(const std::string& path);
  ~TraceReader();

  const TraceHeader& header() const noexcept;
  /// The next message; false at the end of the trace.
  bool next(TraceMessage& message);
  /// The number of the line last read; the header's is 1.
  std::uint64_t line() const noexcept;

 private:
  class Source;
  std::unique_ptr<Source> source_;
};

}  // namespace torus
