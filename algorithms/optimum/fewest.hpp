/// The fewest steps of small machines, as far as they are known: the table of fewest.md, whose lines `fewest_table` has written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torus/collective.hpp>
#include <torus/machine.hpp>

namespace torus::optimum {

/// A number of steps that is proven, or lies between two.
struct Between {
  std::uint32_t at_least = 0;
  std::optional<std::uint32_t> at_most = {};  ///< none: no schedule is known

  bool proven() const noexcept { return at_most == at_least; }
  /// "4", "4 or 5", "4 to 6", "4 or more".
  std::string text() const;
};

/// The machines of a shape under one switching, by the ports from 1 on.
struct FewestOfShape {
  struct Numbers {
    Between broadcast, gossip;
  };
  std::string shape;
  Switching switching{};
  std::vector<Numbers> by_ports;
};
const std::vector<FewestOfShape>& fewest_table();

/// The numbers of a collective on a whole machine whose messages share no channel; under wormhole switching where no message goes the
/// longer way round a ring. None: the table does not have it.
std::optional<Between> fewest_known(const Machine& machine, Collective collective);

}  // namespace torus::optimum
