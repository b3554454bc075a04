/// Which machines the multi-node broadcasts are for: each check gives one line (the value, the rule, a value that would do) or none.
#pragma once

#include "algorithms/common/refusal.hpp"

namespace torus::multinode {

/// A torus with all ports, and the switching that the program needs.
refusal::Refusal refuses_torus(std::string_view name, const Machine& machine, Switching needed);

/// Besides, for programs with routes of several legs: worms route the dimensions in ascending order.
refusal::Refusal refuses_routing(std::string_view name, const Machine& machine);

/// n x n.
refusal::Refusal refuses_all_but_squares(std::string_view name, const Machine& machine);

}  // namespace torus::multinode
