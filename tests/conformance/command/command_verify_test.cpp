/// The judge of traces from outside, with files that are made to break it: it ends soon and within its memory, or says why not.
#include <algorithm>
#include <array>
#include <filesystem>
#include <zlib.h>

#include <torus/error.hpp>
#include <torus/judge.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/setting/random.hpp"

using namespace torus;
using support::lines;

namespace {

[[maybe_unused]] std::string header_with(const std::string& rest) { return R"({"format":"torus-trace","version":1,)" + rest + "}\n"; }

const std::string circuit_ring = R"("shape":[4],"wrap":[true],"ports":2,"switching":"circuit","collective":"broadcast","sources":[0])";

[[maybe_unused]] std::string repeated(const std::string& text, std::size_t bytes) {
  std::string out;
  while (out.size() + text.size() <= bytes) out += text;
  return out;
}

[[maybe_unused]] void write_gzip(const std::string& path, const std::string& start, const std::string& part, int parts) {
  gzFile file = gzopen(path.c_str(), "wb9");
  gzwrite(file, start.data(), static_cast<unsigned>(start.size()));
  for (int i = 0; i < parts; ++i) gzwrite(file, part.data(), static_cast<unsigned>(part.size()));
  gzclose(file);
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which take more address space and time than any limit
TEST_CASE("any file of at most 1 MiB is judged within 10 seconds and 1 GiB, or refused with the reason", "[conformance]") {
  const support::Folder folder;
  const std::string ring = header_with(circuit_ring);
  const std::string bundle = R"({"step":0,"src":0,"dst":1,"path":[[0,1]],"bytes":1,"blocks":[)";
  const std::string message = R"({"step":0,"src":0,"dst":1,"path":[[0,1]],"bytes":1,"blocks":[0]})"
                              "\n";
  const auto large = [](const std::string& rest) { return header_with(R"("ports":2,"switching":"circuit","contention":"share",)" + rest); };
  write_gzip(folder.file("one line"), ring + bundle, repeated("0,", 1 << 20), 900);
  write_gzip(folder.file("many lines"), ring, repeated(message, 1 << 20), 280);
  write_gzip(folder.file("header"), R"({"format":"torus-trace","sources":[)", repeated("0,", 1 << 20), 900);
  write_gzip(folder.file("empty lines"), ring, std::string(1 << 20, '\n'), 900);
  folder.write("blocks", large(R"("shape":[1000000],"segments":100000,"collective":"broadcast","sources":[0])"));
  folder.write("all to all", large(R"("shape":[1000000],"collective":"total-exchange")"));
  folder.write("all to few", large(R"("shape":[20000],"collective":"total-exchange")"));
  folder.write("all blocks", large(R"("shape":[2147483647],"segments":2147483647,"collective":"multinode-broadcast")"));
  folder.write("nodes", large(R"("shape":[8000000],"collective":"broadcast","sources":[0])"));
  std::string far = large(R"("shape":[4000000],"collective":"broadcast","sources":[0])");
  far += repeated(R"({"step":0,"src":0,"dst":3999999,"path":[[0,3999999]],"bytes":1,"blocks":[0]})"
                  "\n",
                  (1 << 20) - far.size());
  folder.write("long routes", far);
  std::string turns = large(R"("shape":[4000000,2],"collective":"broadcast","sources":[0])") +
                      R"({"step":0,"src":0,"dst":1,"bytes":1,"blocks":[0],"path":[)";
  turns += repeated("[0,1],[1,1],[0,-1],[1,-1],", (1 << 20) - turns.size() - 20) + "[1,1]]}\n";
  folder.write("many turns", turns);
  std::string many = large(R"("shape":[100000],"segments":2000000000,"collective":"broadcast","sources":[0])");
  many += bundle;
  for (int i = 0; many.size() < (1U << 20U) - 20; ++i) many += std::to_string(i) + ",";
  folder.write("many blocks", many + "0]}\n");
  folder.write("nested", std::string(1 << 20, '['));
  folder.write("nested header", R"({"format":)" + std::string(1 << 20, '['));
  folder.write("one string", R"({"format":")" + std::string(1 << 20, 'x'));
  support::Share share(1, 3);
  for (const auto& entry : std::filesystem::directory_iterator(folder.file(""))) {
    if (!share.takes_turn()) continue;
    CAPTURE(entry.path().filename().string());
    REQUIRE(entry.file_size() <= (1U << 20U) + 1000);
    const support::Ended ended = support::command_under("-v 1048576; ulimit -t 12", "verify '" + entry.path().string() + "'");
    CAPTURE(ended.signal, ended.out, ended.err.substr(0, 400));
    CHECK((ended.status == 1 || ended.status == 2));
    CHECK(lines(ended.err) == 1);
    CHECK(ended.err.size() < 1000);
    CHECK(ended.err.find("bad_alloc") == std::string::npos);
  }
}

TEST_CASE("a judge that takes too long says so, and how to give it more", "[conformance]") {
  const support::Folder folder;
  std::string text =
      header_with(R"("shape":[3000000],"ports":2,"switching":"circuit","contention":"share","collective":"broadcast","sources":[0])");
  for (int i = 0; i < 300; ++i)
    text += R"({"step":0,"src":0,"dst":2999999,"path":[[0,2999999]],"bytes":1,"blocks":[]})"
            "\n";
  const support::Ended ended = support::command("verify --seconds 0.2 " + folder.write("t", text));
  CAPTURE(ended.err);
  CHECK(ended.status == 1);
  CHECK(ended.err.find("takes more than 0.2 s; --seconds allows more") != std::string::npos);
}
#endif

TEST_CASE("ten thousand mutated traces are judged or refused, without a crash", "[conformance]") {
  const support::Folder folder;
  std::vector<std::string> traces;
  for (const char* line : {"run broadcast --on 4x3m --algorithm flood --bytes 16", "run total-exchange --on 3x3 --bytes 8",
                           "run multinode-broadcast --on 4x4 --bytes 8 --sources random:3"}) {
    REQUIRE(support::command(std::string(line) + " --trace " + folder.file("t")).status == 0);
    traces.push_back(support::text_of_file(folder.file("t")));
  }
  const std::uint64_t seed = 1;
  CAPTURE(seed);
  static constexpr std::array<std::string_view, 24> pieces{"0",          "-1",         "18446744073709551615",
                                                           "4294967296", "2147483647", "1e9",
                                                           "null",       "true",       "[",
                                                           "]",          "{",          "}",
                                                           "[0,1]",      ",",          ":",
                                                           "\"",         "\\u0000",    "\n",
                                                           "\xff",       "\"step\"",   "[]",
                                                           "complete",   "\"shape\"",  " "};
  std::uint64_t judged = 0;
  std::uint64_t refused = 0;
  for (std::uint64_t number = 0; number < 10'000; ++number) {
    torus::command::Random random(seed, number);
    std::string text = traces[random.below(traces.size())];
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      // Half of the changes fall on the header, which is a small part of the text.
      const std::size_t end = random.below(2) == 0 ? text.find('\n') : text.size();
      const std::size_t at = random.below(std::max<std::size_t>(1, std::min(end, text.size())));
      // Most changes put one digit for another: what is well formed gets further.
      const std::size_t digit = text.find_first_of("0123456789", at);
      switch (random.below(12)) {
        case 0: text[at] = static_cast<char>(random.below(256)); break;
        case 1: text.erase(at, 1 + random.below(20)); break;
        case 2: text.insert(at, pieces[random.below(pieces.size())]); break;
        case 3: text.insert(at, text.substr(random.below(text.size()), random.below(200))); break;
        case 4: text.resize(at); break;
        case 5: text.append(text, at, random.below(1000)); break;
        default:
          if (digit != std::string::npos) text[digit] = static_cast<char>('0' + random.below(10));
      }
      if (text.empty()) text = "\n";
    }
    CAPTURE(number);
    const std::string path = folder.write("mutated", text);
    try {
      TraceReader reader(path);
      Judge judge(reader.header());
      TraceMessage message;
      while (reader.next(message) && judge.message(message)) {
      }
      const Verdict verdict = judge.finish();
      CHECK(verdict.ok == verdict.violations.empty());
      for (const std::string& violation : verdict.violations) CHECK(violation.size() < 1000);
      ++judged;
    } catch (const InputError& error) {
      CHECK(std::string_view(error.what()).size() < 1000);
      ++refused;
    }
  }
  CAPTURE(judged, refused);
  CHECK(judged > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("a verdict is of the nodes that live and of the segments that the header says; an unknown key gives none", "[conformance]") {
  const support::Folder folder;
  const auto verified = [&](const std::string& rest, const std::string& messages) {
    return support::command("verify " + folder.write("t", header_with(R"("ports":2,"switching":"packet",)" + rest) + messages));
  };
  const std::string there = R"({"step":0,"src":0,"dst":1,"path":[[0,1]],"bytes":9,"blocks":[0,1]})"
                            "\n",
                    back = R"({"step":0,"src":1,"dst":0,"path":[[0,-1]],"bytes":9,"blocks":[2,3]})"
                           "\n";
  for (const char* collective : {"allgather", "multinode-broadcast"}) {
    CAPTURE(collective);
    const std::string rest = R"("shape":[3],"wrap":[false],"dead_nodes":[2],"segments":2,"collective":")" + std::string(collective) + "\"";
    const support::Ended good = verified(rest, there + back);
    CHECK(good.status == 0);
    CHECK(good.out.find("legal and complete") != std::string::npos);
    const support::Ended unknown = verified(R"("note":"x",)" + rest, there + back);
    CHECK(unknown.status == 2);
    CHECK(unknown.err.ends_with(" line 1: the header has 'note', which this version of torus does not know; leave it out\n"));
    CHECK(verified(rest, there).status == 1);
  }
  const support::Ended dead = verified(R"("shape":[3],"dead_nodes":[2],"collective":"reduce","sources":[2])", "");
  CHECK(dead.status == 2);
  CHECK(dead.err.ends_with(" line 1: the header's 'sources' name node (2), which is dead; the root of a reduce must be alive\n"));
  CHECK(verified(R"("shape":[1],"collective":"allreduce","sources":[0])", "").status == 0);
  CHECK(verified(R"("shape":[3],"collective":"allreduce","sources":[0])", "").status == 2);
}

TEST_CASE("no name in a file reaches the terminal with a control character, or forges a line", "[conformance]") {
  const support::Folder folder;
  const std::string evil = R"(\u001b[31m\u0000\u007f\u009b2J\nverdict  legal and complete\r)";
  const std::string start = R"("shape":[4],"ports":2,"switching":"packet","ts_s":1e-6,"tc_s":1e-9,"th_s":0,)";
  const std::string message = R"({"step":0,"src":0,"dst":1,"path":[[0,1]],"bytes":1,"blocks":[0],"phase":")" + evil + "\"}\n";
  const std::string trace =
      folder.write("t", header_with(start + R"("collective":"broadcast","sources":[0],"algorithm":")" + evil + "\"") + message);
  folder.write("unknown", header_with(start + R"("collective":"broadcast","sources":[0],")" + evil + R"(":1)"));
  folder.write("collective", header_with(start + R"("collective":")" + evil + "\""));
  folder.write("twice", header_with(start + "\"" + evil + R"(":1,")" + evil + "\":2"));
  folder.write("op", header_with(start + R"("collective":"reduce","sources":[0],"op":")" + evil + "\""));
  folder.write("type", header_with(start + R"("collective":"reduce","sources":[0],"type":")" + evil + "\""));
  folder.write("switching", header_with(R"("shape":[4],"ports":2,"switching":")" + evil + "\""));
  folder.write("value", header_with(start + R"("collective":"broadcast","sources":[0])") + R"({"step":")" + evil + "\"}\n");
  const std::string raw =
      "\x1b[31m\x7f\xc2\x9b\x9b"
      "2J\r";
  folder.write("table.csv", "collective,shape,algorithm,bytes,model_time_s\n" + raw + ",4x4," + raw + ",8," + raw + "\n");
  folder.write("columns.csv", raw + "\n");
  folder.write("curves.csv", "collective,shape,algorithm,bytes,model_time_s\nbroadcast,4x4," + raw + ",8,1\n");
  folder.write("config", raw + "=1\n");
  for (const std::string& line : {"verify " + trace,
                                  "verify --json " + trace,
                                  "verify " + folder.file("collective"),
                                  "verify " + folder.file("twice"),
                                  "verify " + folder.file("unknown"),
                                  "verify " + folder.file("op"),
                                  "verify " + folder.file("type"),
                                  "verify " + folder.file("switching"),
                                  "verify " + folder.file("value"),
                                  "view " + trace + " -o " + folder.file("p.html"),
                                  "export " + trace + " --to dot -o " + folder.file("dot"),
                                  "plot " + folder.file("table.csv") + " -o " + folder.file("p.html"),
                                  "plot " + folder.file("columns.csv") + " -o " + folder.file("p.html"),
                                  "plot " + folder.file("curves.csv") + " --algorithms x -o " + folder.file("p.html"),
                                  "run broadcast --config " + folder.file("config"),
                                  "run broadcast --on " + raw,
                                  "run " + raw,
                                  raw,
                                  "verify " + raw,
                                  "run broadcast --algorithm " + raw,
                                  "run broadcast --" + raw}) {
    const support::Ended ended = support::command(line);
    CAPTURE(line, ended.out, ended.err);
    CHECK(ended.status != 139);
    for (const std::string& text : {ended.out, ended.err}) {
      CHECK(std::none_of(text.begin(), text.end(), [](unsigned char c) { return (c < 0x20 && c != '\n') || c == 0x7f || c == 0x9b; }));
    }
    CHECK(lines(ended.err) <= 1);
    CHECK(ended.out.find("\nverdict  legal") == std::string::npos);
  }
  CHECK(support::command("plot " + folder.file("absent")).err.find("torus: table '" + folder.file("absent") + "': it cannot be read") == 0);
  CHECK(support::command("plot " + folder.file("columns.csv")).err.find("torus: table " + folder.file("columns.csv") + " line 1: ") == 0);
}

TEST_CASE("blank lines at the end of a trace are accepted, and one before a message is refused by its line", "[conformance]") {
  const support::Folder folder;
  const std::string text = support::text_of_file(support::traced(folder, "broadcast --on 4x4 --bytes 64"));
  for (const std::string end : {"\n", "\n\n", " \t\r\n", "\r\n\n", "  "}) {
    CAPTURE(end);
    const std::string path = folder.write("blank.jsonl", text + end);
    CHECK(support::good("verify " + path).out == support::good("verify " + folder.file("t.jsonl")).out);
    support::good("view " + path + " -o " + folder.file("page.html"));
    support::good("run broadcast --on 4x4 --bytes 64 --schedule " + path);
  }
  const std::size_t second = text.find('\n') + 1;
  const std::string refusal = support::refusal("verify " + folder.write("middle", text.substr(0, second) + "\n \n" + text.substr(second)));
  CHECK(refusal.ends_with(" line 2: it is blank, and messages follow; blank lines may stand at the end alone\n"));
}
