/// Multi-node broadcast of few sources: first all nodes learn which nodes are sources, then each source's message goes out in a swath.
///
/// The names of the sources travel in control words (source_names.hpp). Then every node knows the schedules of all. The swaths
/// (broadcast/swath/swath.hpp) take turns up to their gathers, by neighbours, which they have in common.
/// Machine  torus of any sides, wormhole in any routing order, any ports, no channel shared.
/// Memory   O(s) words a node beside its blocks.
/// Steps    learn + s (R - t) + t, R the steps of the swath, t those of its gather; learn is in source_names.hpp.
/// Bytes    at most 4 s a step of learning, and s times those of the swath.
/// Header   the names.   Source  this project.

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/swath/swath.hpp"
#include "algorithms/entries.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/source_names.hpp"
#include "algorithms/multinode_broadcast/swath_choice.hpp"
#include "algorithms/program_memory.hpp"

namespace torus::multinode_broadcast::swaths {

namespace {

using broadcast::SwathSchedule;
using broadcast::SwathView;
using Phase = SwathSchedule::Phase;

Step gather_steps(const SwathSchedule& schedule) {
  Step steps = 0;
  for (const Phase& phase : schedule.phases()) steps += phase.stage == SwathSchedule::Stage::gather ? phase.end - phase.begin : 0;
  return steps;
}

struct Scheme {
  SourceNames names;
  SwathSchedule schedule;
};

/// Sends the blocks of several sources that go over one leg as one message.
class Together final : public broadcast::SwathOutlet {
 public:
  void send(const SwathView& view, Leg leg, std::uint32_t first, std::uint32_t count) override {
    const auto same = std::find_if(leaving_.begin(), leaving_.end(), [&](const auto& bundle) { return bundle.first == leg; });
    Bundle& bundle = same != leaving_.end() ? same->second : leaving_.emplace_back(leg, Bundle{}).second;
    append(bundle, view.root * view.schedule.segments() + first, count);
  }
  void flush(Node& self) {
    for (const auto& [leg, bundle] : leaving_) self.send({leg}, bundle);
    leaving_.clear();
  }

 private:
  std::vector<std::pair<Leg, Bundle>> leaving_;
};

/// The phases up to the gathers for some sources, or the gathers, with these sources' messages together.
Program take_turn(Node& self, const SwathSchedule& schedule, std::span<const NodeId> sources, bool gathers) {
  Together together;
  for (const Phase& phase : schedule.phases()) {
    if ((phase.stage == SwathSchedule::Stage::gather) != gathers) continue;
    for (Step step = 0; step < phase.end - phase.begin; ++step) {
      self.phase(broadcast::swath::name_of(phase.stage));
      for (const NodeId source : sources) broadcast::swath::swath_step(self, schedule, source, {}, phase, step, &together);
      together.flush(self);
      co_await self.step();
    }
  }
}

Program program(Node& self, const Scheme& scheme) {
  Bundle names;
  co_await learn_sources(self, scheme.names, names);
  for (std::size_t i = 0; i < names.size(); ++i) co_await take_turn(self, scheme.schedule, std::span(names).subspan(i, 1), false);
  if (!names.empty()) co_await take_turn(self, scheme.schedule, names, true);
}

/// After the learning. No source, no step.
double turn_steps(const SwathSchedule& schedule, double s) {
  const double gather = gather_steps(schedule);
  return s > 0 ? std::ceil(s) * (static_cast<double>(schedule.steps()) - gather) + gather : 0;
}

constexpr std::string_view steps_in_words =
    "learn + s (R-t) + t, R steps of swath, t of its gather, with one port of strip; learn = sum of min over r of "
    "2 ceil(log_b ceil(n_d/r)) + floor(r/2), b = 3, one port: 2 and r-1, or on n x .. x n with all ports "
    "2 ceil(log_{2k+1} n) + ceil(log_{k+1} n^(k-1))";

Plan plan(const Machine& machine, const Request& request) {
  const double s = assumed_sources(machine, request);
  const double most = most_sources(machine, request);
  const auto total = [s](const SwathSchedule& of_one, double bytes) { return std::pair{turn_steps(of_one, s), s * bytes}; };
  const auto scheme = std::make_shared<const Scheme>(Scheme{SourceNames(machine), choose_swath(machine, request, s, total)});
  const std::uint64_t learning = scheme->names.steps();
  Plan plan;
  plan.segments = scheme->schedule.segments();
  plan.start = [scheme](Node& self) { return program(self, *scheme); };
  plan.node_bytes +=
      scheme->names.frames(machine) + frames_of_calls(machine, [&](Node& self) { make(take_turn(self, scheme->schedule, {}, false)); });
  plan.steps = learning + static_cast<std::uint64_t>(turn_steps(scheme->schedule, most));
  plan.steps_estimate = learning + static_cast<std::uint64_t>(turn_steps(scheme->schedule, s));
  plan.steps_exact = false;
  plan.formula = steps_in_words;
  plan.channel_bytes = s * (4.0 * static_cast<double>(learning) + scheme->schedule.cost(request.bytes).channel_bytes);
  plan.table_bytes = scheme->schedule.table_bytes() + scheme->names.table_bytes();
  // The names. What leaves a node together is listed only until it is sent: a worker's lists for the node that it runs.
  const std::uint64_t blocks = request.sources.size() * plan.segments;
  plan.node_bytes += bytes_of_lists(1, request.sources.size());
  plan.table_bytes += bytes_of_lists(2, blocks);
  plan.message_bytes = std::max<Bytes>(bytes_of_messages(3), 2 * sizeof(BlockId) * blocks);  // most blocks come to a node once
  plan.notes = {{"h", std::to_string(scheme->schedule.layout().pieces)},
                {"steps to learn the sources", std::to_string(learning)},
                {"sources assumed by the limit", decimal(most)}};
  return plan;
}

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return broadcast::swath_also_requires(machine, request, swath_ways(machine), "swaths");
}

constexpr std::array terms{Term{"learn", "steps in which all nodes learn who is a source"},
                           Term{"s", "sources"},
                           Term{"R", "steps of one swath"},
                           Term{"t", "steps of its last phase, the gather"},
                           Term{"r", "nodes that a line is cut into for learning, as is best"},
                           Term{"b", "base of the logarithm: 3, with one port 2"}};

constexpr Algorithm swaths{
    .name = "swaths",
    .collective = Collective::multinode_broadcast,
    .source = "this project: the sources make themselves known, then a swath for each, the gathers in common",
    .shapes = swath_shapes,
    .steps = steps_in_words,
    .idea = {.first = "All nodes first learn by short control messages which nodes are sources.",
             .then = "Each source in turn sends its message out in a swath of its own, up to the last phase, in which neighbours give "
                     "one another what they lack, for all sources together.",
             .good = "Each message loads the channels no more than a single broadcast does and no node must relay for all, so that few "
                     "sources with long messages gain; many sources wait long for their turns."},
    .terms = terms,
    .native = {},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
    .parameters = swath_parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{swaths};

}  // namespace torus::multinode_broadcast::swaths
