/// Reduce-scatter, all-reduce and multi-node broadcast by exchanges along the dimensions, over shared channels: `halving`, `swing`,
/// `tripling`.
///
/// An owner's block is cut into 2k parts; part t begins at axis t mod k and goes round robin over the axes that have rounds left. The parts
/// from k on see each ring in the mirror, so that both directions carry as much. The three differ in the peers of a place x in round s:
///   halving    x xor 2^s, the nearest first
///   swing      x + rho for even x, x - rho for odd, rho = (1 - (-2)^(s+1)) / 3: 1, -1, 3, -5, 11
///   tripling   x +- 3^s, in the last of L rounds x +- ceil((n - 3^(L-1)) / 2)
/// An all-reduce then runs the steps backwards, replacing.
/// Machine  torus, wormhole (packet where no side is above 3, or 2 for halving and swing), all ports, shared channels. halving: sides 2^p;
///          swing: even sides.
/// Steps    for a half: sum of ceil(log2 n_d); tripling: sum of ceil(log3 n_d).
/// Memory   2kN segments a node; tables of n^2 entries a side for halving, of 2n for swing, of n for tripling.
/// Source   Rabenseifner (2004); De Sensi, Bonato, Saam & Hoefler, Swing (2024); Juerss & Schmid, Trivance (2026). The mirrored parts of
///          tripling are this project's.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/reduction/reduce_scatter/reversible_reduce_scatter.hpp"

namespace torus::reduction::halving_swing_tripling {
namespace {

/// Who gives what to whom when the places of a line reduce by exchanges, and who holds what.
///
/// n places on a ring. In a round each has peers; being a peer is mutual. A place gives the part of place `owner` away in the latest round
/// in which a peer can still bring it there: once, and always to somebody who gives it on later.
///
/// Why everybody is counted once: reach(x, s) holds x and the reaches of x's peers from round s on, so what x gives in round s to x + h,
/// for an owner in reach(x + h, s + 1), is given on from there in a round after s, or is at home. Partials are only given away.
class LineExchange {
 public:
  /// Signed hops to the peers of a place in a round, in order of preference.
  using Peers = std::vector<std::int32_t> (*)(std::int32_t n, std::int32_t round, std::int32_t place);

  /// `period`: the peers of a place are those of the place so much farther.
  LineExchange(std::int32_t n, std::int32_t rounds, std::int32_t period, Peers peers_of);

  std::int32_t places() const noexcept { return n_; }
  std::int32_t rounds() const noexcept { return rounds_; }
  std::vector<std::int32_t> peers(std::int32_t round, std::int32_t place) const { return peers_(n_, round, place); }
  /// Owners whose parts a place gives to its i-th peer in a round.
  std::vector<std::int32_t> given(std::int32_t place, std::int32_t round, std::size_t peer) const;
  /// Owners whose parts a place has before a round; how many: the same for each place.
  std::vector<std::int32_t> held(std::int32_t place, std::int32_t round) const;
  std::size_t bytes() const noexcept { return moves_.size() * sizeof(Move); }

 private:
  struct Move {
    std::uint8_t round = 0;
    std::uint8_t peer = 0;
  };
  const Move& move(std::int32_t place, std::int32_t offset) const noexcept {
    return moves_[static_cast<std::size_t>(place % period_) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(offset)];
  }

  std::int32_t n_, rounds_, period_;
  Peers peers_;
  std::vector<Move> moves_;  // by place below the period, and by how far ahead the owner is
};

LineExchange::LineExchange(std::int32_t n, std::int32_t rounds, std::int32_t period, Peers peers_of)
    : n_{n}, rounds_{rounds}, period_{period}, peers_{peers_of} {
  // reach[s][x][d]: the place d ahead of x is in the reach of x from round s on.
  using Places = std::vector<std::vector<bool>>;
  std::vector<Places> reach(static_cast<std::size_t>(rounds) + 1,
                            Places(static_cast<std::size_t>(period), std::vector<bool>(static_cast<std::size_t>(n))));
  const auto in_reach = [&](std::int32_t from_round, std::int32_t place, std::int32_t owner) {
    return reach[static_cast<std::size_t>(from_round)][static_cast<std::size_t>(modulo(place, n) % period)]
                [static_cast<std::size_t>(modulo(owner - place, n))];
  };
  moves_.resize(static_cast<std::size_t>(period) * static_cast<std::size_t>(n));
  for (std::int32_t x = 0; x < period; ++x) reach.back()[static_cast<std::size_t>(x)][0] = true;
  for (std::int32_t round = rounds; round-- > 0;) {
    for (std::int32_t x = 0; x < period; ++x) {
      auto& now = reach[static_cast<std::size_t>(round)][static_cast<std::size_t>(x)];
      now = reach[static_cast<std::size_t>(round) + 1][static_cast<std::size_t>(x)];
      const std::vector<std::int32_t> hops = peers_of(n, round, x);
      for (std::int32_t ahead = 1; ahead < n; ++ahead) {
        if (now[static_cast<std::size_t>(ahead)]) continue;  // in a later round
        for (std::size_t i = 0; i < hops.size(); ++i) {
          if (!in_reach(round + 1, x + hops[i], x + ahead)) continue;
          now[static_cast<std::size_t>(ahead)] = true;
          moves_[static_cast<std::size_t>(x) * static_cast<std::size_t>(n) + static_cast<std::size_t>(ahead)] = {
              static_cast<std::uint8_t>(round), static_cast<std::uint8_t>(i)};
          break;
        }
      }
    }
  }
}

std::vector<std::int32_t> LineExchange::given(std::int32_t place, std::int32_t round, std::size_t peer) const {
  std::vector<std::int32_t> out;
  for (std::int32_t ahead = 1; ahead < n_; ++ahead) {
    const Move& m = move(place, ahead);
    if (m.round == round && m.peer == peer) out.push_back(modulo(place + ahead, n_));
  }
  return out;
}

std::vector<std::int32_t> LineExchange::held(std::int32_t place, std::int32_t round) const {
  std::vector<std::int32_t> out{place};
  for (std::int32_t ahead = 1; ahead < n_; ++ahead) {
    if (move(place, ahead).round >= round) out.push_back(modulo(place + ahead, n_));
  }
  return out;
}

/// Along all dimensions: 2k parts of an owner's block, each along one axis a step. Block id = owner * 2k + part.
class Exchanges final : public ReversibleReduceScatter {
 public:
  /// One line for each dimension wider than 1, ascending.
  Exchanges(const Topology& topology, std::vector<LineExchange> lines);

  std::uint64_t steps() const override { return turns_.empty() ? 0 : turns_.front().size(); }
  std::uint32_t pieces() const override { return static_cast<std::uint32_t>(std::max<std::size_t>(1, 2 * axes_.size())); }
  void sends(const Node& self, std::uint64_t step, Sends& out) const override;
  void mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const override;
  Load load() const override;
  Bytes table_bytes() const override;

 private:
  /// What a part does in a step: a round of an axis, and how many rounds of every axis it has done.
  struct Turn {
    std::size_t axis;
    std::int32_t round;
    std::vector<std::int32_t> done;
  };
  const Turn& turn(std::size_t part, std::uint64_t step) const { return turns_[part % axes_.size()][step]; }
  bool mirrored(std::size_t part) const noexcept { return part >= axes_.size(); }

  /// A part's message from a place to a peer, on an axis: signed hops, and the places of the owners.
  struct Move {
    std::int32_t hops;
    std::vector<std::int32_t> owners;
  };
  std::vector<Move> moves(std::size_t part, const Turn& turn, std::int32_t place) const;
  /// Appends the blocks of owners at those places of the turn's axis, and elsewhere where the node still has them.
  void append(const Topology& topology, const Coordinates& at, std::size_t part, const Turn& turn, const std::vector<std::int32_t>& owners,
              Sends::Blocks& blocks) const;

  std::vector<Dimension> axes_;
  std::vector<LineExchange> lines_;       // by axis
  std::vector<std::vector<Turn>> turns_;  // by first axis, by step
};

Exchanges::Exchanges(const Topology& topology, std::vector<LineExchange> lines)
    : axes_{linked_dimensions(topology)}, lines_{std::move(lines)} {
  std::int32_t all = 0;
  for (const LineExchange& line : lines_) all += line.rounds();
  turns_.resize(axes_.size());
  for (std::size_t first = 0; first < axes_.size(); ++first) {
    std::vector<std::int32_t> done(axes_.size());
    std::size_t axis = first;
    for (std::int32_t step = 0; step < all; ++step, axis = (axis + 1) % axes_.size()) {
      while (done[axis] == lines_[axis].rounds()) axis = (axis + 1) % axes_.size();
      turns_[first].push_back({axis, done[axis], done});
      ++done[axis];
    }
  }
}

std::vector<Exchanges::Move> Exchanges::moves(std::size_t part, const Turn& turn, std::int32_t place) const {
  const LineExchange& line = lines_[turn.axis];
  const std::int32_t n = line.places(), sign = mirrored(part) ? -1 : +1, seen = modulo(std::int64_t{sign} * place, n);
  const std::vector<std::int32_t> hops = line.peers(turn.round, seen);
  std::vector<Move> out;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    out.push_back({sign * hops[i], line.given(seen, turn.round, i)});
    for (std::int32_t& owner : out.back().owners) owner = modulo(std::int64_t{sign} * owner, n);
  }
  return out;
}

void Exchanges::append(const Topology& topology, const Coordinates& at, std::size_t part, const Turn& turn,
                       const std::vector<std::int32_t>& owners, Sends::Blocks& blocks) const {
  std::vector<NodeId> ranks{0};
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const std::int32_t n = lines_[axis].places(), sign = mirrored(part) ? -1 : +1, place = at[static_cast<std::size_t>(axes_[axis])];
    std::vector<std::int32_t> places = owners;
    if (axis != turn.axis) {
      places = lines_[axis].held(modulo(std::int64_t{sign} * place, n), turn.done[axis]);
      for (std::int32_t& p : places) p = modulo(std::int64_t{sign} * p, n);
    }
    std::vector<NodeId> longer;
    for (const NodeId rank : ranks) {
      for (const std::int32_t p : places) longer.push_back(rank + static_cast<NodeId>(p) * topology.stride(axes_[axis]));
    }
    ranks = std::move(longer);
  }
  for (const NodeId rank : ranks) blocks.push_back(rank * pieces() + static_cast<BlockId>(part));
}

void Exchanges::sends(const Node& self, std::uint64_t step, Sends& out) const {
  const Coordinates at = self.coordinates();
  for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
    const Turn& now = turn(part, step);
    const Dimension d = axes_[now.axis];
    for (const Move& move : moves(part, now, at[static_cast<std::size_t>(d)]))
      append(self.topology(), at, part, now, move.owners, out.by({{d, move.hops}}));
  }
}

void Exchanges::mirrored_sends(const Node& self, std::uint64_t step, Sends& out) const {
  const Coordinates at = self.coordinates();
  for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
    const Turn& now = turn(part, step);
    const Dimension d = axes_[now.axis];
    const std::int32_t place = at[static_cast<std::size_t>(d)], n = lines_[now.axis].places();
    std::vector<std::int32_t> givers;
    for (const Move& mine : moves(part, now, place)) {
      const std::int32_t giver = modulo(place + mine.hops, n);
      if (std::find(givers.begin(), givers.end(), giver) != givers.end()) continue;
      givers.push_back(giver);
      for (const Move& theirs : moves(part, now, giver)) {
        if (modulo(giver + theirs.hops, n) == place) append(self.topology(), at, part, now, theirs.owners, out.by({{d, -theirs.hops}}));
      }
    }
  }
}

/// All lines of an axis see the same, and all places have as many parts as each other.
ReversibleReduceScatter::Load Exchanges::load() const {
  Load sum;
  for (std::uint64_t step = 0; step < steps(); ++step) {
    std::uint64_t channel = 0, combined = 0;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      const std::int32_t n = lines_[axis].places();
      std::vector<std::uint64_t> plus(static_cast<std::size_t>(n)), minus = plus, into = plus;
      for (std::size_t part = 0; part < 2 * axes_.size(); ++part) {
        const Turn& now = turn(part, step);
        if (now.axis != axis) continue;
        std::uint64_t others = 1;
        for (std::size_t other = 0; other < axes_.size(); ++other) {
          if (other != axis) others *= lines_[other].held(0, now.done[other]).size();
        }
        for (std::int32_t place = 0; place < n; ++place) {
          for (const Move& move : moves(part, now, place)) {
            const std::uint64_t blocks = move.owners.size() * others;
            for (std::int32_t hop = 0; hop < move.hops; ++hop) plus[static_cast<std::size_t>(modulo(place + hop, n))] += blocks;
            for (std::int32_t hop = 0; hop > move.hops; --hop) minus[static_cast<std::size_t>(modulo(place + hop, n))] += blocks;
            into[static_cast<std::size_t>(modulo(place + move.hops, n))] += blocks;
          }
        }
      }
      channel = std::max({channel, *std::max_element(plus.begin(), plus.end()), *std::max_element(minus.begin(), minus.end())});
      combined += *std::max_element(into.begin(), into.end());
    }
    sum.channel += channel;
    sum.combined += combined;
  }
  return sum;
}

Bytes Exchanges::table_bytes() const {
  Bytes sum = 0;
  for (const LineExchange& line : lines_) sum += line.bytes();
  return sum;
}

using Hops = std::vector<std::int32_t>;

std::int32_t power(std::int32_t base, std::int32_t exponent) {
  std::int32_t out = 1;
  for (; exponent > 0; --exponent) out *= base;
  return out;
}

std::int32_t rounds(std::int32_t base, std::int32_t n) {
  return static_cast<std::int32_t>(ceil_log(static_cast<std::uint64_t>(base), static_cast<std::uint64_t>(n)));
}

/// The shorter way round; the sign decides a tie.
std::int32_t shorter(std::int32_t hops, std::int32_t n) {
  const std::int32_t rest = hops % n;
  if (2 * std::abs(rest) <= n) return rest;
  return rest > 0 ? rest - n : rest + n;
}

/// The antipode by + from everywhere: the mirrored parts go by -.
Hops halving_peers(std::int32_t n, std::int32_t round, std::int32_t place) {
  const std::int32_t distance = power(2, round);
  return {(place & distance) == 0 || 2 * distance == n ? distance : -distance};
}

Hops swing_peers(std::int32_t n, std::int32_t round, std::int32_t place) {
  const std::int32_t rho = (1 - power(-2, round + 1)) / 3;
  return {shorter(place % 2 == 0 ? rho : -rho, n)};
}

Hops tripling_peers(std::int32_t n, std::int32_t round, std::int32_t) {
  const std::int32_t all = rounds(3, n);
  const std::int32_t distance = round + 1 < all ? power(3, round) : (n - power(3, all - 1) + 1) / 2;
  return {distance, -distance};
}

/// `period`: see LineExchange; 0 stands for the side.
Plan plan(const Machine& machine, const Request& request, std::int32_t base, LineExchange::Peers peers, std::int32_t period,
          const char* formula) {
  const Topology& topology = machine.topology;
  std::vector<LineExchange> lines;
  for (const Dimension d : linked_dimensions(topology)) {
    const std::int32_t n = topology.extent(d);
    lines.emplace_back(n, rounds(base, n), period == 0 ? n : period, peers);
  }
  return plan_reversible(machine, request, std::make_shared<const Exchanges>(topology, std::move(lines)), formula);
}

Plan plan_halving(const Machine& machine, const Request& request) { return plan(machine, request, 2, halving_peers, 0, "sum log2 n"); }
Plan plan_swing(const Machine& machine, const Request& request) { return plan(machine, request, 2, swing_peers, 2, "sum ceil(log2 n)"); }
Plan plan_tripling(const Machine& machine, const Request& request) {
  return plan(machine, request, 3, tripling_peers, 1, "sum ceil(log3 n)");
}

/// Of the tables while they are made: a bit a round beside each entry.
Bytes halving_bytes(const Machine& machine) {
  Bytes sum = 0;
  for (const DimensionShape& line : machine.topology.shape()) {
    const auto n = static_cast<Bytes>(line.extent);
    sum += n * n * (2 + ceil_log(2, n) / 8 + 1);
  }
  return sum;
}

constexpr NativeMachine native{.switching = Switching::wormhole, .contention = Contention::share};

constexpr Requirements needs(std::int32_t overlaps_from, bool powers_of_two = false, std::int32_t multiples_of = 1) {
  return {.shape = Requirements::Shape::torus,
          .powers_of_two = powers_of_two,
          .multiples_of = multiples_of,
          .switching = Switching::wormhole,
          .ports = Requirements::all_ports,
          .shared_channels = true,
          .overlaps_from = overlaps_from};
}

constexpr Algorithm entry(Algorithm variant, Collective collective, std::string_view steps, const Idea& idea) {
  variant.collective = collective;
  variant.steps = steps;
  variant.idea = idea;
  return variant;
}

constexpr auto scatter = Collective::reduce_scatter, both = Collective::allreduce, gather = Collective::multinode_broadcast;

constexpr Algorithm halving{
    .name = "halving",
    .collective = scatter,
    .source = "Rabenseifner (2004), on tori nearest first",
    .shapes = "torus, sides 2^p",
    .steps = "sum log2 n",
    .idea = {.first = "On each ring neighbours exchange halves of what they hold: each gives away what the other's side will own, and adds "
                      "what it gets.",
             .then = "In each further round the partner is twice as far away and half as much is left, until a node holds its own block "
                     "alone; parts of the blocks take the dimensions in different orders, and as in a mirror.",
             .good = "Most bytes move in the first round, between neighbours, and little goes far, so that few steps do and the shared "
                     "channels are not too full."},
    .native = native,
    .needs = needs(3, true),
    .plan = plan_halving,
    .planning_bytes = halving_bytes};
constexpr Algorithm
    halving_both =
        entry(halving, both, "2 x sum log2 n",
              {.first = "First a reduce-scatter: on each ring neighbours exchange halves and add, then nodes twice as far apart exchange "
                        "half as much, until each node has the result of one block.",
               .then = "Then the same rounds run backwards and gather the results, with the farthest partners first and neighbours last.",
               .good = "Few steps do, hardly a byte could be saved at the nodes, and what goes far is short: good for vectors of middle "
                       "length where channels may be shared."}),
    halving_gather =
        entry(halving, gather, halving.steps,
              {.first = "On each ring nodes that lie half a ring apart exchange their own blocks.",
               .then = "In each further round the partner is half as far away and a node holds twice as much, until neighbours exchange "
                       "halves of all that the ring has; parts take the dimensions in different orders, and as in a mirror.",
               .good = "What goes far is short and what is long goes to a neighbour, so that few steps do and the shared channels are not "
                       "too full."});

constexpr Algorithm swing{.name = "swing",
                          .collective = scatter,
                          .source = "De Sensi et al., Swing (2024)",
                          .shapes = "torus, even sides",
                          .steps = "sum ceil(log2 n)",
                          .idea = {.first = "On each ring a node exchanges half of what it holds with a neighbour and adds what it gets: "
                                            "even places swing forwards, odd ones backwards.",
                                   .then = "The next partners are on alternating sides, at distances 1, 3, 5, 11 and so on, each time with "
                                           "half as much, until a node holds its own block alone.",
                                   .good = "The alternating sides keep the ways shorter than powers of two would be, so that the shared "
                                           "channels carry less; and any even side will do."},
                          .native = native,
                          .needs = needs(3, false, 2),
                          .plan = plan_swing};
constexpr Algorithm swing_both = entry(swing, both, "2 x sum ceil(log2 n)",
                                       {.first = "First a reduce-scatter: on each ring partners exchange halves and add, at distances 1, "
                                                 "1, 3, 5, 11 to alternating sides, until each node has the result of one block.",
                                        .then = "Then the same rounds run backwards and gather the results, the farthest partners first.",
                                        .good = "Few steps do, and partners on alternating sides are nearer than at powers of two, so that "
                                                "the shared channels carry less: good for vectors of middle length and more."}),
                    swing_gather = entry(swing, gather, swing.steps,
                                         {.first = "On each ring partners that lie far apart exchange their own blocks.",
                                          .then = "In each further round the partner is on the other side and about half as far away, and "
                                                  "a node holds twice as much, until neighbours exchange halves of all.",
                                          .good = "Long messages go to near partners, and the alternating sides keep all ways shorter than "
                                                  "powers of two would, so that the shared channels carry less."});

constexpr Algorithm tripling{
    .name = "tripling",
    .collective = scatter,
    .source = "after Juerss & Schmid, Trivance (2026)",
    .shapes = "torus",
    .steps = "sum ceil(log3 n)",
    .idea = {.first = "On each ring a node gives a third of what it holds to each of its two neighbours, and adds what it gets from them.",
             .then = "In each further round the two partners are about three times as far away and a third is left, until a node holds its "
                     "own block alone.",
             .good = "Both directions work in each round, so that the steps go with the logarithm to the base three, not two, on rings of "
                     "any length."},
    .native = native,
    .needs = needs(4),
    .plan = plan_tripling};
constexpr Algorithm
    tripling_both =
        entry(tripling, both, "2 x sum ceil(log3 n)",
              {.first = "First a reduce-scatter: on each ring a node gives a third of what it holds to either neighbour and adds what it "
                        "gets, then the same three times as far away, until each node has the result of one block.",
               .then = "Then the same rounds run backwards and gather the results from both sides, the farthest partners first.",
               .good = "With two partners a round fewer steps do than with one, on rings of any length: good for short and middle vectors "
                       "where channels may be shared."}),
    tripling_gather = entry(
        tripling, gather, tripling.steps,
        {.first = "On each ring a node exchanges its own block with two partners, about a third of the ring away on either side.",
         .then = "In each further round the partners are three times nearer and a node holds three times as much, until neighbours "
                 "exchange thirds of all.",
         .good = "Two partners a round take fewer steps than one, on rings of any length, and long messages go to neighbours alone."});

}  // namespace

extern const Entries entries{halving,      halving_both, halving_gather, swing,          swing_both,
                             swing_gather, tripling,     tripling_both,  tripling_gather};

}  // namespace torus::reduction::halving_swing_tripling
