#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <torus/error.hpp>
#include <torus/judge.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"
#include "runtime/trace/blocks.hpp"
#include "runtime/trace/contributors.hpp"
#include "runtime/trace/trace_header.hpp"

namespace torus {
namespace {

using detail::Blocks;
using detail::Held;
using detail::Zeros;

constexpr std::size_t max_violations = 10;

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
  State(const TraceHeader& header, std::function<void()> look)
      : machine_{header.machine},
        topology_{machine_.topology},
        ports_{header.ports > 0 ? header.ports : static_cast<std::uint64_t>(machine_.ports)},
        block_bytes_{header.block_bytes},
        sizes_{header.sizes},
        groups_{header.groups},
        mapped_{header.mapped()},
        memory_{memory_for_blocks(topology_)},
        look_{std::move(look)},
        nodes_(topology_.nodes()),
        channels_(static_cast<std::size_t>(topology_.nodes()) * static_cast<std::size_t>(topology_.channel_slots())),
        position_(static_cast<std::size_t>(topology_.dimensions())) {
    for (std::size_t i = 0; i < machine_.routing.size(); ++i)
      position_[static_cast<std::size_t>(machine_.routing[i])] = static_cast<int>(i);
    if (groups_.empty()) open_book(header, std::nullopt);
    if (!groups_.empty()) places_.resize(topology_.nodes());
    for (NodeId group = 0; group < groups_.size(); ++group) {
      for (NodeId local = 0; local < groups_[group].size(); ++local) places_[groups_[group][local]] = {group, local};
      open_book(header, group);
    }
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
    add_bytes(verdict_.bytes, m.bytes);
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
    std::uint32_t epoch;
    std::uint32_t sent;
    std::uint32_t received;
    std::uint64_t got;  // blocks of those that it lacked
  };
  struct Channel {
    std::uint64_t last_message;
    Bytes bytes;
    std::uint32_t epoch;
    std::uint32_t messages;
    NodeId source;  // of the step's first message
  };
  /// The blocks of a message, which stand one behind the other in arrivals_.
  struct Parcel {
    NodeId destination;
    std::size_t blocks;
  };
  /// The place of a node in its group.
  struct Place {
    static constexpr NodeId none = 0xffffffff;
    NodeId group = none;
    NodeId local = 0;
  };
  /// What a group's nodes hold; or all nodes, where they are one group. By local ranks.
  struct Book {
    Book(const TraceHeader& header, detail::Participants who, Bytes memory)
        : participants{std::move(who)}, blocks{header, participants}, held{participants.nodes(), blocks.count(), memory} {}

    detail::Participants participants;
    Blocks blocks;
    Held held;
    std::optional<detail::Contributors> partials;  // of reductions
    std::optional<detail::Heard> heard;            // of barriers
  };

  /// The book of a group, or of all nodes.
  void open_book(const TraceHeader& header, std::optional<NodeId> group) {
    detail::Participants who = group ? detail::Participants(topology_, groups_[*group]) : detail::Participants(topology_);
    refuse_too_many(who.nodes(), Blocks(header, who).count());
    Book& book = books_.emplace_back(header, who, memory_ / std::max<std::size_t>(1, groups_.size()));
    if (header.collective == "barrier") {
      detail::Heard::check_memory(who.nodes());
      book.heard.emplace(who);
    } else if (book.blocks.partials()) {
      book.partials.emplace(
          header, who, [this](std::string text) { violation(fmt::format("{}: {}", text_of_step(""), std::move(text))); },
          [this, group](NodeId node) { return text_of_member(group ? groups_[*group][node] : node); },
          detail::NodeSets::most / std::max<std::size_t>(1, groups_.size()));
    }
  }
  Place place(NodeId node) const noexcept { return groups_.empty() ? Place{0, node} : places_[node]; }

  void refuse_too_many(NodeId nodes, std::uint64_t blocks) const {
    if (static_cast<double>(nodes) * static_cast<double>(blocks) < 0x1p63) return;
    throw InputError(fmt::format("trace of {}: {} nodes and {} blocks are more pairs than 2^63; use a smaller machine or fewer segments",
                                 topology_.text(), grouped(nodes), grouped(blocks)));
  }

  /// What nodes and channels leave of the memory.
  static Bytes memory_for_blocks(const Topology& topology) {
    const double wanted =
        static_cast<double>(topology.nodes()) * (sizeof(NodeCount) + static_cast<double>(topology.channel_slots()) * sizeof(Channel));
    const Bytes usable = usable_memory();
    if (wanted > static_cast<double>(usable)) {
      const Bytes bytes = wanted < 1e19 ? static_cast<Bytes>(wanted) : std::numeric_limits<Bytes>::max();
      throw InputError(fmt::format("trace of {}: judging it takes {} of memory and {} are available; use a smaller machine",
                                   topology.text(), bytes_text(bytes), bytes_text(available_memory())));
    }
    return usable - static_cast<Bytes>(wanted);
  }

  [[noreturn]] void no_memory() const {
    throw InputError(fmt::format(
        "trace of {}: after {}, the blocks that nodes hold take more than the {} of memory that are left for them; use a smaller "
        "machine or fewer segments",
        topology_.text(), counted(verdict_.messages, "message"), bytes_text(memory_)));
  }

  /// Lets the caller look at the clock, every million pieces of work.
  void work() {
    if (++work_ % (1U << 20U) == 0 && look_) look_();
  }

  /// Adds to a sum of bytes. One past 2^64 is a violation: it would be taken for a small one.
  void add_bytes(Bytes& sum, Bytes bytes) {
    if (!__builtin_add_overflow(sum, bytes, &sum)) return;
    sum = std::numeric_limits<Bytes>::max();
    if (!wrapped_) violation(fmt::format("step {}: the bytes up to here sum up to 2^64 or more", verdict_.last_step));
    wrapped_ = true;
  }

  /// The last step so far, as text: "after step 3".
  std::string text_of_step(const char* after) const {
    return verdict_.last_step < 0 ? "without messages" : fmt::format("{}step {}", after, verdict_.last_step);
  }
  std::string text_of_node(NodeId node) const {
    std::string text = "(";
    for (Dimension d = 0; d < topology_.dimensions(); ++d) text += (d > 0 ? "," : "") + std::to_string(topology_.coordinate(node, d));
    return text + ")";
  }
  /// To follow a node or message before a block's number, which is one of the group.
  std::string text_of_group(const Place& at) const {
    if (mapped_) return fmt::format(", rank {}", at.local);
    return groups_.empty() ? "" : fmt::format(", group {}", at.group);
  }
  std::string text_of_member(NodeId node) const { return text_of_node(node) + text_of_group(place(node)); }
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
    work();
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
    add_bytes(c.bytes, m.bytes);
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
      for (std::int32_t i = 0; i != leg.hops && std::abs(i) <= topology_.circle(leg.dimension); i += sign) {
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
    const std::uint64_t ports = ports_;
    for (const NodeId node : {m.source, m.destination}) {
      NodeCount& count = nodes_[node];
      if (count.epoch != epoch_) count = NodeCount{epoch_, 0, 0, count.got};
    }
    const auto too_many = [&](NodeId node, const char* verb) {
      violation(fmt::format("step {}: node {} {} more than {}", m.step, text_of_node(node), verb,
                            counted(ports, "message") + " with " + counted(ports, "port")));
    };
    if (++nodes_[m.source].sent == ports + 1) too_many(m.source, "sends");
    if (++nodes_[m.destination].received == ports + 1) too_many(m.destination, "receives");
  }

  void check_blocks(const TraceMessage& m) {
    if (block_bytes_ > 0 && m.bytes / block_bytes_ < m.blocks.size()) {
      violation(
          fmt::format("{} has {} for {} of {}", text_of(m), counted(m.bytes, "byte"), counted(m.blocks.size(), "block"), block_bytes_));
    }
    const Place from = place(m.source), to = place(m.destination);
    if (from.group == Place::none) return violation(text_of(m) + " is from a node in no group");
    if (from.group != to.group) {
      return violation(fmt::format("{} leaves its group {} for {}", text_of(m), from.group,
                                   to.group == Place::none ? "no group" : fmt::format("group {}", to.group)));
    }
    Book& book = books_[from.group];
    if (!sizes_.empty()) check_sizes(m, book);
    if (book.partials) return book.partials->sent(from.local, to.local, sizes_.empty() ? m : without_empty(m, book));
    if (book.heard) {
      if (!m.blocks.empty()) violation(text_of(m) + " has blocks, and a barrier has none");
      return book.heard->sent(from.local, to.local);
    }
    const std::size_t before = arrivals_.size();
    if ((before + m.blocks.size()) * 2 * (sizeof(std::uint64_t) + sizeof(Parcel)) > memory_ / 4) no_memory();
    bool named = false;
    for (const std::uint64_t id : m.blocks) {
      const auto block = book.blocks.number(id);
      work();
      if (block && book.blocks.empty(*block)) continue;
      if (block && (book.blocks.starts_at(from.local, *block) || book.held.has(from.local, *block))) {
        arrivals_.push_back(*block);
      } else if (!named) {
        named = true;
        violation(fmt::format("{}{} sends block {}, which {}", text_of(m), text_of_group(from), id,
                              block ? "the node does not hold" : "does not exist"));
      }
    }
    if (arrivals_.size() > before) parcels_.push_back({m.destination, arrivals_.size() - before});
  }

  /// The size of a block; 0 of one that does not exist.
  Bytes size_of(std::uint64_t id, const Book& book) const noexcept {
    const std::uint64_t number = book.partials ? id % book.partials->segments() : id;
    return number < sizes_.size() ? sizes_[number] : 0;
  }
  void check_sizes(const TraceMessage& m, const Book& book) {
    Bytes sum = 0;
    bool wraps = false;
    for (const std::uint64_t id : m.blocks) wraps = __builtin_add_overflow(sum, size_of(id, book), &sum) || wraps;
    if (wraps || m.bytes < sum)
      violation(
          fmt::format("{} has {}, and its blocks {}", text_of(m), counted(m.bytes, "byte"), wraps ? "2^64 or more" : std::to_string(sum)));
  }
  /// The message without blocks that exist and have no bytes.
  const TraceMessage& without_empty(const TraceMessage& m, const Book& book) {
    full_ = m;
    std::erase_if(full_.blocks, [&](std::uint64_t id) { return id < book.partials->blocks() && size_of(id, book) == 0; });
    return full_;
  }

  /// Delivers the blocks of the step: nodes hold them from its end on, not before.
  void end_step() {
    std::uint64_t combined = 0;
    for (Book& book : books_) {
      if (book.partials) combined = std::max(combined, book.partials->end_step());
      if (book.heard) book.heard->end_step();
    }
    verdict_.node_combined_blocks += combined;
    const std::uint64_t* block = arrivals_.data();
    for (const auto& [node, blocks] : parcels_) {
      const Place at = place(node);
      Book& book = books_[at.group];
      std::uint64_t got = 0;
      for (const std::uint64_t* const end = block + blocks; block != end; ++block) {
        if (book.blocks.starts_at(at.local, *block)) continue;
        if (book.held.full()) no_memory();
        if (book.held.add(at.local, *block) && book.blocks.wanted_at(at.local, *block)) ++got;
      }
      nodes_[node].got += got;
    }
    parcels_.clear();
    arrivals_.clear();
    add_bytes(verdict_.channel_bytes, step_bytes_);
    verdict_.max_channel_bytes = std::max(verdict_.max_channel_bytes, step_bytes_);
    verdict_.channel_time_s += step_time_s_;
    step_bytes_ = 0;
    step_time_s_ = 0;
  }

  void check_delivery() {
    for (NodeId group = 0; group < books_.size(); ++group) {
      Book& book = books_[group];
      if (book.partials) {
        verdict_.missing_blocks += book.partials->finish();
        verdict_.exact_contributors = verdict_.exact_contributors && book.partials->exact();
        verdict_.combined_blocks += book.partials->combined();
        verdict_.unasked_blocks += book.partials->unasked();
      }
      if (!book.heard) continue;
      const auto rank = [&](NodeId local) { return groups_.empty() ? local : groups_[group][local]; };
      for (NodeId node = 0; node < book.participants.nodes(); ++node) {
        if (!book.participants.living(node)) continue;
        const auto missing = book.heard->unheard(node);
        if (missing && verdict_.missing_blocks++ == 0)
          violation(fmt::format("{}: node {} has not heard of node {}", text_of_step("after "), text_of_member(rank(node)),
                                text_of_node(rank(*missing))));
      }
    }
    std::uint64_t incomplete_nodes = 0;
    std::string first;
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      work();
      const Place at = place(node);
      if (!topology_.living(node) || at.group == Place::none) continue;
      const Book& book = books_[at.group];
      const std::uint64_t missing = book.blocks.lacking_at(at.local) - nodes_[node].got;
      if (missing == 0) continue;
      verdict_.missing_blocks += missing;
      if (incomplete_nodes++ == 0) {
        const std::uint64_t block =
            book.blocks.first_lacking(at.local, [&](std::uint64_t number) { return book.held.has(at.local, number); });
        first = fmt::format("node {} lacks block {}", text_of_member(node), book.blocks.id(block));
        if (missing > 1) first += fmt::format(" and {} more", missing - 1);
      }
    }
    if (incomplete_nodes == 0) return;
    if (incomplete_nodes > 1) first += fmt::format("; {} other nodes lack blocks too", incomplete_nodes - 1);
    violation(fmt::format("{}: {}", text_of_step("after "), first));
  }

  Machine machine_;
  const Topology& topology_;
  std::uint64_t ports_;  // of a node: where channels are shared, there may be more than channels
  Bytes block_bytes_;
  std::vector<Bytes> sizes_;                 // by number; none: blocks are alike
  std::vector<std::vector<NodeId>> groups_;  // each one's nodes, by local rank; none: all nodes are one
  bool mapped_;                              // one group, whose local ranks are all ranks
  std::vector<Place> places_;                // by node, where there are groups
  std::deque<Book> books_;                   // by group
  Bytes memory_;                             // for the blocks that nodes hold
  std::function<void()> look_;
  std::uint64_t work_ = 0;
  Zeros<NodeCount> nodes_;
  Zeros<Channel> channels_;
  std::vector<int> position_;    // by dimension: its place in the routing order
  std::vector<Parcel> parcels_;  // of this step, as are the next
  std::vector<std::uint64_t> arrivals_;
  TraceMessage full_;  // see without_empty()
  Verdict verdict_;
  std::uint32_t epoch_ = 0;  // counts and channels of another epoch are those of an earlier step
  Bytes step_bytes_ = 0;     // max bytes on a channel in this step
  double step_time_s_ = 0;   // the same as the channel's time
  bool twice_ = false;       // the present message crosses a channel twice
  bool wrapped_ = false;     // a sum of bytes went past 2^64
};

Judge::Judge(const TraceHeader& header, std::function<void()> look) {
  if (const auto wrong = detail::wrong_sources(header)) throw InputError("trace: the 'sources' " + *wrong);
  state_ = std::make_unique<State>(header, std::move(look));
}
Judge::~Judge() = default;
bool Judge::message(const TraceMessage& message) { return state_->message(message); }
Verdict Judge::finish() { return state_->finish(); }

}  // namespace torus
