/// Parses the first line of a trace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <torus/trace.hpp>

#include "runtime/trace/lines.hpp"

namespace torus::detail {

/// Throws InputError, by lines.refuse(), if the header is wrong.
TraceHeader parse_trace_header(const Lines& lines, std::string_view line);

/// Why no run can have these `sources`, to be said after their name; none if one can. A root is one living node. In a multi-node broadcast
/// some nodes or none are sources. In all other collectives all living nodes are, and an empty list stands for them.
std::optional<std::string> wrong_sources(const TraceHeader& header);

}  // namespace torus::detail
