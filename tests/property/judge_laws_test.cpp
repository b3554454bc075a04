// The judge's verdicts on random traces, held against slow books: sets of blocks, and of contributors, node by node.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <torus/error.hpp>
#include <torus/judge.hpp>

#include "runtime/trace/contributors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

using Nodes = std::set<NodeId>;
using Ids = std::set<std::uint64_t>;

/// A machine of at most `most` nodes, often with faults, on which channels are shared and nodes have ports enough: all that is illegal lies
/// in the blocks.
Machine random_machine(std::mt19937_64& random, std::uint32_t most) {
  while (true) {
    const Topology whole = support::random_topology(random, most);
    try {
      const bool broken = whole.nodes() > 2 && support::random_below(random, 3) > 0;
      return Machine(broken ? whole.with_faults(support::random_faults(random, whole, 1, 2, 1)) : whole, all_ports, Switching::packet,
                     Contention::share);
    } catch (const InputError&) {  // cut apart
    }
  }
}

std::vector<NodeId> living_nodes(const Topology& topology) {
  std::vector<NodeId> living;
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    if (topology.living(node)) living.push_back(node);
  }
  return living;
}

template <class List>
auto one_of(const List& list, std::mt19937_64& random) {
  return list[support::random_below(random, list.size())];
}

/// The blocks of a collective whose blocks are copied, by the words of format.md: what a living node has at first, and what it must have.
struct Delivery {
  const TraceHeader& header;
  std::map<NodeId, Ids> has, wants;

  explicit Delivery(const TraceHeader& h) : header{h} {
    const Topology& topology = h.machine.topology;
    const std::string& c = h.collective;
    const std::uint64_t n = topology.nodes(), s = h.segments;
    const std::vector<NodeId> living = living_nodes(topology);
    const auto is_source = [&](NodeId node) { return std::find(h.sources.begin(), h.sources.end(), node) != h.sources.end(); };
    for (const NodeId a : living) {
      has[a], wants[a];
      for (const NodeId b : living) {
        if (c == "total-exchange") has[a].insert(a * n + b), wants[b].insert(a * n + b);
        if (c == "total-exchange") continue;
        for (std::uint64_t i = 0; i < s; ++i) {
          const bool replicated = c == "broadcast" || c == "multinode-broadcast";
          if (c == "scatter" ? is_source(a) : !replicated || is_source(a)) {
            has[a].insert((c == "scatter" ? b : a) * s + i);
            if (c != "gather" || is_source(b)) wants[b].insert((c == "scatter" ? b : a) * s + i);
          }
        }
      }
      if (c == "scatter" && is_source(a)) {  // also those of dead nodes
        for (std::uint64_t id = 0; id < n * s; ++id) has[a].insert(id);
      }
      if (c == "total-exchange") {
        for (std::uint64_t b = 0; b < n; ++b) has[a].insert(a * n + b);
      }
    }
  }
  std::uint64_t missing() const {
    std::uint64_t count = 0;
    for (const auto& [node, ids] : wants) {
      for (const std::uint64_t id : ids) count += has.at(node).contains(id) ? 0U : 1U;
    }
    return count;
  }
};

TraceMessage message(Step step, NodeId from, NodeId to, Leg leg, std::vector<std::uint64_t> blocks) {
  TraceMessage m;
  m.step = step;
  m.source = from;
  m.destination = to;
  m.path = {leg};
  m.bytes = blocks.size();
  m.blocks = std::move(blocks);
  return m;
}

}  // namespace

TEST_CASE("what must arrive is what the living sources have, in every collective, with segments and dead nodes", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  unsigned complete = 0, incomplete = 0, illegal = 0;
  for (int turn = 0; turn < 1500; ++turn) {
    TraceHeader header{.machine = random_machine(random, 12), .collective = ""};
    const Topology& topology = header.machine.topology;
    const std::vector<NodeId> living = living_nodes(topology);
    header.collective =
        one_of(std::vector<std::string>{"broadcast", "multinode-broadcast", "scatter", "gather", "allgather", "total-exchange"}, random);
    header.segments = header.collective == "total-exchange" ? 1 : 1 + support::random_below(random, 3);
    header.block_bytes = support::random_below(random, 2);
    header.ports = 1000;
    if (header.collective == "multinode-broadcast") {
      for (NodeId node = 0; node < topology.nodes(); ++node) {  // dead ones, too: they have nothing to say
        if (support::random_below(random, 2) == 0) header.sources.push_back(node);
      }
    } else if (header.collective != "allgather" && header.collective != "total-exchange") {
      header.sources = {one_of(living, random)};
    }
    Delivery books(header);
    Judge judge(header);
    bool legal = true;
    const bool loses = support::random_below(random, 2) == 0;
    for (Step step = 0; legal && books.missing() > 0 && step < 40; ++step) {
      std::map<NodeId, Ids> arrived;
      for (const NodeId from : living) {
        topology.each_link(from, [&](Dimension d, std::int32_t hop, NodeId to) {
          std::vector<std::uint64_t> blocks;
          for (const std::uint64_t id : books.has[from]) {
            if (!books.has[to].contains(id) && support::random_below(random, 8) > 0) blocks.push_back(id);
          }
          if (blocks.empty() || (loses && support::random_below(random, 4) == 0)) return;
          if (support::random_below(random, 400) == 0) {
            blocks.push_back(support::random_below(random, topology.nodes() * topology.nodes() * 4));
            legal = legal && books.has[from].contains(blocks.back());
          }
          arrived[to].insert(blocks.begin(), blocks.end());
          judge.message(message(step, from, to, {d, hop}, blocks));
        });
      }
      for (const auto& [node, ids] : arrived) books.has[node].insert(ids.begin(), ids.end());
      if (loses && support::random_below(random, 4) == 0) break;
    }
    const Verdict verdict = judge.finish();
    CAPTURE(turn, topology.text(), header.collective, header.segments, header.sources, topology.faults().dead_nodes);
    const std::string first = verdict.violations.empty() ? "" : verdict.violations.front();
    CAPTURE(first);
    if (!legal) {
      CHECK_FALSE(verdict.ok);
      ++illegal;
      continue;
    }
    REQUIRE(verdict.missing_blocks == books.missing());
    REQUIRE(verdict.ok == (books.missing() == 0));
    if (!verdict.ok) {
      const auto lacking = std::find_if(living.begin(), living.end(), [&](NodeId node) {
        return !std::includes(books.has[node].begin(), books.has[node].end(), books.wants[node].begin(), books.wants[node].end());
      });
      const auto id = std::find_if(books.wants[*lacking].begin(), books.wants[*lacking].end(),
                                   [&](std::uint64_t wanted) { return !books.has[*lacking].contains(wanted); });
      CHECK(first.find(" lacks block " + std::to_string(*id)) != std::string::npos);
    }
    ++(verdict.ok ? complete : incomplete);
  }
  CHECK(complete > 400);
  CHECK(incomplete > 200);
  CHECK(illegal > 20);
}

namespace {

/// The partials of a reduction: who has contributed to what each living node holds, by node and block.
class Partials {
 public:
  explicit Partials(const TraceHeader& header) : header_{header}, segments_{header.segments} {
    if (header.collective == "reduce-scatter") segments_ *= header.machine.topology.nodes();
    for (const NodeId node : living_nodes(header.machine.topology)) {
      for (std::uint64_t segment = 0; segment < segments_; ++segment) held_[{node, segment}] = {node};
    }
  }

  std::uint64_t blocks() const noexcept { return segments_ * header_.registers; }
  bool holds(NodeId node, std::uint64_t block) const { return held_.contains({node, block}); }

  /// The messages of a step. False if one of them breaks a rule.
  bool step(const std::vector<TraceMessage>& messages) {
    const auto before = held_;
    std::map<Cell, std::vector<std::pair<bool, Nodes>>> arrivals;
    std::set<Cell> given;
    bool legal = true;
    for (const TraceMessage& m : messages) {
      if (unsigned{m.registers} >> header_.registers != 0) return false;
      Ids seen;
      for (const std::uint64_t block : m.blocks) {
        const auto from = before.find({m.source, block});
        if (from == before.end() || !seen.insert(block).second) return false;
        if (m.releases) legal = given.insert(from->first).second && legal;
        if (m.registers == 0) arrivals[{m.destination, block}].emplace_back(false, from->second);
        for (unsigned r = 0; r < 8; ++r) {
          if ((unsigned{m.registers} >> r & 1U) == 0) continue;
          arrivals[{m.destination, r * segments_ + block % segments_}].emplace_back(true, from->second);
        }
      }
    }
    for (const Cell& cell : given) held_.erase(cell);
    std::map<NodeId, std::uint64_t> work;
    for (const auto& [cell, list] : arrivals) {
      const bool all_combine = std::all_of(list.begin(), list.end(), [](const auto& each) { return each.first; });
      legal = legal && (all_combine || list.size() == 1);
      for (const auto& [combines, contributors] : list) {
        const bool there = held_.contains(cell);
        Nodes& held = held_[cell];
        if (combines) {
          if (there) ++work[cell.first];
          for (const NodeId node : contributors) legal = (held.insert(node).second || header_.overlap) && legal;
        } else {
          const bool keeps = std::includes(contributors.begin(), contributors.end(), held.begin(), held.end());
          legal = legal && (keeps || cell.second >= segments_);
          held = contributors;
        }
      }
    }
    std::uint64_t most = 0;
    for (const auto& [node, count] : work) {
      combined += count;
      most = std::max(most, count);
    }
    most_combined += most;
    return legal;
  }

  void finish() {
    const std::vector<NodeId> living = living_nodes(header_.machine.topology);
    for (const NodeId node : living) {
      Nodes want;
      for (const NodeId other : living) {
        if (header_.collective != "scan" || other <= node) want.insert(other);
      }
      for (std::uint64_t block = 0; block < segments_; ++block) {
        const auto owner = static_cast<NodeId>(block / header_.segments);
        const bool by_owner = header_.collective == "reduce-scatter";
        if (by_owner && !header_.machine.topology.living(owner)) continue;
        const bool wants = by_owner ? owner == node : header_.collective != "reduce" || header_.sources.front() == node;
        const auto held = held_.find({node, block});
        if (wants)
          missing += held == held_.end() || held->second != want ? 1U : 0U;
        else
          unasked += held == held_.end() ? 0U : 1U;
      }
    }
  }

  std::uint64_t combined = 0, most_combined = 0, missing = 0, unasked = 0;

 private:
  using Cell = std::pair<NodeId, std::uint64_t>;
  const TraceHeader& header_;
  std::uint64_t segments_;
  std::map<Cell, Nodes> held_;
};

TraceMessage random_message(const Partials& partials, const TraceHeader& header, Step step, std::mt19937_64& random) {
  const Topology& topology = header.machine.topology;
  const NodeId from = one_of(living_nodes(topology), random);
  std::vector<std::pair<Leg, NodeId>> links;
  topology.each_link(from, [&](Dimension d, std::int32_t hop, NodeId to) { links.push_back({{d, hop}, to}); });
  const auto [leg, to] = one_of(links, random);
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t block = 0; block < partials.blocks(); ++block) {
    if (partials.holds(from, block) && support::random_below(random, 3) > 0) blocks.push_back(block);
  }
  if (support::random_below(random, 50) == 0) blocks.push_back(support::random_below(random, partials.blocks() + 1));
  TraceMessage m = message(step, from, to, leg, std::move(blocks));
  m.registers = static_cast<std::uint8_t>(support::random_below(random, 1U << header.registers));
  if (support::random_below(random, 3) > 0) m.registers = 1;
  if (support::random_below(random, 200) == 0) m.registers = static_cast<std::uint8_t>(1U << header.registers);
  m.releases = support::random_below(random, 2) == 0;
  return m;
}

}  // namespace

TEST_CASE("the judge's books of contributors are those of sets, rule by rule and figure by figure", "[property]") {
  CAPTURE(support::seed());
  std::mt19937_64 random(support::seed());
  unsigned legal_runs = 0, illegal_runs = 0, complete = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    TraceHeader header{.machine = random_machine(random, 6), .collective = ""};
    const Topology& topology = header.machine.topology;
    if (topology.living_nodes() < 2) continue;
    header.collective = one_of(std::vector<std::string>{"reduce", "allreduce", "reduce-scatter", "scan"}, random);
    header.segments = 1 + support::random_below(random, 2);
    header.registers = 1 + support::random_below(random, 3);
    header.overlap = support::random_below(random, 4) == 0;
    header.ports = 1000;
    if (header.collective == "reduce") header.sources = {one_of(living_nodes(topology), random)};
    Partials books(header);
    Judge judge(header);
    // The same by sums of keys, which notice what is wrong at the end alone.
    unsigned reports = 0;
    std::optional<detail::Contributors> sums;  // they cannot judge what may be counted twice
    if (!header.overlap)
      sums.emplace(
          header, detail::Participants(topology), [&](const std::string&) { ++reports; }, [](NodeId) { return std::string(); }, 0);
    bool legal = true;
    const Step steps = 1 + support::random_below(random, 12);
    Step broken = 0;
    for (Step step = 0; step < steps && legal; ++step) {
      std::vector<TraceMessage> messages;
      // Most messages that would break a rule are left out, so that runs get far.
      for (std::uint32_t tries = 1 + support::random_below(random, 2 * topology.nodes()); tries > 0; --tries) {
        messages.push_back(random_message(books, header, step, random));
        if (!Partials(books).step(messages) && support::random_below(random, 60) > 0) messages.pop_back();
      }
      legal = books.step(messages);
      broken = step;
      for (const TraceMessage& m : messages) {
        judge.message(m);
        if (legal && sums) sums->sent(m.source, m.destination, m);
      }
      if (legal && sums) sums->end_step();
    }
    books.finish();
    const Verdict verdict = judge.finish();
    CAPTURE(turn, topology.text(), header.collective, header.segments, header.registers, header.overlap, broken);
    const std::string first = verdict.violations.empty() ? "" : verdict.violations.front();
    CAPTURE(first);
    if (!legal) {
      ++illegal_runs;
      // A rule is broken, not only something missing at the end.
      const std::string step = "step " + std::to_string(broken) + ": ";
      REQUIRE((first.starts_with(step + "message from node ") ||
               (first.starts_with(step) && first.find(" gives block ") != std::string::npos)));
      continue;
    }
    ++legal_runs;
    REQUIRE(verdict.ok == (books.missing == 0));
    REQUIRE(verdict.missing_blocks == books.missing);
    REQUIRE(verdict.unasked_blocks == books.unasked);
    REQUIRE(verdict.combined_blocks == books.combined);
    REQUIRE(verdict.node_combined_blocks == books.most_combined);
    complete += verdict.ok ? 1 : 0;
    if (!sums) continue;
    REQUIRE_FALSE(sums->exact());
    REQUIRE(sums->finish() == books.missing);
    REQUIRE(sums->unasked() == books.unasked);
    REQUIRE(reports == (books.missing > 0 ? 1 : 0));
  }
  CHECK(legal_runs > 1000);
  CHECK(illegal_runs > 100);
  CHECK(complete > 30);
}

TEST_CASE("where sets are too large for bits, a contributor that counts twice is still noticed", "[property]") {
  // A ring of three: node 0 gives its own to node 1 twice, and node 2's never comes.
  TraceHeader header{.machine = Machine(Topology::parse("3"), all_ports, Switching::packet), .collective = "reduce", .sources = {1}};
  for (const bool twice : {false, true}) {
    CAPTURE(twice);
    detail::Contributors sums(
        header, detail::Participants(header.machine.topology), [](const std::string&) {}, [](NodeId) { return std::string(); }, 0);
    REQUIRE_FALSE(sums.exact());
    const auto send = [&](NodeId from, std::int32_t hop) {
      TraceMessage m = message(0, from, 1, {0, hop}, {0});
      m.registers = 1;
      sums.sent(m.source, m.destination, m);
      sums.end_step();
    };
    send(0, +1);
    send(2, -1);
    if (twice) send(0, +1);
    CHECK(sums.finish() == (twice ? 1 : 0));
  }
}
