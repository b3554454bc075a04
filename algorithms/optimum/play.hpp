/// A schedule of one collective played as another, in as many steps: fewest.md has the theorem and its proof.
#pragma once

#include <optional>

#include <torus/collective.hpp>
#include <torus/schedule.hpp>

#include "algorithms/optimum/model.hpp"

namespace torus::optimum {

/// What the steps of a schedule must do for a collective. gossip: every node hears of every other; spread: all hear of a root; collect: a
/// root hears of all.
enum class Family : std::uint8_t { gossip, spread, collect };
/// None: a scan, which needs less than a gossip and more than a spread.
std::optional<Family> family_of(Collective collective) noexcept;
/// Whether a schedule of one is one of the other, up to what its messages carry.
bool turns(Collective of, Collective into) noexcept;

/// What a schedule's messages are, whatever they carry; those that one node sends another in one step the same way are one.
Steps steps_of(const Schedule& schedule);

/// The same steps backwards: each route from its end. Throws InputError where the machine does not take its dimensions in that order.
Steps backwards(const Machine& machine, const Steps& steps);

/// The collective by these steps, with one block a message or pair, one segment and one register; `root` where it has one. An all-reduce
/// adds up what its messages bring: nobody may hear of anybody twice. Throws InputError where the steps do not do for the collective.
Schedule played(const Machine& machine, const Steps& steps, Collective as, NodeId root);

/// A schedule of one collective as another, which turns(of, into). `root`: of both, where both have one. Throws InputError.
Schedule turned(const Machine& machine, const Schedule& schedule, Collective of, Collective into, NodeId root);

}  // namespace torus::optimum
