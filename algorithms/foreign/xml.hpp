/// XML as the readers of schedules take it: elements and attributes, few levels deep, without a document type and its entities.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "algorithms/foreign/content.hpp"

namespace torus::foreign {

using Attributes = std::vector<std::pair<std::string_view, std::string_view>>;

/// Reads a file as a stream. `begin` gets each element with its depth, from 0, and its attributes, which are valid in the call; what it
/// throws is thrown on. Throws InputError with the line on what is no XML, has a document type, or is more than `most_depth` deep.
void read_xml(const File& file, int most_depth, const std::function<void(int depth, std::string_view name, const Attributes&)>& begin);

}  // namespace torus::foreign
