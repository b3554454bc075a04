/// Parses the first line of a trace.
#pragma once

#include <string_view>

#include <torus/trace.hpp>

#include "runtime/trace/lines.hpp"

namespace torus::detail {

/// Throws InputError, by lines.refuse(), if the header is wrong.
TraceHeader parse_trace_header(const Lines& lines, std::string_view line);

}  // namespace torus::detail
