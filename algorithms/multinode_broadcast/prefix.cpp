#include "algorithms/multinode_broadcast/prefix.hpp"

#include <algorithm>

#include "algorithms/multinode_broadcast/prefix_sweeps.hpp"

namespace torus::multinode {
namespace {

/// Places along a diagonal. global: the main one alone. diag: every DCN diagonal, staggered so that no two of them use a channel in the
/// same step.
DiagonalSite site_along(const Node& self, const PrefixTables& tables) {
  const std::int32_t i = self.coordinate(0), j = self.coordinate(1);
  if (tables.global()) return {i == j, i, 1};
  return {i % tables.h == j % tables.h, modulo(std::int64_t{2} * j - i, tables.n), 1};
}

}  // namespace

std::string_view name(Prefix prefix) noexcept { return prefix_names[static_cast<std::size_t>(prefix)]; }

std::optional<Prefix> parse_prefix(std::string_view text) noexcept {
  if (text.empty()) return Prefix::global5;
  const auto at = std::find(prefix_names.begin(), prefix_names.end(), text);
  if (at == prefix_names.end()) return std::nullopt;
  return static_cast<Prefix>(at - prefix_names.begin());
}

PrefixTables::PrefixTables(Prefix kind_of_sum, std::int32_t nodes_a_side, std::int32_t partition)
    : kind{kind_of_sum}, n{nodes_a_side}, h{partition}, across{LineTree::window(5, n / h)}, along{LineTree::line(quinary() ? 5 : 3, n)} {}

std::int32_t PrefixTables::steps() const noexcept {
  if (!exchanges()) return 0;
  return (quinary() ? 4 : 2) * along.levels() + (global() ? 2 * across.levels() : 0);
}

std::uint32_t hashed_rank(std::span<const std::int32_t> coordinates, std::int32_t h) noexcept {
  constexpr std::array<std::uint64_t, 4> factor{7919, 104729, 1299709, 15485863};  // the primes number 10^3, 10^4, 10^5, 10^6
  std::uint64_t rank = 31 * static_cast<std::uint64_t>(coordinates.front());
  for (std::size_t d = 0; d < coordinates.size(); ++d) rank += factor[d % factor.size()] * static_cast<std::uint64_t>(coordinates[d] / h);
  return static_cast<std::uint32_t>(rank % static_cast<std::uint64_t>(h));
}

std::uint32_t first_rank_of_diagonal(std::int32_t g, std::int32_t h, std::int32_t q) noexcept {
  return static_cast<std::uint32_t>(q <= h ? g * std::max(1, h / q) : g);
}

ProgramOf<std::uint32_t> rank_of_first(Node& self, const PrefixTables& tables, std::uint32_t count) {
  std::uint32_t base = 0;
  if (tables.kind == Prefix::hash) base = hashed_rank(self.coordinates(), tables.h);
  if (!tables.exchanges()) co_return base;
  if (tables.global()) {
    const DiagonalSite across = DiagonalSite::in_ddn(self, tables.h);
    TreeSum windows(tables.across, count);
    co_await sum_up_across(self, tables.across, across, windows);
    const DiagonalSite along = site_along(self, tables);
    TreeSum main(tables.along, windows.held());
    co_await sum_up_along(self, tables.along, tables.quinary(), along, main);
    co_await base_down_along(self, tables.along, tables.quinary(), along, main, base);
    co_await base_down_across(self, tables.across, across, windows, base);
  } else {
    const DiagonalSite along = site_along(self, tables);
    TreeSum diagonal(tables.along, count);
    co_await sum_up_along(self, tables.along, tables.quinary(), along, diagonal);
    base = first_rank_of_diagonal(modulo(self.coordinate(0) - self.coordinate(1), tables.n) / tables.h, tables.h, tables.n / tables.h);
    co_await base_down_along(self, tables.along, tables.quinary(), along, diagonal, base);
  }
  co_return base;
}

}  // namespace torus::multinode
