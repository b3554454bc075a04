/// The papers behind the algorithms, from algorithms/references.md, which is built into the command.
#pragma once

#include <string>
#include <vector>

#include <torus/algorithm.hpp>

namespace torus::command {

/// In full what an algorithm's source cites: "J.-L. Park, H.-A. Choi: Circuit-Switched .. . IEEE .. 7(2), 184-190, 1996". Empty for
/// folklore and for what is this project's or the user's own.
std::vector<std::string> references_of(const Algorithm& algorithm);

}  // namespace torus::command
