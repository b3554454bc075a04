/// The command from outside: what it says to wrong usage.
#include <filesystem>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::lines;

TEST_CASE("every wrong command line is refused with one line and status 2", "[conformance]") {
  const support::Folder folder;
  folder.write("trace", "hello\n");
  const std::vector<std::string> bad{
      "",
      "rum",
      "Run broadcast",
      "-x",
      "--foo",
      "run",
      "run bcasts",
      "run broadcast extra",
      "run broadcast list",
      "list run broadcast --on 4x4",
      "bounds list",
      "run broadcast --bytez 4",
      "run broadcast -z",
      "run broadcast --on",
      "run broadcast --on ''",
      "run broadcast --on 16y16",
      "run broadcast --on 0x4",
      "run broadcast --on -4x4",
      "run broadcast --on 4x",
      "run broadcast --on x4",
      "run broadcast --on 4xx4",
      "run broadcast --on 4.5x4",
      "run broadcast --on 4x4q",
      "run broadcast --on 2^99",
      "run broadcast --on 2^",
      "run broadcast --on hypercube:0",
      "run broadcast --on hypercube:40",
      "run broadcast --on mesh:",
      "run broadcast --on 99999x99999",
      "run broadcast --on 99999999999",
      "run broadcast --on 4x4 --on 8x8",
      "run broadcast --ports 0",
      "run broadcast --ports 7",
      "run broadcast --ports -1",
      "run broadcast --ports many",
      "run broadcast --ports 1.5",
      "run broadcast --switching train",
      "run broadcast --switching Packet",
      "run broadcast --contention maybe",
      "run broadcast --routing 0,0,1",
      "run broadcast --routing 0,1",
      "run broadcast --routing a,b,c",
      "run broadcast --routing ''",
      "run broadcast --algorithm wang-tsang",
      "run broadcast --algorithm ''",
      "run broadcast --algorithm a2",
      "run broadcast --algorithm binomial",
      "run broadcast --algorithm allgather",
      "run flood",
      "run broadcast --plan-time 0",
      "run broadcast --plan-time soon",
      "new",
      "new ''",
      "new Foo",
      "new 2nd",
      "new -x",
      "new my_broadcast",
      "new flood",
      "new bcast",
      "new torus",
      "new test",
      "new fine -o " + folder.file(""),
      "new fine -o " + folder.file("trace"),
      "new fine -o " + folder.file("none/fine"),
      "new fine -o ''",
      "new fine finer",
      "run total-exchange --algorithm flood",
      "run broadcast --on 4x5 --algorithm wang-tseng",
      "run broadcast --on 4x4 --algorithm flood --ports 1",
      "run broadcast --bytes 4Kb",
      "run broadcast --bytes -1",
      "run broadcast --bytes 1.5",
      "run broadcast --bytes 99999999999999999999",
      "run broadcast --bytes ''",
      "run broadcast --source 4096",
      "run broadcast --source 16,0,0",
      "run broadcast --source 1,1",
      "run broadcast --source 0;1",
      "run broadcast --source all",
      "run broadcast --source none",
      "run multinode-broadcast --sources 0;0",
      "run multinode-broadcast --sources random:257",
      "run multinode-broadcast --sources random:x",
      "run multinode-broadcast --sources row:16",
      "run multinode-broadcast --sources block:17x1",
      "run multinode-broadcast --sources density:2",
      "run multinode-broadcast --sources somewhere",
      "run scan --sources 3",
      "run broadcast --seed -1",
      "run broadcast --seed x",
      "run broadcast --seed 18446744073709551616",
      "run broadcast --segments 0",
      "run broadcast --segments some",
      "run total-exchange --segments 2",
      "run total-exchange --h 3",
      "run multinode-broadcast --h 0",
      "run multinode-broadcast --prefix global4",
      "run multinode-broadcast --chunk 0",
      "run multinode-broadcast --expect -1",
      "run broadcast --threads 0",
      "run broadcast --threads 9999",
      "run broadcast --executor fast",
      "run broadcast --ts -1",
      "run broadcast --tc nan",
      "run broadcast --th x",
      "run broadcast --memory 0",
      "run broadcast --memory lots",
      "run broadcast --memory 1KiB",
      "run broadcast --on 1024x1024x64 --bytes 1GiB",
      "run broadcast --repeat 0",
      "run broadcast --on 4x4 --repeat 2 --trace " + folder.file("t"),
      "run broadcast --digest 12",
      "run broadcast --json=maybe",
      "run broadcast --trace",
      "run broadcast --on 4x4 --trace " + folder.file("none/t"),
      "run broadcast --on 4x4 --trace " + folder.file(""),
      "run broadcast --on 4x4 --csv " + folder.file("none/t"),
      "run broadcast --on 4x4 --trace ''",
      "run broadcast --on 4x4 --csv ''",
      "run broadcast --on 4x4 --trace -",
      "run broadcast --on 4x4 --csv -",
      "run broadcast --on 4x4 --trace " + folder.file("t") + " --csv " + folder.file("t"),
      "run broadcast --on 4x4 --trace " + folder.file("t") + " --csv " + folder.file("./t"),
      "run broadcast --on 2^31 --bytes 16",
      "run broadcast --on 4x4 --bytes 9223372036854775807",
      "run multinode-broadcast --on 2^31 --bytes 16",
      "run multinode-broadcast --on 64x64 --algorithm ring --bytes 1TiB",
      "run total-exchange --on 300x300 --bytes 1TiB",
      "run broadcast --on 4x4 --segments 2147483647",
      "run multinode-broadcast --on 4x4 --algorithm hierarchical --h 5",
      "run multinode-broadcast --on 4x4 --algorithm ring --h 2",
      "run multinode-broadcast --on 4x4 --algorithm ring --prefix none",
      "run multinode-broadcast --on 4x4 --algorithm ring --chunk 5",
      "run multinode-broadcast --on 4x4 --algorithm hierarchical --h 2 --chunk 9",
      "run multinode-broadcast --on 4x4 --algorithm edst --prefix hash",
      "run broadcast --ts 1e308",
      "run broadcast --tc 1.1e6",
      "compare",
      "compare bcasts",
      "compare broadcast --on 4y4",
      "compare broadcast --on 4x4,8x8",
      "compare broadcast --bytes 16MiB:1KiB",
      "compare broadcast --bytes 1KiB:",
      "compare broadcast --bytes 1KiB:1MiB:4",
      "compare broadcast --algorithms flood,wang-tsang",
      "compare broadcast --on 4x4 --ports 9",
      "compare broadcast --on 4x5 --algorithms wang-tseng",
      "compare broadcast --on 4x4 --run some",
      "compare broadcast --on 4x4 --threads 0",
      "compare broadcast --on 4x4 --csv " + folder.file("none/t"),
      "sweep broadcast",
      "sweep bcasts --csv " + folder.file("s"),
      "sweep broadcast --on 4x4, --csv " + folder.file("s"),
      "sweep broadcast --on 4x4 --bytes 8:4 --csv " + folder.file("s"),
      "sweep broadcast --on 4x4 --ports 1,,2 --csv " + folder.file("s"),
      "sweep broadcast --on 4x4 --ports 9 --csv " + folder.file("s"),
      "sweep broadcast --on 4x4 --algorithms none --csv " + folder.file("s"),
      "sweep broadcast --on 4x5 --algorithms wang-tseng --csv " + folder.file("s"),
      "sweep multinode-broadcast --on 8x8,4x4 --sources row:5 --csv " + folder.file("s"),
      "sweep broadcast --on 4x4 --repeat 0 --csv " + folder.file("s"),
      "sweep broadcast --on 4x4 --seed x --csv " + folder.file("s"),
      "sweep broadcast --on 4x4 --csv " + folder.file("none/t"),
      "sweep broadcast --on 4x4 --csv " + folder.file(""),
      "list everything",
      "list broadcast total-exchange",
      "list --yaml",
      "verify",
      "verify " + folder.file("none"),
      "verify " + folder.file(""),
      "verify " + folder.file("trace"),
      "verify /dev/null",
      "bounds --on 3y",
      "bounds 4x4",
      "bounds --ports 99",
      "stress --only magic",
      "stress --seconds -1",
      "stress --seconds 0",
      "stress --seconds 1 --csv ''",
      "stress --seconds soon",
      "stress --runs 0",
      "stress --seed x",
      "stress --executor x",
      "stress --threads 0",
      "stress --seconds 1 --csv " + folder.file("none/t"),
  };
  REQUIRE(bad.size() >= 60);
  for (const std::string& line : bad) support::check_refused(line);
  CHECK(folder.files() == 1);
}

TEST_CASE("one file for two outputs is refused, also by a link that leads nowhere yet", "[conformance]") {
  const support::Folder folder;
  std::filesystem::create_symlink("t", folder.file("link"));
  const support::Ended ended = command("run broadcast --on 4x4 --trace " + folder.file("t") + " --csv " + folder.file("link"));
  CHECK(ended.status == 2);
  CHECK(ended.err.find("it is the file that --trace writes") != std::string::npos);
  CHECK(folder.files() == 1);
}

TEST_CASE("a refusal names the value, the rule and what would do", "[conformance]") {
  const auto says = [](const std::string& line, std::initializer_list<const char*> parts) {
    const std::string err = command(line).err;
    CAPTURE(line, err);
    for (const char* part : parts) CHECK(err.find(part) != std::string::npos);
  };
  says("rum", {"'rum'", "did you mean 'run'"});
  says("broadcast --on 4x4", {"'broadcast'", "did you mean 'run broadcast'"});
  says("run brodcast", {"'brodcast'", "did you mean 'broadcast'"});
  says("run broadcast --byts 4", {"'--byts'", "did you mean '--bytes'"});
  says("run broadcast --algorithm wang-tsang", {"wang-tsang", "did you mean 'wang-tseng'"});
  says("run broadcast --bytes 4Kb", {"--bytes '4Kb'", "4KiB", "for instance"});
  says("run broadcast --bandwidth 100G/s", {"--bandwidth '100G/s'", "for instance 100Gb/s"});
  says("run broadcast --bandwidth 1GB/s --tc 1ns", {"--bandwidth '1GB/s'", "--tc 1ns", "leave out one"});
  says("run broadcast --on 4x4 --source 9,9", {"'9,9'", "0 to 15", "for instance 3,3"});
  says("run broadcast --on 4x4 --ports 5", {"--ports '5'", "1 to 4"});
  says("run multinode-broadcast --prefix global4", {"global4", "did you mean 'global5'"});
  says("run multinode-broadcast --on 4x4 --expect -1", {"--expect '-1'", "0 to 2147483648", "for instance 1"});
  says("run multinode-broadcast --on 4x4 --algorithm ring --h 2", {"ring", "--h 2", "leave out", "aggregate-distribute"});
  says("run multinode-broadcast --on 4x4 --algorithm ring --segments 2", {"ring does not read it", "leave out --segments 2"});
  says("run multinode-broadcast --on 4x4 --algorithm hierarchical --segments 1",
       {"hierarchical does not read it", "leave out --segments 1"});
  says("run broadcast --on 45x45x45 --ports 1 --algorithm scatter-collect", {"91125 nodes", "65535 would do"});
  says("run broadcast --on 4x4 --segments 2147483647", {"--segments 2147483647", "34,359,738,352 blocks", "--segments 268435455 would do"});
  says("run broadcast --on 4x4 --bytes 9223372036854775807", {"--on 4x4 --bytes 9223372036854775807", "at least 16 EiB", "would fit"});
  says("run broadcast --on 16x16x16 --algorithm flood --bytes 1152921504606846976", {"--bytes 1EiB", "4,096 nodes", "at least 16 EiB"});
  says("run total-exchange --on 300x300 --bytes 1TiB --memory 1GiB", {"--on 300x300", "1 GiB may be used", "smaller --on"});
  says("stress --seconds -1", {"--seconds '-1'", "for instance 60"});
  says("run broadcast --on 4x5 --algorithm wang-tseng", {"wang-tseng", "4x5"});
}

TEST_CASE("the commonest slips of a new user are told the way on", "[conformance]") {
  const std::pair<const char*, const char*> slips[]{
      {"", "for instance torus run broadcast"},
      {"broadcast --on 4x4", "did you mean 'run broadcast'?"},
      {"version", "did you mean '--version'?"},
      {"run", "collective is required: broadcast, multinode-broadcast"},
      {"run brodcast", "did you mean 'broadcast'?"},
      {"run broadcast 8x8", "a shape is --on 8x8"},
      {"run broadcast --on 8*8", "for instance 16x16"},
      {"run broadcast --shape 8x8", "did you mean '--on'?"},
      {"run broadcast -n 8x8", "did you mean '--on'?"},
      {"run broadcast --on 4x4 --size 64", "did you mean '--bytes'?"},
      {"run broadcast --on 4x4 --bytes 64 KiB", "a value and its unit are one word, for instance 64KiB"},
      {"run broadcast --on 4x4 --bytes 64kb", "for instance 64, 4KiB"},
      {"run broadcast --on 4x4 --algo flood", "did you mean '--algorithm'?"},
      {"compare broadcast --algorithm flood", "did you mean '--algorithms'?"},
      {"run flood", "for instance torus run broadcast --algorithm flood"},
      {"run broadcast --on 4x4 --algorithm binomial", "here it is called mst"},
      {"run broadcast --on 4x4 --switching store-and-forward", "packet (store and forward), wormhole or circuit"},
      {"run broadcast --on 4x4 --root 99", "0 to 15"},
      {"run broadcast --on 4x4 --ports 9", "1 to 4"},
      {"run broadcast --on 4x4 --json out.json", "> out.json to that file"},
      {"run broadcast --on 4x4 --machine tpu-v4", "for instance mesh:2x2x4"},
      {"bounds allreduce --on gemini", "it is a machine; write --machine gemini"},
      {"list machines", "write torus list --machines"},
      {"run allgather --on 40x40 --dead-link 0:+1 --ports 1 --chunk 1", "no algorithm applies"},
      {"list swath --machines", "--machine 'swath': it must be tpu-v4, "},
      {"list --machines --on 4x4", "--machines: it lists machines; leave out the rest"},
      {"run allreduce --op plus", "operator 'plus': it must be sum, min, max, xor, prod, and, or"},
      {"run scan --on 3x3 --root 3", "--sources or --root '3': in scan every node takes part alike"},
      {"compare broadcast --on 4x4 --bytes 64:1KiB:x1", "--bytes '64:1KiB:x1': the factor of a range is a whole number from 2"},
      {"run broadcast --on 4x4 --bytes 8EiB", "a whole number of bytes below 2^63"},
      {"verify missing.jsonl", "name a file that `torus run --trace` wrote"},
      {"view", "trace is required: a file"},
      {"export trace.jsonl", "--to is required: perfetto|dot|goal"},
      {"sweep broadcast", "--csv is required: the table"},
  };
  static_assert(std::size(slips) >= 15);
  for (const auto& [line, way] : slips) {
    support::check_refused(line);
    const std::string err = command(line).err;
    CAPTURE(line, err);
    CHECK(err.find(way) != std::string::npos);
  }
}

TEST_CASE("two values of --tc that may be one number are noted, once all is done", "[conformance]") {
  const support::Ended ended = support::good("run allreduce --on 4x4 --bytes 64 --tc 0,1");
  CHECK(ended.err == "torus: note: --tc '0,1': one value for each of two dimensions; a decimal has a point: 0.1\n");
  CHECK(support::good("run allreduce --on 4x4 --bytes 64 --tc 1e-10,2e-10").err.empty());
}

TEST_CASE("a file - is refused by all commands that write tables", "[conformance]") {
  for (const std::string name : {"run", "compare", "bench", "sweep", "regret"}) {
    const std::string words = support::refusal(name + " broadcast --on 4x4 --bytes 8 --csv -");
    CHECK(words == "torus: file '-': it must be a name; standard output is /dev/stdout, a file that is called so ./-\n");
  }
}

TEST_CASE("help and version are no errors", "[conformance]") {
  for (const char* line : {"--help", "--version", "run --help", "compare --help", "sweep --help", "list --help", "verify --help",
                           "bounds --help", "stress --help", "-h", "run -h", "list -h"}) {
    const support::Ended ended = command(line);
    CAPTURE(line);
    CHECK(ended.status == 0);
    CHECK(ended.err.empty());
    CHECK(!ended.out.empty());
    CHECK(ended.out.find("-h,") == std::string::npos);  // beside --h it would end the command at once, with CLI11 from 2.4 on
  }
}

TEST_CASE("help fits 80 columns", "[conformance]") {
  for (const char* of : {"", " run", " compare", " sweep", " bench", " list", " verify", " import", " bounds", " stress", " view", " plot",
                         " export", " regret", " explain", " expect", " new", " completion", " man"}) {
    const support::Ended ended =
        support::run_program("/usr/bin/env", {.arguments = {"COLUMNS=80", "/bin/sh", "-c", std::string(TORUS_PROGRAM) + of + " --help"}});
    CAPTURE(of);
    REQUIRE(ended.status == 0);
    std::istringstream text(ended.out);
    for (std::string line; std::getline(text, line);) {
      CAPTURE(line);
      CHECK(line.size() <= 80);
    }
  }
}

TEST_CASE("an option that only some algorithms read restricts the choice to these", "[conformance]") {
  CHECK(command("run multinode-broadcast --on 4x4 --bytes 8").out.find("rings (") != std::string::npos);
  for (const char* option : {"--h 2", "--prefix hash", "--chunk 2"}) {
    const support::Ended ended = command(std::string("run multinode-broadcast --on 4x4 --bytes 8 ") + option);
    CAPTURE(option, ended.err);
    CHECK(ended.status == 0);
    CHECK(ended.out.find("rings (") == std::string::npos);
  }
}

TEST_CASE("a wrong name of a collective or an algorithm is pointed to the right one", "[conformance]") {
  const std::pair<const char*, const char*> cases[]{
      {"run flood", "for instance torus run broadcast --algorithm flood"},
      {"compare bruck", "for instance torus run total-exchange --algorithm bruck"},
      {"run allgathr", "did you mean 'allgather'?"},
      {"run broadcast --algorithm bcast", "it is a collective"},
      {"run broadcast --algorithm binomial", "here it is called mst"},
      {"run alltoall --algorithm pairwise", "here it is called direct"},
      {"compare broadcast --algorithms flood,van-de-geijn", "here it is called scatter-collect"},
      {"run broadcast --algorithm bruck", "for instance torus run total-exchange --algorithm bruck"},
  };
  for (const auto& [line, way] : cases) {
    const support::Ended ended = command(line);
    CAPTURE(line, ended.err);
    CHECK(ended.status == 2);
    CHECK(lines(ended.err) == 1);
    CHECK(ended.err.find(way) != std::string::npos);
  }
  CHECK(command("run broadcast --on 1").out.find("from (0)\n") != std::string::npos);
  CHECK(command("run allgather --on 3x3 --sources none").out.find("of 4KiB from no node") != std::string::npos);
  const std::string holes = command("list gather --on 4x4 --dead-node 3").out;
  CHECK(holes.find("of gather only by-load, tree-of-broadcast may live with holes") != std::string::npos);
  CHECK(holes.find("sklansky") == std::string::npos);
  for (const std::string allgather : {"allgather", "MPI_Allgather", "Allgather", "multinode-broadcast"}) {
    const support::Ended ended = command("run " + allgather + " --on 4x4 --bytes 64");
    CAPTURE(allgather, ended.err);
    CHECK(ended.out.find("multinode-broadcast (MPI: Allgather) of 64 bytes from all 16, 1KiB in all") != std::string::npos);
  }
  CHECK(command("run alltoall --on 4x4 --bytes 64").out.find("total-exchange (MPI: Alltoall) of 64 bytes a block, 1KiB a node") !=
        std::string::npos);
  CHECK(command("compare bcast --on 4x4 --bytes 64 --run none").out.starts_with("broadcast (MPI: Bcast) on 4x4"));
  CHECK(command("bench bcast --on 4x4 --bytes 64 --algorithms flood --repeat 1").out.find("# broadcast (MPI: Bcast) on 4x4") !=
        std::string::npos);
}

TEST_CASE("a new project has two files, and a folder that is there is left alone", "[conformance]") {
  const support::Folder folder;
  const std::string line = "new my-broadcast -o " + folder.file("mine");
  const support::Ended ended = command(line);
  CAPTURE(ended.out, ended.err);
  CHECK(ended.status == 0);
  const std::string cmake = support::text_of_file(folder.file("mine/CMakeLists.txt"));
  const std::string source = support::text_of_file(folder.file("mine/my-broadcast.cpp"));
  CHECK(cmake.find("add_executable(my-broadcast my-broadcast.cpp)") != std::string::npos);
  CHECK(source.find(".name = \"my-broadcast\"") != std::string::npos);
  CHECK(source.find("NAME") == std::string::npos);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.file("mine")), {}) == 2);
  const support::Ended again = command(line);
  CHECK(again.status == 2);
  CHECK(again.err.find("it is there already; for instance torus new my-broadcast -o my-broadcast-2\n") != std::string::npos);
  CHECK(support::text_of_file(folder.file("mine/my-broadcast.cpp")) == source);
}

TEST_CASE("options from a file run as options of the command line, which go before them", "[conformance]") {
  const support::Folder folder;
  folder.write("options", "# a machine\non = \"4x4\"\nports=1\n\n[run]\njson = true\nsources = \"1,2\"\n[sweep]\nrepeat = 3\n");
  const auto report = [](const std::string& arguments) { return support::parsed(command(arguments).out); };
  const auto from_file = report("run broadcast --config " + folder.file("options"));
  CHECK(from_file.at("nodes") == 16);
  CHECK(from_file.at("ports") == 1);
  CHECK(from_file.at("source") == 6);
  const auto typed_first = report("run broadcast --root 3 --on=8x8 --config=" + folder.file("options"));
  CHECK(typed_first.at("nodes") == 64);
  CHECK(typed_first.at("source") == 3);
}

TEST_CASE("a file of options may begin with the mark of UTF-8, and give other subcommands the same option", "[conformance]") {
  const support::Folder folder;
  folder.write("options", "\xef\xbb\xbfon = \"4x4\"\r\njson = true\r\n[sweep]\non = \"8x8\"\n[view]\non = \"5x5\"\n");
  const support::Ended ended = command("run broadcast --config " + folder.file("options"));
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK(support::parsed(ended.out).at("nodes") == 16);
}

TEST_CASE("a file of options that is wrong is refused in one line", "[conformance]") {
  const support::Folder folder;
  const auto refused = [&](const std::string& text) {
    folder.write("options", text);
    const support::Ended ended = command("run broadcast --config " + folder.file("options"));
    CHECK(ended.status == 2);
    CHECK(lines(ended.err) == 1);
    return ended.err.substr(ended.err.find("options'") + 10);
  };
  CHECK(refused("bytez = 4\n") == "'bytez': run has no such option; did you mean '--bytes'?\n");
  CHECK(refused("[walk]\non = 4x4\n") == "'[walk]': it must be a subcommand: [run]\n");
  CHECK(refused("on = 8x8\non = 4x4\n") == "'on' in line 1 and 'on' in line 2 give one option twice; leave out one\n");
  CHECK(refused("# two roots\nroot = 1\n\n[sweep]\nroot = 2\n[run]\nsource = 3\n") ==
        "'root' in line 2 and 'source' in line 7 give one option twice; leave out one\n");
  CHECK(refused("# short lines\non\nbytes = 64\n") == "'on' in line 2 is no option and value; for instance on = 8x8\n");
  CHECK(refused("on = \"\"\n") == "'on' has no value; for instance on = 8x8\n");
  CHECK(refused("config = other\n") == "'config': it is for the command line alone; leave it out\n");
  CHECK(refused("json = maybe\n") == "json = 'maybe': it must be true or false\n");
  CHECK(refused(std::string((1U << 20U) + 1, '#')) == "it has more than 1 MiB; it must be a file of lines such as on = 8x8\n");
  for (const std::string& file : {folder.file(""), folder.file("none")}) {
    CAPTURE(file);
    const support::Ended ended = command("run broadcast --config " + file);
    CHECK(ended.status == 2);
    CHECK(lines(ended.err) == 1);
  }
}
