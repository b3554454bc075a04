#include <atomic>
#include <vector>

#include <torus/executor.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/run.hpp"

using namespace torus;

TEST_CASE("every worker is called once, also after tasks that only those at hand have shared", "[unit]") {
  for (const support::Workers& workers : support::every_executor()) {
    CAPTURE(workers.text());
    const auto executor = make_executor(workers.executor, workers.threads);
    std::vector<std::atomic<unsigned>> calls(executor->workers());
    bool first_came = true;
    bool nobody_twice = true;
    bool everybody_once = true;
    for (unsigned round = 0; round < 500; ++round) {
      for (auto& count : calls) count = 0;
      executor->share([&](unsigned worker) { ++calls[worker]; });
      first_came = first_came && calls[0] == 1;
      for (auto& count : calls) nobody_twice = nobody_twice && count <= 1;
      for (auto& count : calls) count = 0;
      executor->run([&](unsigned worker) { ++calls[worker]; });
      for (auto& count : calls) everybody_once = everybody_once && count == 1;
    }
    CHECK(first_came);
    CHECK(nobody_twice);
    CHECK(everybody_once);
  }
}
