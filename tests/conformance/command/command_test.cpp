/// The command from outside: what it reports, writes and judges.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <sstream>
#include <string>

#include <torus/catalogue.hpp>

#include "runtime/base/figures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::Json;
using support::lines;

TEST_CASE("a run reports every field that programs count on", "[conformance]") {
  const support::Ended ended = command("run broadcast --on 5x5 --bytes 100 --source 2,2 --json --seed 3 --threads 2 --executor threads");
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK(lines(ended.out) == 1);
  const Json json = support::parsed(ended.out);
  for (const char* field : {"shape",
                            "nodes",
                            "ports",
                            "switching",
                            "contention",
                            "collective",
                            "algorithm",
                            "source",
                            "sources",
                            "bytes",
                            "seed",
                            "threads",
                            "executor",
                            "steps",
                            "busy_steps",
                            "steps_formula",
                            "steps_lower_bound",
                            "messages",
                            "hops",
                            "bytes_delivered",
                            "max_channel_load",
                            "model_time_s",
                            "setup_s",
                            "run_s",
                            "verify_s",
                            "asked_bytes",
                            "algbw_bytes_per_s",
                            "busbw_bytes_per_s",
                            "model_algbw_bytes_per_s",
                            "model_busbw_bytes_per_s",
                            "copied_bytes_per_s",
                            "mpi",
                            "hops_per_s",
                            "peak_rss_bytes",
                            "verified",
                            "trace_digest"}) {
    CAPTURE(field);
    CHECK(json.contains(field));
  }
  CHECK(json["shape"] == "5x5");
  CHECK(json["nodes"] == 25);
  CHECK(json["ports"] == 4);
  CHECK(json["source"] == 12);
  CHECK(json["sources"] == Json::array({12}));
  CHECK(json["seed"] == 3);
  CHECK(json["threads"] == 2);
  CHECK(json["executor"] == "threads");
  CHECK(json["bytes_delivered"] >= 24 * 100);
  CHECK(json["verified"] == true);
  CHECK(json["steps"] == json["steps_formula"]);
}

TEST_CASE("the page on JSON names every field", "[conformance]") {
  const std::string page = support::text_of_file(TORUS_SOURCE_DIR "/tools/json.md");
  std::set<std::string> fields;
  const std::function<void(const Json&)> collect = [&](const Json& json) {
    if (json.is_array()) {
      for (const Json& each : json) collect(each);
    } else if (json.is_object()) {
      for (const auto& [name, value] : json.items()) {
        fields.insert(name);
        if (name != "notes" && name != "harmless_because") collect(value);  // those names are an algorithm's, or reasons
      }
    }
  };
  for (const char* line :
       {"run broadcast --machine gemini --on 4x4x1 --steps", "run allreduce --on 4x4 --bytes 1KiB --values real --dead-links random:1",
        "run barrier --on 4x4", "run alltoall --on 4x4 --sizes zipf:1 --groups rows", "run scan --on 4 + scan --offset 9",
        "bounds allreduce --on 4x4 --bytes 1KiB", "explain allreduce rings --on 4x4", "stress --seconds 60 --runs 3",
        "stress --seconds 60 --runs 5 --faults", "list --machines", "list scan --on 4x4"}) {
    const std::string several = " + ";
    std::string whole = line;
    const std::size_t plus = whole.find(several);
    whole.insert(std::min(plus, whole.size()), " --json");
    const support::Ended ended = command(whole);
    CAPTURE(whole, ended.err);
    REQUIRE(ended.status == 0);
    collect(support::parsed(ended.out));
  }
  const auto is_collective = [](const std::string& field) {  // `bounds` has an entry of each
    return std::any_of(collectives().begin(), collectives().end(), [&](const CollectiveFacts& each) { return each.name == field; });
  };
  CHECK(fields.size() > 120);
  for (const std::string& field : fields) {
    CAPTURE(field);
    CHECK((is_collective(field) || page.find("`" + field + "`") != std::string::npos));
  }
}

TEST_CASE("predictions expect as many sources as are named, unless --expect says otherwise", "[conformance]") {
  const std::string line = "run multinode-broadcast --on 8x8 --bytes 8 --json ";
  const auto assumed = [&](const std::string& more) {
    const Json run = support::parsed(command(line + "--algorithm ring " + more).out);
    return run["channel_bytes_formula"].get<double>();
  };
  CHECK(assumed("--sources random:40") == assumed("--sources random:40 --expect 40"));
  CHECK(assumed("--sources random:40") > assumed("--sources random:40 --expect 2"));
  CHECK(assumed("") == assumed("--expect 64"));  // all nodes are sources
  const std::string machine = " --switching wormhole --ports 4 --contention forbid ";
  const Json comparison =
      support::parsed(command("compare multinode-broadcast --on 8x8 --bytes 8 --run none --json --sources random:40" + machine).out);
  CHECK(support::parsed(command(line + "--sources random:40" + machine).out)["algorithm"] ==
        comparison["machines"][0]["fastest"][0]["algorithms"][0]);
}

TEST_CASE("a named algorithm gets the machine that it was made for, unless one is described", "[conformance]") {
  CHECK(support::parsed(command("run broadcast --on 4x4 --algorithm flood --json").out)["switching"] == "packet");
  CHECK(support::parsed(command("run broadcast --on 4x4 --algorithm flood --switching circuit --json").out)["switching"] == "circuit");
  CHECK(support::parsed(command("run broadcast --on 4x4 --algorithm span --json").out)["switching"] == "circuit");
  CHECK(support::parsed(command("run total-exchange --on 4x4 --json").out)["switching"] == "packet");
  CHECK(support::parsed(command("run broadcast --on 4x4 --json").out)["switching"] == "wormhole");
}

TEST_CASE("a trace that was written is judged legal and has the run's digest", "[conformance]") {
  const support::Folder folder;
  for (const char* name : {"t.jsonl", "t.jsonl.gz"}) {
    for (const char* what : {"broadcast --on 7x7", "total-exchange --on 3x4m --ports 1", "broadcast --on 3c --algorithm flood"}) {
      const support::Ended run = command(std::string("run ") + what + " --bytes 8 --json --trace " + folder.file(name));
      CAPTURE(name, what, run.err);
      REQUIRE(run.status == 0);
      const support::Ended verify = command("verify --json " + folder.file(name));
      CAPTURE(verify.err);
      REQUIRE(verify.status == 0);
      CHECK(support::parsed(verify.out)["trace_digest"] == support::parsed(run.out)["trace_digest"]);
      CHECK(support::parsed(verify.out)["hops"] == support::parsed(run.out)["hops"]);
    }
  }
  CHECK(folder.files() == 2);
}

TEST_CASE("an illegal trace is refused with status 1, from a file as from standard input", "[conformance]") {
  const support::Folder folder;
  REQUIRE(command("run broadcast --on 5x5 --bytes 8 --trace " + folder.file("t")).status == 0);
  std::string text = support::text_of_file(folder.file("t"));
  text.erase(text.rfind('\n', text.size() - 2) + 1);  // the last message is lost
  const std::string path = folder.write("short", text);
  const support::Ended file = command("verify " + path);
  CAPTURE(file.err);
  CHECK(file.status == 1);
  CHECK(lines(file.err) == 1);
  CHECK(file.err.find("lacks block") != std::string::npos);
  CHECK(file.out.find("REFUSED") != std::string::npos);
  const support::Ended pipe = support::run_program(TORUS_PROGRAM, {.arguments = {"verify", "-", "--json"}, .in = path});
  CHECK(pipe.status == 1);
  CHECK(support::parsed(pipe.out)["ok"] == false);
  const support::Ended broken = command("verify " + folder.write("broken", text + "{\"step\":\n"));
  CHECK(broken.status == 2);
  CHECK(broken.err.find(" line " + std::to_string(lines(text) + 1) + ": ") != std::string::npos);
}

TEST_CASE("repetitions are timed and summed up", "[conformance]") {
  const Json json = support::parsed(command("run broadcast --on 8x8 --bytes 1KiB --repeat 7 --json").out);
  CHECK(json["repeat"]["runs"] == 7);
  CHECK(json["repeat"]["run_s_min"] <= json["repeat"]["run_s_median"]);
  CHECK(json["repeat"]["run_s_median"] <= json["repeat"]["run_s_max"]);
  CHECK(json["repeat"]["run_s_median"] == json["run_s"]);
  CHECK(json["repeat"]["run_s_spread"].get<double>() ==
        Approx(json["repeat"]["run_s_max"].get<double>() / json["repeat"]["run_s_min"].get<double>()));
}

TEST_CASE("figures go to a CSV file of one head and one line", "[conformance]") {
  const support::Folder folder;
  REQUIRE(command("run broadcast --on 4x4 --csv " + folder.file("r.csv")).status == 0);
  const std::string text = support::text_of_file(folder.file("r.csv"));
  CHECK(lines(text) == 2);
  CHECK(text.starts_with("shape,nodes,ports,"));
  CHECK(folder.files() == 1);
}

TEST_CASE("the figures of a run add up, and are those of its trace", "[conformance]") {
  const support::Folder folder;
  const std::string trace = folder.file("t.jsonl");
  const std::string machine = "run multinode-broadcast --on 6x6 --algorithm aggregate-distribute --h 3 --sources random:9 --bytes 80 ";
  const support::Ended ended = command(machine + "--ts 2e-6 --tc 3e-10 --json --trace " + trace);
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const Json run = support::parsed(ended.out);
  const auto sum = [&run](const char* field) {
    double total = 0;
    for (const Json& phase : run["phases"]) total += phase[field].get<double>();
    return total;
  };
  REQUIRE(run["phases"].size() > 2);
  for (const char* field : {"steps", "messages", "channel_bytes"}) {
    CAPTURE(field);
    CHECK(sum(field) == run[field == std::string("channel_bytes") ? "channel_bytes_sum" : field].get<double>());
  }
  CHECK(sum("model_time_s") == Approx(run["model_time_s"].get<double>()).epsilon(1e-12));
  CHECK(run["model_time_s"].get<double>() ==
        Approx(run["steps"].get<double>() * 2e-6 + run["channel_bytes_sum"].get<double>() * 3e-10).epsilon(1e-12));
  const Json judged = support::parsed(command("verify --json " + trace).out);
  for (const char* field : {"messages", "hops", "channel_bytes_sum"}) {
    CAPTURE(field);
    CHECK(run[field].get<std::uint64_t>() > 0);
    CHECK(judged[field] == run[field]);
  }
  std::uint64_t blocks = 0;
  for (std::istringstream text(support::text_of_file(trace)); !text.eof();) {
    std::string line;
    if (!std::getline(text, line)) break;
    const Json message = support::parsed(line);
    if (message.contains("blocks")) blocks += message["blocks"].size();
  }
  CHECK(run["data_bytes"] == blocks * 80);
}

TEST_CASE("bounds of a shape are its product formulas", "[conformance]") {
  // 4x4: every node has distances 0..4 with sum 2 * 4 * (0+1+1+2) = 32; half of it is cut by 2 * 4 links.
  const Json json = support::parsed(command("bounds --on 4x4 --json").out);
  CHECK(json["diameter"] == 4);
  CHECK(json["average_distance"].get<double>() == Approx(32.0 / 15));
  CHECK(json["bisection_links"] == 8);
  CHECK(json["bound3_steps"] == 32);
  CHECK(json["bound4_steps"] == 8);
  CHECK(command("bounds").status == 0);
}

TEST_CASE("bounds (3) and (4) are what all pairs of nodes come to", "[conformance]") {
  for (const char* shape : {"mesh:3", "3x4m", "2x3c", "5x3mx2", "1", "4c"}) {
    CAPTURE(shape);
    const Topology topology = Topology::parse(shape);
    const std::uint64_t n = topology.nodes();
    std::uint64_t hops = 0;
    for (NodeId a = 0; a < n; ++a) {
      for (NodeId b = 0; b < n; ++b) hops += static_cast<std::uint64_t>(topology.distance(a, b));
    }
    // Across the middle of each dimension: the blocks that cross it each way, and the links, counted one by one.
    std::uint64_t most = 0;
    for (Dimension d = 0; d < topology.dimensions(); ++d) {
      const auto low = [&](NodeId node) { return topology.coordinate(node, d) < topology.extent(d) / 2; };
      std::uint64_t crossing = 0, links = 0;
      for (NodeId a = 0; a < n; ++a) {
        for (NodeId b = 0; b < n; ++b) {
          if (!low(a) || low(b)) continue;
          ++crossing;
          // A ring of two has two links between its nodes.
          if (topology.distance(a, b) == 1) links += topology.wiring(d) == Wiring::ring && topology.extent(d) == 2 ? 2U : 1U;
        }
      }
      if (links > 0) most = std::max(most, (crossing + links - 1) / links);
    }
    const Json bounds = support::parsed(command(std::string("bounds --json --on ") + shape).out);
    const Json run = support::parsed(command(std::string("run total-exchange --bytes 1 --json --on ") + shape).out);
    CHECK(bounds["bound3_steps"] == (hops + n - 1) / n);
    CHECK(bounds["bound4_steps"] == most);
    CHECK(run["bound3_steps"] == bounds["bound3_steps"]);
    CHECK(run["bound4_steps"] == bounds["bound4_steps"]);
    CHECK(bounds["average_status"].get<double>() == Approx(static_cast<double>(hops) / static_cast<double>(n)));
  }
}

TEST_CASE("the sources that are named are those of the bounds of the broadcasts", "[conformance]") {
  // A line of 9 under packet switching: the eccentricity of its middle is 4, of its end 8.
  const auto asked = [](const std::string& sources) {
    return support::parsed(command("bounds --on mesh:9 --switching packet --json --sources " + sources).out)["collectives"];
  };
  CHECK(asked("4")["broadcast"]["steps_lower_bound"] == 4);
  CHECK(asked("4")["multinode-broadcast"]["steps_lower_bound"] == 4);
  const Json two = asked("0;4");
  CHECK(two["broadcast"]["steps_lower_bound"] == 8);  // from node 0, as where none is named
  CHECK(two["multinode-broadcast"]["source_count"] == 2);
  CHECK(two["multinode-broadcast"]["steps_lower_bound"] == 8);
  CHECK(two["total-exchange"]["source_count"] == 9);
}

TEST_CASE("the stress reports what it ran in text, JSON and CSV alike", "[conformance]") {
  const support::Folder folder;
  const std::string options = "stress --runs 30 --seed 3 --only wang-tseng --csv " + folder.file("s.csv");
  const support::Ended ended = command(options + " --json");
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const Json json = support::parsed(ended.out);
  CHECK(json["seed"] == 3);
  CHECK(json["runs"] == 30);
  CHECK(json["failures"].empty());
  REQUIRE(json["rows"].size() == 1);
  const Json& row = json["rows"].front();
  CHECK(row["runs"] == 30);
  CHECK(row["failures"] == 0);
  CHECK(row["messages"] > 0);
  CHECK(support::text_of_file(folder.file("s.csv")) ==
        fmt::format("collective,algorithm,runs,with faults,shapes,sources,most nodes,steps,messages,bytes,not drawn,failures\n"
                    "broadcast,wang-tseng,30,{},{},{},{},{},{},{},{},0\n",
                    row["with_faults"].get<int>(), row["shapes"].get<int>(), row["sources"].get<int>(), row["most_nodes"].get<int>(),
                    row["steps"].get<int>(), row["messages"].get<int>(), row["bytes"].get<std::int64_t>(), row["undrawn"].get<int>()));
  const std::string text = command(options).out;
  CAPTURE(text);
  CHECK(text.find("seed 3, 30 runs, 0 failing algorithms; ") != std::string::npos);
  CHECK(text.find(fmt::format("; {} in groups, ", json["special"]["in_groups"].get<int>())) != std::string::npos);
  CHECK(text.find(grouped(row["messages"].get<std::uint64_t>())) != std::string::npos);
}

TEST_CASE("every example of the page about the command works", "[conformance]") {
  const support::Folder folder;
  const std::string page = support::text_of_file(std::string(TORUS_SOURCE_DIR) + "/tools/README.md");
  std::size_t at = page.find("```sh\n") + 6;
  int examples = 0;
  for (; page.compare(at, 3, "```") != 0; at = page.find('\n', at) + 1) {
    std::string line = page.substr(at, page.find('\n', at) - at);
    line = line.substr(0, line.find(" #"));
    REQUIRE(line.starts_with("torus "));
    line = line.substr(6);
    for (const std::string name : {"trace.jsonl.gz", "sweep.csv", "bench.csv", "page.html", "steps.svg", "curves.html", "curves.svg",
                                   "tree.dot", "program.xml", "imported.jsonl"}) {
      if (const std::size_t at_name = line.find(name); at_name != std::string::npos) line.replace(at_name, name.size(), folder.file(name));
    }
    if (line.starts_with("new ")) line += " -o " + folder.file("new" + std::to_string(examples));
    const support::Ended ended = command(line);
    CAPTURE(line, ended.err);
    CHECK(ended.status == 0);
    CHECK(ended.err.empty());
    CHECK(!ended.out.empty());
    ++examples;
  }
  CHECK(examples >= 10);
}
