/// What a newcomer may have meant by a word that the command does not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::command {

/// "; did you mean '--bytes'?" for "--size", "--byts" or "--byt", of the options there are; else nothing.
std::string meant_by_option(std::string_view word, const std::vector<std::string>& options);

/// "; a shape is --on 8x8" and the like for an argument that no option takes; else nothing.
std::string meant_by_argument(std::string_view word, const std::vector<std::string>& options);

}  // namespace torus::command
