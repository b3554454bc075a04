#include "algorithms/multinode_broadcast/partition.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/common/integers.hpp"

namespace torus::multinode_broadcast {
namespace {

class SubnetworkLoads final : public RunObserver {
 public:
  SubnetworkLoads(const Topology& topology, const std::vector<NodeId>& sources, std::uint32_t segments, std::int32_t h, Step aggregated,
                  Step balanced)
      : topology_{topology}, segments_{segments}, h_{h}, aggregated_{aggregated}, balanced_{balanced}, index_(topology.nodes()) {
    for (const NodeId source : sources) {
      index_[source] = at_.size();
      at_.insert(at_.end(), segments, source);
    }
  }

  void step(std::span<const Message* const> messages) override {
    if (messages.empty()) return;
    note_counts(messages.front()->step());
    if (!after_.empty()) return;
    for (const Message* message : messages) {
      for (const BlockId id : message->blocks()) at_[index_[id / segments_] + id % segments_] = message->destination();
    }
  }

  std::vector<Observation> finish() override {
    note_counts(balanced_);
    return {{"blocks_per_ddn", "blocks a DDN", static_cast<std::uint32_t>(h_), std::move(before_), std::move(after_)}};
  }

 private:
  /// Called before the moves of step `now` are counted.
  void note_counts(Step now) {
    if (now >= aggregated_ && before_.empty()) before_ = count();
    if (now >= balanced_ && after_.empty()) after_ = count();
  }

  std::vector<std::uint64_t> count() const {
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(h_));
    for (const NodeId node : at_) ++counts[static_cast<std::size_t>(topology_.coordinate(node, 0) % h_)];
    return counts;
  }

  Topology topology_;
  std::uint32_t segments_;
  std::int32_t h_;
  Step aggregated_, balanced_;
  std::vector<std::size_t> index_;  // of a source's first block in at_
  std::vector<NodeId> at_;          // by block
  std::vector<std::uint64_t> before_, after_;
};

}  // namespace

std::function<std::unique_ptr<RunObserver>()> subnetwork_loads(const Machine& machine, const Request& request, std::uint32_t segments,
                                                               std::int32_t h, std::int32_t aggregated, std::int32_t balanced) {
  if (h == 1) return nullptr;
  return [=, topology = machine.topology, sources = request.sources] {
    return std::make_unique<SubnetworkLoads>(topology, sources, segments, h, static_cast<Step>(aggregated), static_cast<Step>(balanced));
  };
}

Stations::Stations(const Topology& topology, std::int32_t h) : h_{h} {
  for (const DimensionShape& dimension : topology.shape()) {
    extents_.push_back(dimension.extent);
    even_ &= dimension.extent % h == 0;
  }
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    std::vector<std::int32_t>& places = places_.emplace_back();
    std::vector<std::int32_t>& indices = indices_.emplace_back(static_cast<std::size_t>(extent(d)), -1);
    const EqualParts parts{extent(d), windows(d)};
    for (std::int32_t window = 0; window < parts.parts; ++window) {
      for (std::int64_t c = 0; c < h; ++c) {
        const auto place = parts.start(window) + static_cast<std::int32_t>((c * parts.length(window) + h - 1) / h);
        indices[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(places.size());
        places.push_back(place);
      }
    }
    for (std::int32_t i = 0; i < stations(d); ++i) longest_gap_ = std::max(longest_gap_, gap(d, i));
  }
}

std::int32_t Stations::place(Dimension d, std::int32_t index) const noexcept {
  return places_[static_cast<std::size_t>(d)][static_cast<std::size_t>(modulo(index, stations(d)))];
}

std::optional<std::int32_t> Stations::index(Dimension d, std::int32_t place) const noexcept {
  const std::int32_t index = indices_[static_cast<std::size_t>(d)][static_cast<std::size_t>(modulo(place, extent(d)))];
  return index < 0 ? std::nullopt : std::optional(index);
}

std::int32_t Stations::hops(Dimension d, std::int32_t index, std::int32_t further) const noexcept {
  if (further == 0) return 0;
  const std::int32_t there = place(d, index + further) - place(d, index), up = modulo(there, extent(d));
  if (further > 0) return up == 0 ? extent(d) : up;
  return up == 0 ? -extent(d) : up - extent(d);
}

Station::Station(const Node& self, const Stations& stations) : stations_{stations} {
  for (Dimension d = 0; d < self.dimensions(); ++d) {
    indices_.push_back(stations.index(d, self.coordinate(d)));
    member_ &= indices_.back().has_value();
  }
}

Coordinates Station::coordinates() const {
  Coordinates at;
  for (const std::optional<std::int32_t>& index : indices_) at.push_back(index.value_or(0));
  return at;
}

Leg Station::real(Leg leg) const noexcept { return {leg.dimension, stations_.hops(leg.dimension, coordinate(leg.dimension), leg.hops)}; }

}  // namespace torus::multinode_broadcast
