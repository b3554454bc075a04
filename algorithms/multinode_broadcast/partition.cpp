#include "algorithms/multinode_broadcast/partition.hpp"

#include <utility>

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
  const Topology& topology = machine.topology;
  if (h == 1 || topology.dimensions() != 2 || !is_square_torus(topology)) return nullptr;
  return [=, sources = request.sources] {
    return std::make_unique<SubnetworkLoads>(topology, sources, segments, h, static_cast<Step>(aggregated), static_cast<Step>(balanced));
  };
}

}  // namespace torus::multinode_broadcast
