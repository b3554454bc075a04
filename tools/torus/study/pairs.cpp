#include "tools/torus/study/pairs.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/child.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/study/runs.hpp"

namespace torus::command {
namespace {

constexpr double answer_s = 10;  ///< for its version and its help

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Whether a help text has an option: the whole word.
bool names_option(const std::string& help, const std::string& option) {
  for (std::size_t at = help.find(option); at != std::string::npos; at = help.find(option, at + 1)) {
    const char next = at + option.size() < help.size() ? help[at + option.size()] : ' ';
    if (std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '-') return true;
  }
  return false;
}

/// One bench of one row, as its JSON says.
struct RowBench {
  double median_s = 0;
  Json steps;
  std::string not_run, failure;
};

RowBench bench_row(const std::string& program, const std::vector<std::string>& arguments) {
  const ChildEnd end = run_child(program, arguments);
  RowBench bench;
  std::string words = first_line(end.err);
  if (words.starts_with("torus: ")) words.erase(0, 7);
  if (words.empty()) words = end.status < 0 ? "a signal ended it" : fmt::format("it ended with exit status {}", end.status);
  if (end.status == 2) {
    bench.not_run = words;
    return bench;
  }
  const Json rows = Json::parse(end.file).at("rows");
  const Json row = rows.size() == 1 ? rows.at(0) : Json();
  const auto median = row.at("time_median_s").number();
  if (const auto not_run = row.at("not_run").text())
    bench.not_run = *not_run;
  else if (end.status != 0)
    bench.failure = words;
  else if (!median || *median <= 0)
    bench.failure = "it reports no time";
  else
    bench.median_s = *median;
  bench.steps = row.at("steps");
  return bench;
}

}  // namespace

OtherBuild::OtherBuild(std::string program, const std::vector<std::string>& options) : program_{std::move(program)} {
  const char* const would_do = "it must be the torus of another build; for instance build/before/bin/torus";
  struct stat status {};
  if (::stat(program_.c_str(), &status) != 0) refuse("--against", program_, fmt::format("there is no such file; {}", would_do));
  if (!S_ISREG(status.st_mode) || ::access(program_.c_str(), X_OK) != 0)
    refuse("--against", program_, fmt::format("it cannot be executed; {}", would_do));
  if (program_.find('/') == std::string::npos) program_.insert(0, "./");
  const ChildEnd version = run_child(program_, {"--version"}, answer_s);
  version_ = first_line(version.out);
  if (version.status != 0 || !version_.starts_with("torus ")) refuse("--against", program_, fmt::format("it is no torus; {}", would_do));
  const ChildEnd help = run_child(program_, {"bench", "--help"}, answer_s);
  if (help.status != 0) refuse("--against", program_, fmt::format("{} has no bench; it must be a later build", version_));
  json_option_ = names_option(help.out, "--json-file") ? "--json-file" : "--json";
  for (const std::string& option : options) {
    if (!names_option(help.out, option))
      refuse("--against", program_, fmt::format("its bench ({}) has no {}; leave that out, or take a later build", version_, option));
  }
}

std::vector<double> Pairs::ratios() const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(this_s.size(), other_s.size()); ++i) ratios.push_back(this_s[i] / other_s[i]);
  return ratios;
}

std::size_t Pairs::won() const {
  const std::vector<double> all = ratios();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](double ratio) { return ratio < 1; }));
}

Pairs run_pairs(const OtherBuild& other, const std::vector<std::string>& arguments, unsigned pairs) {
  std::vector<std::string> words{"bench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.emplace_back();
  const std::string programs[]{own_program(), other.program()};
  Pairs out;
  for (unsigned pair = 0; pair < pairs; ++pair) {
    RowBench benches[2];
    for (const unsigned turn : {0U, 1U}) {
      const unsigned which = (pair + turn) % 2;
      words.back() = fmt::format("{}={}", which == 0 ? "--json-file" : other.json_option(), child_file);
      benches[which] = bench_row(programs[which], words);
      const std::string who = which == 0 ? "" : other.program() + ": ";
      if (!benches[which].not_run.empty()) out.not_run = who + benches[which].not_run;
      if (!benches[which].failure.empty()) out.failure = who + benches[which].failure;
      if (!out.not_run.empty() || !out.failure.empty()) return out;
    }
    out.this_s.push_back(benches[0].median_s);
    out.other_s.push_back(benches[1].median_s);
    if (benches[0].steps != benches[1].steps)
      out.note = fmt::format("not the same work: {} steps, the other {}", benches[0].steps.dump(), benches[1].steps.dump());
  }
  return out;
}

void add_pairs(Json& row, const Pairs& pairs) {
  const std::vector<double> ratios = pairs.ratios();
  const auto interval = median_interval(ratios);
  row["pairs"] = ratios.size();
  row["time_median_s"] = repeats_of(pairs.this_s).median_s;
  row["other_time_median_s"] = repeats_of(pairs.other_s).median_s;
  row["ratio"] = repeats_of(ratios).median_s;
  if (interval) {
    row["ratio_low"] = interval->first;
    row["ratio_high"] = interval->second;
  }
  row["pairs_won"] = pairs.won();
  if (!pairs.note.empty()) row["note"] = pairs.note;
}

}  // namespace torus::command
