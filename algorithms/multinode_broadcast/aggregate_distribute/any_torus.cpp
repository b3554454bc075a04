#include "algorithms/multinode_broadcast/aggregate_distribute/any_torus.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/aggregate_distribute.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast::aggregate_distribute {

AnyTorus::AnyTorus(const Topology& topology, std::int32_t partition, Prefix prefix_kind)
    : h{partition},
      kind{prefix_kind},
      nodes_{static_cast<double>(topology.nodes())},
      dimensions_{topology.dimensions()},
      strip_{LineTree::window(plane() ? 5 : 3, h)},
      prefix_{topology, h},
      tuning_{h, 5},
      exchange_{largest_side(topology) / h, true},
      row_{LineTree::window(3, h)} {
  for (Dimension d = 0; d < dimensions_; ++d) {
    ddn_.push_back(LineTree::window(3, topology.extent(d) / h));
    (topology.extent(d) == largest_side(topology) ? through_ : align_).push_back(d);
  }
  std::stable_sort(align_.begin(), align_.end(), [&](Dimension a, Dimension b) { return topology.extent(a) < topology.extent(b); });
  align_.insert(align_.end(), through_.begin() + 1, through_.end());
}

std::int32_t AnyTorus::balancing_steps() const noexcept {
  if (!balances()) return 0;
  return (kind == Prefix::hash ? 0 : prefix_.steps()) + tuning_.steps();
}

std::int32_t AnyTorus::align_steps() const noexcept {
  std::int32_t steps = 0;
  for (const Dimension d : align_) steps += ddn(d).levels();
  return steps;
}

std::int32_t AnyTorus::steps() const noexcept {
  const std::int32_t exchanging = alone() ? 2 * ddn(through_.front()).levels() : exchange_.steps();
  return aggregation_steps() + balancing_steps() + 2 * align_steps() + exchanging + (dimensions_ - 1) * row_.levels() + h - 1;
}

double AnyTorus::aggregation_bytes(double s, double m) const {
  const double share = s / nodes_;
  double bytes = 0, cluster = 1;  // nodes whose messages a node has
  for (Dimension d = 1; d < dimensions_; ++d, cluster *= h) {
    for (const std::int32_t size : strip_.level_sizes()) bytes += m * fullest(size * cluster * share, nodes_ / cluster, size * cluster);
  }
  return bytes;
}

double AnyTorus::channel_bytes(double s, double m) const {
  const double share = s / nodes_;
  double cluster = std::pow(h, dimensions_ - 1), bytes = aggregation_bytes(s, m);
  if (balances()) {
    if (kind != Prefix::hash) bytes += prefix_.steps() * 4.0;
    for (const TuneMoves::Move& move : tuning_.moves) {
      const double cap = move.worst * cluster / h;
      bytes += (m + (move.last_digit ? 0 : 4)) * fullest(cap * share, 2 * nodes_ / cluster, cap);
    }
  }
  const auto gather = [&](const LineTree& tree) {
    for (const std::int32_t size : tree.level_sizes()) bytes += m * fullest(size * cluster * share, nodes_ / cluster, size * cluster);
    cluster *= tree.positions();
  };
  for (const Dimension d : align_) gather(ddn(d));
  const bool exact_balance = h == 1 || kind == Prefix::global3;
  const double heaviest = exact_balance ? std::ceil(s / h) : fullest(s / h, h, nodes_ / h);
  std::int32_t full_steps = align_steps() + (dimensions_ - 1) * row_.levels() + h - 1;  // in which all of a DDN is on a channel
  if (alone()) {
    gather(ddn(through_.front()));
    full_steps += ddn(through_.front()).levels();
  } else {
    const std::vector<std::int32_t> payloads = exchange_.step_payloads(), words = exchange_.step_words();
    for (std::size_t i = 0; i < payloads.size(); ++i)
      bytes += m * fullest(payloads[i] * cluster * share, 4 * nodes_ / cluster, payloads[i] * cluster) + 4.0 * words[i];
  }
  return bytes + m * heaviest * full_steps;
}

/// The places between a node of a DDN and the diagonal, along a dimension that the DDN is gathered over.
std::int32_t AnyTorus::diagonal_position(const Node& self, Dimension d) const noexcept {
  const std::int32_t q = ddn(d).positions(), at = self.coordinate(d) / h;
  const bool on_diagonal = std::find(through_.begin(), through_.end(), d) != through_.end();
  return centred(on_diagonal ? at - self.coordinate(through_.front()) / h : at, q);
}

/// Whether a node stands on its DCN's diagonal in the dimensions first .. end - 1.
bool AnyTorus::aligned(const Node& self, Dimension first, Dimension end) const noexcept {
  bool all = true;
  for (Dimension d = first; d < end; ++d) all = all && (self.coordinate(d) - self.coordinate(0)) % h == 0;
  return all;
}

/// The window of h nodes along a dimension around the one on the DCN's diagonal.
DiagonalSite AnyTorus::window_site(const Node& self, Dimension d, bool member) const noexcept {
  return {member, centred(self.coordinate(d) - self.coordinate(0), h), 1, nullptr, d};
}

/// The members have been gathered along the first i dimensions of align_; i = all: the diagonal.
DiagonalSite AnyTorus::align_site(const Node& self, std::size_t i) const noexcept {
  DiagonalSite site{aligned(self, 1, dimensions_), 0, h};
  for (std::size_t e = 0; e < i; ++e) site.member = site.member && diagonal_position(self, align_[e]) == 0;
  const bool diagonal = i == align_.size();
  site.near = diagonal ? through_.front() : align_[i];
  site.position = diagonal ? centred(self.coordinate(site.near) / h, ddn(site.near).positions()) : diagonal_position(self, site.near);
  return site;
}

Program AnyTorus::aggregate(Node& self, Bundle& bundle) const {
  if (plane()) co_await gather_to_diagonal(self, strip_, DiagonalSite::in_torus(self, h), "aggregate", bundle);
  for (Dimension d = 1; !plane() && d < dimensions_; ++d)
    co_await gather_to_diagonal(self, strip_, window_site(self, d, aligned(self, 1, d)), "aggregate", bundle);
}

Program AnyTorus::program(Node& self) const {
  Bundle bundle(self.blocks().begin(), self.blocks().end());
  co_await aggregate(self, bundle);
  if (balances()) {
    std::uint32_t rank = 0;
    if (kind == Prefix::hash)
      rank = hashed_rank(self.coordinates(), h);
    else
      rank = co_await rank_in_torus(self, prefix_, static_cast<std::uint32_t>(bundle.size()));
    co_await tune(self, tuning_, rank, 1, bundle);
  }
  for (std::size_t i = 0; i < align_.size(); ++i) co_await gather_to_diagonal(self, ddn(align_[i]), align_site(self, i), "align", bundle);
  const DiagonalSite line = align_site(self, align_.size());
  if (alone()) {
    co_await gather_to_diagonal(self, ddn(line.near), line, "all-to-all", bundle);
    co_await broadcast_from_diagonal(self, ddn(line.near), line, "all-to-all", bundle);
  } else {
    co_await exchange_on_diagonal(self, exchange_, {line.member, self.coordinate(line.near) / h, h, nullptr, through_}, bundle);
  }
  for (std::size_t i = align_.size(); i-- > 0;)
    co_await broadcast_from_diagonal(self, ddn(align_[i]), align_site(self, i), "distribute", bundle);
  for (Dimension d = 1; d < dimensions_; ++d)
    co_await broadcast_from_diagonal(self, row_, window_site(self, d, aligned(self, d + 1, dimensions_)), "row", bundle);
  co_await column_ring(self, h, bundle);
}

Bytes AnyTorus::called_frames(const Machine& machine) const {
  const Bytes summing = balances() && kind != Prefix::hash ? frames_of_prefix(machine, prefix_) : 0;
  return summing + frames_of_calls(machine, [&](Node& self) {
           Bundle none;
           make(aggregate(self, none));
           if (balances()) make(tune(self, tuning_, 0, 1, none));
           make(exchange_on_diagonal(self, exchange_, {}, none));
           make(gather_to_diagonal(self, row_, {}, "", none));
           make(broadcast_from_diagonal(self, row_, {}, "", none));
           make(column_ring(self, h, none));
         });
}

}  // namespace torus::multinode_broadcast::aggregate_distribute
