// What people write on the command line. The first character says which reader gets the rest: it reads it, and what it prints of it reads
// back as the same; or it refuses it.
#include "tools/torus/setting/notation.hpp"

#include <algorithm>
#include <cmath>

#include <torus/reduction.hpp>

#include "tests/fuzz/target.hpp"
#include "tools/torus/setting/nodes.hpp"

using namespace torus;
using namespace torus::command;

namespace {

void read_bytes(std::string_view text) {
  const Bytes bytes = parse_bytes("--bytes", text);
  if (bytes >> 63U != 0) fuzz::broken("a size is below 2^63", text);
  if (parse_bytes("--bytes", bytes_option(bytes)) != bytes) fuzz::broken("a size reads back", text);
}

void read_sizes(std::string_view text) {
  const std::vector<Bytes> sizes = parse_sizes("--bytes", text);
  if (sizes.empty() || !std::is_sorted(sizes.begin(), sizes.end())) fuzz::broken("sizes ascend", text);
  if (std::adjacent_find(sizes.begin(), sizes.end()) != sizes.end()) fuzz::broken("a size counts once", text);
}

void read_shapes(std::string_view text) {
  for (const Topology& shape : parse_shapes(text)) {
    if (!(Topology::parse(shape.text()) == shape)) fuzz::broken("a shape reads back", text);
    if (shape.nodes() < 1 || shape.max_ports() < 1) fuzz::broken("a shape has a node and a port", text);
    if (!fuzz::small(shape)) continue;
    for (NodeId node = 0; node < shape.nodes(); ++node) {
      if (shape.rank(shape.coordinates(node)) != node) fuzz::broken("a rank comes back from its coordinates", text);
    }
  }
}

/// `16x16 0,0;3,4`.
void read_sources(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return;
  const Topology shape = Topology::parse(text.substr(0, blank));
  if (!fuzz::small(shape)) return;
  const std::vector<NodeId> sources = parse_sources("--sources", text.substr(blank + 1), shape, 1);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i] >= shape.nodes() || (i > 0 && sources[i] <= sources[i - 1])) fuzz::broken("sources are nodes that ascend", text);
  }
  if (parse_sources("--sources", sources_option(shape, sources), shape, 1) != sources) fuzz::broken("sources read back", text);
}

void check_seconds(double seconds, std::string_view text) {
  if (!(seconds >= 0 && seconds <= 1e6)) fuzz::broken("times are 0 to 1e6 seconds", text);
}

void read(char what, std::string_view text) {
  switch (what) {
    case 'b': return read_bytes(text);
    case 's': return read_sizes(text);
    case 'o': return read_shapes(text);
    case 'n': return read_sources(text);
    case 't': return check_seconds(parse_seconds("--ts", text), text);
    case 'w': return check_seconds(parse_byte_time("--bandwidth", text), text);
    case 'p': static_cast<void>(parse_port_counts(text)); return;
    case 'r': static_cast<void>(parse_routing(text)); return;
    case 'e': static_cast<void>(parse_real("--expect", text, 0, 9, "1")); return;
    case 'k':
      if (parse_operator(text) != parse_operator(name(parse_operator(text)))) fuzz::broken("an operator reads back", text);
      return;
    case 'y':
      if (parse_element_type(text) != parse_element_type(name(parse_element_type(text)))) fuzz::broken("a type reads back", text);
      return;
    case 'm': {
      const std::vector<std::string_view> words = split(text, ',');
      if (!words.front().empty() && did_you_mean(words.front(), words).empty()) fuzz::broken("a word is like itself", text);
      return;
    }
    default: return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return -1;
  fuzz::accepts([&] { read(static_cast<char>(data[0]), fuzz::text(data + 1, size - 1)); });
  return 0;
}
