/// The stress of the checks: one fault a run, which must be refused, or be shown to have done no harm.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <torus/fault.hpp>

#include "tools/torus/stress.hpp"

namespace torus::command {

/// What came of the faults of one kind.
struct FaultRow {
  FaultKind kind{};
  std::uint64_t runs = 0;
  std::uint64_t detected = 0;                                  ///< refused, with a step and a node
  std::uint64_t harmless = 0;                                  ///< every node holds, byte for byte, what it must and nothing else
  std::uint64_t missed = 0;                                    ///< neither
  std::uint64_t idle = 0;                                      ///< the fault found nothing to strike
  std::map<std::string, std::uint64_t> harmless_because = {};  ///< why, by Harmless::kind
};

struct FaultOutcome {
  std::vector<FaultRow> rows;           ///< one a kind
  std::vector<StressFailure> failures;  ///< the first that was missed of each kind
  std::vector<const Algorithm*> idle;   ///< algorithms in which no fault struck
  std::uint64_t runs = 0;
  bool interrupted = false;
};

/// Draws settings as stress() does, smaller ones, and injects a random fault into each. A turn in which a fault finds nothing to strike
/// has up to four settings.
FaultOutcome stress_faults(const StressOptions& options);

/// True if a text names a step and a node.
bool names_step_and_node(const std::string& text);

}  // namespace torus::command
