#include "algorithms/broadcast/dimension_wise.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <torus/route.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/common/refusal.hpp"
#include "algorithms/common/segment.hpp"

namespace torus::broadcast {
namespace {

/// One step in one dimension: calls f(offset, length) for each child and returns the sides that are kept.
template <class F>
Sides share_out(Wiring wiring, Sides sides, std::int32_t ports, F&& f) {
  const std::int32_t length = sides.left + 1 + sides.right;
  if (wiring == Wiring::complete) {
    const std::int32_t own = segment::split(length, ports, [&](const segment::Child& child) { f(child.offset, child.length); });
    return {segment::left_of(own, ports), segment::right_of(own, ports)};
  }
  if (ports == 1) {
    // The half that is wholly on one side goes to its place nearest to here; there always is one.
    const std::int32_t half = length / 2;
    if (half == 0) return sides;
    const bool right = sides.right >= half;
    std::int32_t& side = right ? sides.right : sides.left;
    side -= half;
    f(right ? side + 1 : -(side + 1), half);
    return sides;
  }
  // Each side is shared out as if the other were its mirror image.
  const std::int32_t right = segment::right_of(segment::own_share(2 * sides.right + 1, 2), 2);
  const std::int32_t left = segment::left_of(segment::own_share(2 * sides.left + 1, 2), 2);
  if (const std::int32_t given = sides.right - right; given > 0) f(right + 1 + segment::left_of(given, 2), given);
  if (const std::int32_t given = sides.left - left; given > 0) f(-(left + 1 + segment::right_of(given, 2)), given);
  return {left, right};
}

/// The sides of a child: with one port it is the place of its segment that is nearest to the sender.
Sides sides_of_child(Wiring wiring, std::int32_t length, std::int32_t ports, bool came_forward) noexcept {
  if (ports == 1 && wiring != Wiring::complete && !came_forward) return {length - 1, 0};
  return {segment::left_of(length, ports), segment::right_of(length, ports)};
}

/// What an informed node knows: which dimension is being covered, what is left to do in it, and until when.
struct Holder {
  std::int32_t turn = -1;  // of the dimension in the routing order; -1: none yet
  Sides sides;
  Step next = 0;  // the step in which the next dimension begins
};

Dimension dimension_at(const Machine& machine, std::int32_t turn) { return machine.routing[static_cast<std::size_t>(turn)]; }

std::int32_t ports_in(const Machine& machine, Dimension d) {
  return usable_ports(machine.topology.wiring(d), machine.topology.extent(d), machine.ports);
}

void hear(const Node& self, Holder& holder, const Message& message) {
  const Machine& machine = self.machine();
  const Dimension d = message.dimension();
  holder.turn = static_cast<std::int32_t>(std::find(machine.routing.begin(), machine.routing.end(), d) - machine.routing.begin());
  holder.sides = sides_of_child(machine.topology.wiring(d), static_cast<std::int32_t>(message.header()[0]), ports_in(machine, d),
                                message.direction() > 0);
  holder.next = message.header()[1];
}

/// Begins the next dimension that has anybody to tell. False if there is none.
bool begin_next(const Node& self, Holder& holder) {
  while (++holder.turn < self.dimensions()) {
    const Dimension d = dimension_at(self.machine(), holder.turn);
    const Wiring wiring = self.topology().wiring(d);
    const std::int32_t ports = ports_in(self.machine(), d);
    holder.sides = sides_of_first(wiring, self.extent(d), self.coordinate(d), ports);
    holder.next = self.now() + steps_of(wiring, holder.sides, ports);
    if (holder.next > self.now()) return true;
  }
  return false;
}

void tell(Node& self, Holder& holder) {
  const Dimension d = dimension_at(self.machine(), holder.turn);
  const Wiring wiring = self.topology().wiring(d);
  holder.sides = share_out(wiring, holder.sides, ports_in(self.machine(), d), [&](std::int32_t offset, std::int32_t length) {
    const std::int32_t hops = wiring == Wiring::complete ? modulo(offset, self.extent(d)) : offset;
    self.send({{d, hops}}, self.blocks(), {static_cast<Word>(length), holder.next});
  });
}

/// Nobody is left in this dimension, and no further dimension has anybody.
bool done(const Node& self, const Holder& holder) {
  if (holder.sides != Sides{}) return false;
  for (std::int32_t turn = holder.turn + 1; turn < self.dimensions(); ++turn) {
    if (self.extent(dimension_at(self.machine(), turn)) > 1) return false;
  }
  return true;
}

/// What a holder has to do in the present step. False if nothing is left.
bool act(Node& self, Holder& holder) {
  if (self.now() == holder.next && !begin_next(self, holder)) return false;
  tell(self, holder);
  return !done(self, holder);
}

std::optional<std::string> refuses(const Machine& machine, const Request& request) {
  return refusal::first_of(refusal::of_switching_along("dimension-wise", machine), refusal::of_segments("dimension-wise", request));
}

/// The hops of the longest message of each step in a dimension, summed: all its lines do the same, and of their holders it only matters
/// how many places they have left on each side.
std::int64_t hops_in(const Machine& machine, Dimension d, Sides first) {
  const Wiring wiring = machine.topology.wiring(d);
  const std::int32_t ports = ports_in(machine, d);
  std::int64_t sum = 0;
  std::set<std::pair<std::int32_t, std::int32_t>> holders{{first.left, first.right}};
  for (Step step = 0; step < steps_of(wiring, first, ports); ++step) {
    std::int32_t longest = 0;
    std::set<std::pair<std::int32_t, std::int32_t>> after;
    for (const auto& [left, right] : holders) {
      const Sides kept = share_out(wiring, {left, right}, ports, [&](std::int32_t offset, std::int32_t length) {
        longest = std::max(longest, hops_of(machine.topology, {d, offset}));
        const Sides sides = sides_of_child(wiring, length, ports, offset > 0);
        after.emplace(sides.left, sides.right);
      });
      after.emplace(kept.left, kept.right);
    }
    sum += longest;
    holders = std::move(after);
  }
  return sum;
}

Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = [](Node& self) { return dimension_wise_program(self); };
  const Topology& topology = machine.topology;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    const std::int32_t ports = ports_in(machine, d);
    const Sides sides = sides_of_first(topology.wiring(d), topology.extent(d), topology.coordinate(request.sources.front(), d), ports);
    plan.steps += steps_of(topology.wiring(d), sides, ports);
    plan.route_hops = plan.route_hops.value_or(0) + static_cast<std::uint64_t>(hops_in(machine, d, sides));
  }
  plan.formula = machine.ports == 1 ? "sum of ceil(log_2 n)"
                                    : "sum of: ring ceil(log_3 n), line ceil(log_3 (2*longer side+1)), complete ceil(log_" +
                                          std::to_string(machine.ports + 1) + " n)";
  plan.channel_bytes = static_cast<double>(plan.steps) * static_cast<double>(request.bytes + 2 * sizeof(Word));
  return plan;
}

}  // namespace

std::int32_t usable_ports(Wiring wiring, std::int32_t extent, std::int32_t ports) noexcept {
  return std::min(ports, wiring == Wiring::complete ? std::max(extent - 1, 1) : 2);
}

Sides sides_of_first(Wiring wiring, std::int32_t extent, std::int32_t coordinate, std::int32_t ports) noexcept {
  if (wiring == Wiring::line) return {coordinate, extent - 1 - coordinate};
  return {segment::left_of(extent, ports), segment::right_of(extent, ports)};
}

Step steps_of(Wiring wiring, Sides sides, std::int32_t ports) noexcept {
  const auto places = [](std::int64_t n) { return static_cast<std::uint64_t>(n); };
  if (wiring == Wiring::line && ports > 1) return ceil_log(3, places(2 * std::int64_t{std::max(sides.left, sides.right)} + 1));
  return ceil_log(static_cast<std::uint64_t>(ports) + 1, places(std::int64_t{sides.left} + 1 + sides.right));
}

Program dimension_wise_program(Node& self) {
  Holder holder;
  if (self.blocks().empty()) {
    const Arrivals came = co_await self.arrival();
    hear(self, holder, came.front());
    if (done(self, holder)) co_return;
  }
  while (act(self, holder)) co_await self.step();
}

const Algorithm dimension_wise{
    .name = "dimension-wise",
    .collective = Collective::broadcast,
    .source = "recursive doubling; Wang, Tseng, Ni & Sheu, section 3.2.3, ports 1 and 2",
    .shapes = "any",
    .ports = "any (uses 2, on complete dimensions all)",
    .steps =
        "sum over the dimensions of ceil(log_{a+1} n), a = min(ports, 2), complete: a = ports; line with a = 2: ceil(log_3 (2m+1)), m its "
        "longer side from the root",
    .native = {.switching = Switching::wormhole},
    .refuses = refuses,
    .plan = plan,
};

}  // namespace torus::broadcast
