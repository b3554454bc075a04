/// The figures of torus bench as a file, and what they say of the host.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace torus::command {

/// The model of the host's processor; "unknown" where the system does not say.
std::string cpu_text();
/// The rows of a bench, JSON objects, as CSV with a line of names.
std::string bench_csv(const nlohmann::ordered_json& rows);

}  // namespace torus::command
