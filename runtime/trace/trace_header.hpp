/// Parses and checks the first line of a trace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <torus/trace.hpp>

#include "runtime/base/lines.hpp"

namespace torus::detail {

/// Whether the collective is a reduction.
bool reduces(const TraceHeader& header) noexcept;

/// Throws InputError, by lines.refuse(), if the header is wrong.
TraceHeader parse_trace_header(const Lines& lines, std::string_view line);

/// Why no run can have these `sources`, to be said after their name; none if one can. A root is one living node. In a multi-node broadcast
/// some nodes or none are sources. In all other collectives all living nodes are, and an empty list stands for them.
std::optional<std::string> wrong_sources(const TraceHeader& header);

/// A JSON string with its quotes. An algorithm may have any name, but JSON has no way to write bytes that are not UTF-8: they are replaced.
std::string quoted(std::string_view text);

}  // namespace torus::detail
