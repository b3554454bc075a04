/// How people write nodes, sets of source nodes, and dead and slow links. The readers throw InputError of one line, as those of
/// notation.hpp.
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

/// `3,4:+0`: the link from node (3,4) in dimension 0 upwards, both ways; `7:-1` downwards; in a complete dimension `7:2@1`: to the node at
/// offset 2 in dimension 1. Several with `;` between.
std::vector<Link> parse_links(std::string_view option, std::string_view text, const Topology& topology);
/// The same with a factor: `3,4:+0:4`.
std::vector<SlowLink> parse_slow_links(std::string_view option, std::string_view text, const Topology& topology);
/// `random:5`: adds 5 dead links that follow from the seed and leave the machine in one piece. Refuses a number that it cannot reach.
void add_random_dead_links(std::string_view option, std::string_view text, const Topology& topology, std::uint64_t seed, Faults& faults);

/// `7:+0`: what parse_links() reads back.
std::string link_text(const Link& link, const Topology& topology);
/// ` --dead-link .. --dead-node .. --slow-link ..`: options that read the faults back; empty where there are none.
std::string damage_options(const Faults& faults, const Topology& topology);
/// "2 dead links, 1 dead node, 1 slow link".
std::string damage_text(const Faults& faults);

}  // namespace torus::command
