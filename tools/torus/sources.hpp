/// How people write nodes and sets of source nodes. The readers throw InputError of one line, as those of notation.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/topology.hpp>

namespace torus::command {

/// A rank, or coordinates `3,4`.
NodeId parse_node(std::string_view option, std::string_view text, const Topology& topology);

/// A set of sources, ascending: a list `0,0;3,4` of nodes, `random` (one), `random:S`, `all`, `none`, `row:i`, `column:i`, `diagonal`,
/// `block:AxB` (a corner of these extents), `density:0.1` (each node with this probability). Random sources follow from the seed.
/// `all` and `random:S` are refused where the list does not fit into the memory.
std::vector<NodeId> parse_sources(std::string_view option, std::string_view text, const Topology& topology, std::uint64_t seed);
/// The shortest text of ranks that parse_sources() reads back.
std::string sources_option(const Topology& topology, std::span<const NodeId> sources);

}  // namespace torus::command
