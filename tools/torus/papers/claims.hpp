/// What papers state of their algorithms, item by item, each with the run that shows it here.
#pragma once

#include <span>
#include <string_view>

namespace torus::command {

/// A statement of a paper about one run.
struct Claim {
  std::string_view paper;                        ///< Reference::cited_as
  std::string_view item;                         ///< "theorem 2, k dimensions"
  std::string_view says;                         ///< its formula, in words
  std::string_view command;                      ///< of `torus run`; empty: nothing here shows it, and `says` tells why
  std::string_view figure = "steps";             ///< a figure of the run's JSON; "a/b" is member b of a
  double claimed = 0;                            ///< what the paper gives for it, in the same unit
  std::string_view bound = "steps_lower_bound";  ///< the figure that no algorithm beats
};

/// By paper, then in its order.
std::span<const Claim> claims();

}  // namespace torus::command
