/// --fault: how an injected fault is written on the command line, and why one did no harm.
#pragma once

#include <string>

#include <torus/injection.hpp>

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// Reads KIND@step,node[+], KIND@step,node:channel[+] as --dead-link writes it or node,slot, random, or random:KIND. A + at the end: where
/// the fault first can strike, from that step and node on. Which byte, which bit and how many steps follow from the setting's seed, and so
/// does where random ones strike. Throws InputError.
Fault parse_fault(const std::string& text, const Setting& setting);

/// What parse_fault() reads as this fault, where its seed is the setting's.
std::string fault_text(const Fault& fault, const Topology& topology);
/// The same fault, to strike exactly what the record says that it struck.
Fault as_struck(Fault fault, const FaultRecord& record);

/// A random fault of a kind. It strikes where it first can, from a step and node on that follow from `seed`; all else follows from the
/// setting's seed, so that fault_text() repeats it.
Fault random_fault(FaultKind kind, const Setting& setting, std::uint64_t seed);

/// What kept a fault from striking. It runs the setting up to the fault's step.
std::string why_nothing_struck(const Setting& setting, const Fault& fault);

struct Harmless {
  std::string kind;  ///< a few words, for counts: "rounded away"
  std::string text;  ///< one line: "the sum at (0,1) in step 3 rounds the difference away"
};

/// For a run that a fault has struck, and after which every node holds, byte for byte, what it must and nothing else. `fault` is exact.
///
/// Where the fault changed bytes, it follows the difference: it runs the setting without the fault and with it, by one thread, and compares
/// after each step the copies of the changed blocks at all nodes and in all messages. So it takes two runs, and memory of copies times
/// steps; where these are more than 2^20, it says that it did not follow.
Harmless why_harmless(const Setting& setting, const Fault& fault, const FaultRecord& record);

}  // namespace torus::command
