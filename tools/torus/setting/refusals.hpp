/// Why a run is refused before it starts, in terms of the command's options. No other file turns a refusal into options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <torus/catalogue.hpp>

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// Why an algorithm does not apply to a setting, or its plan does not fit into the memory: one line; none if it may be planned. "--ports 2:
/// wang-tseng uses all channels at once; --ports 4 would do", "--on 8x8x8: ..; --on 10x10 --switching circuit would do": that is accepted,
/// with all else as it was typed. Time: O(dimensions).
std::optional<std::string> why_not_here(const Algorithm& algorithm, const Setting& setting);

/// Throws InputError: no algorithm applies on a machine, with the first one's reason, and what would do if that is known.
[[noreturn]] void nothing_applies(Collective collective, const std::string& machine, const std::string& first_reason,
                                  const std::string& what_would_do = "");

/// Why no algorithm can have the memory: what the nodes must hold in the end takes more than `limit`. One line; none if it may fit. The
/// engine's own estimate needs the plan and the placement of all blocks, which may not fit either. `sources` counts for multi-node
/// broadcasts alone. segments 0: the algorithm decides, and a message counts as one block. Time: O(1).
std::optional<std::string> why_it_cannot_fit(const RunSpec& spec, std::uint64_t sources, std::uint32_t segments, Bytes limit);

/// What to type instead of a run that needs too much memory; `bytes` would fit: "about --bytes 4KiB would fit, or more --memory".
std::string what_would_fit(Collective collective, const Reduction& reduction, const std::optional<SizeRule>& sizes, Bytes bytes);

}  // namespace torus::command
