/// Traces of this or any other program, as schedules.
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <mutex>
#include <span>

#include <torus/error.hpp>
#include <torus/judge.hpp>
#include <torus/trace_reader.hpp>

#include "algorithms/foreign/content.hpp"

namespace torus::foreign {
namespace {

class TraceContent : public Content {
 public:
  explicit TraceContent(const std::string& path) : TraceContent(path, TraceReader(path)) {}

  /// The routes are those of the file where its ranks are where they were. What the judge refuses is no schedule: it is asked here, once a
  /// machine of as many nodes is wanted, and once.
  RankSends sends(const Place& place) const override {
    std::call_once(judged_, [this] { wrong_ = violation(); });
    if (!wrong_.empty())
      throw InputError(fmt::format(
          "schedule '{}': it is a trace that `torus verify` refuses: {}; choose one that it finds legal and complete", file, wrong_));
    bool there = place.machine.topology == header_.machine.topology;
    for (NodeId rank = 0; rank < ranks && there; ++rank) there = place.node_of_rank[rank] == rank;
    if (there) return sends_;
    RankSends out = sends_;
    out.legs.clear();
    for (RankSends::RankMessage& send : out.sends) send.first_leg = send.legs = 0;
    return out;
  }

 private:
  TraceContent(const std::string& path, TraceReader reader) : header_{reader.header()} {
    const TraceHeader& header = header_;
    if (!header.groups.empty())
      throw InputError(fmt::format("schedule '{}': it is a trace of groups of nodes; only those of all nodes at once are schedules", path));
    kind = ForeignSchedule::Kind::trace;
    file = path;
    name = header.algorithm;
    ranks = header.machine.topology.nodes();
    sources = header.sources;
    segments = header.segments;
    uneven = !header.sizes.empty();
    sends_.registers = header.registers;
    native = {header.machine.switching, header.machine.contention, header.machine.ports};
    const CollectiveFacts& facts = facts_of(header.collective);
    collective = facts.collective;
    if (segments > 1 && facts.rooted() && facts.takes_sizes())
      throw InputError(fmt::format("schedule '{}': it cuts the blocks of a {} into {} segments, and runs have whole ones; write segments 1",
                                   path, facts.name, segments));
    TraceMessage m;
    while (reader.next(m)) {
      const auto refuse = [&](std::string_view why) {
        throw InputError(fmt::format("schedule '{}' line {}: {}", path, reader.line(), why));
      };
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
      bytes_.push_back(m.bytes);
    }
  }

  /// The first that the judge finds; empty if the trace is legal and complete.
  std::string violation() const {
    Judge judge(header_);
    TraceMessage m;
    for (std::size_t i = 0; i < sends_.sends.size(); ++i) {
      const RankSends::RankMessage& send = sends_.sends[i];
      const auto legs = std::span(sends_.legs).subspan(send.first_leg, send.legs);
      const auto blocks = std::span(sends_.blocks).subspan(send.first_block, send.blocks);
      m.step = send.step;
      m.source = send.from;
      m.destination = send.to;
      m.path.assign(legs.begin(), legs.end());
      m.bytes = bytes_[i];
      m.blocks.assign(blocks.begin(), blocks.end());
      m.registers = send.registers;
      m.releases = send.releases;
      if (!judge.message(m)) break;
    }
    const Verdict verdict = judge.finish();
    return verdict.ok ? "" : verdict.violations.front();
  }

  TraceHeader header_;
  RankSends sends_;
  std::vector<Bytes> bytes_;  ///< of each message, as the file has it
  mutable std::once_flag judged_;
  mutable std::string wrong_;
};

}  // namespace

std::shared_ptr<const Content> read_trace(const std::string& path) { return std::make_shared<TraceContent>(path); }

}  // namespace torus::foreign
