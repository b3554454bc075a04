/// torus export --to perfetto: read back by the rules of protocol buffers, and held against the trace.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using torus::support::command;
using torus::support::Folder;
using torus::support::good;
using torus::support::messages_of;
using torus::support::text_of_file;
using torus::support::traced;

namespace {

/// A number, or bytes: of a number the bytes are empty.
struct Field {
  std::uint64_t number = 0, value = 0;
  std::string bytes;
};

std::vector<Field> fields_of(const std::string& message) {
  std::vector<Field> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == message.size() || shift == 70) throw std::runtime_error("a number that does not end");
      const auto byte = static_cast<unsigned char>(message[at++]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.size()) {
    const std::uint64_t tag = varint();
    Field field{tag >> 3U, 0, {}};
    REQUIRE(((tag & 7U) == 0 || (tag & 7U) == 2));
    if ((tag & 7U) == 0) {
      field.value = varint();
    } else {
      const std::uint64_t length = varint();
      REQUIRE(length <= message.size() - at);
      field.bytes = message.substr(at, length);
      at += length;
    }
    fields.push_back(field);
  }
  return fields;
}

std::optional<Field> field_of(const std::vector<Field>& fields, std::uint64_t number) {
  const auto at = std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.number == number; });
  return at == fields.end() ? std::nullopt : std::optional(*at);
}

struct Slice {
  std::string track, name;
  std::uint64_t begin = 0, end = 0;
};
struct Perfetto {
  std::map<std::uint64_t, std::string> tracks;
  std::vector<Slice> slices;
  std::map<std::string, std::vector<std::uint64_t>> counters;
  std::size_t instants = 0;
};

Perfetto parse_perfetto(const std::string& text) {
  Perfetto out;
  std::map<std::uint64_t, std::vector<Slice>> open;
  bool first = true;
  for (const Field& packet : fields_of(text)) {
    REQUIRE(packet.number == 1);
    const auto fields = fields_of(packet.bytes);
    REQUIRE(field_of(fields, 10)->value == 1);  // the sequence that its writer is trusted with
    CHECK((field_of(fields, 13).has_value() == first));
    first = false;
    if (const auto descriptor = field_of(fields, 60)) {
      const auto track = fields_of(descriptor->bytes);
      const std::uint64_t number = field_of(track, 1)->value;
      CHECK_FALSE(out.tracks.contains(number));
      if (const auto parent = field_of(track, 5)) CHECK(out.tracks.contains(parent->value));
      out.tracks[number] = field_of(track, 2)->bytes;
      continue;
    }
    const auto event = fields_of(field_of(fields, 11).value().bytes);
    const std::uint64_t time = field_of(fields, 8)->value, track = field_of(event, 11)->value;
    REQUIRE(out.tracks.contains(track));
    switch (field_of(event, 9)->value) {
      case 1: open[track].push_back({out.tracks[track], field_of(event, 23)->bytes, time, 0}); break;
      case 2:
        REQUIRE_FALSE(open[track].empty());
        open[track].back().end = time;
        CHECK(open[track].back().begin < time);
        out.slices.push_back(open[track].back());
        open[track].pop_back();
        break;
      case 3: ++out.instants; break;
      case 4: out.counters[out.tracks[track]].push_back(field_of(event, 30)->value); break;
      default: FAIL("an event of no type that there is");
    }
  }
  for (const auto& [track, slices] : open) CHECK(slices.empty());
  return out;
}

Perfetto perfetto_of(const Folder& folder, const std::string& trace) {
  good("export " + trace + " --to perfetto -o " + folder.file("out"));
  return parse_perfetto(text_of_file(folder.file("out")));
}

std::vector<Slice> on_track(const Perfetto& perfetto, const std::string& track) {
  std::vector<Slice> slices;
  for (const Slice& slice : perfetto.slices) {
    if (slice.track == track) slices.push_back(slice);
  }
  return slices;
}

bool has_perfetto() {
  const Folder folder;
  const support::Ended ended = command("export " + traced(folder, "broadcast --on 4") + " --to perfetto -o " + folder.file("p"));
  if (ended.status == 0) return true;
  CHECK(ended.err.find("built without protozero; install libprotozero-dev") != std::string::npos);
  std::cout << "not tried here: this build has no protozero, and --to perfetto says so\n";
  return false;
}

}  // namespace

TEST_CASE("Perfetto's packets have each step, its counters, and each channel that carried something", "[conformance]") {
  if (!has_perfetto()) return;
  const Folder folder;
  const std::string trace = traced(folder, "broadcast --on 8x8 --bytes 1KiB --algorithm tsai-mckinley --ts 1us --tc 1ns");
  const Perfetto perfetto = perfetto_of(folder, trace);
  CHECK(perfetto.tracks.at(1) == "broadcast on 8x8");
  const auto steps = on_track(perfetto, "steps");
  REQUIRE(steps.size() == 3);
  for (std::size_t s = 0; s < 3; ++s) {  // T_s 1 us and 1,024 bytes of 1 ns each
    CHECK(steps[s].name == "step " + std::to_string(s));
    CHECK(steps[s].begin == 2024 * s);
    CHECK(steps[s].end == 2024 * (s + 1));
  }
  CHECK(perfetto.counters.at("messages") == std::vector<std::uint64_t>{3, 12, 48, 0});
  CHECK(perfetto.counters.at("bytes") == std::vector<std::uint64_t>{3072, 12288, 49152, 0});
  CHECK(perfetto.counters.at("busy channels") == std::vector<std::uint64_t>{16, 32, 64, 0});  // as many as hops: none is shared
  CHECK(perfetto.counters.at("bytes on the fullest channel") == std::vector<std::uint64_t>{1024, 1024, 1024, 0});
  CHECK(perfetto.slices.size() == 3 + 16 + 32 + 64);
  CHECK(perfetto.instants == 0);
  const auto channel = on_track(perfetto, "(0,0) 0:-1");  // the fullest channel of `run --steps`
  REQUIRE_FALSE(channel.empty());
  CHECK(channel[0].name.ends_with(", 1,024 bytes"));
}

TEST_CASE("Perfetto's last slice ends at the model time of the run, whatever takes time in it", "[conformance]") {
  if (!has_perfetto()) return;
  const Folder folder;
  const auto last_end = [&](const std::string& trace) {
    const auto steps = on_track(perfetto_of(folder, trace), "steps");
    REQUIRE_FALSE(steps.empty());
    return static_cast<double>(steps.back().end);
  };
  const std::string costs = " --ts 1us --tc 1ns --th 300ns";
  for (const std::string& line : {"broadcast --on 9x9 --bytes 1KiB --algorithm wang-tseng" + costs,  // routes of several hops
                                  "broadcast --on 4x4 --bytes 1KiB --algorithm flood --switching packet --slow-link 0,0:+0:3" + costs,
                                  std::string("multinode-broadcast --on 4x6 --bytes 1KiB --ts 1us --tc 1ns,3ns --th 300ns"),
                                  "allreduce --on 4x4 --bytes 1KiB --tg 5ns" + costs}) {
    const support::Ended ended = command("run " + line + " --json --trace " + folder.file("t"));
    CAPTURE(line, ended.err);
    REQUIRE(ended.status == 0);
    const support::Json run = support::parsed(ended.out);
    CHECK(last_end(folder.file("t")) == Approx(run["model_time_s"].get<double>() * 1e9).epsilon(1e-6));
  }
  // Steps 1 and 2 are idle: they take a start-up each.
  const std::string idle = folder.write(
      "idle", R"({"format":"torus-trace","version":1,"shape":[8],"ports":2,"switching":"wormhole","collective":"multinode-broadcast",)"
              R"("sources":[],"ts_s":1e-06,"tc_s":1e-09,"th_s":3e-07})"
              "\n"
              R"({"step":0,"src":0,"dst":2,"path":[[0,2]],"bytes":500,"blocks":[]})"
              "\n"
              R"({"step":3,"src":0,"dst":3,"path":[[0,3]],"bytes":100,"blocks":[]})"
              "\n");
  CHECK(last_end(idle) == 4 * 1000 + 500 + 100 + (2 + 3) * 300);
}

TEST_CASE("Perfetto shows phases one after the other, and shared channels once a step", "[conformance]") {
  if (!has_perfetto()) return;
  const Folder folder;
  const std::string trace = traced(folder, "multinode-broadcast --on 9x9 --sources random:5 --algorithm aggregate-distribute");
  std::vector<std::string> named;
  for (const TraceMessage& m : messages_of(trace)) {
    if (!m.phase.empty() && (named.empty() || named.back() != m.phase)) named.push_back(m.phase);
  }
  REQUIRE(named.size() > 1);
  const auto phases = on_track(perfetto_of(folder, trace), "phases");
  REQUIRE(phases.size() == named.size());
  for (std::size_t i = 0; i < named.size(); ++i) CHECK(phases[i].name == named[i]);

  const std::string shared = traced(folder, "total-exchange --on 4x4 --bytes 8 --contention share --algorithm direct");
  const Perfetto perfetto = perfetto_of(folder, shared);
  std::set<std::pair<std::string, std::uint64_t>> begins;
  for (const Slice& slice : perfetto.slices) CHECK(begins.emplace(slice.track, slice.begin).second);
}

TEST_CASE("the slices of a long run end at a step, and the file says so", "[conformance]") {
  if (!has_perfetto()) return;
  const Folder folder;
  const std::string trace = traced(folder, "broadcast --on 32x32 --bytes 8KiB --algorithm flood --switching packet --segments 250");
  const support::Ended ended = command("export " + trace + " --to perfetto -o " + folder.file("p"));
  REQUIRE(ended.status == 0);
  CHECK(ended.out.find("no slices from step ") != std::string::npos);
  CHECK(ended.out.find("there are at most 200,000") != std::string::npos);
  const Perfetto perfetto = parse_perfetto(text_of_file(folder.file("p")));
  CHECK(perfetto.instants == 1);
  CHECK(perfetto.slices.size() > 190000);
  std::size_t total = 0;
  for (const std::uint64_t messages : perfetto.counters.at("messages")) total += messages;
  CHECK(total == messages_of(trace).size());
}
