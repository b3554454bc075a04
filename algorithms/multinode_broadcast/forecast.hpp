/// Predictions for a multi-node broadcast whose sources are unknown: their expected number, and the expected maximum load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torus/algorithm.hpp>

namespace torus::multinode_broadcast {

/// The number of sources that predictions go by: what the user expects, or else all living nodes, as an all-gather has them. Never the
/// request's own sources: programs do not know them, and neither may the choice between programs.
double assumed_sources(const Machine& machine, const Request& request) noexcept;

/// The number of sources that a limit on the steps holds for: those that are assumed, and those that the request has if they are more.
double most_sources(const Machine& machine, const Request& request) noexcept;

/// The median of the maximum of `variables` independent variables with a mean: the messages on the fullest of as many channels. Each
/// channel serves `cap` nodes, which are sources with equal probability.
double fullest(double mean, double variables, double cap) noexcept;

/// 1, .., n: the divisors of n, ascending.
std::vector<std::int32_t> divisors(std::int32_t n);

/// A number for people: whole, or with four significant digits.
std::string decimal(double value);

}  // namespace torus::multinode_broadcast
