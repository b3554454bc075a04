// SPDX-License-Identifier: MIT
#include "algorithms/catalogue.hpp"

#include <array>

#include "algorithms/broadcast/dimension_wise.hpp"
#include "algorithms/broadcast/flood.hpp"
#include "algorithms/broadcast/park_choi.hpp"
#include "algorithms/broadcast/peters_syska.hpp"
#include "algorithms/broadcast/span.hpp"
#include "algorithms/broadcast/tsai_mckinley.hpp"
#include "algorithms/broadcast/wang_tseng.hpp"

namespace torus {
namespace {

constexpr std::array algorithms{
    &broadcast::flood,
    &broadcast::dimension_wise,
    &broadcast::wang_tseng,
    &broadcast::wang_tseng_trimmed,
    &broadcast::tsai_mckinley,
    &broadcast::span,
    &broadcast::peters_syska,
    &broadcast::park_choi,
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
