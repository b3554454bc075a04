/// torus expect: the rates that real machines are held against, by a vendor's published formula and by a public question.
#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::Json;

namespace {

Json expected(const std::string& line) { return support::parsed(support::good("expect " + line + " --json").out); }

double busbw(const Json& answer, std::string_view of) {
  for (const Json& rate : answer["rates"]) {
    if (rate["of"] == of) return rate["model_busbw_bytes_per_s"].get<double>() / 1e9;
  }
  return 0;
}

}  // namespace

TEST_CASE("the all-to-all of rented slices has the rate of the vendor's formula, and a schedule attains it", "[conformance]") {
  // AI-Hypercomputer, accelerator-microbenchmarks, calculate_all_to_all_theoretical_bandwidth: GB/s a chip, to two decimals.
  for (const auto& [machine, slice, rate] : {std::tuple{"tpu7x", "2x2x1", 150.0},
                                             {"tpu7x", "2x2x2", 175.0},
                                             {"tpu7x", "2x2x4", 93.75},
                                             {"tpu7x", "2x4x4", 96.88},
                                             {"tpu7x", "4x4x4", 196.88},
                                             {"tpu7x", "4x4x8", 99.22},
                                             {"tpu7x", "8x8x8", 99.80},
                                             {"v6e", "2x2", 150.0},
                                             {"v6e", "2x4", 87.5},
                                             {"v6e", "4x4", 93.75},
                                             {"v6e", "4x8", 48.44},
                                             {"v6e", "8x8", 49.22},
                                             {"v6e", "8x16", 49.61},
                                             {"v6e", "16x16", 49.80}}) {
    CAPTURE(machine, slice);
    const Json answer = expected(std::string("alltoall --machine ") + machine + " --slice " + slice + " --bytes 1000000 --ts 0");
    CHECK(busbw(answer, "bound") == Approx(rate).margin(0.0051));
    CHECK(busbw(answer, "best") == Approx(rate).margin(0.0051));
    CHECK(answer["limited_by"] == "bytes");
  }
}

TEST_CASE("a twisted slice exchanges 1.75 times what that formula says", "[conformance]") {
  const Json answer = expected("alltoall --machine tpu7x --slice 4x4x8t --bytes 1000000 --ts 0");
  CHECK(busbw(answer, "bound") == Approx(173.18).margin(0.0051));
  CHECK(busbw(answer, "best") >= 171.6);
}

TEST_CASE("43 GB/s a device are 92 % of what an all-to-all can have on 2x2x4", "[conformance]") {
  const std::string line = "alltoall --machine tpu7x --slice 2x2x4 --bytes 64MiB --measured 43GB/s";
  const Json answer = expected(line);
  CHECK(answer["devices_of_a_node"] == 2);
  CHECK(answer["share_of_bound"].get<double>() == Approx(0.917).margin(0.001));
  CHECK(answer["nearest"] == "best");
  const std::string text = support::good("expect " + line).out;
  CAPTURE(text);
  CHECK(text.find("Measured 43.00 GB/s a device: 92 % of the bound; the nearest is: best schedule.") != std::string::npos);
}

TEST_CASE("a rate of a usual mistake is known by it, and each mistake is slower", "[conformance]") {
  const std::string line = "allgather --machine tpu7x --slice 4x4x4 --bytes 64MiB --measured ";
  const Json answer = expected(line + "1GB/s");
  REQUIRE(answer["rates"].size() == 6);
  const double best = busbw(answer, "best");
  for (const char* mistake : {"one_axis", "no_wrap", "one_direction", "wrong_order"}) {
    CAPTURE(mistake);
    const double rate = busbw(answer, mistake);
    CHECK(rate > 0);
    CHECK(rate < 0.9 * best);
  }
  // A third of the links, and half of their time.
  CHECK(busbw(answer, "one_axis") == Approx(best / 3).epsilon(0.1));
  CHECK(busbw(answer, "one_direction") == Approx(best / 2).epsilon(0.01));
  CHECK(expected(line + "95GB/s")["nearest"] == "one_axis");
  CHECK(!expected(line + "900GB/s").contains("nearest"));
}

TEST_CASE("what cannot be expected is refused in a line with what would do", "[conformance]") {
  for (const auto& [line, words] : {std::pair{"alltoall", "for instance --machine tpu7x --slice 2x2x4"},
                                    {"barrier --machine tpu7x", "it carries no bytes"},
                                    {"alltoall --machine trn3", "for instance trn2-ultra"},
                                    {"alltoall --machine tpu9", "it must be tpu-v4"},
                                    {"alltoall --machine tpu7x --slice 3x3x3", "for instance mesh:2x2x4"},
                                    {"alltoall --machine v6e --slice 1x1", "for instance 2x2"},
                                    {"alltoall --machine v6e --bytes 0", "for instance 64MiB"},
                                    {"alltoall --machine v6e --slice 2x2 --measured 43", "for instance 100Gb/s"}}) {
    CAPTURE(line);
    const support::Ended ended = command(std::string("expect ") + line);
    CAPTURE(ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.err.find(words) != std::string::npos);
    CHECK(std::count(ended.err.begin(), ended.err.end(), '\n') == 1);
  }
}
