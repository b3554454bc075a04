#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include <torus/error.hpp>
#include <torus/rehearsal.hpp>

namespace torus {

using detail::NodeAccess;

namespace detail {

/// Messages as programs see them, each in memory of its own.
class RehearsedMessage {
 public:
  RehearsedMessage(Step step, NodeId from, NodeId to, RouteView route, std::span<const BlockId> blocks, std::span<const Word> header)
      : memory_(sizeof(Message) + 8 * route.size() + Message::room_for_ids(blocks.size()) + sizeof(Word) * header.size()) {
    auto* const m = new (memory_.data()) Message;
    m->destination_ = to;
    m->header_words_ = static_cast<std::uint32_t>(header.size());
    m->legs_ = static_cast<std::uint32_t>(route.size());
    m->blocks_ = static_cast<std::uint32_t>(blocks.size());
    m->step_and_source_ = std::uint64_t{from} << 32U | step;
    m->bytes_ = 0;
    std::byte* at = m->after();
    if (!route.empty()) std::memcpy(at, route.data(), route.size_bytes());
    at += 8 * route.size();
    if (!blocks.empty()) std::memcpy(at, blocks.data(), blocks.size_bytes());
    at += Message::room_for_ids(blocks.size());
    if (!header.empty()) std::memcpy(at, header.data(), header.size_bytes());
  }
  const Message* get() const noexcept { return std::launder(reinterpret_cast<const Message*>(memory_.data())); }

 private:
  static_assert(alignof(Message) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "a vector of bytes holds a message");
  std::vector<std::byte> memory_;
};

}  // namespace detail

/// The rest of the machine, as far as programs see it.
class RehearsalStage final : public detail::Network {
 public:
  RehearsalStage(const Machine& machine, const Placement& placement, Rehearsal& written)
      : machine_{machine},
        placement_{placement},
        world_{&machine_, this, 0},
        written_{written},
        before_{detail::running},
        nodes_{std::make_unique<Node[]>(machine.topology.nodes())},
        held_(std::size_t{machine.topology.nodes()} * placement.buckets(), false) {
    for (NodeId rank = 0; rank < placement.nodes(); ++rank) {
      NodeAccess::world(nodes_[rank]) = &world_;
      NodeAccess::rank(nodes_[rank]) = rank;
      for (std::uint64_t i = 0; i < placement.initial_count(rank); ++i) keep(rank, placement.initial(rank, i), true);
    }
  }
  RehearsalStage(const RehearsalStage&) = delete;
  RehearsalStage& operator=(const RehearsalStage&) = delete;
  ~RehearsalStage() {
    for (NodeId rank = 0; rank < placement_.nodes(); ++rank) {
      detail::running.node = &nodes_[rank];
      if (NodeAccess::innermost(nodes_[rank])) detail::ProgramPromise::destroy();
    }
    detail::running = before_;
  }

  void play(const std::function<Program(Node&)>& start) {
    for (NodeId rank = 0; rank < placement_.nodes(); ++rank) {
      if (!machine_.topology.living(rank)) continue;
      detail::running.node = &nodes_[rank];
      NodeAccess::innermost(nodes_[rank]) = start(nodes_[rank]).take();
      awake_.push_back(rank);
    }
    while (!awake_.empty()) play_step();
    for (NodeId rank = 0; rank < placement_.nodes(); ++rank) {
      if (machine_.topology.living(rank) && NodeAccess::wait(nodes_[rank]) != Wait::ended)
        throw RunError("a rehearsed program waits for a message that nobody sends");
    }
  }

  void send(Node& from, RouteView asked, std::span<const BlockId> blocks, std::span<const Word> header, bool release) override {
    NodeId to = from.rank();
    Route route;  // without legs that move nothing
    for (const Leg& leg : asked) {
      if (leg.hops == 0) continue;
      route.push_back(leg);
      const auto next = machine_.topology.neighbour(to, leg.dimension, leg.hops);
      if (!next) throw RunError("a rehearsed message leaves the machine");
      to = *next;
    }
    Rehearsal& w = written_;
    w.sent_.push_back({world_.now, from.rank(), to, static_cast<std::uint32_t>(w.legs_.size()), static_cast<std::uint32_t>(route.size()),
                       static_cast<std::uint32_t>(w.blocks_.size()), static_cast<std::uint32_t>(blocks.size())});
    w.legs_.insert(w.legs_.end(), route.begin(), route.end());
    w.blocks_.insert(w.blocks_.end(), blocks.begin(), blocks.end());
    in_flight_.emplace_back(world_.now, from.rank(), to, route, blocks, header);
    if (!release || blocks.empty()) return;
    const std::vector<BlockId> given(blocks.begin(), blocks.end());  // they may be the node's own list
    for (const BlockId id : given) keep(from.rank(), id, false);
  }
  void send_partials(Node&, RouteView, std::span<const BlockId>, std::span<const Word>, bool, std::uint8_t) override {
    throw RunError("a rehearsal knows no partials");
  }
  void send_block(Node& from, Dimension dimension, std::int32_t hops, BlockId block) override {
    const Leg leg{dimension, hops};
    send(from, {&leg, 1}, {&block, 1}, {}, false);
  }
  void forward_block(Node& from, Dimension dimension, std::int32_t hops, BlockId block) override {
    const Leg leg{dimension, hops};
    send(from, {&leg, 1}, {&block, 1}, {}, true);
  }
  bool holds(const Node& node, BlockId id) override { return placement_.exists(id) && held_[entry(node.rank(), id)]; }
  std::span<const BlockId> blocks(const Node& node) override {
    list_.clear();
    const std::size_t first = std::size_t{node.rank()} * placement_.buckets();
    for (std::uint32_t b = 0; b < placement_.buckets(); ++b) {
      if (held_[first + b]) list_.push_back(placement_.in_bucket(b));
    }
    return list_;
  }
  std::span<std::byte> bytes(const Node&, BlockId) override { return {}; }
  void release(Node& node, BlockId id) override { keep(node.rank(), id, false); }
  void enter_phase(const Node&, const char*) override {}
  void* allocate_frame(Node&, std::size_t size) override { return ::operator new(size); }
  void free_frame(Node&, void* frame, std::size_t) noexcept override { ::operator delete(frame); }
  void keep_error(Node&, std::exception_ptr error) noexcept override { error_ = std::move(error); }
  std::exception_ptr take_error(Node&) noexcept override { return std::exchange(error_, nullptr); }

 private:
  std::size_t entry(NodeId rank, BlockId id) const noexcept { return std::size_t{rank} * placement_.buckets() + placement_.bucket(id); }
  void keep(NodeId rank, BlockId id, bool held) {
    if (placement_.exists(id)) held_[entry(rank, id)] = held;
  }

  void play_step() {
    std::vector<NodeId> again;
    std::vector<const Message*> arrived;
    std::size_t next = 0;
    for (const NodeId rank : awake_) {
      arrived.clear();
      for (; next < arrivals_.size() && arrivals_[next]->destination() == rank; ++next) arrived.push_back(arrivals_[next]);
      Node& node = nodes_[rank];
      if (NodeAccess::wait(node) == Wait::ended || (NodeAccess::wait(node) == Wait::arrival && arrived.empty())) continue;
      detail::running.node = &node;
      detail::running.arrivals = Arrivals(arrived.data(), arrived.size());
      do {
        NodeAccess::wait(node) = Wait::none;
        NodeAccess::innermost(node).resume();
      } while (NodeAccess::wait(node) == Wait::call);
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      if (NodeAccess::wait(node) == Wait::step) again.push_back(rank);
    }
    cross_barrier(std::move(again));
  }

  void cross_barrier(std::vector<NodeId> again) {
    delivered_ = std::exchange(in_flight_, {});
    arrivals_.clear();
    for (const detail::RehearsedMessage& each : delivered_) {
      arrivals_.push_back(each.get());
      for (const BlockId id : each.get()->blocks()) keep(each.get()->destination(), id, true);
      again.push_back(each.get()->destination());
    }
    const auto place = [](const Message* m) {
      return std::tuple(m->destination(), m->dimension(), m->direction() < 0, m->direction(), m->source());
    };
    std::stable_sort(arrivals_.begin(), arrivals_.end(), [&](const Message* a, const Message* b) { return place(a) < place(b); });
    std::sort(again.begin(), again.end());
    again.erase(std::unique(again.begin(), again.end()), again.end());
    awake_ = std::move(again);
    ++world_.now;
  }

  const Machine& machine_;
  const Placement& placement_;
  detail::World world_;
  Rehearsal& written_;
  detail::Running before_;
  std::unique_ptr<Node[]> nodes_;
  std::vector<bool> held_;  // by node and entry
  std::vector<BlockId> list_;
  std::vector<detail::RehearsedMessage> in_flight_, delivered_;
  std::vector<const Message*> arrivals_;  // by destination, then as a node sees them
  std::vector<NodeId> awake_;             // ascending
  std::exception_ptr error_;
};

Rehearsal::Rehearsal(const Machine& machine, const Placement& placement, const std::function<Program(Node&)>& start) {
  RehearsalStage(machine, placement, *this).play(start);
}

Bytes Rehearsal::bytes_for(const Machine& machine) noexcept { return Bytes{512} * machine.topology.nodes(); }

}  // namespace torus
