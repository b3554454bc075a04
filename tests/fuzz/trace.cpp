// The reader of traces, plain and compressed, and the judge: whatever a file holds, it is read or refused.
#include <sys/mman.h>
#include <unistd.h>

#include <torus/judge.hpp>
#include <torus/trace_reader.hpp>

#include "tests/fuzz/target.hpp"

using namespace torus;

namespace {

/// A file in memory that TraceReader opens by its name.
const std::string& file_with(const std::uint8_t* data, std::size_t size) {
  static const int descriptor = memfd_create("trace", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (descriptor < 0 || ftruncate(descriptor, 0) != 0 || pwrite(descriptor, data, size, 0) != static_cast<ssize_t>(size))
    fuzz::broken("the system gives a file", path);
  return path;
}

/// False where a plain text's machine may be large. Reading its header lists all nodes, and judging it takes memory for each channel.
bool small(std::string_view text) {
  const std::string_view header = fuzz::next_line(text);
  if (header.find('\\') != std::string_view::npos) return false;  // a key in disguise
  std::size_t at = header.find("\"shape\"");
  if (at == std::string_view::npos) return true;  // refused
  std::uint64_t nodes = 1, number = 0;
  for (at = header.find('[', at); at < header.size() && header[at] != ']'; ++at) {
    const char c = header[at];
    if (c >= '0' && c <= '9') number = std::min<std::uint64_t>(number * 10 + static_cast<std::uint64_t>(c - '0'), 1U << 20U);
    if (c == ',') nodes = std::min<std::uint64_t>(nodes * std::max<std::uint64_t>(1, std::exchange(number, 0)), 1U << 20U);
  }
  return nodes * std::max<std::uint64_t>(1, number) <= 128;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!small(fuzz::text(data, size))) return -1;  // not for the corpus
  std::uint64_t digest = 0, messages = 0;
  fuzz::accepts([&] {
    TraceReader reader(file_with(data, size));
    Judge judge(reader.header());
    const Topology& topology = reader.header().machine.topology;
    TraceMessage message;
    bool more = true;
    while (reader.next(message)) {
      if (message.source >= topology.nodes() || message.destination >= topology.nodes()) fuzz::broken("ranks are the machine's", "");
      for (const Leg& leg : message.path) {
        if (leg.dimension < 0 || leg.dimension >= topology.dimensions()) fuzz::broken("dimensions are the machine's", "");
      }
      if (!more) continue;
      digest += message_digest(message);
      ++messages;
      more = judge.message(message);
    }
    const Verdict verdict = judge.finish();
    if (verdict.messages != messages || verdict.digest != digest) fuzz::broken("the verdict counts the messages", "");
    if (verdict.ok != verdict.violations.empty()) fuzz::broken("a trace is good or has a violation", "");
    if (verdict.ok && verdict.missing_blocks > 0) fuzz::broken("in a good trace no block is missing", "");
  });
  return 0;
}
