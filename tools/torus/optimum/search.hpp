/// The fewest steps of a machine's collectives, each proven or between two numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torus/machine.hpp>

#include "algorithms/optimum/play.hpp"
#include "tools/torus/optimum/solver.hpp"

namespace torus::command {

/// A formula that says that `steps` suffice, and the proof that it cannot be satisfied.
struct Impossible {
  Step steps = 0;
  optimum::Formula formula;
  std::string proof;
};

/// One number.
struct Fewest {
  std::uint64_t at_least = 0;
  std::optional<std::uint64_t> at_most = {};  ///< none: nothing was found
  std::string reason = {};                    ///< why not fewer
  std::optional<Impossible> impossible = {};  ///< of one step less, where it was asked for and that needed a solver
  optimum::Steps steps = {};                  ///< that attain at_most
  NodeId root = 0;                            ///< of a broadcast: one that needs so many
  bool once = false;                          ///< of a gossip: nobody hears of anybody twice

  bool proven() const noexcept { return at_most == at_least; }
};

struct Optimum {
  Fewest broadcast, gossip;
};

/// What is asked for beside the numbers.
struct Extras {
  bool proof = false;  ///< that one step less is impossible
  bool once = false;   ///< a gossip in which nobody hears of anybody twice, if there is one of so few steps
};

/// `limit` is of one question. Throws InputError where there is no such model, or without a solver.
Optimum fewest_steps(const Machine& machine, const SolverLimit& limit, const Extras& extras = {});

}  // namespace torus::command
