/// How people write many values of an option at once: lists with commas, ranges of sizes.
/// The readers throw InputError of one line, as those of notation.hpp; a value that is named twice counts once.
#pragma once

#include <string_view>
#include <vector>

#include <torus/machine.hpp>

namespace torus::command {

/// `64`, `64,4KiB`, `1KiB:16MiB` (both ends, and from the first on all of it times 4, 16, ..), `1KiB:16MiB:x2` (times 2, 4, ..),
/// `1KiB:16KiB:+1KiB` (plus 1 KiB, 2 KiB, ..), or any of them with commas between; ascending.
std::vector<Bytes> parse_sizes(std::string_view option, std::string_view text);

/// `8x8,4x4x4`, in the order given.
std::vector<Topology> parse_shapes(std::string_view text);

/// `1,4,all`, in the order given; 0 is all. What a shape has no room for is no mistake here.
std::vector<int> parse_port_counts(std::string_view text);

}  // namespace torus::command
