// Whatever goes wrong in a reduction is noticed, whatever the operator: in the engine, with node and contributor; by the judge, whose
// verdicts on damaged traces are held against a replay that counts every contribution.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/engine.hpp>
#include <torus/judge.hpp>
#include <torus/run.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

/// A random tree whose edges are links: each node but the root has a leg to its parent.
struct Tree {
  NodeId root = 0;
  std::vector<Leg> up;
  std::vector<NodeId> parent;
  std::vector<unsigned> children;
};

Tree random_tree(const Topology& topology, std::mt19937_64& random) {
  const NodeId nodes = topology.nodes();
  Tree tree{support::random_below(random, nodes), std::vector<Leg>(nodes), std::vector<NodeId>(nodes), std::vector<unsigned>(nodes)};
  std::vector<bool> in(nodes);
  std::vector<NodeId> members{tree.root};
  in[tree.root] = true;
  while (members.size() < nodes) {
    const NodeId from = members[support::random_below(random, members.size())];
    const auto d = static_cast<Dimension>(support::random_below(random, static_cast<std::uint64_t>(topology.dimensions())));
    const std::int32_t hops = support::random_below(random, 2) == 0 ? +1 : -1;
    const auto to = topology.extent(d) == 1 ? std::nullopt : topology.neighbour(from, d, hops);
    if (!to || in[*to]) continue;
    in[*to] = true;
    members.push_back(*to);
    tree.up[*to] = {d, -hops};
    tree.parent[*to] = from;
    ++tree.children[from];
  }
  return tree;
}

enum class Damage { none, dropped, doubled, replaced, kept, released, byte };

/// A reduction up the tree; the node `victim` does one thing wrong.
Program up_the_tree(Node& self, const Tree& tree, NodeId victim, Damage damage) {
  const NodeId me = self.rank();
  const bool bad = me == victim;
  if (bad && damage == Damage::released) self.release(0);
  for (unsigned arrived = 0; arrived < tree.children[me];) arrived += static_cast<unsigned>((co_await self.arrival()).size());
  if (bad && damage == Damage::byte) self.bytes(0)[0] ^= std::byte{0x11};
  if (me == tree.root) co_return;
  const std::vector<BlockId> all{0};
  if (bad && damage == Damage::dropped) {
    self.forward({tree.up[me]}, {});  // the parent still hears of it
    self.release(0);
  } else if (bad && damage == Damage::doubled) {
    self.send(combine, {tree.up[me]}, all);
    co_await self.step();
    self.forward(combine, {tree.up[me]}, all);
  } else if (bad && damage == Damage::replaced) {
    self.forward({tree.up[me]}, all);
  } else if (bad && damage == Damage::kept) {
    self.send(combine, {tree.up[me]}, all);
  } else {
    self.forward(combine, {tree.up[me]}, all);
  }
}

/// Whether a run shows its damage by name.
bool named(const RunResult& result, const Tree& tree, NodeId victim, Damage damage) {
  using Kind = WrongDelivery::Kind;
  if (!result.violations.empty()) return damage == Damage::replaced || damage == Damage::released;
  if (!result.wrong) return false;
  const WrongDelivery& wrong = *result.wrong;
  const bool leaf = tree.children[victim] == 0;
  switch (damage) {
    case Damage::none: return false;
    case Damage::dropped:
      return wrong.node == tree.root &&
             (leaf ? wrong.kind == Kind::lacks_contributor && wrong.contributor == victim : wrong.kind == Kind::contributors);
    case Damage::released: return wrong.node == tree.root && (wrong.kind == Kind::lacks_contributor ? wrong.contributor == victim : true);
    case Damage::doubled: return wrong.kind == Kind::contributors || wrong.kind == Kind::contributor_twice || wrong.kind == Kind::unasked;
    case Damage::replaced: return wrong.kind == Kind::lacks_contributor || wrong.kind == Kind::contributors;
    case Damage::kept: return wrong.kind == Kind::unasked && wrong.node == victim;
    case Damage::byte: return wrong.kind == Kind::damaged && wrong.node == tree.root && wrong.offset == 0;
  }
  return false;
}

}  // namespace

TEST_CASE("no damage to a reduction is missed, and each is named", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  unsigned damages = 0;
  while (damages < 4500) {
    const Topology topology = support::random_topology(random, 40);
    const auto links = topology.shape();
    const bool grid = std::none_of(links.begin(), links.end(), [](const DimensionShape& d) { return d.wiring == Wiring::complete; });
    if (!grid || topology.nodes() < 2) continue;
    const Machine machine(topology, all_ports, Switching::packet);
    const auto op = static_cast<Operator>(support::random_below(random, 3));
    const Tree tree = random_tree(topology, random);
    RunOptions options;
    options.executor = ExecutorKind::serial;
    options.idle_steps = 20;
    options.seed = random();
    Engine engine(
        machine,
        Placement::contributed(
            topology, {.reduction = {op, ElementType::u8}, .wanted = Contributions::Wanted::at_root, .root = tree.root, .bytes = 3}),
        options);
    REQUIRE(engine.run([&](Node& self) { return up_the_tree(self, tree, 0, Damage::none); }).verified);
    for (int i = 0; i < 300; ++i) {
      const NodeId victim = support::random_below(random, topology.nodes());
      const auto damage = static_cast<Damage>(1 + support::random_below(random, 6));
      if (victim == tree.root && damage != Damage::released && damage != Damage::byte) continue;
      const RunResult result = engine.run([&](Node& self) { return up_the_tree(self, tree, victim, damage); });
      CAPTURE(topology.text(), tree.root, victim, static_cast<int>(damage), static_cast<int>(op));
      const bool in_time = !result.hang;  // a parent that waits for one message more than it gets is a hang, and named as such
      if (in_time && damage == Damage::byte && op != Operator::sum && result.verified) continue;  // a maximum may hide it: harmless
      REQUIRE_FALSE(result.verified);
      if (in_time) REQUIRE(named(result, tree, victim, damage));
      ++damages;
    }
  }
}

namespace {

/// A run's messages as a trace has them.
std::vector<TraceMessage> messages_of(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  std::vector<TraceMessage> lines;
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.on_messages = [&](std::span<const Message* const> messages) {
    for (const Message* m : messages) lines.emplace_back().assign(*m);
  };
  REQUIRE(run(algorithm, machine, request, options).check.good());
  return lines;
}

/// Replays a trace with the number of times that each node has contributed; right if all that are wanted have every node once.
class Replay {
 public:
  Replay(const TraceHeader& header, const std::vector<TraceMessage>& trace)
      : nodes_{header.machine.topology.nodes()}, segments_{header.segments * (header.collective == "reduce-scatter" ? nodes_ : 1)} {
    for (NodeId node = 0; node < nodes_; ++node) {
      for (std::uint64_t id = 0; id < segments_; ++id) held_[{node, id}].assign(nodes_, 0), held_[{node, id}][node] = 1;
    }
    for (std::size_t from = 0, to = 0; from < trace.size(); from = to) {
      while (to < trace.size() && trace[to].step == trace[from].step) ++to;
      step({trace.begin() + static_cast<std::ptrdiff_t>(from), trace.begin() + static_cast<std::ptrdiff_t>(to)});
    }
    for (NodeId node = 0; node < nodes_; ++node) {
      for (std::uint64_t id = 0; id < segments_; ++id) {
        if (header.collective == "reduce-scatter" && id / header.segments != node) continue;
        const auto at = held_.find({node, id});
        right_ = right_ && at != held_.end() && std::all_of(at->second.begin(), at->second.end(), [](unsigned n) { return n == 1; });
      }
    }
  }
  bool right() const noexcept { return right_; }

 private:
  using Counts = std::vector<unsigned>;

  void step(const std::vector<TraceMessage>& messages) {
    std::vector<std::tuple<NodeId, std::uint64_t, bool, Counts>> coming;
    std::vector<std::pair<NodeId, std::uint64_t>> gone;
    for (const TraceMessage& m : messages) {
      for (const std::uint64_t id : m.blocks) {
        const auto at = held_.find({m.source, id});
        if (at == held_.end()) {
          right_ = false;
          return;
        }
        coming.emplace_back(m.destination, id, m.registers != 0, at->second);
        if (m.releases) gone.emplace_back(m.source, id);
      }
    }
    for (const auto& each : gone) held_.erase(each);
    for (auto& [node, id, combines, counts] : coming) {
      const auto [at, empty] = held_.try_emplace({node, id}, counts);
      if (empty) continue;
      if (!combines) at->second = counts;
      for (std::size_t i = 0; combines && i < counts.size(); ++i) at->second[i] += counts[i];
    }
  }

  NodeId nodes_;
  std::uint64_t segments_;
  std::map<std::pair<NodeId, std::uint64_t>, Counts> held_;
  bool right_ = true;
};

bool judged_right(const TraceHeader& header, const std::vector<TraceMessage>& trace) {
  Judge judge(header);
  for (const TraceMessage& m : trace) {
    if (!judge.message(m)) break;
  }
  return judge.finish().ok;
}

/// Changes one thing. False if it could not.
bool damage(std::vector<TraceMessage>& trace, const Topology& topology, std::uint64_t blocks, std::mt19937_64& random) {
  const std::size_t at = random() % trace.size();
  TraceMessage& m = trace[at];
  const std::size_t i = m.blocks.empty() ? 0 : random() % m.blocks.size();
  switch (random() % 9) {
    case 0: trace.erase(trace.begin() + static_cast<std::ptrdiff_t>(at)); return true;
    case 1:
      if (m.blocks.empty()) return false;
      m.blocks.erase(m.blocks.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    case 2: m.registers = m.registers == 0 ? 1 : 0; return true;
    case 3: m.releases = !m.releases; return true;
    case 4:
      if (m.blocks.empty()) return false;
      m.blocks[i] = random() % blocks;
      return true;
    case 5:
      if (m.blocks.empty()) return false;
      m.blocks.push_back(m.blocks[i]);
      return true;
    case 6: {
      m.path.front().hops = -m.path.front().hops;
      const auto to = topology.neighbour(m.source, m.path.front().dimension, m.path.front().hops);
      if (!to) return false;
      m.destination = *to;
      return true;
    }
    case 7: trace.insert(trace.begin() + static_cast<std::ptrdiff_t>(at), TraceMessage(m)); return true;
    default: {
      const std::size_t other = random() % trace.size();
      if (trace[other].step == m.step) return false;
      std::swap(trace[other].blocks, m.blocks);
      return true;
    }
  }
}

}  // namespace

TEST_CASE("the judge passes no damaged trace of a reduction that a replay finds wrong", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  unsigned damages = 0, harmless = 0;
  support::Share share(4);
  for (const Collective collective : {Collective::allreduce, Collective::reduce_scatter}) {
    const Algorithm& rings = *find_algorithm(collective, "rings");
    for (const char* shape : {"5", "4m", "3x4", "2x3m", "3c"}) {
      const Machine machine(Topology::parse(shape), all_ports, Switching::packet);
      Request request;
      request.collective = collective;
      request.reduction = {Operator::max, ElementType::u8};
      request.bytes = 48;
      const std::vector<TraceMessage> whole = messages_of(rings, machine, request);
      const Plan plan = rings.plan(machine, request);
      const TraceHeader header{.machine = machine,
                               .collective = std::string(name(collective)),
                               .sources = {},
                               .segments = plan.segments,
                               .algorithm = "rings",
                               .reduction = request.reduction};
      REQUIRE(judged_right(header, whole));
      REQUIRE(Replay(header, whole).right());
      const std::uint64_t blocks = plan.segments * (collective == Collective::reduce_scatter ? machine.topology.nodes() : 1);
      for (int i = 0; i < 1100; ++i) {
        if (!share.takes_turn()) continue;
        std::vector<TraceMessage> bad = whole;
        if (!damage(bad, machine.topology, blocks, random)) continue;
        ++damages;
        if (!judged_right(header, bad)) continue;
        ++harmless;
        CAPTURE(shape, i);
        REQUIRE(Replay(header, bad).right());
      }
    }
  }
  CHECK(damages > 8000 / share.one_in());
  CHECK(harmless < damages / 5);
}

TEST_CASE("the judge names whoever would be counted twice", "[property]") {
  // On a line of three, towards node 2: node 0 keeps what it sends, and sends it again.
  const Machine machine(Topology::parse("3m"), all_ports, Switching::packet);
  const auto verdict = [&](bool again) {
    Judge judge({.machine = machine, .collective = "reduce", .sources = {2}, .reduction = Reduction{Operator::max, ElementType::u8}});
    const auto send = [&](Step step, NodeId from, bool releases) {
      TraceMessage m;
      m.step = step;
      m.source = from;
      m.destination = from + 1;
      m.path = {{0, +1}};
      m.blocks = {0};
      m.registers = 1;
      m.releases = releases;
      judge.message(m);
    };
    send(0, 0, !again);
    if (again) send(1, 0, true);
    send(2, 1, true);
    return judge.finish();
  };
  CHECK(verdict(false).ok);
  const Verdict twice = verdict(true);
  REQUIRE_FALSE(twice.ok);
  CHECK(twice.violations.front().find("node (0) would be counted twice") != std::string::npos);
}
