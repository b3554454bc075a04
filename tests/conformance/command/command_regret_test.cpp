/// torus regret: its cells are the winners of comparisons, and the catalogue keeps the distances to the bound that it promises.
#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/base/figures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;
using support::command;
using support::Json;
using support::lines;

namespace {

double worst_of(const Json& table) {
  double worst = 0;
  for (const Json& row : table["rows"]) worst = std::max(worst, row["worst"].get<double>());
  return worst;
}

}  // namespace

TEST_CASE("the best broadcast is as near the bound as promised, at every size from 1 KiB to 256 MiB", "[conformance]") {
  for (const auto& [shapes, ports, most] : std::vector<std::tuple<std::string, std::string, double>>{
           {"5x5,8x8,15x15,16x16,25x25,32x32,64x64", "all", 1.9},
           {"4x4x4,8x8x8,16x16x16", "all", 2.15},
           {"12x40", "all", 2.2},
           {"5x5,8x8,15x15,16x16,25x25,32x32,64x64,12x40,4x4x4,8x8x8,16x16x16", "1", 1.95}}) {
    CAPTURE(shapes, ports);
    const support::Ended ended = command("regret broadcast --on " + shapes + " --ports " + ports + " --bytes 1KiB:256MiB:x2 --json");
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    CHECK(worst_of(support::parsed(ended.out)) <= most);
  }
}

TEST_CASE("with one size the model times stand beside the ratios", "[conformance]") {
  const std::string one = "regret allgather --on 4x4 --ports 1,2 --bytes 4KiB";
  const Json rows = support::parsed(support::good(one + " --json").out)["rows"];
  const std::string table = support::good(one).out;
  CHECK(table.find("model time\n") != std::string::npos);
  for (const Json& row : rows) CHECK(table.find(seconds_text(row["sizes"][0]["model_time_s"].get<double>())) != std::string::npos);
  CHECK(support::good(one + ",8KiB").out.find("worst\n") != std::string::npos);
}

TEST_CASE("of all collectives no cell is empty, and as many are near the bound as promised", "[conformance]") {
  struct Promise {
    std::string shape;
    double within_2;  ///< share
  };
  const std::vector<Promise> promises{{"8", 0.97},     {"4x4", 0.95},  {"mesh:4x4", 0.87}, {"3x5", 0.96},
                                      {"2x3x3", 0.91}, {"4cx3", 0.94}, {"2x4t", 0.93}};
  const Promise& drawn = promises[support::seed() % promises.size()];
  const Json table = support::parsed(support::good("regret all --on " + drawn.shape + " --bytes 64,64KiB,4MiB --json").out);
  std::uint64_t cells = 0, within_2 = 0;
  for (const Json& row : table["rows"]) {
    CAPTURE(drawn.shape, row["collective"].get<std::string>());
    CHECK(row["empty"] == 0);
    CHECK(row["within_1_25"].get<std::uint64_t>() + row["above_4"].get<std::uint64_t>() <= row["cells"].get<std::uint64_t>());
    if (row["collective"] == "all") continue;
    cells += row["cells"].get<std::uint64_t>();
    // The same by the table of the collective.
    const std::string collective = row["collective"];
    const Json one = support::parsed(support::good("regret " + collective + " --on " + drawn.shape +
                                                   " --ports 1,2,3,all --switching packet,wormhole,circuit --json" +
                                                   (collective == "barrier" ? "" : " --bytes 64,64KiB,4MiB"))
                                         .out);
    std::uint64_t near = 0;
    for (const Json& machine : one["rows"]) {
      for (const Json& cell : machine["sizes"]) near += cell["times_the_bound"].get<double>() <= 2;
    }
    CHECK(row["within_2"] == near);
    within_2 += near;
  }
  const Json& all = table["rows"].back();
  CHECK(all["cells"] == cells);
  CHECK(all["within_2"] == within_2);
  CHECK(all["above_4"] == 0);
  CHECK(static_cast<double>(within_2) >= drawn.within_2 * static_cast<double>(cells));
}

TEST_CASE("a regret in groups is that of the machine of a group", "[conformance]") {
  const auto rows_of = [](const std::string& where) {
    return support::parsed(support::good("regret allreduce --bytes 64,64KiB --ports all --run all --json " + where).out)["rows"];
  };
  const Json groups = rows_of("--on 4x4,4x6 --groups columns"), lines_alone = rows_of("--on 4");
  REQUIRE(groups.size() == 2);
  REQUIRE(lines_alone.size() == 1);
  for (const Json& row : groups) {
    CHECK(row["groups"] == "columns");
    CHECK(row["group_shape"] == "4");
    CHECK(row["sizes"] == lines_alone[0]["sizes"]);
  }
  CHECK(groups[1]["shape"] == "4x6");
  const support::Folder folder;
  support::good("regret allreduce --on 4x4 --bytes 64 --groups columns --csv " + folder.file("r.csv"));
  CHECK(support::text_of_file(folder.file("r.csv")).find(",columns\n") != std::string::npos);
}

TEST_CASE("a table of regret holds the winners of the comparisons", "[conformance]") {
  for (const std::string what : {"broadcast --on 5x5", "total-exchange --on 4x4", "multinode-broadcast --on 5x5"}) {
    const std::string options = what + " --ports all --bytes 16,1MiB --json";
    CAPTURE(what);
    const Json table = support::parsed(command("regret " + options).out);
    REQUIRE(table["rows"].size() == 1);
    const Json& row = table["rows"].front();
    const std::string switching = row["switching"];
    const Json comparison = support::parsed(command("compare " + options + " --run none --contention forbid --switching " + switching).out);
    const Json& machine = comparison["machines"].front();
    REQUIRE(row["sizes"].size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
      const Json& cell = row["sizes"][i];
      CHECK(cell["model_time_lower_bound_s"] == machine["bounds"][i]["model_time_lower_bound_s"]);
      const Json& reign = i == 0 ? machine["fastest"].front() : machine["fastest"].back();
      CHECK(cell["algorithms"] == reign["algorithms"]);
      CHECK(cell["times_the_bound"].get<double>() ==
            Approx(cell["model_time_s"].get<double>() / cell["model_time_lower_bound_s"].get<double>()));
    }
  }
}

TEST_CASE("a table of regret fits into 80 columns, and its runs are verified if they are asked for", "[conformance]") {
  const support::Ended ended = command("regret broadcast --on 64x64,16x16x16 --bytes 1KiB:256MiB");
  REQUIRE(ended.status == 0);
  std::istringstream text(ended.out);
  for (std::string line; std::getline(text, line);) CHECK(line.size() <= 80);
  CHECK(lines(ended.out) == 14);
  const Json run = support::parsed(command("regret broadcast --on 4x4 --ports 1 --bytes 1000 --run all --json").out);
  CHECK(run["rows"][0]["sizes"][0]["run"] == true);
  const Json predicted = support::parsed(command("regret broadcast --on 4x4 --ports 1 --bytes 1000 --json").out);
  CHECK(run["rows"][0]["sizes"][0]["model_time_s"].get<double>() ==
        Approx(predicted["rows"][0]["sizes"][0]["model_time_s"].get<double>()).epsilon(1e-12));
}

TEST_CASE("a table of regret has a row for each machine, and dashes where nothing applies", "[conformance]") {
  const std::string options =
      "regret broadcast --on 7,5x5 --ports 1,2,4,all --switching packet,wormhole --bytes 1KiB --algorithms flood,mst,tsai-mckinley ";
  const support::Ended ended = command(options + "--json");
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const Json table = support::parsed(ended.out);
  CHECK(table["rows"].size() == 2 * (2 + 3));  // a ring has 2 ports at most
  const support::Folder folder;
  support::good(options + "--csv " + folder.file("regret.csv"));
  std::size_t cells = 0;
  for (const Json& row : table["rows"]) cells += row["sizes"].size();
  CHECK(lines(support::text_of_file(folder.file("regret.csv"))) == 1 + cells);
  const Json& none = table["rows"].front();
  CHECK(none["switching"] == "packet");
  CHECK(none["sizes"].empty());
}

TEST_CASE("a table of regret is of machines without contention, whatever its algorithms are made for", "[conformance]") {
  const std::string options = "regret allreduce --on 5x5 --ports all --bytes 64 --json --algorithms ";
  const support::Ended alone = command(options + "windows");  // it shares channels
  CHECK(alone.status == 2);
  CHECK(alone.err.find("windows sends several messages over a channel in a step") != std::string::npos);
  const auto winner = [&](const std::string& rest) {
    const support::Ended ended = command(options + rest);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    return support::parsed(ended.out)["rows"][0]["sizes"][0]["algorithms"].front().get<std::string>();
  };
  CHECK(winner("windows,ring") == "ring");
  CHECK(winner("windows,ring --contention share") == "windows");
}

TEST_CASE("what regret and compare run is right in every order of switching and ports", "[conformance]") {
  // One process plans all; the winner of a machine must not be the plan of another.
  std::mt19937_64 random(support::seed());
  CAPTURE(support::seed());
  std::vector<std::string> switchings{"circuit", "wormhole", "packet"}, ports{"all", "1", "2"}, shapes{"5x5", "3x4", "3x3x3"};
  const auto shuffled = [&](std::vector<std::string>& words) {
    std::shuffle(words.begin(), words.end(), random);
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
    return text;
  };
  support::Share share(3, 5);
  for (const std::string collective : {"broadcast", "multinode-broadcast", "total-exchange", "reduce", "allreduce", "reduce-scatter",
                                       "scan", "scatter", "gather", "barrier"}) {
    if (!share.takes_turn()) continue;
    const std::string bytes = collective == "barrier" ? "" : " --bytes 64,4096", shape = shapes[support::random_below(random, 3)];
    const std::string regret = "regret " + collective + " --on " + shape + " --ports " + shuffled(ports) + " --switching " +
                               shuffled(switchings) + bytes + " --run all";
    const std::string compare = "compare " + collective + " --on " + shape + bytes + " --run all --all-machines";
    for (const std::string& line : {regret, compare}) {
      const support::Ended ended = command(line);
      CAPTURE(line, ended.err);
      CHECK(ended.status == 0);
    }
  }
  const support::Ended stars =
      command("regret allreduce --on 5x5 --ports all --switching circuit,wormhole --algorithms stars --bytes 64 --run all");
  CAPTURE(stars.err);
  CHECK(stars.status == 0);
}

TEST_CASE("regret refuses what it cannot read in one line", "[conformance]") {
  for (const auto& [options, why] : std::vector<std::pair<std::string, std::string>>{
           {"--switching foo", "torus: switching 'foo': it must be packet (store and forward), wormhole or circuit\n"},
           {"--ports 9", "torus: --ports: no node of these shapes has so many channels; for instance all\n"},
           {"--run some", "torus: --run 'some': it must be none or all; for instance all\n"}}) {
    const support::Ended ended = command("regret broadcast " + options);
    CHECK(ended.status == 2);
    CHECK(ended.err == why);
  }
  CHECK(command("regret broadcast --on 5x5 --switching packet --ports 1 --bytes 64 --algorithms flood").status == 2);  // nothing applies
}
