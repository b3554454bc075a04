/// --fault: how a fault is written on the command line.
#pragma once

#include <string>

#include <torus/fault.hpp>

#include "tools/torus/setting.hpp"

namespace torus::command {

/// Reads KIND@step,node[,channel], random, or random:KIND; random ones come from the setting's seed. Throws InputError.
torus::Fault parse_fault(const std::string& text, const Setting& setting);

/// KIND@step,node: the fault that has done what the record says, so that --fault repeats it.
std::string fault_text(FaultKind kind, const FaultRecord& record);

/// A random fault of a kind. It strikes where it first can, from a random step and node on.
torus::Fault random_fault(FaultKind kind, const Setting& setting, std::uint64_t seed);

}  // namespace torus::command
