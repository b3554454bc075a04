/// How people write dead and slow links. The readers throw InputError of one line, as those of notation.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <torus/topology.hpp>

namespace torus::command {

/// `3,4:+0`: the link from node (3,4) in dimension 0 upwards, both ways; `7:-1` downwards; in a complete dimension `7:2@1`: to the node at
/// offset 2 in dimension 1. Several with `;` between.
std::vector<Link> parse_links(std::string_view option, std::string_view text, const Topology& topology);
/// The same with a factor: `3,4:+0:4`.
std::vector<SlowLink> parse_slow_links(std::string_view option, std::string_view text, const Topology& topology);
/// `random:5`: so many dead links more, by the seed, none of which cuts the machine apart. Refuses a number that it cannot reach.
void add_random_dead_links(std::string_view option, std::string_view text, const Topology& topology, std::uint64_t seed, Faults& faults);

/// `7:+0`: what parse_links() reads back.
std::string link_text(const Link& link, const Topology& topology);
/// ` --dead-link .. --dead-node .. --slow-link ..`: options that read the faults back; empty where there are none.
std::string fault_options(const Faults& faults, const Topology& topology);
/// "2 dead links, 1 dead node, 1 slow link".
std::string faults_text(const Faults& faults);

}  // namespace torus::command
