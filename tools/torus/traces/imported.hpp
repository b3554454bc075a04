/// A schedule of another program as the messages of a trace.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <torus/trace_reader.hpp>

#include "tools/torus/setting/schedule_file.hpp"

namespace torus::command {

/// The file on the machine of these options, of which --on is needed. Throws InputError.
Setting imported(const std::string& path, const std::optional<std::string>& map, const TypedOptions& typed);

/// Calls f for each message of such a setting, in the order of a trace, until it returns false.
void each_message(const Setting& setting, const std::function<bool(const TraceMessage&)>& f);

}  // namespace torus::command
