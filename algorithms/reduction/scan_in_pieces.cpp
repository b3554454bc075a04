/// Inclusive scan in the order of ranks, in pieces of the vector: each line tells its root of each piece what it has, and hears from it
/// what comes before. So pieces are under way in all parts of the machine at once, and their sums go half as far as from one end to the
/// other.
///
/// The axes are the dimensions with links, 0 .. K-1, the last of which runs fastest. A piece has a root, a place, in each axis but the
/// first. The lines of axis e are those through the roots of the later axes; the *block* of a node on such a line is all that have told it,
/// or its roots, along the later axes.
///  - In, the last axis first: along each line sums run to the root from both sides, and every place adds its block.
///  - Along axis 0 the roots of all others tell each other the sums of their blocks: round a ring both ways, one by one, or in a chain.
///  - Out, axis 1 first: from the root the sum of all before its line runs down, and the sum up to each place runs up.
/// In a complete dimension, the last of two, a root hears of each place at once, and tells it what comes before it.
/// Round a ring a piece may be told over the end: then its root is the first place or the last, and the ring begins at another place, the
/// *start*. All before the start are low places, which come after the others on the way round.
///
/// Registers, of K axes: 0 the result, so far the sum of a node's block up to itself. e: of its block, and of those who have told it along
/// axes 1 .. e, what comes after it. K-1+e: all before its line of axis e. 2K-1 and 2K: sums that go on along axis 0, up and down. The last
/// place as a root hears of the low places by its upper neighbour, and has in register e what comes before the whole line. The first place
/// as a root has in K-1+e the sum of the places that are not low.
///
/// A list times the messages, those with the longest way to go first; what may share a channel in a step, and goes into the same registers,
/// is one message, up to a number of blocks.
/// Source   this project.

#include "algorithms/reduction/scan_in_pieces.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <utility>

#include <torus/error.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/shapes.hpp"

namespace torus::reduction {
namespace {

constexpr std::size_t most_axes = 3;  // for which registers suffice
constexpr std::uint64_t most_piece_nodes = 8192;
constexpr unsigned most_registers = 8;
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// How the roots of axis 0 hear of each other.
enum class First { both_ways, chain };

/// The place of a piece's roots in the lines of an axis.
struct Root {
  std::int32_t place, start;  ///< start: 0 if nothing goes over the end

  bool hears_low_above() const { return start > 0 && place > 0; }
  bool hears_high_below() const { return start > 0 && place == 0; }
};

/// A message of one piece.
struct Telling {
  NodeId from, to;
  Leg leg;
  unsigned own, into;  ///< registers of the sender and of the receiver, a bit each
  std::uint32_t piece;
  int phase;
  std::int32_t round = 0;      ///< along axis 0 both ways: hops from the origin; else 0
  std::uint32_t after = none;  ///< there, beyond the first hop: the arrival that it passes on

  bool passes_on() const { return after != none; }
};

/// All messages of all pieces.
class Pieces {
 public:
  Pieces(const Machine& machine, First first, std::uint32_t copies) : topology_{machine.topology}, first_{first} {
    for (const Dimension d : linked_dimensions(topology_)) axes_.push_back(axis_of(d));
    if (axes_.size() < 2 || axes_.size() > most_axes || (first == First::both_ways && !axes_[0].closes)) return;
    for (std::size_t e = 1; e < axes_.size(); ++e) choices_.push_back(roots_of(axes_[e]));
    std::uint64_t pieces = copies;
    for (const auto& roots : choices_) pieces *= roots.size();
    if (pieces * topology_.nodes() > most_piece_nodes) return;
    pieces_ = static_cast<std::uint32_t>(pieces);
    for (std::uint32_t piece = 0; piece < pieces_; ++piece) add_piece(piece);
  }

  std::uint32_t count() const { return pieces_; }
  const std::vector<Telling>& tellings() const { return tellings_; }
  bool pass() const {
    return std::all_of(tellings_.begin(), tellings_.end(),
                       [&](const Telling& t) { return topology_.passes(t.from, t.leg.dimension, t.leg.hops); });
  }

 private:
  struct Axis {
    Dimension dimension;
    std::int32_t extent;
    NodeId stride;
    bool closes;
  };

  /// On a twisted torus a hop over the end of a short dimension also moves along the long ones.
  Axis axis_of(Dimension d) const {
    const std::int32_t n = topology_.extent(d);
    return {d, n, topology_.stride(d),
            topology_.wiring(d) != Wiring::line && n > 2 && (!topology_.twisted() || n == largest_extent(topology_))};
  }
  /// On a line all places are roots, and where each two are neighbours. Round a ring those which hear from half the places from either
  /// side.
  std::vector<Root> roots_of(const Axis& axis) const {
    const std::int32_t n = axis.extent, h = n / 2;
    std::vector<Root> roots;
    if (!axis.closes || meets()) {
      for (std::int32_t place = 0; place < n; ++place) roots.push_back({place, 0});
      return roots;
    }
    if (n % 2 != 0) return {{h, 0}, {n - 1, h}, {0, h + 1}};
    roots = {{h - 1, 0}, {h, 0}, {n - 1, h}, {0, h}};
    if (n > 4) roots.insert(roots.end(), {{n - 1, h - 1}, {0, h + 1}});
    return roots;
  }

  std::size_t axes() const { return axes_.size(); }
  const Root& root(std::size_t axis) const { return roots_[axis - 1]; }
  std::int32_t place(NodeId node, std::size_t axis) const { return topology_.coordinate(node, axes_[axis].dimension); }
  NodeId at(NodeId line, std::size_t axis, std::int32_t place) const { return line + static_cast<NodeId>(place) * axes_[axis].stride; }

  // Sets of registers, a bit each.
  unsigned after(std::size_t axis) const { return 1U << axis; }
  unsigned before(std::size_t axis) const { return 1U << (axes() - 1 + axis); }
  bool both_ways() const { return first_ == First::both_ways; }
  std::int32_t reach(int way) const { return way > 0 ? axes_[0].extent / 2 : (axes_[0].extent - 1) / 2; }
  /// The register of a sum that is passed on. No sum goes all the way round, so that each leaves it before the next one comes.
  unsigned passing(int way) const { return 1U << static_cast<unsigned>(2 * axes() - (way > 0 ? 1 : 0)); }

  /// The registers that sum up to a node's block, before it is told along an axis.
  unsigned block(NodeId node, std::size_t axis) const {
    for (std::size_t e = axis + 1; e < axes(); ++e) {
      if (root(e).hears_low_above()) continue;
      return 1U | (held_[node] & (after(e) | (root(e).hears_high_below() ? before(e) : 0)));
    }
    return 1;
  }
  /// The same with those who have told it along the axis what comes after.
  unsigned with_after(NodeId node, std::size_t axis) const {
    return (held_[node] & after(axis)) != 0 ? 1U | after(axis) : block(node, axis);
  }
  /// The registers of a root of the later axes into which goes what comes before it along `axis`.
  unsigned all_before(std::size_t axis) const {
    unsigned bits = 1;
    if (axis == 0 && meets()) return bits | told_places(0, root(1).place);
    for (std::size_t e = axis + 1; e < axes(); ++e) {
      if (!root(e).hears_high_below()) bits |= before(e);
      if (root(e).hears_low_above()) bits |= after(e);
    }
    return bits;
  }
  /// The registers into which goes what comes after a node along an axis: those of the axes before `end`.
  unsigned all_after(NodeId node, std::size_t axis, std::size_t end) const {
    unsigned bits = 0;
    for (std::size_t e = 1; e < end; ++e) {
      if (e == axis || !root(e).hears_low_above() || place(node, e) != root(e).place) bits |= after(e);
    }
    return bits;
  }

  /// Whether there are two axes, and each two places of the last are neighbours: its root tells each of them what comes before it, from a
  /// register of that place. Above the root all up to the root itself is in register 0, and that register holds the rest.
  bool meets() const {
    return axes() == 2 && !both_ways() && topology_.wiring(axes_[1].dimension) == Wiring::complete && axes_[1].closes &&
           axes_[1].extent < static_cast<std::int32_t>(most_registers);
  }
  unsigned told(std::int32_t place) const {
    const std::int32_t r = root(1).place;
    return place < r ? 1U << static_cast<unsigned>(2 + place) : place > r + 1 ? 1U << static_cast<unsigned>(place) : 0;
  }
  /// The registers of the places from `begin` to `end` - 1.
  unsigned told_places(std::int32_t begin, std::int32_t end) const {
    unsigned bits = 0;
    for (std::int32_t place = begin; place < end; ++place) bits |= told(place);
    return bits;
  }

  /// Calls f(the first node of it) for each line of an axis through the roots of later ones.
  template <class F>
  void each_line(std::size_t axis, F&& f) const {
    for (NodeId node = 0; node < topology_.nodes(); ++node) {
      bool first = place(node, axis) == 0;
      for (std::size_t e = axis + 1; e < axes() && first; ++e) first = place(node, e) == root(e).place;
      if (first) f(node);
    }
  }
  /// The places of an axis from its start on, and where the root is among them.
  std::pair<std::vector<std::int32_t>, std::size_t> order_of(std::size_t axis) const {
    std::vector<std::int32_t> order;
    for (std::int32_t i = 0; i < axes_[axis].extent; ++i) order.push_back(modulo(root(axis).start + i, axes_[axis].extent));
    return {order, static_cast<std::size_t>(modulo(root(axis).place - root(axis).start, axes_[axis].extent))};
  }

  void add_piece(std::uint32_t piece) {
    roots_.clear();
    std::uint32_t rest = piece;
    for (const auto& roots : choices_) {
      roots_.push_back(roots[rest % roots.size()]);
      rest /= static_cast<std::uint32_t>(roots.size());
    }
    piece_ = piece;
    held_.assign(topology_.nodes(), 1);
    phase_ = 0;
    for (std::size_t e = axes() - 1; e > 0; --e, ++phase_) add_in(e);
    both_ways() ? add_both_ways() : add_chain();
    for (std::size_t e = 1; e < axes(); ++e) {
      ++phase_;
      add_out(e);
    }
  }
  void add_meeting_in() {
    const std::int32_t r = root(1).place, n = axes_[1].extent;
    each_line(1, [&](NodeId line) {
      for (std::int32_t i = 0; i < n; ++i) {
        if (i != r)
          add_hop(at(line, 1, i), at(line, 1, r), {axes_[1].dimension, modulo(r - i, n)}, 1,
                  i < r ? 1U | told_places(i + 1, r) : after(1) | told_places(i + 1, n));
      }
    });
  }
  void add_meeting_out() {
    const std::int32_t r = root(1).place, n = axes_[1].extent;
    each_line(1, [&](NodeId line) {
      const NodeId node = at(line, 1, r);
      for (std::int32_t i = 0; i < n; ++i) {
        const unsigned own = (held_[node] & told(i)) | (i > r ? 1U : 0);
        if (i != r && own != 0) add_hop(node, at(line, 1, i), {axes_[1].dimension, modulo(i - r, n)}, own, 1);
      }
    });
  }
  void add_in(std::size_t e) {
    if (meets()) return add_meeting_in();
    const auto [order, middle] = order_of(e);
    const std::size_t root_at = middle;
    each_line(e, [&, &order = order](NodeId line) {
      for (std::size_t i = 0; i < root_at; ++i) {
        const NodeId node = at(line, e, order[i]), next = at(line, e, order[i + 1]);
        const bool high = i + 1 == root_at && root(e).hears_high_below();
        add(node, next, e, +1, block(node, e), high ? before(e) | all_after(next, axes(), e) : all_before(e));
      }
      for (std::size_t i = order.size() - 1; i > root_at; --i) {
        const NodeId node = at(line, e, order[i]), next = at(line, e, order[i - 1]);
        const bool low = i - 1 == root_at && root(e).hears_low_above();
        add(node, next, e, -1, with_after(node, e), low ? all_before(e) | before(e) : all_after(next, e, e + 1));
      }
    });
  }
  void add_chain() {
    each_line(0, [&](NodeId line) {
      for (std::int32_t i = 0; i + 1 < axes_[0].extent; ++i)
        add(at(line, 0, i), at(line, 0, i + 1), 0, +1, block(at(line, 0, i), 0), all_before(0));
    });
  }
  /// Each sum goes as far as there are places that come after its origin.
  void add_both_ways() {
    const std::int32_t n = axes_[0].extent;
    each_line(0, [&](NodeId line) {
      for (std::int32_t origin = 0; origin < n; ++origin) {
        for (const int way : {+1, -1}) {
          const auto place_at = [&](std::int32_t hops) { return modulo(origin + way * hops, n); };
          std::int32_t last = reach(way);
          while (last > 0 && place_at(last) < origin) --last;
          std::uint32_t previous = none;
          for (std::int32_t hops = 1; hops <= last; ++hops) {
            const NodeId from = at(line, 0, place_at(hops - 1)), to = at(line, 0, place_at(hops));
            add(from, to, 0, way, hops == 1 ? block(from, 0) : passing(way),
                (place_at(hops) > origin ? all_before(0) : 0) | (hops < last ? passing(way) : 0));
            tellings_.back().round = hops;
            tellings_.back().after = previous;
            previous = static_cast<std::uint32_t>(tellings_.size() - 1);
          }
        }
      }
    });
  }
  void add_out(std::size_t e) {
    if (meets()) return add_meeting_out();
    const auto [order, middle] = order_of(e);
    const std::size_t root_at = middle;
    each_line(e, [&, &order = order](NodeId line) {
      for (std::size_t i = root_at; i > 0; --i) {
        const NodeId node = at(line, e, order[i]);
        const unsigned own = i < root_at || !root(e).hears_high_below() ? held_[node] & before(e) : with_after(node, e);
        if (own != 0) add(node, at(line, e, order[i - 1]), e, -1, own, all_before(e) | (i > 1 ? before(e) : 0));
      }
      for (std::size_t i = root_at; i + 1 < order.size(); ++i) {
        const NodeId node = at(line, e, order[i]);
        const unsigned own = i == root_at && root(e).hears_low_above() ? held_[node] & after(e) : block(node, e);
        if (own != 0) add(node, at(line, e, order[i + 1]), e, +1, own, all_before(e));
      }
    });
  }
  void add(NodeId from, NodeId to, std::size_t axis, int way, unsigned own, unsigned into) {
    const Dimension d = axes_[axis].dimension;
    add_hop(from, to, {d, way > 0 ? 1 : topology_.reverse(d, 1)}, own, into);
  }
  void add_hop(NodeId from, NodeId to, const Leg& leg, unsigned own, unsigned into) {
    tellings_.push_back({from, to, leg, own, into, piece_, phase_});
    held_[to] |= into;
  }

  const Topology& topology_;
  const First first_;
  std::vector<Axis> axes_;
  std::vector<std::vector<Root>> choices_;  // by axis, from 1 on
  std::uint32_t pieces_ = 0;
  std::vector<Telling> tellings_;
  // What belongs to the piece that is being added:
  std::uint32_t piece_ = 0;
  int phase_ = 0;
  std::vector<Root> roots_;     // by axis, from 1 on
  std::vector<unsigned> held_;  // by node: the registers that hold something
};

/// What must be before what.
class Precedence {
 public:
  explicit Precedence(const Pieces& pieces, NodeId nodes) : later_(pieces.tellings().size()), not_before_(later_.size()) {
    const std::span<const Telling> all = pieces.tellings();
    std::vector<std::vector<std::uint32_t>> arrivals(nodes);
    for (std::uint32_t begin = 0; begin < all.size();) {  // piece by piece
      std::uint32_t end = begin;
      for (; end < all.size() && all[end].piece == all[begin].piece; ++end) arrivals[all[end].to].push_back(end);
      for (std::uint32_t i = begin; i < end; ++i) {
        for (const std::uint32_t arrival : arrivals[all[i].from]) add(all, arrival, i);
      }
      for (std::uint32_t i = begin; i < end; ++i) arrivals[all[i].to].clear();
      begin = end;
    }
  }

  /// Messages that take what this one brings.
  std::span<const std::uint32_t> later(std::uint32_t i) const { return later_[i]; }
  /// Messages that may go in the same step, but not before: they bring what this one must not take.
  std::span<const std::uint32_t> not_before(std::uint32_t i) const { return not_before_[i]; }

 private:
  void add(std::span<const Telling> all, std::uint32_t arrival, std::uint32_t i) {
    const Telling &x = all[arrival], &t = all[i];
    if ((x.into & t.own) == 0) return;
    const bool takes = t.passes_on() ? t.after == arrival : t.round > 0 ? x.phase < t.phase : x.phase <= t.phase;
    if (takes)
      later_[arrival].push_back(i);
    else if (!t.passes_on() || x.round >= t.round)
      not_before_[i].push_back(arrival);
  }

  std::vector<std::vector<std::uint32_t>> later_, not_before_;
};

/// When each message goes, by a list.
class PieceTimetable {
 public:
  PieceTimetable(const Machine& machine, const Pieces& pieces)
      : machine_{machine},
        all_{pieces.tellings()},
        pieces_{pieces.count()},
        precedence_{pieces, machine.topology.nodes()},
        awaited_(all_.size()),
        urgency_(all_.size(), 1) {
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      for (const std::uint32_t next : precedence_.later(i)) ++awaited_[next];
      for (const std::uint32_t next : precedence_.not_before(i)) ++awaited_[next];
    }
    std::vector<std::uint32_t> order, awaited = awaited_;
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      if (awaited[i] == 0) order.push_back(i);
    }
    const auto each_next = [&](std::uint32_t i, auto&& f) {
      for (const std::uint32_t next : precedence_.later(i)) f(next, 1U);
      for (const std::uint32_t next : precedence_.not_before(i)) f(next, 0U);
    };
    for (std::size_t at = 0; at < order.size(); ++at) {
      each_next(order[at], [&](std::uint32_t next, std::uint32_t) {
        if (--awaited[next] == 0) order.push_back(next);
      });
    }
    TORUS_ASSERT(order.size() == all_.size());
    for (std::size_t at = order.size(); at-- > 0;) {
      each_next(order[at], [&](std::uint32_t next, std::uint32_t steps) {
        urgency_[order[at]] = std::max(urgency_[order[at]], urgency_[next] + steps);
      });
    }
  }

  /// most: blocks of a message.
  Schedule with(std::size_t most) const {
    using Item = std::pair<std::uint32_t, std::uint32_t>;  // by urgency, then the first
    const auto item = [&](std::uint32_t i) { return Item{urgency_[i], none - i}; };
    const Topology& topology = machine_.topology;
    const auto slots = static_cast<std::size_t>(topology.channel_slots());
    std::vector<std::uint32_t> awaited = awaited_, open(topology.nodes() * slots, none);
    std::vector<Step> ready(all_.size());
    std::vector<Item> waiting;
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      if (awaited[i] == 0) waiting.push_back(item(i));
    }
    Schedule schedule(topology.nodes());
    for (Step step = 0; !waiting.empty(); ++step) {
      std::priority_queue<Item> list({}, std::exchange(waiting, {}));
      std::vector<int> sent(topology.nodes()), received(topology.nodes());
      std::vector<Message> messages;
      while (!list.empty()) {
        const std::uint32_t i = none - list.top().second;
        list.pop();
        const Telling& t = all_[i];
        std::uint32_t& message = open[t.from * slots + static_cast<std::size_t>(topology.slot(t.leg.dimension, t.leg.hops))];
        if (message == none) {
          if (sent[t.from] == machine_.ports || received[t.to] == machine_.ports) {
            waiting.push_back(item(i));
            continue;
          }
          message = static_cast<std::uint32_t>(messages.size());
          messages.push_back({&t, {}});
          ++sent[t.from];
          ++received[t.to];
        } else if (!messages[message].takes(t, most)) {
          waiting.push_back(item(i));
          continue;
        }
        messages[message].add(t, pieces_);
        for (const std::uint32_t next : precedence_.later(i)) {
          ready[next] = step + 1;
          if (--awaited[next] == 0) waiting.push_back(item(next));
        }
        for (const std::uint32_t next : precedence_.not_before(i)) {
          if (--awaited[next] > 0) continue;
          if (ready[next] <= step)
            list.push(item(next));
          else
            waiting.push_back(item(next));
        }
      }
      for (const Message& message : messages) {
        const Telling& t = *message.first;
        schedule.add(step, t.from, t.to, {&t.leg, 1}, message.blocks, t.passes_on() ? Manner::combine : Manner::share,
                     static_cast<std::uint8_t>(t.into));
        open[t.from * slots + static_cast<std::size_t>(topology.slot(t.leg.dimension, t.leg.hops))] = none;
      }
    }
    schedule.sort();
    return schedule;
  }

 private:
  /// What goes over one channel in one step.
  struct Message {
    const Telling* first;
    std::vector<BlockId> blocks;

    bool takes(const Telling& t, std::size_t most) const {
      return t.into == first->into && t.passes_on() == first->passes_on() && blocks.size() < most;
    }
    void add(const Telling& t, std::uint32_t pieces) {
      for (unsigned r = 0; r < most_registers; ++r) {
        if ((t.own >> r & 1U) != 0) blocks.push_back(r * pieces + t.piece);
      }
    }
  };

  const Machine& machine_;
  const std::span<const Telling> all_;
  const std::uint32_t pieces_;
  const Precedence precedence_;
  std::vector<std::uint32_t> awaited_;  // messages before each one
  std::vector<std::uint32_t> urgency_;  // steps from it to the end
};

}  // namespace

std::vector<ScanTable> tables_in_pieces(const Machine& machine) {
  // Copies of each piece, and the most blocks of a message: few large messages, or many small ones.
  static constexpr std::array<std::pair<std::uint32_t, std::array<std::size_t, 2>>, 3> variants{{{1, {2, 4}}, {2, {2, 6}}, {6, {4, 6}}}};
  std::vector<ScanTable> tables;
  for (const First first : {First::both_ways, First::chain}) {
    for (const auto& [copies, messages] : variants) {
      const Pieces pieces(machine, first, copies);
      if (pieces.count() == 0 || !pieces.pass()) continue;
      const PieceTimetable timetable(machine, pieces);
      for (const std::size_t most : messages) {
        Schedule schedule = timetable.with(most);
        const Step steps = schedule.steps();
        tables.push_back({RepeatedSchedule(machine, std::move(schedule), steps, pieces.count()), pieces.count(), true});
      }
    }
  }
  return tables;
}

}  // namespace torus::reduction
