/// Why an injected fault did no harm.
#pragma once

#include <string>

#include <torus/fault.hpp>

#include "tools/torus/setting.hpp"

namespace torus::command {

struct Harmless {
  std::string kind;  ///< a few words, for counts: "rounded away"
  std::string text;  ///< one line: "the sum at (0,1) in step 3 rounds the difference away"
};

/// For a run that a fault has struck, and after which every node holds, byte for byte, what it must and nothing else. `fault` is exact.
///
/// Where the fault changed bytes, it follows the difference: it runs the setting without the fault and with it, by one thread, and compares
/// after each step the copies of the changed blocks at all nodes and in all messages. So it takes two runs, and memory of copies times
/// steps; where these are more than 2^20, it says that it did not follow.
Harmless why_harmless(const Setting& setting, const torus::Fault& fault, const FaultRecord& record);

}  // namespace torus::command
