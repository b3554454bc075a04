#include "algorithms/search/sublattice.hpp"

namespace torus {
namespace {

std::int32_t floor_div(std::int32_t a, std::int32_t b) noexcept { return a >= 0 ? a / b : -((b - 1 - a) / b); }

/// The next in the order of an odometer, whose places are what stands beyond the diagonal; false after the last.
bool advance(std::vector<Coordinates>& rows) {
  for (std::size_t i = rows.size(); i-- > 0;) {
    for (std::size_t j = rows.size(); --j > i;) {
      if (++rows[i][j] < rows[j][j]) return true;
      rows[i][j] = 0;
    }
  }
  return false;
}

/// The next product of the diagonal, with zeros beyond it; false after the last. Place i takes divisors of what the places before leave.
bool advance_diagonal(std::vector<Coordinates>& rows, std::int32_t product) {
  const std::size_t k = rows.size();
  for (std::size_t i = k - 1; i-- > 0;) {
    std::int32_t left = product;
    for (std::size_t j = 0; j < i; ++j) left /= rows[j][j];
    for (std::int32_t h = rows[i][i] + 1; h <= left; ++h) {
      if (left % h != 0) continue;
      rows[i][i] = h;
      for (std::size_t j = i + 1; j < k; ++j) rows[j][j] = 1;
      rows[k - 1][k - 1] = left / h;
      return true;
    }
  }
  return false;
}

}  // namespace

Sublattice::Sublattice(std::size_t dimensions) : rows_(dimensions, Coordinates(dimensions, 0)) {
  for (std::size_t i = 0; i < dimensions; ++i) rows_[i][i] = 1;
}

std::uint32_t Sublattice::index() const noexcept {
  std::uint32_t product = 1;
  for (std::size_t i = 0; i < rows_.size(); ++i) product *= static_cast<std::uint32_t>(rows_[i][i]);
  return product;
}

std::uint32_t Sublattice::coset(Coordinates point) const noexcept {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::int32_t times = floor_div(point[i], rows_[i][i]);
    for (std::size_t j = i; times != 0 && j < rows_.size(); ++j) point[j] -= times * rows_[i][j];
    number = number * static_cast<std::uint32_t>(rows_[i][i]) + static_cast<std::uint32_t>(point[i]);
  }
  return number;
}

Coordinates Sublattice::point(std::uint32_t coset) const noexcept {
  Coordinates point(rows_.size(), 0);
  for (std::size_t i = rows_.size(); i-- > 0;) {
    point[i] = static_cast<std::int32_t>(coset % static_cast<std::uint32_t>(rows_[i][i]));
    coset /= static_cast<std::uint32_t>(rows_[i][i]);
  }
  return point;
}

bool Sublattice::fits(const Topology& topology) const noexcept {
  for (std::size_t d = 0; d < rows_.size(); ++d) {
    Coordinates round(rows_.size(), 0);
    round[d] = topology.extent(static_cast<Dimension>(d));
    if (coset(round) != 0) return false;
  }
  return true;
}

bool Sublattice::may_fit(const Topology& topology) const noexcept {
  for (std::size_t d = 0; d < rows_.size(); ++d) {
    if (topology.extent(static_cast<Dimension>(d)) % rows_[d][d] != 0) return false;
  }
  return true;
}

Sublattice Sublattice::times(const std::vector<Coordinates>& factors) const {
  Sublattice product(*this);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t j = 0; j < rows_.size(); ++j) {
      product.rows_[i][j] = 0;
      for (std::size_t l = i; l <= j; ++l) product.rows_[i][j] += factors[i][l] * rows_[l][j];
    }
  }
  return product;
}

void Sublattice::each_within(const Topology& topology, std::uint32_t cosets, std::size_t tries,
                             const std::function<bool(const Sublattice&)>& f) const {
  const std::size_t k = rows_.size();
  std::vector<Coordinates> factors = Sublattice(k).rows_;
  factors[k - 1][k - 1] = static_cast<std::int32_t>(cosets);
  do {
    if (!times(factors).may_fit(topology)) continue;
    do {
      if (tries-- == 0) return;
      const Sublattice within = times(factors);
      if (within.fits(topology) && !f(within)) return;
    } while (advance(factors));
  } while (advance_diagonal(factors, static_cast<std::int32_t>(cosets)));
}

}  // namespace torus
