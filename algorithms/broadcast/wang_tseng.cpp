/// Broadcast by dimension-ordered wormhole messages on a square torus. Stage i covers the i-th line of supernodes by the splitting rule:
/// each holder splits its segment into a+1 parts and informs one of them by each of its a ports (rows of tracks.hpp). The holders of a
/// supernode then lie in a shifted copy of the subgroup that the next stage starts from. An alignment step moves the message to the
/// subgroup's place. The holders that it moves away from retire: they keep the message, but send nothing until they receive it again.
/// Machine  wormhole, dimension-ordered in the machine's routing order, a = 1 to 2k ports, no channel shared, torus n x .. x n.
/// Memory   O(1) a node.
/// Steps    k T + (k-1), T = ceil(log_{a+1} n); with all ports at most 2(k-1) above ceil(log_{2k+1} N). The alignment steps that no node
///          needs, as with n = 2 and 3 or one row, count.
///          Trimmed: only rows that need no alignment, where that costs no step: k T + [ceil(log_p n) > T] + (k-2) [ceil(log_q n) > T], p
///          and q one more than 2 and 4 ports, or than there are.
/// Choice   `variant`: plain or trimmed. Without it the one of least model time.
/// Header   the source's rank and the length of the child's segment; the stage follows from the step.
/// Source   Wang & Tseng, sections 3 and 4; the trimmed form, and fewer than all ports, which the paper leaves open, are ours.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/tracks.hpp"
#include "algorithms/broadcast/whole_message.hpp"
#include "algorithms/common/integers.hpp"
#include "algorithms/common/parameters.hpp"
#include "algorithms/common/received.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/lines/segment.hpp"

namespace torus::broadcast::wang_tseng {
namespace {

/// The stages by step. Every node computes them from the machine alone.
class WangTsengSchedule {
 public:
  WangTsengSchedule(std::int32_t dimensions, std::int32_t extent, std::int32_t ports, bool trimmed);

  /// Ports by which a holder sends in a stage 1..k: all of them, or as many as there are aligned rows.
  std::int32_t ports(std::int32_t stage) const noexcept { return aligned(stage) ? aligned_ports(stage) : ports_; }
  /// Whether a stage uses only rows that need no alignment. It has no alignment step then; nor has the last stage.
  bool aligned(std::int32_t stage) const noexcept { return stage < k_ && (stage == 1 ? first_aligned_ : middle_aligned_); }

  struct Moment {
    std::int32_t stage;  ///< 1..k
    Step step;           ///< of the stage, from 0; equal to distribution_steps() in the alignment step
  };
  Moment moment(Step now) const noexcept;
  Step distribution_steps() const noexcept { return distribution_; }
  /// Steps of the whole broadcast, and the number of alignment steps among them.
  Step steps() const noexcept { return steps_; }
  Step alignment_steps() const noexcept { return steps_ - static_cast<Step>(k_) * distribution_; }

 private:
  /// Ports of the aligned rows: there is one of them in stage 1, two in the stages between.
  std::int32_t aligned_ports(std::int32_t stage) const noexcept { return std::min(ports_, stage == 1 ? 2 : 4); }

  std::int32_t k_;
  std::int32_t ports_;
  bool first_aligned_;
  bool middle_aligned_;
  Step distribution_;
  Step first_;   // steps of stage 1
  Step middle_;  // of each stage 2..k-1
  Step steps_;
};

Step steps_to_split(std::int32_t extent, std::int32_t ports) {
  return ceil_log(static_cast<std::uint64_t>(ports) + 1, static_cast<std::uint64_t>(extent));
}

/// Whether the holders of a stage use one row each way. All are in place then, and the alignment steps carry nothing.
bool one_row(std::int32_t extent, std::int32_t ports) {
  bool one = true;
  segment::split(extent, ports, [&](const segment::Child& child) { one = one && child.track == 1; });
  return one;
}

struct Holder {
  NodeId source = 0;
  std::int32_t length = 0;  // of its segment; 0: retired
};

void receive(const Node& self, Holder& holder, const Arrivals& came) {
  for (const Message& m : came) {
    holder.source = bounded(m.header()[0], NodeId{0}, self.topology().nodes() - 1, "source");
    holder.length = bounded(m.header()[1], 1, self.extent(0), "length");
  }
}

/// From a holder to the node that stands in its place in the subgroup of the next stage; empty if that is the holder itself. All holders
/// of a supernode make the same move within it.
Route alignment(const Node& self, NodeId source, std::int32_t stage) {
  const std::int32_t k = self.dimensions();
  const std::int32_t n = self.extent(0);
  const std::int32_t d = k - stage + 1;
  const auto dimension = [&](std::int32_t j) { return self.machine().routing[static_cast<std::size_t>(j) - 1]; };
  const auto y = [&](std::int32_t j) {  // the holder's coordinate in the paper's dimension j, relative to the source
    return std::int64_t{self.coordinate(dimension(j))} - self.topology().coordinate(source, dimension(j));
  };
  Route route;
  const auto go = [&](std::int32_t j, std::int64_t hops) {
    const std::int32_t forward = modulo(hops, n);
    const std::int32_t shorter = forward > n / 2 ? forward - n : forward;
    if (shorter != 0) route.push_back({dimension(j), shorter});
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

/// Hands the message over and retires, if the holder does not stand in its place of the next stage.
void align(Node& self, Holder& holder, std::int32_t stage) {
  const Route route = alignment(self, holder.source, stage);
  if (route.empty()) return;
  self.send(RouteView(route), self.blocks(), {holder.source, 1});
  holder.length = 0;
}

void distribute(Node& self, const WangTsengSchedule& schedule, Holder& holder, std::int32_t stage) {
  const std::vector<Dimension>& order = self.machine().routing;
  holder.length = segment::split(holder.length, schedule.ports(stage), [&](const segment::Child& child) {
    const Route route = schedule.aligned(stage) ? aligned_wormhole_row(order, stage, child.track, child.offset)
                                                : wormhole_row(order, stage, child.track, child.offset);
    self.send(RouteView(route), self.blocks(), {holder.source, static_cast<Word>(child.length)});
  });
}

/// What a holder does in the present step. False if nothing is left to do for it.
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
  return self.now() + 1 < schedule.steps();  // a retired node may receive again as late as in the last stage
}

WangTsengSchedule::WangTsengSchedule(std::int32_t dimensions, std::int32_t extent, std::int32_t ports, bool trimmed)
    : k_{dimensions}, ports_{ports}, distribution_{steps_to_split(extent, ports)} {
  first_aligned_ = trimmed && steps_to_split(extent, aligned_ports(1)) == distribution_;
  middle_aligned_ = trimmed && steps_to_split(extent, aligned_ports(2)) == distribution_;
  first_ = distribution_ + (k_ == 1 || first_aligned_ ? 0 : 1);
  middle_ = distribution_ + (middle_aligned_ ? 0 : 1);
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

Program program(Node& self, const WangTsengSchedule& schedule) {
  Holder holder{self.rank(), 1};
  if (self.blocks().empty()) receive(self, holder, co_await self.arrival());
  while (act(self, schedule, holder)) receive(self, holder, co_await self.step());
}

constexpr std::array<std::string_view, 2> variants{"plain", "trimmed"};
constexpr std::array parameters{parameter::variant(variants)};

Plan plan_as(std::string_view variant, const Machine& machine, const Request& request) {
  const bool trimmed = variant == variants[1];
  const Dimension k = machine.topology.dimensions();
  const std::int32_t n = machine.topology.extent(0);
  const std::int32_t ports = machine.ports;
  const auto schedule = std::make_shared<const WangTsengSchedule>(k, n, ports, trimmed);
  const auto log = [](std::int32_t base) { return "ceil(log_" + std::to_string(base) + " n)"; };
  const std::string formula =
      trimmed ? "k*T+[" + log(std::min(ports, 2) + 1) + ">T]+(k-2)[" + log(std::min(ports, 4) + 1) + ">T], T=" + log(ports + 1)
              : "k*" + log(ports + 1) + "+(k-1)";
  Plan plan = whole_message_plan(
      request, schedule->steps(), formula, [schedule](Node& self) { return program(self, *schedule); }, 2);
  if (one_row(n, ports))
    plan.channel_bytes -= static_cast<double>(schedule->alignment_steps()) * static_cast<double>(request.bytes + 2 * sizeof(Word));
  return plan;
}

Plan plan(const Machine& machine, const Request& request) {
  return plan_of_variant(machine, request, variants, [&](std::string_view variant) { return plan_as(variant, machine, request); });
}

constexpr std::array former_names{FormerName{"wang-tseng-trimmed", "--variant trimmed"}};

constexpr std::array terms{
    Term{"a", "ports"}, Term{"p", "3, with one port 2"}, Term{"q", "5, with fewer than four ports one more than they are"},
    Term{"T", "steps that split a line into single nodes"}, Term{"[..]", "1 where what stands inside holds, else 0"}};

const Algorithm wang_tseng{
    .name = "wang-tseng",
    .collective = Collective::broadcast,
    .source = "Wang & Tseng, sections 3 and 4; the trimmed variant and fewer ports are ours",
    .shapes = "torus n x .. x n, any n, any k",
    .steps = "k T + k-1; trimmed k T + [ceil(log_p n) > T] + (k-2)[ceil(log_q n) > T]; T = ceil(log_{a+1} n), a ports",
    .idea = {.first = "The source splits a line of nodes into one part more than it has ports, keeps one and sends the message into all "
                      "others; in each step all informed nodes split their parts likewise.",
             .then = "An alignment step then moves the message to the nodes from which the lines of the next dimension can be split in the "
                     "same way; the trimmed form does without, where that costs no step.",
             .good = "All ports of the informed nodes work in nearly every step, by routes that never meet, so that few steps are needed; "
                     "each carries the whole message, which suits short ones."},
    .terms = terms,
    .needs = {.shape = Requirements::Shape::equal_torus, .switching = Switching::wormhole},
    .parameters = parameters,
    .plan = plan,
    .former_names = former_names,
};

}  // namespace

extern const Entries entries{wang_tseng};

}  // namespace torus::broadcast::wang_tseng
