// SPDX-License-Identifier: MIT
/// The paper's formulas, and what balancing should come to. Reports and tests use it; it knows the source set, and programs never see it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/multinode_broadcast/prefix.hpp"
#include "runtime/machine.hpp"

namespace torus::multinode {

/// Messages in each of the h DDNs after aggregation, and after tuning.
struct DdnLoads {
  std::vector<std::uint32_t> before, after;
};
DdnLoads ddn_loads(std::int32_t n, std::int32_t h, Prefix prefix, std::span<const NodeId> sources);

/// A cost in the paper's terms: start-ups, and bytes on a channel.
struct PaperCost {
  double steps = 0;
  double bytes = 0;
};
/// Lemma 2, the aggregation phase; Lemma 3, the distribution phase; Theorem 1, both, in order of magnitude. m: bytes of a message.
PaperCost lemma2(std::int32_t n, std::int32_t h, double m) noexcept;
PaperCost lemma3(std::int32_t n, std::int32_t h, double s, double m) noexcept;
PaperCost theorem1(std::int32_t n, std::int32_t h, double s, double m) noexcept;

/// Rows for a plan's notes: the three formulas for s sources of m bytes.
void add_paper_notes(std::vector<std::pair<std::string, std::string>>& notes, std::int32_t n, std::int32_t h, double s, double m);

}  // namespace torus::multinode
