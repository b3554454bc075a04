/// Traces of this or any other program, as schedules.
#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include <torus/error.hpp>
#include <torus/trace_reader.hpp>

#include "algorithms/foreign/content.hpp"

namespace torus::foreign {
namespace {

class TraceContent : public Content {
 public:
  explicit TraceContent(const std::string& path) {
    TraceReader reader(path);
    const TraceHeader& header = reader.header();
    if (!header.groups.empty())
      throw InputError(fmt::format("schedule '{}': it is a trace of groups of nodes; only those of all nodes at once are schedules", path));
    kind = ForeignSchedule::Kind::trace;
    file = path;
    name = header.algorithm;
    topology_ = header.machine.topology;
    ranks = topology_.nodes();
    sources = header.sources;
    segments = header.segments;
    uneven = !header.sizes.empty();
    sends_.registers = header.registers;
    native = {header.machine.switching, header.machine.contention, header.machine.ports};
    const std::string_view said = header.collective == "allgather" ? "multinode-broadcast" : std::string_view(header.collective);
    for (const Collective each : collectives()) {
      if (torus::name(each) == said) collective = each;
    }
    TraceMessage m;
    while (reader.next(m)) {
      const auto refuse = [&](std::string_view why) {
        throw InputError(fmt::format("schedule '{}' line {}: {}", path, reader.line(), why));
      };
      if (!sends_.sends.empty() && m.step < sends_.sends.back().step) refuse("steps must ascend; sort the messages by step");
      if (m.path.empty() || m.path.size() > max_dimensions * 2) refuse("its path has no leg, or more than 64");
      if (m.source == m.destination) refuse("it ends where it begins");
      sends_.sends.push_back({.step = m.step,
                              .from = m.source,
                              .to = m.destination,
                              .first_leg = sends_.legs.size(),
                              .first_block = sends_.blocks.size(),
                              .legs = static_cast<std::uint32_t>(m.path.size()),
                              .blocks = static_cast<std::uint32_t>(m.blocks.size()),
                              .registers = m.registers,
                              .releases = m.releases});
      sends_.legs.insert(sends_.legs.end(), m.path.begin(), m.path.end());
      for (const std::uint64_t id : m.blocks) {
        if (id > std::numeric_limits<BlockId>::max()) refuse(fmt::format("block {} does not exist", id));
        sends_.blocks.push_back(static_cast<BlockId>(id));
      }
    }
  }

  /// The routes are those of the file where its ranks are where they were.
  RankSends sends(const Place& place) const override {
    bool there = place.machine.topology == topology_;
    for (NodeId rank = 0; rank < ranks && there; ++rank) there = place.node_of_rank[rank] == rank;
    if (there) return sends_;
    RankSends out = sends_;
    out.legs.clear();
    for (RankSends::Send& send : out.sends) send.first_leg = send.legs = 0;
    return out;
  }

 private:
  Topology topology_{"1"};
  RankSends sends_;
};

}  // namespace

std::shared_ptr<const Content> read_trace(const std::string& path) { return std::make_shared<TraceContent>(path); }

}  // namespace torus::foreign
