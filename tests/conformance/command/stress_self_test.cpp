/// Does the stress find what is wrong? Algorithms with one plausible bug each, which it must find, shrink and name.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/stress/draw.hpp"
#include "tools/torus/stress/repeat.hpp"
#include "tools/torus/stress/trials.hpp"

using namespace torus;
using namespace torus::command;

namespace {

enum class Bug { none, wrap, tie, extent_of_two, formula, not_reproducible, throws, crashes };

std::atomic<Word> global_counter{0};  // what no program should have: state that nodes share

/// Where the message came from: its origin is its block.
NodeId root_of(Node& self) { return static_cast<NodeId>(self.blocks().front()); }

/// Passes the message on in + direction of the dimension that it came by and of all later ones, until it would meet the root's coordinate.
void pass_on(Node& self, Bug bug, Dimension first) {
  const NodeId root = root_of(self);
  for (Dimension d = first; d < self.dimensions(); ++d) {
    const std::int32_t n = self.extent(d);
    const std::int32_t x = self.coordinate(d);
    const std::int32_t gone = modulo(x - self.topology().coordinate(root, d), n);
    if (gone == n - 1) continue;
    if (bug == Bug::wrap && d == 1 && x == n - 1) continue;  // does not dare to cross the wrap
    if (bug == Bug::tie && n % 2 == 0 && gone == n / 2) {    // spoils a byte half-way round
      for (std::byte& byte : self.bytes(self.blocks().front()).first(std::min<std::size_t>(1, self.bytes(self.blocks().front()).size())))
        byte ^= std::byte{1};
    }
    const std::int32_t hops = bug == Bug::extent_of_two && n == 2 ? 3 : 1;  // goes round once more
    if (bug == Bug::throws && n == 3 && gone == 1) throw std::runtime_error("three is too many");
    if (bug == Bug::crashes && n == 3) std::abort();
    if (bug == Bug::not_reproducible)
      self.send({{d, hops}}, self.blocks(), std::vector<Word>(global_counter++ % 2));
    else
      self.send({{d, hops}}, self.blocks());
  }
}

Program walk_on(Node& self, Bug bug) {
  Dimension first = 0;
  if (self.blocks().empty()) {
    const Arrivals came = co_await self.arrival();
    first = came.front().dimension();
  }
  pass_on(self, bug, first);
}

template <Bug bug>
Plan plan(const Machine& machine, const Request& request) {
  Plan plan;
  plan.start = [](Node& self) { return walk_on(self, bug); };
  for (Dimension d = 0; d < machine.topology.dimensions(); ++d) plan.steps += static_cast<std::uint64_t>(machine.topology.extent(d) - 1);
  if (bug == Bug::formula && machine.topology.dimensions() > 2) ++plan.steps;
  plan.channel_bytes = times_bytes(plan.steps, request.bytes);
  plan.formula = "sum of (n_i - 1)";
  return plan;
}

template <Bug bug>
Algorithm walk() {
  return {.name = "walk-on",
          .collective = Collective::broadcast,
          .source = "tests",
          .shapes = "torus",
          .steps = "sum of (n_i - 1)",
          .native = {.switching = Switching::packet},
          .needs = {.shape = Requirements::Shape::torus, .ports = Requirements::all_ports},
          .plan = plan<bug>};
}

StressOutcome stressed(const Algorithm& algorithm, std::uint64_t runs) {
  const std::array<const Algorithm*, 1> algorithms{&algorithm};
  StressOptions options;
  options.algorithms = algorithms;
  options.runs = runs;
  return stress(options);
}

}  // namespace

TEST_CASE("the stress finds nothing where nothing is wrong", "[conformance]") {
  const Algorithm algorithm = walk<Bug::none>();
  const StressOutcome outcome = stressed(algorithm, 100);
  CHECK(outcome.failures.empty());
  CHECK(outcome.rows.front().runs == 100);
  CHECK(outcome.rows.front().shapes > 20);
}

TEST_CASE("a message that does not cross one wrap is found and shrunk to two nodes", "[conformance]") {
  const Algorithm algorithm = walk<Bug::wrap>();
  const StressOutcome outcome = stressed(algorithm, 100);
  REQUIRE(outcome.failures.size() == 1);
  const StressFailure& failure = outcome.failures.front();
  CAPTURE(failure.what, failure.command);
  CHECK(failure.what.find("hang") != std::string::npos);
  CHECK(failure.shrunk->machine.topology == Topology::parse("1x2"));
  CHECK(failure.command.starts_with("torus run broadcast --on 1x2 --algorithm walk-on "));
  CHECK(failure.command.find("--source 1 ") != std::string::npos);
  CHECK(failure.command.find("--bytes 0 ") != std::string::npos);
  CHECK(failure.command.find('\n') == std::string::npos);
  CHECK(outcome.rows.front().failures > 1);
}

TEST_CASE("an algorithm that says it lives with holes, and does not, is found and shrunk to one hole", "[conformance]") {
  Algorithm algorithm = walk<Bug::none>();
  algorithm.needs.lives_with_holes = true;
  const StressOutcome outcome = stressed(algorithm, 100);
  REQUIRE(outcome.failures.size() == 1);
  const StressFailure& failure = outcome.failures.front();
  CAPTURE(failure.what, failure.command);
  const Faults& faults = failure.shrunk->machine.topology.faults();
  CHECK(faults.dead_links.size() + faults.dead_nodes.size() == 1);
  CHECK(faults.slow_links.empty());
  CHECK(failure.shrunk->machine.topology.nodes() <= 4);
  CHECK(failure.command.find(" --dead-") != std::string::npos);
  CHECK(outcome.rows.front().with_faults > 30);
  CHECK(outcome.rows.front().failures > 10);
}

TEST_CASE("a byte that is wrong at one tie is found and shrunk to one byte and two nodes", "[conformance]") {
  const Algorithm algorithm = walk<Bug::tie>();
  const StressOutcome outcome = stressed(algorithm, 100);
  REQUIRE(outcome.failures.size() == 1);
  const StressFailure& failure = outcome.failures.front();
  CAPTURE(failure.what, failure.command);
  CHECK(failure.what.find("wrong delivery") != std::string::npos);
  CHECK(failure.what.find("offset 0") != std::string::npos);
  CHECK(failure.shrunk->machine.topology.nodes() <= 4);
  CHECK(failure.shrunk->request.bytes == 1);
}

TEST_CASE("a route that is wrong for an extent of two is found and shrunk to a ring of two", "[conformance]") {
  const Algorithm algorithm = walk<Bug::extent_of_two>();
  const StressOutcome outcome = stressed(algorithm, 100);
  REQUIRE(outcome.failures.size() == 1);
  const StressFailure& failure = outcome.failures.front();
  CAPTURE(failure.what, failure.command);
  CHECK(failure.what.find("violation") != std::string::npos);
  CHECK(failure.shrunk->machine.topology == Topology::parse("2"));
}

TEST_CASE("a formula that is wrong from three dimensions on is found and shrunk to one node", "[conformance]") {
  const Algorithm algorithm = walk<Bug::formula>();
  const StressOutcome outcome = stressed(algorithm, 100);
  REQUIRE(outcome.failures.size() == 1);
  CAPTURE(outcome.failures.front().what);
  CHECK(outcome.failures.front().what.find("where the formula sum of (n_i - 1) says") != std::string::npos);
  CHECK(outcome.failures.front().shrunk->machine.topology == Topology::parse("1x1x1"));
}

TEST_CASE("a program that does not do the same twice is found", "[conformance]") {
  const Algorithm algorithm = walk<Bug::not_reproducible>();
  const StressOutcome outcome = stressed(algorithm, 100);
  REQUIRE(outcome.failures.size() == 1);
  CAPTURE(outcome.failures.front().what);
  CHECK(outcome.rows.front().failures > 10);
}

TEST_CASE("an exception in a program is a failure like any other", "[conformance]") {
  const Algorithm algorithm = walk<Bug::throws>();
  const StressOutcome outcome = stressed(algorithm, 100);
  REQUIRE(outcome.failures.size() == 1);
  CHECK(outcome.failures.front().what == "exception: step 1, node (1): three is too many");
  CHECK(outcome.failures.front().shrunk->machine.topology == Topology::parse("3"));
}

TEST_CASE("the command of a random setting names its sources in a few words, and they are the same ones", "[conformance]") {
  const Algorithm& algorithm = *find_algorithm(Collective::multinode_broadcast, "edst");
  Random random(1, 2);
  for (int i = 0; i < 200; ++i) {
    const std::optional<Setting> setting = draw_setting(random, algorithm, StressBudget{});
    REQUIRE(setting);
    const std::string command = command_line(*setting);
    CAPTURE(command);
    CHECK(command.size() < 1000);
    CHECK(parse_sources("--sources", setting->sources_text, setting->machine.topology, setting->seed) == setting->request.sources);
    CHECK(command.find(" --seed " + std::to_string(setting->seed) + " ") != std::string::npos);
  }
}

TEST_CASE("a crash leaves the command that repeats it", "[conformance]") {
  const support::Folder folder;
  const std::string err = folder.file("err");
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    ::signal(SIGABRT, SIG_DFL);  // not the test framework's
    tell_what_crashed();
    const Algorithm algorithm = walk<Bug::crashes>();
    std::jthread([&] { stressed(algorithm, 100); }).join();  // a fork has none of the threads that have planned for this one
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  const std::string told = support::text_of_file(err);
  CAPTURE(told);
  CHECK(told.starts_with("torus: walk-on: crashed while node ("));
  CHECK(told.find("\ntorus: crashed; repeat it with: torus run broadcast --on ") != std::string::npos);
  CHECK(told.find("--algorithm walk-on ") != std::string::npos);
  CHECK(std::count(told.begin(), told.end(), '\n') == 2);
}

TEST_CASE("the same seed gives the same table on every executor and number of threads", "[conformance]") {
  std::vector<const Algorithm*> algorithms(catalogue().begin(), catalogue().end());
  support::Share share(12, 8);
  std::erase_if(algorithms, [&](const Algorithm*) { return !share.takes_turn(); });
  const auto table = [&](std::optional<ExecutorKind> executor, unsigned threads) {
    StressOptions options;
    options.algorithms = algorithms;
    options.seed = 7;
    options.runs = 2 * algorithms.size();
    options.executor = executor;
    options.threads = threads;
    std::vector<std::vector<std::uint64_t>> rows;
    for (const StressRow& row : stress(options).rows) {
      rows.push_back({row.runs, row.undrawn, row.shapes, row.sources, row.most_nodes, row.steps, row.messages, row.bytes, row.failures});
    }
    return rows;
  };
  const auto wanted = table(ExecutorKind::serial, 1);
  CHECK(table(ExecutorKind::threads, 3) == wanted);
  CHECK(table(default_executor, 4) == wanted);
  CHECK(table(std::nullopt, 0) == wanted);
}
