/// How people write what the command takes: sizes, numbers, nodes, sets of sources.
/// The readers throw InputError of one line: the option and its value, the rule, a value that would do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

namespace torus::command {

/// The parts of a text between separators; one more than there are of those.
std::vector<std::string_view> split(std::string_view text, char at);

/// `64`, `64B`, `4KiB`, `1MiB`, `2GiB`.
Bytes parse_bytes(std::string_view option, std::string_view text);
/// The shortest text that parse_bytes() reads back: 65536 is `64KiB`, 100 is `100`.
std::string bytes_option(Bytes bytes);

/// A whole number from least to most.
std::uint64_t parse_whole(std::string_view option, std::string_view text, std::uint64_t least, std::uint64_t most);
/// A number from least to most; the example is one that would do.
double parse_real(std::string_view option, std::string_view text, double least, double most, std::string_view example);
/// Model seconds: up to 1e6, so that no sum of theirs overflows.
double parse_seconds(std::string_view option, std::string_view text);
/// `0,1,2`: dimensions.
std::vector<Dimension> parse_routing(std::string_view text);

/// A rank, or coordinates `3,4`.
NodeId parse_node(std::string_view option, std::string_view text, const Topology& topology);

/// A set of sources, ascending: a list `0,0;3,4` of nodes, `random` (one), `random:S`, `all`, `none`, `row:i`, `column:i`, `diagonal`,
/// `block:AxB` (a corner of these extents), `density:0.1` (each node with this probability). Random ones follow from the seed alone.
/// `all` and `random:S` are refused where the list would not fit into the memory.
std::vector<NodeId> parse_sources(std::string_view option, std::string_view text, const Topology& topology, std::uint64_t seed);
/// The shortest text that parse_sources() reads back, of ranks.
std::string sources_option(const Topology& topology, std::span<const NodeId> sources);

/// `; did you mean 'wang-tseng'?` if one of the words is near, else nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

}  // namespace torus::command
