/// What can be foretold of a multi-node broadcast whose sources are not known: how many, and how unevenly chance strews them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

namespace torus::multinode {

/// The number of sources that predictions go by: what the user expects, or else all living nodes, as an all-gather has them. Never the
/// request's own sources: programs do not know them, and neither may the choice between programs.
double assumed_sources(const Machine& machine, const Request& request) noexcept;

/// The number of sources that a limit on the steps holds for: those that are assumed, and those that the request has if they are more.
double most_sources(const Machine& machine, const Request& request) noexcept;

/// The largest of `variables` independent variables of a mean, at its median: how many messages the fullest of so many channels carries,
/// each from some of `cap` nodes that are sources with the same probability.
double fullest(double mean, double variables, double cap) noexcept;

/// 1, .., n: the divisors of n, ascending.
std::vector<std::int32_t> divisors(std::int32_t n);

/// "12 steps + 3456 B"
std::string steps_and_bytes(double steps, double bytes);
/// A number with as many decimals as tell something.
std::string decimal(double value);

}  // namespace torus::multinode
