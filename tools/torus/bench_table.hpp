/// The figures of torus bench as a file, and what they say of the host.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/torus/bench_pairs.hpp"

namespace torus::command {

/// The model of the host's processor; "unknown" where the system does not say.
std::string cpu_text();
/// Adds what the pairs of a row came to, and says it: pairs, the two medians, the ratio, its 95 % confidence interval, pairs won, a note.
std::vector<std::string> add_pairs(nlohmann::ordered_json& row, const Pairs& pairs);
/// The rows of a bench, JSON objects, as CSV with a line of names.
std::string bench_csv(const nlohmann::ordered_json& rows);

}  // namespace torus::command
