// The engine's lock-free protocols, in every order in which operations of two and three threads can come, with every value that the
// language lets them see. Each order of a protocol that is stronger than relaxed is needed: weakened by one step, something breaks.
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/engine/memory_budget.hpp"
#include "runtime/engine/network/channel_table.hpp"
#include "runtime/engine/network/links.hpp"
#include "runtime/engine/workers/gate.hpp"
#include "runtime/engine/workers/shared_range.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/modelled_atomics.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using namespace torus::support;
using torus::detail::BasicArrivalFlags;
using torus::detail::BasicChannelEntry;
using torus::detail::BasicGate;
using torus::detail::BasicMemoryBudget;
using torus::detail::SharedRange;

namespace {

using Program = Interleaving::Program;
template <class T>
using Plain = ModelledAtomics::Plain<T>;
using Task = std::function<void(unsigned)>;

/// A caller and threads that serve it: calls for so many workers each, and a release.
Program gate_program(unsigned servers, std::vector<unsigned> calls) {
  struct State {
    BasicGate<ModelledAtomics> gate{3, 0};
    Plain<int> input;
    std::array<Plain<int>, 3> output;  // of each worker: the last call that it did
    std::array<bool, 3> came{};        // in this call
  };
  const auto state = std::make_shared<State>();
  state->gate.lend();
  Program program;
  program.threads.emplace_back([state, calls] {
    State& s = *state;
    for (int call = 1; call <= static_cast<int>(calls.size()); ++call) {
      const unsigned called = calls[static_cast<unsigned>(call) - 1];
      s.input = call;
      s.came = {};
      const Task task = [&s, called](unsigned worker) {
        must(worker < called, "only those who are called join");
        must(!std::exchange(s.came[worker], true), "a worker joins a call once");
        s.output[worker] = s.input;
      };
      s.gate.call(called, task);
      for (unsigned worker = 0; worker < 3; ++worker)
        must(!s.came[worker] || s.output[worker] == call, "what joined parts wrote is visible");
    }
    s.gate.release();
  });
  for (unsigned worker = 1; worker <= servers; ++worker) program.threads.emplace_back([state, worker] { state->gate.serve(worker); });
  return program;
}

/// A call whose own part waits for a server.
Program meeting_program() {
  struct State {
    BasicGate<ModelledAtomics> gate{3, 0};
    ModelledAtomics::Atomic<unsigned> met{0};
  };
  const auto state = std::make_shared<State>();
  state->gate.lend();
  Program program;
  program.threads.emplace_back([&s = *state, state] {
    const Task task = [&s](unsigned worker) {
      if (worker == 0) return s.met.wait(0, std::memory_order_relaxed);
      s.met.store(1, std::memory_order_relaxed);
      s.met.notify_all();
    };
    s.gate.call(3, task);
    s.gate.release();
  });
  program.threads.emplace_back([state] { state->gate.serve(1); });
  return program;
}

/// Two steps of two nodes, as the engine runs them: workers share out the nodes, a node sends the other one a message and raises a flag,
/// and the other one finds it in the next step.
Program steps_program(unsigned servers) {
  struct State {
    BasicGate<ModelledAtomics> gate{3, 0};
    SharedRange<ModelledAtomics> nodes;
    BasicArrivalFlags<ModelledAtomics> flags{2, 2};
    std::array<std::array<Plain<int>, 2>, 2> messages;  // to a node, by parity of the step
    Plain<int> now;
    std::array<int, 2> ran{};  // in this step
  };
  const auto state = std::make_shared<State>();
  state->gate.lend();
  Program program;
  program.threads.emplace_back([state] {
    State& s = *state;
    for (Step now = 0; now < 2; ++now) {
      s.now = static_cast<int>(now);
      s.flags.begin_step(now);
      s.nodes.assign(0, 2);
      s.ran = {};
      const Task task = [&s](unsigned) {
        const int step = s.now;
        while (true) {
          const auto piece = s.nodes.take(1);
          if (piece.empty()) return;
          const auto node = static_cast<NodeId>(piece.begin);
          ++s.ran[node];
          std::size_t arrived = 0;
          s.flags.take(node, [&](std::size_t channel) { arrived += channel == 1 - node ? 1 : 100; });
          must(arrived == (step == 0 ? 0 : 1), "a flag says what has arrived");
          if (step == 1) must(s.messages[0][node] == 1, "a message is there with its flag");
          s.messages[static_cast<unsigned>(step)][1 - node] = 1;
          s.flags.raise(1 - node, node);
        }
      };
      s.gate.call(3, task);
      must(s.ran[0] == 1 && s.ran[1] == 1, "each node runs once a step");
    }
    s.gate.release();
  });
  for (unsigned worker = 1; worker <= servers; ++worker) program.threads.emplace_back([state, worker] { state->gate.serve(worker); });
  return program;
}

/// Workers that bid for the same two channels of worker 0, in different orders.
Program bids_program(std::vector<std::uint32_t> workers) {
  struct State {
    std::array<BasicChannelEntry<ModelledAtomics>, 2> channels{};
    std::array<std::array<bool, 2>, 3> won{};
  };
  const auto state = std::make_shared<State>();
  Program program;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    program.threads.emplace_back([state, i, worker = workers[i]] {
      std::array<bool, 2> bid{};
      for (const std::size_t k : {i % 2, 1 - i % 2}) bid[k] = state->channels[k].bid(worker, 1);
      BasicChannelEntry<ModelledAtomics>::bids_made();
      for (const std::size_t k : {0U, 1U}) state->won[i][k] = bid[k] && state->channels[k].win(worker, 1, 1U << i);
    });
  }
  program.at_end = [state] {
    for (std::size_t k = 0; k < 2; ++k) {
      Bytes carried = 0;
      int winners = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        winners += state->won[i][k] ? 1 : 0;
        carried += state->won[i][k] ? 1U << i : 0;
      }
      must(winners <= 1, "a channel has one winner at most");
      must(state->channels[k].bytes() == carried, "a channel carries what its winner sends");
    }
  };
  return program;
}

/// Workers that divide numbers, and draw from a budget for each piece.
Program division_program(unsigned workers, std::uint64_t numbers, Bytes granted) {
  struct State {
    explicit State(Bytes bytes) : budget{bytes} {}
    SharedRange<ModelledAtomics> range;
    BasicMemoryBudget<ModelledAtomics> budget;
    std::array<Plain<int>, 8> taken;
    std::array<Bytes, 3> drawn{};
    std::array<std::uint64_t, 3> got{};
  };
  const auto state = std::make_shared<State>(granted);
  state->range.assign(0, numbers);
  Program program;
  for (unsigned i = 0; i < workers; ++i) {
    program.threads.emplace_back([state, i] {
      while (!state->range.spent()) {
        const auto piece = state->range.take(2);
        for (std::uint64_t n = piece.begin; n < piece.end; ++n) {
          must(state->taken[n] == 0, "a number goes to one worker");
          state->taken[n] = 1;
          ++state->got[i];
        }
        if (!piece.empty() && state->budget.take(3)) state->drawn[i] += 3;
      }
    });
  }
  program.at_end = [state, numbers, granted] {
    must(state->got[0] + state->got[1] + state->got[2] == numbers, "every number goes to a worker");
    const Bytes drawn = state->drawn[0] + state->drawn[1] + state->drawn[2];
    must(drawn <= granted && drawn == std::min(granted / 3, (numbers + 1) / 2) * 3, "the budget gives what it has and no more");
  };
  return program;
}

struct Named {
  const char* name;
  bool all;  // orders are run; else so many by a seed:
  std::function<Program()> make;
};
#if defined(__SANITIZE_ADDRESS__)
constexpr bool slow = true;
#else
constexpr bool slow = false;
#endif
constexpr std::uint64_t sampled = slow ? 3'000 : 60'000, most = 2'000'000;

const std::vector<Named>& programs() {
  static const std::vector<Named> programs{
      {"bids of the owner and another", true,
       [] {
         return bids_program({0, 1});
       }},
      {"bids of two others", true,
       [] {
         return bids_program({1, 2});
       }},
      {"bids of the owner and two others", true,
       [] {
         return bids_program({0, 1, 2});
       }},
      {"numbers and a budget for 2 workers", true, [] { return division_program(2, 5, 7); }},
      {"numbers and a budget for 3 workers", true, [] { return division_program(3, 4, 5); }},
      {"the gate for 1 server and 1 call", true, [] { return gate_program(1, {2}); }},
      {"a call that waits for its server", true, meeting_program},
      {"the gate for 1 server and 2 calls", !slow,
       [] {
         return gate_program(1, {2, 3});
       }},
      {"the gate for 1 server that is called, not called, called", false,
       [] {
         return gate_program(1, {2, 1, 2});
       }},
      {"the gate for 2 servers and 2 calls", false,
       [] {
         return gate_program(2, {3, 3});
       }},
      {"the gate for 2 servers, and a call for the first alone", false,
       [] {
         return gate_program(2, {3, 2});
       }},
      {"two steps of 1 server", false, [] { return steps_program(1); }},
      {"two steps of 2 servers", false, [] { return steps_program(2); }},
  };
  return programs;
}

Interleaving::Findings explore(const Named& program, const Orders& weakened = {}) {
  return MemoryModel::instance().explore(program.make, weakened, program.all ? most : sampled,
                                         program.all ? std::nullopt : std::optional(support::seed()));
}

/// One step weaker.
std::vector<std::memory_order> weaker(std::memory_order order) {
  switch (order) {
    case std::memory_order_seq_cst: return {std::memory_order_acq_rel};
    case std::memory_order_acq_rel: return {std::memory_order_acquire, std::memory_order_release};
    default: return {std::memory_order_relaxed};
  }
}
const char* text(std::memory_order order) {
  return order == std::memory_order_relaxed   ? "relaxed"
         : order == std::memory_order_acquire ? "acquire"
         : order == std::memory_order_release ? "release"
                                              : "acq_rel";
}

}  // namespace

TEST_CASE("the lock-free protocols hold in every order of two and three threads", "[property]") {
  for (const Named& program : programs()) {
    const Interleaving::Findings findings = explore(program);
    CAPTURE(program.name, findings.executions);
    CHECK(findings.violation == "");
    CHECK(findings.complete == program.all);
  }
}

TEST_CASE("no memory order of the lock-free protocols can be weakened", "[property]") {
  Orders& met = MemoryModel::instance().met();
  met.clear();
  for (const Named& program : programs()) MemoryModel::instance().explore(program.make, {}, 200, support::seed());
  CHECK(met.size() >= 5);
  support::Share share(3, 2);
  for (const auto& [site, order] : Orders(met)) {
    if (!share.takes_turn()) continue;
    for (const std::memory_order less : weaker(order)) {
      std::string found;
      for (const Named& program : programs()) {
        if (found.empty()) found = explore(program, {{site, less}}).violation;
      }
      CAPTURE(site.text(), text(less));
      CHECK_FALSE(found.empty());
    }
  }
}
