/// The command where files, memory or time end: full disks, limits, signals.
#include <algorithm>
#include <filesystem>
#include <sys/stat.h>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::Json;
using support::lines;
using support::words;

namespace {

/// A run that takes minutes unless it is stopped, of small steps.
const std::string endless = "run total-exchange --on 40x40 --algorithm a2 --bytes 0 --executor serial ";

}  // namespace

TEST_CASE("a full disk, a full or closed standard output end with status 1 and one line", "[conformance]") {
  const std::vector<std::string> run = words("run broadcast --on 4x4 --bytes 8");
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> all = run;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::vector<support::Ended> ends{
      support::run_program(TORUS_PROGRAM, {.arguments = with({"--trace", "/dev/full"})}),
      support::run_program(TORUS_PROGRAM, {.arguments = with({"--csv", "/dev/full"})}),
      support::run_program(TORUS_PROGRAM, {.arguments = run, .out = "/dev/full"}),
      support::run_program(TORUS_PROGRAM, {.arguments = run, .closed_pipe = true}),
      support::run_program(TORUS_PROGRAM, {.arguments = {"list"}, .closed_pipe = true}),
      support::run_program(TORUS_PROGRAM, {.arguments = {"--help"}, .closed_pipe = true}),
  };
  for (const support::Ended& ended : ends) {
    CAPTURE(ended.err);
    CHECK(ended.status == 1);
    CHECK(lines(ended.err) == 1);
  }
}

TEST_CASE("a file that may not grow any more is an error like a full disk", "[conformance]") {
  const support::Folder folder;
  for (const std::string& line : {"run broadcast --on 16x16 --bytes 8 --trace " + folder.file("t"),
                                  "run broadcast --on 4x4 --bytes 8 --csv " + folder.file("c"), std::string("list")}) {
    const support::Ended ended = support::command_under("-f 1", line);
    CAPTURE(line, ended.err);
    CHECK(ended.status == 1);
    CHECK(ended.signal == 0);
    CHECK(lines(ended.err) == 1);
    CHECK(folder.files() == 0);
  }
}

TEST_CASE("a folder that may not be written to is refused", "[conformance]") {
  if (::geteuid() == 0) return;  // nothing is forbidden to root
  const support::Folder folder;
  std::filesystem::permissions(folder.file(""), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const support::Ended ended = command("run broadcast --on 4x4 --trace " + folder.file("t"));
  std::filesystem::permissions(folder.file(""), std::filesystem::perms::owner_all);
  CHECK(ended.status == 2);
  CHECK(lines(ended.err) == 1);
}

TEST_CASE("a refusal for memory names bytes that fit", "[conformance]") {
  const auto hint_in = [](const std::string& text) {
    const std::size_t at = text.find("about --bytes ");
    return at == std::string::npos ? "" : text.substr(at + 6, text.find(" would fit") - at - 6);
  };
  for (const char* collective : {"broadcast", "allgather", "alltoall", "scatter", "gather", "reduce --type f64", "allreduce --type f64",
                                 "reduce-scatter --type u16", "scan --type f64"}) {
    for (const char* rest : {" --on 4x4 --memory 64MiB", " --on 5x3 --memory 8MiB", " --on 3x3x3 --memory 16MiB --threads 3",
                             " --on 4x4 --memory 64MiB --threads 64"}) {
      const std::string line = std::string("run ") + collective + rest;
      for (const char* bytes : {"1GiB", "3840KiB", "1MiB"}) {  // far above, and what only the engine's estimate refuses
        const support::Ended ended = command(line + " --bytes " + bytes);
        CAPTURE(line, bytes, ended.err);
        if (ended.status == 0) continue;  // it fits
        CHECK(ended.status == 2);
        CHECK(lines(ended.err) == 1);
        const std::string hint = hint_in(ended.err);
        REQUIRE(!hint.empty());
        const support::Ended followed = command(line + " " + hint);
        CAPTURE(hint, followed.err);
        CHECK(followed.status == 0);
      }
    }
  }
  const support::Folder folder;
  const std::string big = folder.write("big", "1 4611686018427387904 3 4");
  const std::string sized = support::refusal("run allgather --on 2x2 --sizes " + big);
  CAPTURE(sized);
  CHECK(sized.find("--on 2x2 --sizes " + big) != std::string::npos);
  CHECK(sized.find("choose a smaller --sizes or --on, or more --memory") != std::string::npos);
  CHECK(sized.find("--bytes") == std::string::npos);
  CHECK(support::refusal("run alltoall --on 4x4 --sizes zipf:1 --bytes 1GiB --memory 64MiB").find("choose a smaller --bytes or --on, or") !=
        std::string::npos);
}

TEST_CASE("uneven blocks and those of few sources run in memory for their bytes", "[conformance]") {
  // 4 GiB of blocks of 64 KiB, or as many of the longest, would not fit.
  for (const char* blocks : {"--sources random:2 --bytes 64KiB", "--sizes zipf:3 --bytes 1KiB"}) {
    const std::string line = std::string("run alltoall --on 16x16 --algorithm rotating --threads 2 ") + blocks;
    CAPTURE(line);
    CHECK(support::good(line + " --memory 256MiB").out.find("verified: every byte at every node") != std::string::npos);
    CHECK(support::refusal(line + " --memory 16MiB").find("or more --memory") != std::string::npos);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which take more address space than any limit

TEST_CASE("under a limit of the address space small runs work and large ones are refused", "[conformance]") {
  const auto limited = [](const std::string& line) { return support::command_under("-v 1500000", line); };
  CHECK(limited("run broadcast --on 64x64 --bytes 4KiB --threads 2").status == 0);
  CHECK(limited("run total-exchange --on 16x16 --bytes 64 --threads 2").status == 0);
  const support::Ended refused = limited("run broadcast --on 512x512 --bytes 16KiB --threads 2");
  CAPTURE(refused.err);
  CHECK(refused.status == 2);
  CHECK(lines(refused.err) == 1);
  CHECK(refused.err.find("would fit") != std::string::npos);
  const support::Ended threadless = limited("run broadcast --on 4x4 --threads 1000");
  CAPTURE(threadless.err);
  CHECK(threadless.status == 1);
  CHECK(lines(threadless.err) == 1);
  CHECK(threadless.err.find("threads 1000") != std::string::npos);
}

TEST_CASE("where the system starts fewer threads than there are cores, they do, unless their number was typed", "[conformance]") {
  for (const char* kibibytes : {"80000", "100000", "150000", "200000"}) {  // a thread takes 8 MiB for its stack
    for (const char* executor : {"tbb", "threads"}) {
      const auto limited = [&](const std::string& options) {
        return support::command_under(std::string("-v ") + kibibytes,
                                      std::string("run broadcast --on 8x8 --json --executor ") + executor + options);
      };
      const support::Ended ended = limited("");
      CAPTURE(kibibytes, executor, ended.out, ended.err);
      CHECK(ended.signal == 0);
      if (ended.status == 0) CHECK(support::parsed(ended.out)["verified"] == true);
      if (ended.status != 0) CHECK(ended.err.find("not enough memory") != std::string::npos);
      CHECK(ended.err.find("choose fewer") == std::string::npos);
      CHECK(lines(ended.err) <= 1);
      const support::Ended typed = limited(" --threads 64");
      CAPTURE(typed.err);
      CHECK(typed.status != 0);
      CHECK(lines(typed.err) == 1);
    }
  }
}

TEST_CASE("a stack that is too small for the command is refused in one line", "[conformance]") {
  for (const char* kibibytes : {"32", "64", "128", "255"}) {
    const support::Ended ended = support::command_under(std::string("-s ") + kibibytes, "run broadcast --on 4x4");
    CAPTURE(kibibytes, ended.err);
    CHECK(ended.status == 1);
    CHECK(ended.err == std::string("torus: a stack of ") + kibibytes + " KiB: it must have 256 KiB; for instance ulimit -s 8192\n");
  }
  CHECK(support::command_under("-s 256", "run broadcast --on 4x4").status == 0);
}

TEST_CASE("the bounds of two thousand million nodes list no nodes", "[conformance]") {
  const auto bounds = [](const std::string& more) {
    return support::command_under("-v 1500000", "bounds --on 46340x46340 --json " + more);
  };
  const support::Ended ended = bounds("");
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const Json collectives = support::parsed(ended.out)["collectives"];
  const double n = 46340;
  CHECK(collectives["broadcast"]["steps_lower_bound"] == 14);  // 5^13 < n^2 <= 5^14
  CHECK(collectives["total-exchange"]["source_count"] == 46340U * 46340U);
  // (n^2 / 2)^2 blocks of 64 bytes each way over the 2 n links of the middle cut.
  CHECK(collectives["total-exchange"]["channel_bytes_lower_bound"] == n * n * n / 8 * 64);
  CHECK(collectives["multinode-broadcast"]["source_count"] == 46340U * 46340U);
  CHECK(collectives["multinode-broadcast"]["left_out"].get<std::string>().find("16,777,216") != std::string::npos);
  CHECK(!collectives["multinode-broadcast"].contains("steps_lower_bound"));
  CHECK(support::parsed(bounds("--sources random:1000").out)["collectives"]["multinode-broadcast"]["source_count"] == 1000);
}

TEST_CASE("more sources than the memory can list are refused, whoever lists them", "[conformance]") {
  for (const std::string line :
       {"compare total-exchange --on 46340x46340", "compare multinode-broadcast --on 46340x46340",
        "bounds --on 46340x46340 --sources random:2000000000", "run broadcast --on 16384x16384 --bytes 0 --source all --memory 1TiB"}) {
    const support::Ended ended = support::command_under("-v 1500000", line);
    CAPTURE(line, ended.err);
    CHECK(ended.status == 2);
    CHECK(lines(ended.err) == 1);
    CHECK(ended.err.find(" nodes and to plan with them takes ") != std::string::npos);
  }
}

TEST_CASE("a trace whose header asks for more memory than there is, is refused in one line", "[conformance]") {
  const auto header = [](const char* shape, const std::string& rest) {
    return std::string(R"({"format":"torus-trace","version":1,"shape":)") + shape + R"(,"ports":1,"switching":"packet",)" + rest + "}\n";
  };
  const support::Folder folder;
  for (const std::string& text :
       {header("[2147483647]", R"("collective":"broadcast","sources":[0])"), header("[2147483647]", R"("collective":"allgather")")}) {
    const support::Ended ended = support::command_under("-v 1500000", "verify " + folder.write("t", text));
    CAPTURE(text, ended.err);
    CHECK(ended.status == 2);
    CHECK(lines(ended.err) == 1);
    CHECK(ended.err.find("are available; use a smaller machine") != std::string::npos);
  }
  // Blocks that no message brings anywhere take none.
  for (const std::string& text : {header("[8,8]", R"("collective":"multinode-broadcast","segments":20000000)"),
                                  header("[8,8]", R"("collective":"multinode-broadcast","segments":2000000000)"),
                                  header("[128,128]", R"("collective":"total-exchange")")}) {
    const support::Ended ended = support::command_under("-v 1500000", "verify " + folder.write("t", text));
    CAPTURE(text, ended.err);
    CHECK(ended.status == 1);
    CHECK(ended.err.find("lacks block ") != std::string::npos);
  }
}
#endif

TEST_CASE("SIGINT and SIGTERM end a run at its next step and leave no file behind", "[conformance]") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const support::Folder folder;
    const support::Ended ended =
        support::run_program(TORUS_PROGRAM, {.arguments = words(endless + "--trace " + folder.file("t.gz") + " --csv " + folder.file("c")),
                                             .when = support::has_worked(1),
                                             .signal = signal});
    CAPTURE(signal, ended.err);
    CHECK(ended.status == 1);
    CHECK(ended.signal == 0);
    CHECK(ended.err.find("interrupted") != std::string::npos);
    CHECK(lines(ended.err) == 1);
    CHECK(folder.files() == 0);
  }
}

TEST_CASE("a signal during a repetition leaves no CSV, does not count that repetition and says which it was", "[conformance]") {
  const support::Folder folder;
  const support::Ended ended = support::run_program(
      TORUS_PROGRAM,
      {.arguments = words("run total-exchange --on 6x6 --algorithm a2 --bytes 8 --executor serial --repeat 1000000 --json --csv " +
                          folder.file("c")),
       .when = support::has_worked(1)});
  CAPTURE(ended.err);
  CHECK(ended.status == 1);
  CHECK(lines(ended.err) == 1);
  CHECK(folder.files() == 0);
  const Json json = support::parsed(ended.out);
  CHECK(json["verified"] == false);
  const auto counted = json["repeat"]["runs"].get<std::uint64_t>();
  CHECK(ended.err.find("interrupted in repetition " + std::to_string(counted + 1) + " of 1000000") != std::string::npos);
}

TEST_CASE("a signal ends at once what nobody can stop step by step, with one line and status 1", "[conformance]") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const support::Folder folder;
    REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
    const int writer = ::open(folder.file("pipe").c_str(), O_RDWR | O_CLOEXEC);  // who never writes
    const support::Ended ended = support::run_program(
        TORUS_PROGRAM, {.arguments = {"verify", folder.file("pipe")}, .when = support::has_opened(folder.file("pipe")), .signal = signal});
    ::close(writer);
    CAPTURE(signal, ended.err);
    CHECK(ended.status == 1);
    CHECK(ended.err == "torus: interrupted\n");
  }
}

TEST_CASE("SIGINT ends the stress with its table so far", "[conformance]") {
  const support::Ended ended = support::run_program(
      TORUS_PROGRAM, {.arguments = words("stress --seconds 600 --json"), .when = support::has_worked(1), .signal = SIGINT});
  CAPTURE(ended.err);
  CHECK(ended.status == 1);
  CHECK(support::parsed(ended.out)["interrupted"] == true);
}

TEST_CASE("the peak of the memory is the run's own, not that of the program that started it", "[conformance]") {
  const auto peak = [] {
    return support::parsed(support::good("run broadcast --on 4x4 --bytes 64 --json").out).at("peak_rss_bytes").get<double>();
  };
  const double before = peak();
  CHECK(before > 1e5);
  const std::vector<char> large(std::size_t{256} << 20U, 'x');  // which the child has a part in until it becomes another program
  CHECK(peak() < before + 64e6);
  CHECK(std::count(large.begin(), large.end(), 'x') == std::int64_t{256} << 20U);
}

TEST_CASE("a schedule of a file that needs too much memory is refused as any run, with bytes that fit", "[conformance]") {
  const support::Folder folder;
  const std::string trace = support::traced(folder, "broadcast --on 4x4 --bytes 64");
  const std::string run = "run broadcast --on 4x4 --schedule " + trace + " --memory 2MiB --bytes ";
  const std::string refusal = support::refusal(run + "120KiB");
  CAPTURE(refusal);
  const std::size_t fitting = refusal.find("; about --bytes ");
  REQUIRE(fitting != std::string::npos);
  CHECK(refusal.ends_with(" would fit, or more --memory\n"));
  support::good(run + refusal.substr(fitting + 16, refusal.find(' ', fitting + 16) - fitting - 16));
}
