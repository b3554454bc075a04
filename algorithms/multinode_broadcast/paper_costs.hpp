/// The paper's formulas of what its phases cost, for reports.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace torus::multinode {

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
