/// torus explain: it explains every algorithm, on a shape where that applies, and agrees with run and compare.
#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::good;
using support::Json;

namespace {

std::string named(const Algorithm& algorithm) { return fmt::format("{} {}", name(algorithm.collective), algorithm.name); }

/// What explain says on the first of these shapes on which the algorithm applies, or with sizes.
Json explained(const Algorithm& algorithm) {
  for (const std::string_view shape : {"4x4", "5x5", "4x4x4", "4x4 --sizes zipf:1"}) {
    const support::Ended ended = command(fmt::format("explain {} --on {} --json", named(algorithm), shape));
    if (ended.status == 0) return support::parsed(ended.out);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 2);
  }
  return {};
}

}  // namespace

TEST_CASE("every algorithm is explained, with every symbol of its formulas, and its phases add up", "[conformance]") {
  for (const Algorithm* algorithm : catalogue()) {
    CAPTURE(named(*algorithm));
    const Json json = explained(*algorithm);
    REQUIRE(!json.is_null());
    CHECK(json["algorithm"] == std::string(algorithm->name));
    REQUIRE(json["idea"].size() == 3);
    CHECK(json["idea"][0] == std::string(algorithm->idea.first));
    for (const Json& term : json["terms"]) {
      CAPTURE(term.dump());
      CHECK(!term["meaning"].get<std::string>().empty());
    }
    std::uint64_t steps = 0;
    for (const Json& phase : json["phases"]) steps += phase["steps"].get<std::uint64_t>();
    CHECK((json["phases"].empty() || steps == json["steps"]));
    CHECK(json["steps"] >= json["steps_lower_bound"]);
    CHECK(json["start_up_s"].get<double>() + json["bytes_s"].get<double>() == Approx(json["model_time_s"].get<double>()).epsilon(1e-9));
    REQUIRE(!json["standings"].empty());
    for (const Json& standing : json["standings"]) {
      const Json& fastest = standing["algorithms"];
      CHECK((standing["place"] == 1) == (std::count(fastest.begin(), fastest.end(), Json(std::string(algorithm->name))) == 1));
      CHECK(standing["place"] <= standing["of"]);
    }
  }
}

TEST_CASE("the winners of an explanation are those of the comparison on its machine", "[conformance]") {
  for (const std::string what : {"broadcast swath --on 5x5", "broadcast swath --on 8x8 --h 4", "allreduce stars --on 4x4",
                                 "total-exchange bruck --on 4x4", "barrier windows --on 4x4"}) {
    const Json json = support::parsed(good("explain " + what + " --json").out);
    const std::string collective = json["collective"], shape = json["shape"], algorithm = json["algorithm"];
    const Json machine = support::parsed(
        good(fmt::format("compare {} --on {} --switching {} --ports {} --contention {} --run none --json", collective, shape,
                         json["switching"].get<std::string>(), json["ports"].get<int>(), json["contention"].get<std::string>()))
            .out)["machines"][0];
    CAPTURE(what);
    for (const Json& standing : json["standings"]) {
      const auto reign = std::find_if(machine["fastest"].begin(), machine["fastest"].end(), [&](const Json& each) {
        return each["from_bytes"] <= standing["from_bytes"] && each["to_bytes"] >= standing["to_bytes"];
      });
      REQUIRE(reign != machine["fastest"].end());
      CHECK((*reign)["algorithms"] == standing["algorithms"]);
    }
    // Against each rival: faster, slower or as fast, in the order in which that changes with the size.
    const auto times = [&](const std::string& of) {
      std::vector<double> all;
      for (const Json& row : machine["algorithms"]) {
        if (row["algorithm"] != of) continue;
        for (const Json& entry : row["sizes"]) all.push_back(entry["model_time_formula_s"]);
      }
      return all;
    };
    for (const Json& group : json["against"]) {
      const std::string verdict = group["is"];
      for (const Json& rival : group["than"]) {
        const std::vector<double> own = times(algorithm), other = times(rival);
        CAPTURE(verdict, rival.dump());
        REQUIRE(!own.empty());
        REQUIRE(own.size() == other.size());
        std::vector<std::string> words;  // as they change from size to size
        for (std::size_t i = 0; i < own.size(); ++i) {
          const char* const word = own[i] < other[i] ? "faster" : own[i] > other[i] ? "slower" : "as fast";
          if (words.empty() || words.back() != word) words.emplace_back(word);
        }
        std::vector<std::string> said;
        for (std::size_t from = 0; from != std::string::npos;) {
          said.push_back(verdict.substr(from, verdict.compare(from, 7, "as fast") == 0 ? 7 : 6));
          const std::size_t then = verdict.find(", then ", from);
          from = then == std::string::npos ? then : then + 7;
        }
        CHECK(said == words);
      }
    }
  }
}

TEST_CASE("an explanation has the phases and the times of the run, and its bounds with their reasons", "[conformance]") {
  const Json json = support::parsed(good("explain swath --on 8x8 --bytes 4KiB --h 4 --json").out);
  const Json run = support::parsed(good("run broadcast --algorithm swath --on 8x8 --bytes 4KiB --h 4 --json").out);
  for (const char* key : {"steps", "channel_bytes_sum", "model_time_s", "steps_lower_bound", "steps_lower_bound_reason",
                          "channel_bytes_lower_bound", "model_time_lower_bound_s", "steps_formula_text"})
    CHECK(json[key] == run[key]);
  REQUIRE(json["phases"].size() == run["phases"].size());
  for (std::size_t i = 0; i < run["phases"].size(); ++i) {
    for (const char* key : {"name", "steps", "channel_bytes", "model_time_s"}) CHECK(json["phases"][i][key] == run["phases"][i][key]);
  }
  CHECK(!json["bytes_reason"].get<std::string>().empty());
  // The parts of the model time make all of it.
  const Json dear = support::parsed(good("explain reduce tree --on 4x4 --bytes 4KiB --th 1us --tg 1ns --json").out);
  double sum = 0;
  for (const char* part : {"start_up_s", "bytes_s", "hops_s", "combining_s"}) {
    CHECK(dear[part] > 0);
    sum += dear[part].get<double>();
  }
  CHECK(sum == Approx(dear["model_time_s"].get<double>()));
}

TEST_CASE("without a shape the default one is explained, or the first usual one on which the algorithm applies", "[conformance]") {
  CHECK(support::parsed(good("explain total-exchange a2 --json").out)["shape"] == "16x16");
  const Json small = support::parsed(good("explain peters-syska --json").out);
  CHECK(small["shape"] == "5x5");
  CHECK(!small["not_on_default_shape"].get<std::string>().empty());
  CHECK(good("explain peters-syska").out.find("not on the default shape: ") != std::string::npos);
  const Json chosen = support::parsed(good("explain broadcast --on 5x5 --json").out);
  CHECK(chosen["algorithm"] == support::parsed(good("run broadcast --on 5x5 --json").out)["algorithm"]);
  CHECK(!chosen["chosen_because"].get<std::string>().empty());
}

TEST_CASE("a name of several collectives needs one, and what is not there is refused in one line", "[conformance]") {
  const support::Ended several = command("explain rings");
  CHECK(several.status == 2);
  CHECK(several.err ==
        "torus: explain 'rings': multinode-broadcast, allreduce, reduce-scatter have one of that name; for instance torus "
        "explain multinode-broadcast rings\n");
  for (const std::string line :
       {"explain", "explain swatch", "explain swath broadcast", "explain broadcast a2", "explain flood --on 4x4 --on 8x8",
        "explain wang-tseng --on 4x5", "explain broadcast swath more", "explain swath --h 3 --bytes x"})
    support::check_refused(line);
}

TEST_CASE("an own algorithm is explained as far as it says something of itself", "[conformance]") {
  const auto own = [](const std::string& line) { return support::run_program(TORUS_OWN_PROGRAM, {.arguments = support::words(line)}); };
  const support::Ended ended = own("explain broadcast relay --on 4x4 --plan-time 0.3");
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  for (const char* said : {"Not said: its descriptor has no .idea.", "Steps: not said", "relay predicts nothing; "})
    CHECK(ended.out.find(said) != std::string::npos);
  const Json json = support::parsed(own("explain broadcast relay --on 4x4 --plan-time 0.3 --json").out);
  CHECK(json["idea"].empty());
  CHECK(json["terms"].empty());
  CHECK(json["steps_formula_text"].is_null());
  for (const Json& standing : json["standings"]) CHECK(standing["place"] == 0);
}

TEST_CASE("an explanation fits into 60 columns", "[conformance]") {
  for (const std::string what : {"broadcast swath --on 8x8", "multinode-broadcast hierarchical --on 4x4", "allreduce stars --on 4x4"}) {
    const support::Ended ended = support::run_program(
        "/usr/bin/env", {.arguments = {"COLUMNS=60", "/bin/sh", "-c", std::string(TORUS_PROGRAM) + " explain " + what}});
    CAPTURE(what, ended.err, ended.out);
    REQUIRE(ended.status == 0);
    std::istringstream lines(ended.out);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 60);
    for (const char* part : {"The idea", "First:", "Then:", "Why:", "lower bound", "start-ups:", "bytes:", "Against the others"})
      CHECK(ended.out.find(part) != std::string::npos);
  }
}
