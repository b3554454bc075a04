#include "runtime/model/description.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "runtime/base/figures.hpp"
#include "runtime/model/digest.hpp"

namespace torus::detail {
namespace {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 16> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr};
}

/// The first line of a text, which it is cut from.
std::string_view cut_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

}  // namespace

std::string Description::in_full(double value) {
  return number_text(value) + " (bits " + hexadecimal(std::bit_cast<std::uint64_t>(value)) + ")";
}

std::string Description::in_full(std::string_view value) {
  std::string text;
  for (const char c : value) text += c == '\n' ? "\\n" : std::string(1, c);  // a value is one line
  return text;
}

std::string Description::in_full(const Link& link) {
  const auto& [node, dimension, hop] = link;
  return in_full(node) + "," + in_full(dimension) + "," + in_full(hop);
}

std::string Description::in_full(const SlowLink& slow) {
  const auto& [link, factor] = slow;
  return in_full(link) + " by " + in_full(factor);
}

std::string Description::in_full(const DimensionShape& dimension) {
  const auto& [extent, wiring] = dimension;
  return in_full(extent) + "," + in_full(wiring);
}

std::string Description::in_full(const Reduction& reduction) {
  const auto& [op, type, values] = reduction;
  return in_full(op) + "," + in_full(type) + "," + in_full(values);
}

std::string Description::hashed(std::size_t count, std::span<const std::byte> bytes) {
  return std::to_string(count) + " numbers (hash " + hexadecimal(XXH3_64bits(bytes.data(), bytes.size())) + ")";
}

void Description::line(std::string_view name, std::string value) {
  text_.append(name);
  text_ += ' ';
  text_ += value;
  text_ += '\n';
}

void describe(Description& to, const Topology& topology) {
  const auto& [shape, facts, faults, nodes, slots, max_ports, twisted] = topology;  // facts to max_ports follow from the shape
  to.add("topology.shape", shape);
  to.add("topology.twisted", twisted);
  const auto& [dead_nodes, dead_links, slow_links] = topology.faults();
  to.add("topology.dead_nodes", dead_nodes);
  to.add("topology.dead_links", dead_links);
  to.add("topology.slow_links", slow_links);
}

void describe(Description& to, const Machine& machine) {
  const auto& [topology, ports, switching, contention, routing, cost] = machine;
  describe(to, topology);
  to.add("machine.ports", ports);
  to.add("machine.switching", switching);
  to.add("machine.contention", contention);
  to.add("machine.routing", routing);
  const auto& [start_up_s, byte_s, hop_s, combine_s, dimension_byte_s] = cost;
  to.add("cost.start_up_s", start_up_s);
  to.add("cost.byte_s", byte_s);
  to.add("cost.hop_s", hop_s);
  to.add("cost.combine_s", combine_s);
  to.add("cost.dimension_byte_s", dimension_byte_s);
}

void describe(Description& to, const SizeRule& sizes) {
  // Files of one name may differ, and the other way round.
  const auto& [kind, exponent, share, from, most, seed, listed, file, of_sources] = sizes;
  to.add("sizes.kind", kind);
  to.add("sizes.exponent", exponent);
  to.add("sizes.share", share);
  to.add("sizes.from", from);
  to.add("sizes.to", most);
  to.add("sizes.seed", seed);
  to.add("sizes.of_sources", of_sources);
  to.add("sizes.table", listed ? *listed : std::vector<Bytes>());
}

void describe(Description& to, const Placement& placement) {
  // What begins with `derived` follows from the rest.
  const auto& [kind, nodes, segments, segment, longer, unit, derived_buckets, derived_shift, first_id, ids, copies, root, dead, sources,
               derived_index, contributions, vector_segments, sizes, derived_first] = placement;
  to.add("blocks.kind", kind);
  to.add("blocks.nodes", nodes);
  to.add("blocks.segments", segments.value());
  to.add("blocks.bytes", segment);
  to.add("blocks.longer", longer);
  to.add("blocks.unit", unit);
  to.add("blocks.copies", copies);
  to.add("blocks.root", root);
  to.add("blocks.dead_nodes", dead);
  to.add("blocks.sources", sources);
  to.add("blocks.vector_segments", vector_segments.value());
  const auto& [reduction, wanted, at, bytes, of_vector, registers] = contributions;
  to.add("blocks.reduction", reduction);
  to.add("blocks.wanted", wanted);
  to.add("blocks.result_at", at);
  to.add("blocks.vector_bytes", bytes);
  to.add("blocks.vector_cut_into", of_vector);
  to.add("blocks.registers", registers);
  if (sizes) describe(to, sizes->rule());
  std::vector<NodeId> of_exchange;
  for (NodeId node = 0; sizes && sizes->rule().of_sources && node < nodes; ++node) {
    if (sizes->is_source(node)) of_exchange.push_back(node);
  }
  to.add("sizes.sources", of_exchange);
  to.add("blocks.first_id", first_id);
  to.add("blocks.ids", ids);
}

void describe(Description& to, const Groups& groups) {
  // Which nodes they are and what a group looks like say all the rest.
  to.add("groups.text", groups.text());
  to.add("groups.members", groups.tables_->members);
  to.add("groups.count", groups.count());
  describe(to, groups.topology());
}

std::string difference(std::string_view text, std::string_view wanted) {
  while (!text.empty() || !wanted.empty()) {
    const std::string_view here = cut_line(text);
    const std::string_view there = cut_line(wanted);
    if (here != there)
      return std::string(here.empty() ? "nothing" : here) + " instead of " + std::string(there.empty() ? "nothing" : there);
  }
  return {};
}

}  // namespace torus::detail
