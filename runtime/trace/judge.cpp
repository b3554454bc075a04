#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>

#include <torus/error.hpp>
#include <torus/judge.hpp>

#include "runtime/host/host_memory.hpp"
#include "runtime/model/figures.hpp"

namespace torus {
namespace {

constexpr std::size_t most_offences = 10;

/// Which blocks exist, numbered 0..count()-1, who has them at first and who must have them at the end.
class Blocks {
 public:
  explicit Blocks(const TraceHeader& header) : nodes_{header.machine.topology.nodes()}, sources_{header.sources} {
    const std::string& c = header.collective;
    if (c == "broadcast" || c == "multinode-broadcast") {
      segments_ = header.segments;
      count_ = sources_.size() * segments_;
    } else if (c == "total-exchange") {
      kind_ = Kind::exchanged;
      count_ = nodes_ * nodes_;
    } else {
      kind_ = c == "scatter" ? Kind::scattered : c == "gather" ? Kind::gathered : Kind::all_gathered;
      count_ = nodes_;
    }
  }

  std::uint64_t count() const noexcept { return count_; }

  /// The number of a block; none if there is no such block.
  std::optional<std::uint64_t> number(std::uint64_t id) const noexcept {
    if (kind_ != Kind::replicated) return id < count_ ? std::optional(id) : std::nullopt;
    const std::uint64_t source = id / segments_;
    const auto at = std::lower_bound(sources_.begin(), sources_.end(), source);
    if (at == sources_.end() || *at != source) return std::nullopt;
    return static_cast<std::uint64_t>(at - sources_.begin()) * segments_ + id % segments_;
  }
  std::uint64_t id(std::uint64_t number) const noexcept {
    return kind_ == Kind::replicated ? std::uint64_t{sources_[number / segments_]} * segments_ + number % segments_ : number;
  }
  /// Calls f(node, number) for all that the nodes hold at first.
  template <class F>
  void initially(F&& f) const {
    for (std::uint64_t b = 0; b < count_; ++b) {
      switch (kind_) {
        case Kind::replicated: f(std::uint64_t{sources_[b / segments_]}, b); break;
        case Kind::exchanged: f(b / nodes_, b); break;
        case Kind::scattered: f(std::uint64_t{sources_.front()}, b); break;
        case Kind::gathered:
        case Kind::all_gathered: f(b, b); break;
      }
    }
  }
  /// Calls f(number) for all that a node must hold at the end.
  template <class F>
  void finally(std::uint64_t node, F&& f) const {
    switch (kind_) {
      case Kind::gathered:
        if (node != sources_.front()) return;
        [[fallthrough]];
      case Kind::replicated:
      case Kind::all_gathered:
        for (std::uint64_t b = 0; b < count_; ++b) f(b);
        return;
      case Kind::exchanged:
        for (std::uint64_t origin = 0; origin < nodes_; ++origin) f(origin * nodes_ + node);
        return;
      case Kind::scattered: f(node); return;
    }
  }

 private:
  enum class Kind { replicated, exchanged, scattered, gathered, all_gathered };

  Kind kind_ = Kind::replicated;
  std::uint64_t nodes_;
  std::vector<NodeId> sources_;
  std::uint64_t segments_ = 1;
  std::uint64_t count_ = 0;
};

/// Pairs (node, block) that have met. A bit each where that fits into a quarter of the memory at hand: the pages that no pair falls on are
/// never touched. Else a set of the pairs.
class Held {
 public:
  Held(std::uint64_t nodes, std::uint64_t blocks) : blocks_{blocks} {
    if (bits_fit(nodes, blocks)) bits_.reset(static_cast<std::uint64_t*>(std::calloc(words(nodes, blocks), 8)));
  }

  /// Bytes for the pairs of the start, one a block.
  static double bytes_at_first(std::uint64_t nodes, std::uint64_t blocks) {
    constexpr double in_a_set = 64;  // a list's node, its share of the table of buckets, and of the old table while that grows
    return static_cast<double>(blocks) * (bits_fit(nodes, blocks) ? 1.0 / 8 : in_a_set);
  }

  bool has(std::uint64_t node, std::uint64_t block) const {
    const std::uint64_t pair = node * blocks_ + block;
    return bits_ ? (bits_[pair / 64] >> (pair % 64) & 1U) != 0 : set_.count(pair) != 0;
  }
  void add(std::uint64_t node, std::uint64_t block) {
    const std::uint64_t pair = node * blocks_ + block;
    if (bits_)
      bits_[pair / 64] |= std::uint64_t{1} << (pair % 64);
    else
      set_.insert(pair);
  }

 private:
  static std::uint64_t words(std::uint64_t nodes, std::uint64_t blocks) {
    const double pairs = static_cast<double>(nodes) * static_cast<double>(blocks);
    return pairs < 0x1p63 ? static_cast<std::uint64_t>(pairs / 64) + 1 : std::numeric_limits<std::uint64_t>::max();
  }
  static bool bits_fit(std::uint64_t nodes, std::uint64_t blocks) { return words(nodes, blocks) <= available_memory() / 4 / 8; }

  struct Free {
    void operator()(std::uint64_t* p) const noexcept { std::free(p); }
  };
  std::uint64_t blocks_;
  std::unique_ptr<std::uint64_t[], Free> bits_;
  std::unordered_set<std::uint64_t> set_;
};

std::string text_of(const std::vector<Leg>& path) {
  std::string text;
  for (const Leg& leg : path) {
    if (text.size() > 60) return "[" + text + ",..]";
    text += (text.empty() ? "[" : ",[") + std::to_string(leg.dimension) + "," + std::to_string(leg.hops) + "]";
  }
  return "[" + text + "]";
}

}  // namespace

class Judge::Bench {
 public:
  explicit Bench(const TraceHeader& header)
      : machine_{header.machine},
        topology_{machine_.topology},
        block_bytes_{header.block_bytes},
        blocks_{header},
        held_{topology_.nodes(), check_room(topology_, blocks_)},
        nodes_(topology_.nodes()),
        channels_(static_cast<std::size_t>(topology_.nodes()) * static_cast<std::size_t>(topology_.channel_slots())),
        turn_(static_cast<std::size_t>(topology_.dimensions())) {
    for (std::size_t i = 0; i < machine_.routing.size(); ++i) turn_[static_cast<std::size_t>(machine_.routing[i])] = static_cast<int>(i);
    blocks_.initially([&](std::uint64_t node, std::uint64_t block) { held_.add(node, block); });
  }

  bool message(const TraceMessage& m) {
    const auto step = static_cast<std::int64_t>(m.step);
    if (step != verdict_.last_step) {
      if (step < verdict_.last_step) {
        offence("step " + std::to_string(step) + " comes after step " + std::to_string(verdict_.last_step) + ": steps must ascend");
      }
      end_step();
      verdict_.last_step = step;
      ++verdict_.busy_steps;
      ++epoch_;
    }
    ++verdict_.messages;
    if (m.blocks.empty()) ++verdict_.control_messages;
    verdict_.bytes += m.bytes;
    verdict_.digest += message_digest(m);
    judge_route(m);
    judge_ports(m);
    judge_blocks(m);
    return !verdict_.stopped;
  }

  Verdict finish() {
    if (verdict_.busy_steps > 0) end_step();
    if (!verdict_.stopped) judge_delivery();
    verdict_.ok = verdict_.offences.empty();
    return verdict_;
  }

 private:
  struct NodeCount {
    std::uint32_t epoch = 0;
    std::uint32_t sent = 0;
    std::uint32_t received = 0;
  };
  struct Channel {
    std::uint64_t last_message = 0;
    Bytes bytes = 0;
    std::uint32_t epoch = 0;
    std::uint32_t messages = 0;
    NodeId source = 0;  // of the step's first message
  };
  struct Arrival {
    NodeId destination;
    std::uint64_t block;
  };

  static std::uint64_t check_room(const Topology& topology, const Blocks& blocks) {
    const double wanted =
        static_cast<double>(topology.nodes()) * (sizeof(NodeCount) + static_cast<double>(topology.channel_slots()) * sizeof(Channel)) +
        Held::bytes_at_first(topology.nodes(), blocks.count());
    if (wanted > static_cast<double>(usable_memory())) {
      throw InputError("trace of " + topology.text() + ": judging it takes " +
                       bytes_text(wanted < 1e19 ? static_cast<Bytes>(wanted) : std::numeric_limits<Bytes>::max()) + " of memory and " +
                       bytes_text(available_memory()) + " are available; use a smaller machine or fewer segments");
    }
    return blocks.count();
  }

  std::string text_of_node(NodeId node) const {
    std::string text = "(";
    for (Dimension d = 0; d < topology_.dimensions(); ++d) text += (d > 0 ? "," : "") + std::to_string(topology_.coordinate(node, d));
    return text + ")";
  }
  std::string text_of(const TraceMessage& m) const {
    return "step " + std::to_string(m.step) + ": message from node " + text_of_node(m.source) + " to " + text_of_node(m.destination) +
           " by " + torus::text_of(m.path);
  }
  std::string text_of_channel(NodeId node, Dimension d, std::int32_t direction) const {
    return "channel " + text_of_node(node) + " dimension " + std::to_string(d) + " direction " + (direction > 0 ? "+" : "") +
           std::to_string(direction);
  }

  void offence(std::string text) {
    if (verdict_.stopped) return;
    verdict_.offences.push_back(std::move(text));
    verdict_.stopped = verdict_.offences.size() >= most_offences;
  }

  /// One message over one channel.
  void cross(const TraceMessage& m, NodeId node, Dimension d, std::int32_t direction) {
    Channel& c = channels_[static_cast<std::size_t>(node) * static_cast<std::size_t>(topology_.channel_slots()) +
                           static_cast<std::size_t>(topology_.slot(d, direction))];
    if (c.last_message == verdict_.messages && c.epoch == epoch_) {
      if (!twice_) offence(text_of(m) + " crosses " + text_of_channel(node, d, direction) + " twice");
      twice_ = true;
    }
    if (c.epoch != epoch_)
      c = Channel{0, 0, epoch_, 0, m.source};
    else if (c.last_message != verdict_.messages && machine_.contention == Contention::forbid && c.messages == 1) {
      offence("step " + std::to_string(m.step) + ": " + text_of_channel(node, d, direction) + " carries two messages, from node " +
              text_of_node(c.source) + " and from node " + text_of_node(m.source));
    }
    c.last_message = verdict_.messages;
    ++c.messages;
    c.bytes += m.bytes;
    ++verdict_.hops;
    verdict_.max_channel_load = std::max<std::uint64_t>(verdict_.max_channel_load, c.messages);
    step_bytes_ = std::max(step_bytes_, c.bytes);
  }

  void judge_route(const TraceMessage& m) {
    twice_ = false;
    const std::uint64_t hops_before = verdict_.hops;
    NodeId at = m.source;
    int last_turn = -1;
    bool ordered = true;
    for (const Leg& leg : m.path) {
      const std::int32_t n = topology_.extent(leg.dimension);
      const bool complete = topology_.wiring(leg.dimension) == Wiring::complete;
      if (complete && modulo(leg.hops, n) == 0)
        return offence(text_of(m) + " leaves the machine: no link of a complete dimension leads back");
      if (leg.hops == 0) continue;
      const int turn = turn_[static_cast<std::size_t>(leg.dimension)];
      ordered = ordered && turn > last_turn;
      last_turn = turn;
      if (n == 1) return offence(text_of(m) + " leaves the machine: dimension " + std::to_string(leg.dimension) + " has no links");
      if (complete) {
        cross(m, at, leg.dimension, modulo(leg.hops, n));
        at = *topology_.neighbour(at, leg.dimension, leg.hops);
        continue;
      }
      const std::int32_t sign = leg.hops > 0 ? 1 : -1;
      // After once round a ring every further hop crosses a channel twice; there is nothing to be learnt from walking on.
      for (std::int32_t i = 0; i != leg.hops && std::abs(i) <= n; i += sign) {
        const auto next = topology_.neighbour(at, leg.dimension, sign);
        if (!next) return offence(text_of(m) + " leaves the machine at node " + text_of_node(at));
        cross(m, at, leg.dimension, sign);
        at = *next;
      }
      if (twice_) return;
    }
    const std::uint64_t hops = verdict_.hops - hops_before;
    if (hops == 0) return offence(text_of(m) + " has no hop");
    if (at != m.destination) offence(text_of(m) + " ends at node " + text_of_node(at));
    if (machine_.switching == Switching::packet && hops != 1)
      offence(text_of(m) + " takes " + std::to_string(hops) + " hops under packet switching");
    if (machine_.switching == Switching::wormhole && !ordered) offence(text_of(m) + " is not dimension-ordered under wormhole switching");
  }

  void judge_ports(const TraceMessage& m) {
    const auto ports = static_cast<std::uint32_t>(machine_.ports);
    for (const NodeId node : {m.source, m.destination}) {
      NodeCount& count = nodes_[node];
      if (count.epoch != epoch_) count = NodeCount{epoch_, 0, 0};
    }
    if (++nodes_[m.source].sent == ports + 1) {
      offence("step " + std::to_string(m.step) + ": node " + text_of_node(m.source) + " sends more than " + std::to_string(ports) +
              " messages with " + std::to_string(ports) + " ports");
    }
    if (++nodes_[m.destination].received == ports + 1) {
      offence("step " + std::to_string(m.step) + ": node " + text_of_node(m.destination) + " receives more than " + std::to_string(ports) +
              " messages with " + std::to_string(ports) + " ports");
    }
  }

  void judge_blocks(const TraceMessage& m) {
    if (block_bytes_ > 0 && m.bytes / block_bytes_ < m.blocks.size()) {
      offence(text_of(m) + " has " + std::to_string(m.bytes) + " bytes for " + std::to_string(m.blocks.size()) + " blocks of " +
              std::to_string(block_bytes_));
    }
    bool named = false;
    for (const std::uint64_t id : m.blocks) {
      const auto block = blocks_.number(id);
      if (block && held_.has(m.source, *block)) {
        arrivals_.push_back({m.destination, *block});
      } else if (!named) {
        named = true;
        offence(text_of(m) + " sends block " + std::to_string(id) + ", which " + (block ? "the node does not hold" : "does not exist"));
      }
    }
  }

  /// What is sent in a step is held from its end on, not before.
  void end_step() {
    for (const Arrival& arrival : arrivals_) held_.add(arrival.destination, arrival.block);
    arrivals_.clear();
    verdict_.channel_bytes += step_bytes_;
    verdict_.max_channel_bytes = std::max(verdict_.max_channel_bytes, step_bytes_);
    step_bytes_ = 0;
  }

  void judge_delivery() {
    std::uint64_t short_nodes = 0;
    std::string first;
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      std::uint64_t missing = 0;
      std::uint64_t first_missing = 0;
      blocks_.finally(node, [&](std::uint64_t block) {
        if (!held_.has(node, block) && missing++ == 0) first_missing = block;
      });
      if (missing == 0) continue;
      verdict_.missing_blocks += missing;
      if (short_nodes++ == 0) {
        first = "node " + text_of_node(node) + " lacks block " + std::to_string(blocks_.id(first_missing)) +
                (missing > 1 ? " and " + std::to_string(missing - 1) + " more" : "");
      }
    }
    if (short_nodes == 0) return;
    offence("after step " + std::to_string(verdict_.last_step) + ": " + first +
            (short_nodes > 1 ? "; " + std::to_string(short_nodes - 1) + " other nodes lack blocks too" : ""));
  }

  Machine machine_;
  const Topology& topology_;
  Bytes block_bytes_;
  Blocks blocks_;
  Held held_;
  std::vector<NodeCount> nodes_;
  std::vector<Channel> channels_;
  std::vector<int> turn_;  // by dimension: when wormhole routing comes to it
  std::vector<Arrival> arrivals_;
  Verdict verdict_;
  std::uint32_t epoch_ = 0;  // the step that counts and channels are of
  Bytes step_bytes_ = 0;
  bool twice_ = false;
};

Judge::Judge(const TraceHeader& header) : bench_{std::make_unique<Bench>(header)} {}
Judge::~Judge() = default;
bool Judge::message(const TraceMessage& message) { return bench_->message(message); }
Verdict Judge::finish() { return bench_->finish(); }

}  // namespace torus
