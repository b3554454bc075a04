#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
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

constexpr std::size_t max_violations = 10;

/// The blocks of a collective, numbered 0..count()-1: which nodes hold them first and which must hold them at the end.
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

  /// The number of the block with this id, if it exists.
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
  /// Calls f(node, number) for each block that a node holds before the first step.
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
  /// Calls f(number) for each block that the node must hold at the end.
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

/// The set of (node, block) pairs such that the node holds the block. A bitmap if that takes at most a quarter of the available memory:
/// pages without a pair stay untouched. Else a hash set.
class Held {
 public:
  Held(std::uint64_t nodes, std::uint64_t blocks) : blocks_{blocks} {
    if (bits_fit(nodes, blocks)) bits_.reset(static_cast<std::uint64_t*>(std::calloc(words(nodes, blocks), 8)));
  }

  /// Estimated bytes for the initial pairs, one per block.
  static double initial_bytes(std::uint64_t nodes, std::uint64_t blocks) {
    constexpr double hash_set_entry = 64;  // the entry, and its share of the buckets, of which there are two tables during growth
    return static_cast<double>(blocks) * (bits_fit(nodes, blocks) ? 1.0 / 8 : hash_set_entry);
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
    text += fmt::format("{}[{},{}]", text.empty() ? "" : ",", leg.dimension, leg.hops);
  }
  return "[" + text + "]";
}

}  // namespace

class Judge::State {
 public:
  explicit State(const TraceHeader& header)
      : machine_{header.machine},
        topology_{machine_.topology},
        block_bytes_{header.block_bytes},
        blocks_{header},
        held_{topology_.nodes(), check_memory(topology_, blocks_)},
        nodes_(topology_.nodes()),
        channels_(static_cast<std::size_t>(topology_.nodes()) * static_cast<std::size_t>(topology_.channel_slots())),
        position_(static_cast<std::size_t>(topology_.dimensions())) {
    for (std::size_t i = 0; i < machine_.routing.size(); ++i)
      position_[static_cast<std::size_t>(machine_.routing[i])] = static_cast<int>(i);
    blocks_.initially([&](std::uint64_t node, std::uint64_t block) { held_.add(node, block); });
  }

  bool message(const TraceMessage& m) {
    const auto step = static_cast<std::int64_t>(m.step);
    if (step != verdict_.last_step) {
      if (step < verdict_.last_step) {
        violation(fmt::format("step {} comes after step {}: steps must ascend", step, verdict_.last_step));
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
    check_route(m);
    check_ports(m);
    check_blocks(m);
    return !verdict_.stopped;
  }

  Verdict finish() {
    if (verdict_.busy_steps > 0) end_step();
    if (!verdict_.stopped) check_delivery();
    verdict_.ok = verdict_.violations.empty();
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

  static std::uint64_t check_memory(const Topology& topology, const Blocks& blocks) {
    const double wanted =
        static_cast<double>(topology.nodes()) * (sizeof(NodeCount) + static_cast<double>(topology.channel_slots()) * sizeof(Channel)) +
        Held::initial_bytes(topology.nodes(), blocks.count());
    if (wanted > static_cast<double>(usable_memory())) {
      const Bytes bytes = wanted < 1e19 ? static_cast<Bytes>(wanted) : std::numeric_limits<Bytes>::max();
      throw InputError(
          fmt::format("trace of {}: judging it takes {} of memory and {} are available; use a smaller machine or fewer segments",
                      topology.text(), bytes_text(bytes), bytes_text(available_memory())));
    }
    return blocks.count();
  }

  std::string text_of_node(NodeId node) const {
    std::string text = "(";
    for (Dimension d = 0; d < topology_.dimensions(); ++d) text += (d > 0 ? "," : "") + std::to_string(topology_.coordinate(node, d));
    return text + ")";
  }
  std::string text_of(const TraceMessage& m) const {
    return fmt::format("step {}: message from node {} to {} by {}", m.step, text_of_node(m.source), text_of_node(m.destination),
                       torus::text_of(m.path));
  }
  std::string text_of_channel(NodeId node, Dimension d, std::int32_t direction) const {
    return fmt::format("channel {} dimension {} direction {:+}", text_of_node(node), d, direction);
  }

  void violation(std::string text) {
    if (verdict_.stopped) return;
    verdict_.violations.push_back(std::move(text));
    verdict_.stopped = verdict_.violations.size() >= max_violations;
  }

  /// Records that a message crosses a channel.
  void cross(const TraceMessage& m, NodeId node, Dimension d, std::int32_t direction) {
    if (!topology_.passes(node, d, direction))
      violation(text_of(m) + " crosses " + text_of_channel(node, d, direction) + ", which is dead");
    Channel& c = channels_[static_cast<std::size_t>(node) * static_cast<std::size_t>(topology_.channel_slots()) +
                           static_cast<std::size_t>(topology_.slot(d, direction))];
    if (c.last_message == verdict_.messages && c.epoch == epoch_) {
      if (!twice_) violation(text_of(m) + " crosses " + text_of_channel(node, d, direction) + " twice");
      twice_ = true;
    }
    if (c.epoch != epoch_)
      c = Channel{0, 0, epoch_, 0, m.source};
    else if (c.last_message != verdict_.messages && machine_.contention == Contention::forbid && c.messages == 1) {
      violation(fmt::format("step {}: {} carries two messages, from node {} and from node {}", m.step, text_of_channel(node, d, direction),
                            text_of_node(c.source), text_of_node(m.source)));
    }
    c.last_message = verdict_.messages;
    ++c.messages;
    c.bytes += m.bytes;
    ++verdict_.hops;
    verdict_.max_channel_load = std::max<std::uint64_t>(verdict_.max_channel_load, c.messages);
    step_bytes_ = std::max(step_bytes_, c.bytes);
    step_time_s_ = std::max(step_time_s_, static_cast<double>(c.bytes) * machine_.byte_s(node, d, direction));
  }

  void check_route(const TraceMessage& m) {
    twice_ = false;
    const std::uint64_t hops_before = verdict_.hops;
    NodeId at = m.source;
    int last_position = -1;
    bool ordered = true;
    for (const Leg& leg : m.path) {
      const std::int32_t n = topology_.extent(leg.dimension);
      const bool complete = topology_.wiring(leg.dimension) == Wiring::complete;
      if (complete && modulo(leg.hops, n) == 0)
        return violation(text_of(m) + " leaves the machine: no link of a complete dimension leads back");
      if (leg.hops == 0) continue;
      const int position = position_[static_cast<std::size_t>(leg.dimension)];
      ordered = ordered && position > last_position;
      last_position = position;
      if (n == 1) return violation(fmt::format("{} leaves the machine: dimension {} has no links", text_of(m), leg.dimension));
      if (complete) {
        cross(m, at, leg.dimension, modulo(leg.hops, n));
        at = *topology_.neighbour(at, leg.dimension, leg.hops);
        continue;
      }
      const std::int32_t sign = leg.hops > 0 ? 1 : -1;
      // One round of a ring suffices: every further hop crosses a channel twice.
      for (std::int32_t i = 0; i != leg.hops && std::abs(i) <= n; i += sign) {
        const auto next = topology_.neighbour(at, leg.dimension, sign);
        if (!next) return violation(text_of(m) + " leaves the machine at node " + text_of_node(at));
        cross(m, at, leg.dimension, sign);
        at = *next;
      }
      if (twice_) return;
    }
    const std::uint64_t hops = verdict_.hops - hops_before;
    if (hops == 0) return violation(text_of(m) + " has no hop");
    if (at != m.destination) violation(text_of(m) + " ends at node " + text_of_node(at));
    if (machine_.switching == Switching::packet && hops != 1)
      violation(fmt::format("{} takes {} hops under packet switching", text_of(m), hops));
    if (machine_.switching == Switching::wormhole && !ordered) violation(text_of(m) + " is not dimension-ordered under wormhole switching");
  }

  void check_ports(const TraceMessage& m) {
    const auto ports = static_cast<std::uint32_t>(machine_.ports);
    for (const NodeId node : {m.source, m.destination}) {
      NodeCount& count = nodes_[node];
      if (count.epoch != epoch_) count = NodeCount{epoch_, 0, 0};
    }
    const auto too_many = [&](NodeId node, const char* verb) {
      violation(fmt::format("step {}: node {} {} more than {} messages with {} ports", m.step, text_of_node(node), verb, ports, ports));
    };
    if (++nodes_[m.source].sent == ports + 1) too_many(m.source, "sends");
    if (++nodes_[m.destination].received == ports + 1) too_many(m.destination, "receives");
  }

  void check_blocks(const TraceMessage& m) {
    if (block_bytes_ > 0 && m.bytes / block_bytes_ < m.blocks.size()) {
      violation(fmt::format("{} has {} bytes for {} blocks of {}", text_of(m), m.bytes, m.blocks.size(), block_bytes_));
    }
    bool named = false;
    for (const std::uint64_t id : m.blocks) {
      const auto block = blocks_.number(id);
      if (block && held_.has(m.source, *block)) {
        arrivals_.push_back({m.destination, *block});
      } else if (!named) {
        named = true;
        violation(fmt::format("{} sends block {}, which {}", text_of(m), id, block ? "the node does not hold" : "does not exist"));
      }
    }
  }

  /// Delivers the blocks of the step: nodes hold them from its end on, not before.
  void end_step() {
    for (const Arrival& arrival : arrivals_) held_.add(arrival.destination, arrival.block);
    arrivals_.clear();
    verdict_.channel_bytes += step_bytes_;
    verdict_.max_channel_bytes = std::max(verdict_.max_channel_bytes, step_bytes_);
    verdict_.channel_time_s += step_time_s_;
    step_bytes_ = 0;
    step_time_s_ = 0;
  }

  void check_delivery() {
    std::uint64_t incomplete_nodes = 0;
    std::string first;
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      if (!topology_.living(node)) continue;
      std::uint64_t missing = 0;
      std::uint64_t first_missing = 0;
      blocks_.finally(node, [&](std::uint64_t block) {
        if (!held_.has(node, block) && missing++ == 0) first_missing = block;
      });
      if (missing == 0) continue;
      verdict_.missing_blocks += missing;
      if (incomplete_nodes++ == 0) {
        first = fmt::format("node {} lacks block {}", text_of_node(node), blocks_.id(first_missing));
        if (missing > 1) first += fmt::format(" and {} more", missing - 1);
      }
    }
    if (incomplete_nodes == 0) return;
    if (incomplete_nodes > 1) first += fmt::format("; {} other nodes lack blocks too", incomplete_nodes - 1);
    violation(fmt::format("after step {}: {}", verdict_.last_step, first));
  }

  Machine machine_;
  const Topology& topology_;
  Bytes block_bytes_;
  Blocks blocks_;
  Held held_;
  std::vector<NodeCount> nodes_;
  std::vector<Channel> channels_;
  std::vector<int> position_;  // by dimension: its place in the routing order
  std::vector<Arrival> arrivals_;
  Verdict verdict_;
  std::uint32_t epoch_ = 0;  // counts and channels of another epoch are those of an earlier step
  Bytes step_bytes_ = 0;     // max bytes on a channel in this step
  double step_time_s_ = 0;   // the same as the channel's time
  bool twice_ = false;       // the present message crosses a channel twice
};

Judge::Judge(const TraceHeader& header) : state_{std::make_unique<State>(header)} {}
Judge::~Judge() = default;
bool Judge::message(const TraceMessage& message) { return state_->message(message); }
Verdict Judge::finish() { return state_->finish(); }

}  // namespace torus
