// SPDX-License-Identifier: MIT
#include "algorithms/catalogue.hpp"

#include <array>

#include "algorithms/broadcast/flood.hpp"
#include "algorithms/broadcast/squeeze_expand.hpp"
#include "algorithms/broadcast/synthesized.hpp"

namespace torus {
namespace {

constexpr std::array algorithms{
    &broadcast::flood,
    &broadcast::squeeze_expand,
    &broadcast::synthesized,
};

}  // namespace

std::string_view name(Collective collective) noexcept {
  switch (collective) {
    case Collective::broadcast: return "broadcast";
    case Collective::multinode_broadcast: return "multinode-broadcast";
    case Collective::total_exchange: return "total-exchange";
  }
  return "";
}

std::span<const Algorithm* const> catalogue() noexcept { return algorithms; }

const Algorithm* find_algorithm(Collective collective, std::string_view name) noexcept {
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective == collective && algorithm->name == name) return algorithm;
  }
  return nullptr;
}

Placement placement_of(const Machine& machine, const Request& request, const Plan& plan) {
  if (request.collective == Collective::total_exchange) return Placement::personalised(machine.topology.nodes(), request.bytes);
  return Placement::replicated(machine.topology.nodes(), request.sources, request.bytes, plan.segments);
}

}  // namespace torus
