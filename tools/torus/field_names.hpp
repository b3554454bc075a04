/// What the field calls algorithms that have another name here.
#pragma once

#include <string_view>

#include <torus/algorithm.hpp>

namespace torus::command {

/// Our name of an algorithm that MPI libraries and papers call so: "binomial" is "mst". Empty if there is none.
std::string_view our_name(Collective collective, std::string_view word) noexcept;

}  // namespace torus::command
