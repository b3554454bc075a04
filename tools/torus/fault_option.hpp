/// --fault: how a fault is written on the command line.
#pragma once

#include <string>

#include <torus/fault.hpp>

#include "tools/torus/setting.hpp"

namespace torus::command {

/// Reads KIND@step,node[,channel][+], random, or random:KIND. A + at the end: where the fault first can strike, from that step and node on.
/// Which byte, which bit and how many steps follow from the setting's seed, and so does where random ones strike. Throws InputError.
torus::Fault parse_fault(const std::string& text, const Setting& setting);

/// What parse_fault() reads as this fault, where its seed is the setting's.
std::string fault_text(const torus::Fault& fault);
/// The same fault, to strike exactly what the record says that it struck.
torus::Fault as_struck(torus::Fault fault, const FaultRecord& record);

/// A random fault of a kind. It strikes where it first can, from a step and node on that follow from `seed`; all else follows from the
/// setting's seed, so that fault_text() repeats it.
torus::Fault random_fault(FaultKind kind, const Setting& setting, std::uint64_t seed);

}  // namespace torus::command
