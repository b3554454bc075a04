// Dead and slow links. Five lines: a shape, and the values of --dead-link, --slow-link, --dead-node and --dead-links; empty: left out.
#include <algorithm>

#include "tests/fuzz/target.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"

using namespace torus;
using namespace torus::command;

namespace {

Faults read_faults(std::string_view dead_links, std::string_view slow_links, std::string_view dead_nodes, const Topology& shape) {
  Faults faults;
  if (!dead_links.empty()) faults.dead_links = parse_links("--dead-link", dead_links, shape);
  if (!slow_links.empty()) faults.slow_links = parse_slow_links("--slow-link", slow_links, shape);
  if (!dead_nodes.empty()) {
    for (const std::string_view node : split(dead_nodes, ';')) faults.dead_nodes.push_back(parse_node("--dead-node", node, shape));
  }
  return faults;
}

/// The value of an option in the text that damage_options() gives.
std::string_view value_of(std::string_view option, std::string_view options) {
  const std::size_t at = options.find(option);
  if (at == std::string_view::npos) return {};
  const std::string_view value = options.substr(at + option.size() + 2);  // behind a blank and a quote
  return value.substr(0, value.find('\''));
}

void check(const Topology& broken, const Topology& shape) {
  if (broken.channels() > shape.channels() || broken.channels() % 2 != 0) fuzz::broken("links die with both channels", shape.text());
  std::uint64_t channels = 0;
  for (NodeId node = 0; node < broken.nodes(); ++node)
    broken.each_link(node, [&](Dimension, std::int32_t, NodeId to) { channels += broken.living(to) ? 1U : 0U; });
  if (channels != broken.channels()) fuzz::broken("channels are counted as they are", shape.text());
  const std::string options = damage_options(broken.faults(), shape);
  const Faults again =
      read_faults(value_of("--dead-link", options), value_of("--slow-link", options), value_of("--dead-node", options), shape);
  if (!(shape.with_faults(again).faults() == broken.faults())) fuzz::broken("faults read back", options);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text(data, size);
  fuzz::accepts([&] {
    const Topology shape = Topology::parse(fuzz::next_line(rest));
    if (!fuzz::small(shape, 4096)) return;
    const std::string_view dead_links = fuzz::next_line(rest), slow_links = fuzz::next_line(rest), dead_nodes = fuzz::next_line(rest);
    Faults faults = read_faults(dead_links, slow_links, dead_nodes, shape);
    if (const std::string_view random = fuzz::next_line(rest); !random.empty()) {
      shape.with_faults(faults);  // as random ones are added to good ones
      add_random_dead_links("--dead-links", random, shape, 1, faults);
    }
    check(shape.with_faults(std::move(faults)), shape);
  });
  return 0;
}
