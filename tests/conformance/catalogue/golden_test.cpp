// Every algorithm does on some machines, small and fixed for ever, what tests/golden/runs says: a change that is meant to change nothing
// changes no line of it. A line is what `torus run` takes, then what the run gave, then what was predicted.
#include <cstdio>
#include <map>
#include <random>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/cell.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/record.hpp"

using namespace torus;

namespace {

/// FNV-1a, the same on every platform: each algorithm and shape has random numbers of its own, so that a new one changes no line of
/// another.
std::uint64_t hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return value;
}

std::string figures(std::uint64_t steps, double bytes, double combined, double time_s) {
  char text[128];
  std::snprintf(text, sizeof text, "steps %llu bytes %.10g combined %.10g time %.9g", static_cast<unsigned long long>(steps), bytes,
                combined, time_s);
  return text;
}

std::string outcome(const support::Cell& cell) {
  RunOptions options;
  options.executor = ExecutorKind::serial;
  const Run run = support::run(cell, options);
  const RunResult& r = run.result;
  char digest[32];
  std::snprintf(digest, sizeof digest, " digest %016llx", static_cast<unsigned long long>(r.trace_digest));
  std::string text =
      figures(r.steps, static_cast<double>(r.channel_bytes_sum), static_cast<double>(r.node_combined_sum), r.model_time_s) + digest;
  if (!r.violations.empty()) return text + "; " + std::string(r.violations.front().text);
  const Plan& plan = run.plan;
  if (!plan.predicts()) return text + "; not predicted";
  const std::string predicted = figures(plan.steps, plan.channel_bytes, plan.combined_bytes, plan.model_time_s(cell.machine.cost));
  text += !plan.steps_exact ? "; predicted at most" : plan.bytes_exact ? "; predicted exactly" : "; predicted, bytes at most";
  if (!text.starts_with(predicted)) text += ": " + predicted;
  const std::string complaint = support::complaint(run);
  return complaint.empty() ? text : text + "; " + complaint;
}

}  // namespace

TEST_CASE("every algorithm does what it has always done", "[conformance]") {
  support::Share share(20);
  std::map<std::string, std::string> seen;
  for (const Algorithm* algorithm : catalogue()) {
    for (const char* shape : {"1",   "2",   "5",    "8m",   "4c",   "1x4",   "2x2",   "3x3",      "4x4",     "2x8",     "8x2",        "4x6",
                              "8x8", "5x5", "5x3m", "4x3c", "4x8t", "3x3x3", "4x2x3", "mesh:4x6", "2mx3x4c", "2x2x2x2", "hypercube:5"}) {
      if (!share.takes_turn()) continue;
      std::mt19937_64 random(hash(std::string(name(algorithm->collective)) + "/" + std::string(algorithm->name) + "/" + shape));
      const auto cell = support::draw_cell(random, *algorithm, Topology::parse(shape), 12, true);
      if (!cell) continue;
      CAPTURE(cell->text);
      seen[cell->text] = outcome(*cell);
    }
  }
  support::compare_with_record(TORUS_SOURCE_DIR "/tests/golden/runs", seen, share.one_in() == 1);
}
