#include <algorithm>
#include <vector>

#include <torus/bandwidth.hpp>

#include "tests/support/catch.hpp"
#include "tools/torus/study/runs.hpp"

using namespace torus;
using namespace torus::command;

namespace {

Request request(Collective collective, std::vector<NodeId> sources, Bytes bytes) {
  Request request;
  request.collective = collective;
  request.sources = std::move(sources);
  request.bytes = bytes;
  return request;
}

std::vector<double> first_numbers(int n) {
  std::vector<double> values;
  for (int i = n; i > 0; --i) values.push_back(i);
  return values;
}

}  // namespace

TEST_CASE("algbw is what the collective asks for over the time, and busbw that times the factor of nccl-tests", "[unit]") {
  const Bandwidth broadcast = bandwidth_of(request(Collective::broadcast, {3}, 1000), 4, 0.5);
  CHECK(broadcast.algorithm == 2000);
  CHECK(broadcast.bus == 2000);
  const Bandwidth all_gather = bandwidth_of(request(Collective::multinode_broadcast, {0, 1, 2, 3}, 1000), 4, 0.5);
  CHECK(all_gather.algorithm == 8000);
  CHECK(all_gather.bus == 6000);
  CHECK(asked_bytes(request(Collective::multinode_broadcast, {0, 3}, 1000), 4) == 2000);
  const Bandwidth all_to_all = bandwidth_of(request(Collective::total_exchange, {}, 1000), 4, 0.5);
  CHECK(all_to_all.algorithm == 8000);
  CHECK(all_to_all.bus == 6000);
}

TEST_CASE("of blocks with sizes, algbw is of the sizes that are drawn", "[unit]") {
  for (const Collective collective :
       {Collective::multinode_broadcast, Collective::total_exchange, Collective::scatter, Collective::gather, Collective::reduce_scatter}) {
    for (const char* rule : {"zeros:0.99", "zeros:0.5", "uniform:0:100", "zipf:1"}) {
      CAPTURE(name(collective), rule);
      Request sized = request(collective, {0, 2}, 64);
      sized.sizes = SizeRule::parse(rule);
      const Sizes sizes = sizes_of(3, sized);
      double asked = 0;
      Bytes longest = 0;
      const bool pairs = collective == Collective::total_exchange;
      for (std::uint64_t i = 0; i < sizes.count(); ++i) {
        if (collective == Collective::multinode_broadcast && i == 1) continue;  // no source
        asked += static_cast<double>(sizes(i)) / (pairs ? 3 : 1);               // of an exchange what a node has, on average
        longest = std::max(longest, sizes(i));
      }
      CHECK(asked_bytes(sized, 3) == Approx(asked));
      CHECK(bandwidth_of(sized, 3, 2).algorithm == Approx(asked / 2));
      CHECK(drawn_sizes(sized, 3).longest == longest);
    }
  }
}

TEST_CASE("bandwidths are finite where nothing is asked for, no time passes or a node is alone", "[unit]") {
  CHECK(bandwidth_of(request(Collective::broadcast, {0}, 0), 4, 1).algorithm == 0);
  CHECK(bandwidth_of(request(Collective::broadcast, {0}, 8), 4, 0).bus == 0);
  CHECK(bus_factor(Collective::broadcast, 1) == 1);
  CHECK(bus_factor(Collective::total_exchange, 1) == 0);
  CHECK(asked_bytes(request(Collective::total_exchange, {}, Bytes{1} << 62U), 1U << 20U) > 1e24);
}

TEST_CASE("the interval of the median has the ranks of the binomial tables", "[unit]") {
  CHECK(!median_interval({}));
  CHECK(!median_interval(first_numbers(5)));  // 1 - 2/32 = 94 %
  using Interval = std::pair<double, double>;
  CHECK(median_interval(first_numbers(6)) == Interval(1, 6));
  CHECK(median_interval(first_numbers(8)) == Interval(1, 8));
  CHECK(median_interval(first_numbers(9)) == Interval(2, 8));
  CHECK(median_interval(first_numbers(10)) == Interval(2, 9));
  CHECK(median_interval(first_numbers(20)) == Interval(6, 15));
  CHECK(median_interval(first_numbers(100)) == Interval(40, 61));
  CHECK(median_interval(first_numbers(5000))->first > 2400);  // 2^-5000 is no double
}

TEST_CASE("long rows of a table of sizes are expected to take as much longer as they are larger", "[unit]") {
  const Algorithm& fast = *catalogue()[0];
  const Algorithm& slow = *catalogue()[1];
  command::BenchSchedule schedule({1000, 2000, 4000});
  CHECK(schedule.row_s(fast, 1000, 3) == 0);
  CHECK_FALSE(schedule.is_long(fast, 4000));
  schedule.add(fast, 1000, 0.006, 0.01);
  schedule.add(slow, 1000, 0.5, 0.25);
  CHECK(schedule.row_s(fast, 2000, 3) == Approx(2 * (3 * 0.006 + 0.01)));
  CHECK_FALSE(schedule.is_long(fast, 2000));
  CHECK(schedule.is_long(fast, 4000));
  // Only the last size of the fast one is long; the slow one still has both sizes.
  CHECK(schedule.later_s(fast, 2000) == Approx(4 * 0.016 + (2 + 4) * 0.75));
  CHECK(schedule.later_s(slow, 2000) == Approx(4 * 0.016 + 4 * 0.75));
}

TEST_CASE("a row that must be brief has one run, unless counts were typed", "[unit]") {
  command::RowEffort effort(std::nullopt, std::nullopt, std::nullopt);
  CHECK(effort.usual() == 1 + 3);
  effort.be_brief();
  CHECK(effort.warm_up + effort.repeat == 1);
  command::RowEffort typed("2", "5", std::nullopt);
  CHECK(typed.usual() == 2 + 5);
  typed.be_brief();
  CHECK(typed.warm_up == 2);
  CHECK(typed.repeat == 5);
}

TEST_CASE("a bench names the fastest on the host where another has the least model time", "[unit]") {
  const auto row = [](std::uint64_t bytes, const char* algorithm, double model_s, double low_s, double high_s, bool verified = true) {
    return command::Json{{"bytes", bytes},
                         {"algorithm", algorithm},
                         {"model_time_s", model_s},
                         {"time_median_s", (low_s + high_s) / 2},
                         {"time_median_low_s", low_s},
                         {"time_median_high_s", high_s},
                         {"verified", verified}};
  };
  command::Json rows = command::Json::array();
  rows.push_back(row(64, "rings", 1e-6, 10e-3, 12e-3));
  rows.push_back(row(64, "trees", 2e-6, 1e-3, 3e-3));
  rows.push_back(row(64, "wrong", 1e-9, 1e-6, 1e-6, false));
  rows.push_back(row(1024, "rings", 1e-6, 2e-3, 4e-3));  // they overlap
  rows.push_back(row(1024, "trees", 2e-6, 1e-3, 3e-3));
  rows.push_back(row(4096, "rings", 1e-6, 2e-3, 4e-3));  // a tie of model times
  rows.push_back(row(4096, "trees", 1e-6, 1e-3, 1.5e-3));
  rows.push_back({{"bytes", 8192}, {"not_run", "too long"}});
  CHECK(command::quickest_text(rows) == "# fastest on the host, and of the least model time: at 64 trees 2 ms, and rings 11 ms\n");
  CHECK(command::quickest_text(command::Json::array()).empty());
}
