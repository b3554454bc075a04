/// One of a thing is said in the singular: in all reports, pages and refusals of machines of a node or two.
#include <regex>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace torus;

namespace {

void check_singular(const std::string& line) {
  static const std::regex wrong(
      "(^|\n|[^>] |[(])1 ((dead|slow|more|busy|failing|other) "
      ")?(nodes|steps|messages|bytes|blocks|ports|channels|links|threads|runs|rows|sources|hops|segments|processes|"
      "groups|dimensions|ranks|sizes|combinations|algorithms|edges|slices|charts|curves|gpus|threadblocks|failures|pairs|others|times|"
      "coordinates|cores)\\b");
  const support::Ended ended = support::command(line);
  CAPTURE(line, ended.out, ended.err);
  CHECK(ended.status != -1);
  std::smatch found;
  for (const std::string& text : {ended.out, ended.err}) {
    const bool any = std::regex_search(text, found, wrong);
    CAPTURE(found.str());
    CHECK_FALSE(any);
  }
}

const std::vector<std::string> all_collectives{
    "broadcast", "multinode-broadcast", "total-exchange", "reduce", "allreduce", "reduce-scatter", "scan", "scatter", "gather", "barrier"};

}  // namespace

TEST_CASE("reports of a node or two have no wrong plural", "[conformance]") {
  for (const std::string& collective : all_collectives) {
    const std::string bytes = collective == "barrier" ? "" : " --bytes 8";
    for (const std::string shape : {"1", "2", "3m"}) {
      check_singular("run " + collective + " --on " + shape + bytes + " --steps --threads 1 --executor threads");
      check_singular("compare " + collective + " --on " + shape + bytes);
      check_singular("bounds " + collective + " --on " + shape + bytes);
      check_singular("bounds " + collective + " --on " + shape + bytes + " --ports 1 --switching packet");
    }
    check_singular("bench " + collective + " --on 2 --warmup 1 --repeat 1 --threads 1 --executor threads" + bytes);
    check_singular("explain " + collective + " --on 2 --tc 1ns --th 1ns" + bytes);
    check_singular("regret " + collective + " --on 1,2" + (bytes.empty() ? "" : " --bytes 8"));
  }
  check_singular("run multinode-broadcast --on 2 --sources 0 --bytes 1");
  check_singular("run multinode-broadcast --on 4x1 --groups columns --bytes 1");
  check_singular("run broadcast --on 2 --bytes 1 + broadcast --offset 1");
  check_singular("run total-exchange --on 2 --sizes uniform:1:1");
  check_singular("list --on 1");
  check_singular("stress --runs 1 --seed 1");
  check_singular("compare broadcast --on 4x4 --bytes 8 --dead-node 1 --dead-link 0:+0");
}

TEST_CASE("files that are read and written have no wrong plural", "[conformance]") {
  const support::Folder folder;
  const std::string trace = support::traced(folder, "allgather --on 2 --bytes 1 --algorithm ring");
  check_singular("verify " + trace);
  check_singular("view " + trace + " -o " + folder.file("page.html"));
  for (const std::string to : {"perfetto", "dot", "goal", "msccl"})
    check_singular("export " + trace + " --to " + to + " -o " + folder.file(to));
  check_singular("verify " + folder.file("msccl") + " --on 2");
  check_singular("verify " + folder.file("msccl") + " --on 1");
  check_singular("import " + folder.file("msccl") + " --on 2 -o " + folder.file("i.jsonl"));
  check_singular("run allgather --on 1 --schedule " + folder.file("msccl"));
  check_singular("run allgather --on 2 --schedule " + folder.file("msccl") + " --map file:" + folder.write("map", "0\n"));
  check_singular("sweep broadcast --on 2 --bytes 1 --algorithms flood --csv " + folder.file("s.csv"));
  check_singular("plot " + folder.file("s.csv") + " -o " + folder.file("p.html") + " --svg " + folder.file("p.svg"));
  for (const std::string written : {"page.html", "p.svg", "goal", "dot"}) {
    CAPTURE(written);
    CHECK(support::text_of_file(folder.file(written)).find(" 1 nodes") == std::string::npos);
  }
}

TEST_CASE("refusals have no wrong plural", "[conformance]") {
  for (const std::string line :
       {"run broadcast --on 1 --source 5", "run broadcast --on 8 --source 9", "run multinode-broadcast --on 1 --sources random:5",
        "run broadcast --on 4x4 --tc 1ns", "run broadcast --on 4x4 --tc 1ns,1ns,1ns", "run scatter --on 1 --sizes no-such-file",
        "run broadcast --on 1 --ports 2", "run broadcast --on 3m --dead-links random:5", "run broadcast --on 1 --memory 1",
        "run allreduce --on 2 --memory 1KiB --bytes 4", "run broadcast --on 4x4 --ports 1 --algorithm swath --dead-node 5",
        "sweep broadcast --on 1 --ports 9 --csv /no/such/folder/s.csv"})
    check_singular(line);
}
