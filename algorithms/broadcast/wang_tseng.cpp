#include "algorithms/broadcast/wang_tseng.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "algorithms/broadcast/tracks.hpp"
#include "algorithms/common/hops.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/refusal.hpp"
#include "algorithms/common/segment.hpp"

namespace torus::broadcast {
namespace {

/// What an informed node knows.
struct Holder {
  NodeId source = 0;
  std::int32_t length = 0;  // of its segment; 0: retired
};

void hear(Holder& holder, const Arrivals& came) {
  for (const Message& m : came) {
    holder.source = m.header()[0];
    holder.length = static_cast<std::int32_t>(m.header()[1]);
  }
}

/// The node's coordinate in the paper's dimension j, from 1, relative to the source.
std::int64_t relative(const Node& self, NodeId source, std::int32_t j) {
  const Dimension d = self.machine().routing[static_cast<std::size_t>(j) - 1];
  return modulo(std::int64_t{self.coordinate(d)} - self.topology().coordinate(source, d), self.extent(d));
}

/// From a holder, whose coordinate in the paper's dimension j is y(j) relative to the source, to the node that stands in its place in the
/// subgroup of the next stage; empty if that is the holder itself. All holders of a supernode make the same move within it.
template <class Y>
Route alignment(const Machine& machine, std::int32_t stage, Y&& y) {
  const std::int32_t k = machine.topology.dimensions();
  const std::int32_t n = machine.topology.extent(0);
  const std::int32_t d = k - stage + 1;
  Route route;
  const auto go = [&](std::int32_t j, std::int64_t hops) {
    const std::int32_t forward = modulo(hops, n);
    const std::int32_t shorter = forward > n / 2 ? forward - n : forward;
    if (shorter != 0) route.push_back({machine.routing[static_cast<std::size_t>(j) - 1], shorter});
  };
  if (stage == 1) go(1, y(k) - y(1));
  for (std::int32_t j = 2; j < d; ++j) go(j, -y(j));
  if (stage > 1) {
    std::int64_t place = y(1);
    for (std::int32_t m = d + 1; m <= k; ++m) place -= y(m);
    go(d, place - y(d));
  }
  return route;
}

/// Hands the message over and retires, if the holder does not stand where the next stage wants it.
void align(Node& self, Holder& holder, std::int32_t stage) {
  const Route route = alignment(self.machine(), stage, [&](std::int32_t j) { return relative(self, holder.source, j); });
  if (route.empty()) return;
  self.send(RouteView(route), self.blocks(), {holder.source, 1});
  holder.length = 0;
}

Route row_to(const Machine& machine, const WangTsengSchedule& schedule, std::int32_t stage, const segment::Child& child) {
  return schedule.aligned(stage) ? aligned_worm_row(machine.routing, stage, child.track, child.offset)
                                 : worm_row(machine.routing, stage, child.track, child.offset);
}

void distribute(Node& self, const WangTsengSchedule& schedule, Holder& holder, std::int32_t stage) {
  holder.length = segment::split(holder.length, schedule.ports(stage), [&](const segment::Child& child) {
    const Route route = row_to(self.machine(), schedule, stage, child);
    self.send(RouteView(route), self.blocks(), {holder.source, static_cast<Word>(child.length)});
  });
}

/// What a holder has to do in the present step. False if that was the last: nobody will need it again.
bool act(Node& self, const WangTsengSchedule& schedule, Holder& holder) {
  if (self.now() >= schedule.steps()) return false;
  const WangTsengSchedule::Moment now = schedule.moment(self.now());
  if (holder.length > 0) {
    if (now.step == 0) holder.length = self.extent(0);
    if (now.step == schedule.distribution_steps()) {
      align(self, holder, now.stage);
    } else if (holder.length > 1) {
      distribute(self, schedule, holder, now.stage);
    }
  }
  if (now.stage == self.dimensions() && holder.length == 1) return false;
  return self.now() + 1 < schedule.steps();  // a retired node may be told again as late as in the last stage
}

std::int32_t extent(const Machine& machine) { return machine.topology.extent(0); }

std::optional<std::string> refuses_as(std::string_view name, const Machine& machine, const Request& request) {
  return refusal::first_of(refusal::of_shape_but_square(name, machine), refusal::of_switching(name, machine, Switching::wormhole),
                           refusal::of_ports_but_all(name, machine), refusal::of_segments(name, request));
}

/// The hops of the longest message of each step, summed. In a stage all holders that it starts from do the same, so one of them is
/// followed, with all whom it informs. O(n k^2) time, O(n) memory.
std::int64_t route_hops(const Machine& machine, const WangTsengSchedule& schedule) {
  struct Informed {
    std::int32_t length;  // of its segment
    Coordinates moved;    // hops from where the stage started
  };
  const Topology& topology = machine.topology;
  std::int64_t sum = 0;
  std::vector<Informed> informed;
  for (Step step = 0; step < schedule.steps(); ++step) {
    const WangTsengSchedule::Moment now = schedule.moment(step);
    if (now.step == 0) informed = {{topology.extent(0), Coordinates(static_cast<std::size_t>(topology.dimensions()), 0)}};
    std::int64_t longest = 0;
    const auto count = [&](const Route& route) { longest = std::max(longest, hops_of(topology, RouteView(route))); };
    if (now.step == schedule.distribution_steps()) {
      for (const Informed& holder : informed) {
        count(alignment(machine, now.stage, [&](std::int32_t j) {
          return std::int64_t{holder.moved[static_cast<std::size_t>(machine.routing[static_cast<std::size_t>(j) - 1])]};
        }));
      }
    } else {
      for (std::size_t i = 0, holders = informed.size(); i < holders; ++i) {
        const Informed holder = informed[i];
        informed[i].length = segment::split(holder.length, schedule.ports(now.stage), [&](const segment::Child& child) {
          const Route route = row_to(machine, schedule, now.stage, child);
          count(route);
          informed.push_back({child.length, holder.moved});
          for (const Leg& leg : route) informed.back().moved[static_cast<std::size_t>(leg.dimension)] += leg.hops;
        });
      }
    }
    sum += longest;
  }
  return sum;
}

Plan plan_as(const Machine& machine, const Request& request, bool trimmed) {
  const auto schedule = std::make_shared<const WangTsengSchedule>(machine.topology.dimensions(), extent(machine), trimmed);
  Plan plan;
  plan.start = [schedule](Node& self) { return wang_tseng_program(self, *schedule); };
  plan.steps = schedule->steps();
  if (machine.cost.hop_s > 0) plan.route_hops = static_cast<std::uint64_t>(route_hops(machine, *schedule));
  const std::string log = "ceil(log_" + std::to_string(2 * machine.topology.dimensions() + 1) + " n)";
  plan.formula = trimmed ? "k*T+[ceil(log_3 n)>T]+(k-2)[ceil(log_5 n)>T], T=" + log : "k*" + log + "+(k-1)";
  // On sides of 2 and 3 everybody is in place already: their alignment steps carry nothing.
  const Step idle = extent(machine) < 4 ? schedule->alignment_steps() : 0;
  plan.channel_bytes = static_cast<double>(plan.steps - idle) * static_cast<double>(request.bytes + 2 * sizeof(Word));
  return plan;
}

}  // namespace

WangTsengSchedule::WangTsengSchedule(std::int32_t dimensions, std::int32_t extent, bool trimmed)
    : k_{dimensions}, first_ports_{2 * dimensions}, middle_ports_{2 * dimensions} {
  const auto n = static_cast<std::uint64_t>(extent);
  distribution_ = ceil_log(2 * static_cast<std::uint64_t>(k_) + 1, n);
  if (trimmed && ceil_log(3, n) == distribution_) first_ports_ = 2;
  if (trimmed && ceil_log(5, n) == distribution_) middle_ports_ = 4;
  first_ = distribution_ + (k_ == 1 || aligned(1) ? 0 : 1);
  middle_ = distribution_ + (aligned(2) ? 0 : 1);
  const auto k = static_cast<Step>(k_);
  steps_ = k_ == 1 ? first_ : first_ + (k - 2) * middle_ + distribution_;
  if (extent == 1) steps_ = 0;
}

WangTsengSchedule::Moment WangTsengSchedule::moment(Step now) const noexcept {
  if (now < first_) return {1, now};
  const Step after = now - first_;
  const std::int32_t stage = 2 + static_cast<std::int32_t>(after / middle_);
  if (stage < k_) return {stage, after % middle_};
  return {k_, after - static_cast<Step>(k_ - 2) * middle_};
}

Program wang_tseng_program(Node& self, const WangTsengSchedule& schedule) {
  Holder holder{self.rank(), 1};
  if (self.blocks().empty()) {
    const Arrivals came = co_await self.arrival();
    hear(holder, came);
  }
  while (act(self, schedule, holder)) {
    const Arrivals came = co_await self.step();
    hear(holder, came);
  }
}

const Algorithm wang_tseng{
    .name = "wang-tseng",
    .collective = Collective::broadcast,
    .source = "Wang & Tseng, sections 3 and 4",
    .shapes = "torus n x .. x n, any n, any k",
    .ports = "all",
    .steps = "k ceil(log_{2k+1} n) + k-1",
    .native = {.switching = Switching::wormhole},
    .refuses = [](const Machine& machine, const Request& request) { return refuses_as("wang-tseng", machine, request); },
    .plan = [](const Machine& machine, const Request& request) { return plan_as(machine, request, false); },
};

const Algorithm wang_tseng_trimmed{
    .name = "wang-tseng-trimmed",
    .collective = Collective::broadcast,
    .source = "Wang & Tseng, sections 3 and 4; trimmed here",
    .shapes = "torus n x .. x n, any n, any k",
    .ports = "all",
    .steps = "k T + [ceil(log_3 n) > T] + (k-2)[ceil(log_5 n) > T], T = ceil(log_{2k+1} n)",
    .native = {.switching = Switching::wormhole},
    .refuses = [](const Machine& machine, const Request& request) { return refuses_as("wang-tseng-trimmed", machine, request); },
    .plan = [](const Machine& machine, const Request& request) { return plan_as(machine, request, true); },
};

}  // namespace torus::broadcast
