/// All-reduces whose nodes combine in different orders: where the order matters, their results would differ in the last places.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <torus/algorithm.hpp>

namespace torus::reduction {

/// Refuses sums and products of real values.
inline std::optional<Refusal> differs_by_node(std::string_view algorithm, const Request& request) {
  if (request.collective != Collective::allreduce || !rounds(request.reduction)) return std::nullopt;
  return Refusal{.about = Refusal::About::parameter,
                 .value = "real",
                 .rule = "each node of " + std::string(algorithm) + " combines in an order of its own, so that rounded results differ",
                 .parameter = "values"};
}

}  // namespace torus::reduction
