/// What dry runs tell beside what torus/run.hpp has of them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <torus/run.hpp>

namespace torus::detail {

/// The same request for blocks of no bytes.
Request emptied(const Request& full);

/// About how long a run of this plan takes, wall time on one core of a host, without set-up and verification: by the steps, messages,
/// blocks and bytes that a dry run counts, with the weights of one host, so that it is the same everywhere. None above 2^16 nodes or 2^24
/// copies of blocks, if the dry run fails or has not ended within `seconds`, or as soon as it is known to be more than `most_s`.
std::optional<double> estimated_run_s(const Machine& machine, const Request& request, const Plan& plan, double most_s,
                                      double seconds = std::numeric_limits<double>::infinity());

/// A lower bound of that, without a dry run: by the blocks that must be delivered, or by a number of steps.
double least_run_s(const Machine& machine, const Request& request, const Plan& plan);
double least_run_s(std::uint64_t steps);

}  // namespace torus::detail
