/// A schedule of another program as the messages of a trace.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <torus/judge.hpp>

#include "tools/torus/setting/schedule_file.hpp"

namespace torus::command {

/// The file on the machine of these options, of which --on is needed. Throws InputError.
Setting imported(const std::string& path, const TypedOptions& typed);

/// What the judge says of its messages on that machine. look: see Judge. see: called for each message before it is judged.
Verdict judged(const Setting& setting, const Schedule& schedule, std::function<void()> look = {},
               const std::function<void(const TraceMessage&)>& see = {});

/// Writes it as a trace, once the judge has found it legal and complete. Throws RunError, with its first objection, if it is not.
Verdict write_trace(const std::string& path, const Setting& setting, const Schedule& schedule, std::string_view called);

}  // namespace torus::command
