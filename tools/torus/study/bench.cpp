/// torus bench COLLECTIVE: wall time and bandwidth by size and algorithm, a row as soon as it is measured, as microbenchmarks print them.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <utility>

#include <torus/bandwidth.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/cli/version.hpp"
#include "tools/torus/run/report.hpp"
#include "tools/torus/setting/choice.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"
#include "tools/torus/study/pairs.hpp"
#include "tools/torus/study/runs.hpp"
#include "tools/torus/study/study.hpp"

namespace torus::command {
namespace {

using BenchClock = std::chrono::steady_clock;

double since(BenchClock::time_point start) { return std::chrono::duration<double>(BenchClock::now() - start).count(); }

class Bench {
 public:
  Bench(Collective collective, const BenchArguments& arguments)
      : arguments_{arguments},
        effort_{arguments.warm_up, arguments.repeat, arguments.seconds},
        spec_{spec_of(collective, arguments.setting)} {
    if (arguments.algorithms) refuse_choice(spec_, "--algorithms", *arguments.algorithms);
    sizes_ = table_sizes(collective, arguments.setting["bytes"], "8:64KiB", arguments.setting);
    schedule_ = BenchSchedule(sizes_);
    if (spec_.memory == 0) spec_.memory = memory_of_a_process();  // not again where kept pages count as used
    algorithms_ = parse_algorithms("--algorithms", arguments.algorithms.value_or("all"), collective, catalogue());
    static_cast<void>(make_machine(spec_, NativeMachine{}));
    refuse_where_nothing_applies();
    prepare_pairs();
    study_.emplace(fmt::format("bench {}", name(collective)), arguments.typed(), algorithms_, arguments.csv);
    for (const Algorithm* algorithm : algorithms_) name_width_ = std::max(name_width_, algorithm->name.size());
  }

  int run() {
    print_words(head());
    for (const Bytes size : sizes_) rows_of(size);
    const Json rows = table_.at("rows");
    print_words(noise_text(rows) + quickest_text(rows));
    study_->finish([&] { return csv_of(bench_columns, table_.at("rows")); });
    answer(
        arguments_.json, [&] { return table_; }, [] { return ""; });
    if (study_->failures() == 0) return 0;
    throw RunError(
        fmt::format("{} of {} failed; the first: {}", study_->failures(), counted(study_->rows(), "row"), study_->first_failure()));
  }

 private:
  /// All but the sizes.
  static RunSpec spec_of(Collective collective, TypedOptions typed) {
    typed["bytes"].reset();
    return parse_spec(collective, typed);
  }

  void refuse_where_nothing_applies() {
    std::string first;
    for (const Bytes size : sizes_) {
      spec_.bytes = size;
      try {
        const Request request = make_fitting_request(spec_);
        for (const Algorithm* algorithm : algorithms_) {
          const auto why_not = why_not_here(*algorithm, open_setting(make_machine(spec_, algorithm->native), request, spec_));
          if (!why_not) return;
          if (first.empty()) first = *why_not;
        }
      } catch (const InputError& error) {
        if (size == sizes_.front()) throw;  // larger ones do not fit either
      }
    }
    nothing_applies(spec_.collective, spec_.shape.text(), first);
  }

  /// Of --against: the other build, and how often each row is run by both.
  void prepare_pairs() {
    if (arguments_.pairs) pairs_ = static_cast<unsigned>(parse_whole("--pairs", *arguments_.pairs, 1, 1000000));
    if (!arguments_.against && arguments_.pairs) refuse("--pairs", *arguments_.pairs, "it counts the pairs of --against; leave it out");
    if (!arguments_.against) return;
    if (processes() != nullptr) refuse("--against", *arguments_.against, "it compares single processes; start torus without mpirun");
    std::vector<std::string> options{"--bytes", "--algorithms", "--json"};
    for (const auto& [option, value] : arguments_.of_row()) options.push_back("--" + option);
    other_.emplace(*arguments_.against, options);
  }

  /// Fills the head of the JSON object too.
  std::string head() {
    const std::string date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    table_ = {{"threads", workers_of(spec_.executor, spec_.threads)},
              {"executor", name(spec_.executor)},
              {"date", date},
              {"rows", Json::array()}};
    const std::string counts = effort_.typed_repeat ? counted(effort_.repeat, "run")
                                                    : fmt::format("{} to {} within {}", std::min(RowEffort::fewest, effort_.repeat),
                                                                  counted(effort_.repeat, "run"), seconds_text(RowEffort::row_s));
    return fmt::format("# torus {}, commit {}\n# {}\n# {}, executor {}\n# {}\n# {}\n", version, commit, cpu_text(),
                       counted(workers_of(spec_.executor, spec_.threads), "thread"), name(spec_.executor), date,
                       arguments_.command(spec_.collective)) +
           fmt::format("# {} (MPI: {}) on {}, {}{}; {} a row after {} of warm-up; every byte of each verified, {}\n",
                       name(spec_.collective), facts_of(spec_.collective).mpi, spec_.shape.text(), counted(spec_.shape.nodes(), "node"),
                       (spec_.groups_text ? fmt::format(" in groups {}", *spec_.groups_text) : "") +
                           (spec_.map ? fmt::format(" with ranks laid out by {}", *spec_.map) : ""),
                       counts, effort_.warm_up, effort_.warm_up > 0 ? "every message judged in a run before" : "no message judged") +
           fmt::format("# size: {}\n", facts_of(spec_.collective).size_counts) +
           (other_ ? fmt::format("# {} a row, each in turn with {}, {}; ratio: this by the other, the median of the pairs\n",
                                 counted(pairs_, "pair"), other_->program(), other_->version()) +
                         line("#   size", {"algorithm", "machine", "| pairs", "this", "other", "| ratio", "95 % interval", "won", "note"})
                   : line("#   size", {"algorithm", "machine", "steps", "model time", "x bound", "| runs", "min", "median", "+-", "max",
                                       "| algbw", "busbw", "| wrong", "note"}));
  }

  /// Columns as wide as what may stand there, since rows are printed before the next are known; what a line has no room for is left out.
  /// The last may be any text.
  std::string line(std::string_view size, const std::vector<std::string>& cells) const {
    std::vector<std::size_t> widths = other_ ? std::vector<std::size_t>{name_width_, 15, 7, 8, 8, 7, 16, 5}
                                             : std::vector<std::size_t>{name_width_, 15, 7, 10, 8, 6, 8, 8, 6, 8, 11, 11, 7};
    const std::vector<std::size_t> go_first =
        other_ ? std::vector<std::size_t>{1, 7, 2} : std::vector<std::size_t>{1, 8, 9, 5, 11, 2, 6, 3};
    std::size_t length = 8 + std::string_view("  note").size();  // the heading has room for that, and rows that have one go on below
    for (const std::size_t width : widths) length += 2 + width;
    for (auto column = go_first.begin(); column != go_first.end() && length > line_width().value_or(length); ++column)
      length -= 2 + std::exchange(widths[*column], 0);
    std::string text = fmt::format("{:>8}", size);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i >= widths.size() || (i == 1 && cells.size() == 2))  // a note, or why there are no figures
        text += "  " + cells[i];
      else if (widths[i] != 0)
        text += i < 2 ? fmt::format("  {:<{}}", cells[i], widths[i]) : fmt::format("  {:>{}}", cells[i], widths[i]);
    }
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }

  /// Comments of the head and notes of rows go on in the next line.
  void print_words(std::string_view text) const {
    if (!arguments_.json) print(wrapped(text));
  }

  /// As many rows as there are algorithms, or one.
  void rows_of(Bytes size) {
    spec_.bytes = size;
    if (!arguments_.algorithms) {
      add(study_->next([&] { return chosen_row(); }));
      return;
    }
    std::optional<Request> request;
    std::string refusal;
    try {
      request = make_fitting_request(spec_);
    } catch (const InputError& error) {
      refusal = error.what();
    }
    bool any = false;
    for (const Algorithm* algorithm : algorithms_)
      any = add(study_->next([&] { return request ? row_of(*algorithm, *request, refusal) : StudyRow{}; })) || any;
    if (!any) add(study_->next([&] { return no_row(refusal); }));
  }

  /// Shows a row, if there is one.
  bool add(Json row) {
    study_->progress().clear();
    const bool any = !row.is_null();
    if (any) {
      print_words(line_of(row));
      table_["rows"].push_back(std::move(row));
    }
    if (!interrupted()) return any;
    const std::string rows = counted(study_->rows(), "row"), kept = study_->goes_on();
    throw RunError(
        fmt::format("interrupted after {}{}", rows, kept.empty() ? "; --json and --json-file are written at the end only" : kept));
  }

  std::string line_of(const Json& row) const {
    const auto text = [&](std::string_view field) { return row.at(field).cell(); };
    const auto number = [&](std::string_view field) { return row.at(field).number().value_or(0); };
    const auto seconds = [&](std::string_view field) { return seconds_text(number(field)); };
    const std::string size = bytes_option(whole_number(text("bytes")).value_or(0)), failure = text("failure");
    const std::string algorithm = row.at("algorithm").is_null() ? "-" : text("algorithm");
    if (const std::string why = text("not_run"); !why.empty()) return line(size, {algorithm, "not run: " + why});
    const std::string last = failure.empty() ? text("note") : "FAILED: " + failure;
    std::vector<std::string> cells{
        algorithm, fmt::format("{}:{}{}", text("switching"), text("ports"), text("contention") == name(Contention::share) ? ":share" : "")};
    if (other_ && !failure.empty()) {
      cells.push_back(last);
    } else if (other_) {
      const auto ratio = [&](std::string_view field) { return fmt::format("{:.3f}", number(field)); };
      const bool interval = !row.at("ratio_low").is_null();
      cells.insert(cells.end(),
                   {text("pairs"), seconds("time_median_s"), seconds("other_time_median_s"), ratio("ratio"),
                    interval ? fmt::format("{} to {}", ratio("ratio_low"), ratio("ratio_high")) : "-", text("pairs_won"), last});
    } else {
      const double median = number("time_median_s");
      const double spread = std::max(number("time_median_high_s") - median, median - number("time_median_low_s"));
      const bool interval = !row.at("time_median_low_s").is_null() && median > 0, bound = !row.at("times_the_bound").is_null();
      cells.insert(cells.end(),
                   {grouped(whole_number(text("steps")).value_or(0)), seconds("model_time_s"),
                    bound ? fmt::format("x{:.2f}", number("times_the_bound")) : "-", text("runs"), seconds("time_min_s"),
                    seconds("time_median_s"), interval ? fmt::format("{:.0f}%", 100 * spread / median) : "-", seconds("time_max_s"),
                    rate_text(number("algbw_bytes_per_s"), "B"), rate_text(number("busbw_bytes_per_s"), "B"), text("wrong"), last});
    }
    return line(size, cells);
  }

  /// By the algorithm that `torus run` chooses.
  StudyRow chosen_row() {
    try {
      const Setting chosen = make_setting(spec_, std::nullopt, catalogue());
      return row(open_setting(chosen.machine, chosen.request, spec_), *chosen.algorithm);
    } catch (const InputError& error) {
      return no_row(error.what());
    }
  }

  /// None where the algorithm does not apply, unless it was named; `refusal` says why the first does not.
  StudyRow row_of(const Algorithm& algorithm, const Request& request, std::string& refusal) {
    Setting setting = open_setting(make_machine(spec_, algorithm.native), request, spec_);
    const auto why_not = why_not_here(algorithm, setting);
    if (!why_not) return row(std::move(setting), algorithm);
    if (refusal.empty()) refusal = *why_not;
    return arguments_.algorithms == "all" ? StudyRow{} : not_run(setting, algorithm, *why_not);
  }

  StudyRow no_row(const std::string& refusal) const {
    return {{{"collective", name(spec_.collective)},
             {"shape", spec_.shape.text()},
             {"nodes", spec_.shape.nodes()},
             {"bytes", spec_.bytes},
             {"not_run", refusal}}};
  }

  Json fields_of(const Setting& setting, const Algorithm& algorithm) const {
    return {{"collective", name(spec_.collective)},
            {"shape", spec_.shape.text()},
            {"nodes", spec_.shape.nodes()},
            {"ports", setting.machine.ports},
            {"switching", name(setting.machine.switching)},
            {"contention", name(setting.machine.contention)},
            {"sources", setting.request.sources.size()},
            {"bytes", setting.request.bytes},
            {"algorithm", algorithm.name},
            {"threads", workers_of(spec_.executor, spec_.threads)},
            {"executor", name(spec_.executor)},
            {"seed", spec_.seed},
            {"groups", spec_.groups_text ? Json(*spec_.groups_text) : Json()}};
  }

  StudyRow not_run(const Setting& setting, const Algorithm& algorithm, const std::string& why) const {
    Json fields = fields_of(setting, algorithm);
    fields["not_run"] = why;
    return {std::move(fields)};
  }

  StudyRow row(Setting setting, const Algorithm& algorithm) {
    const Bytes size = setting.request.bytes;
    const double likely = last_pairs_s_ + schedule_.row_s(algorithm, size, 1);
    if (since(start_) + likely > effort_.table_s) {
      return not_run(setting, algorithm,
                     fmt::format("it would take about {}, and the {} of the table end before; a larger --seconds runs it",
                                 seconds_text(likely), seconds_text(effort_.table_s)));
    }
    const BenchClock::time_point begin = BenchClock::now();
    if (other_) {
      StudyRow paired = paired_row(setting, algorithm);
      last_pairs_s_ = since(begin);
      return paired;
    }
    RowEffort effort = effort_;
    const double usual = schedule_.row_s(algorithm, size, effort.usual()) + 1.2 * schedule_.later_s(algorithm, size);  // caches end
    if (schedule_.is_long(algorithm, size) && since(start_) + usual > effort.table_s) effort.be_brief();
    // Kept memory holds what earlier rows have left there: with another seed, none of it is right.
    setting.seed += study_->rows();
    setting.sources_text.clear();
    Runs runs{effort};
    Effort attempted = study_->effort(fmt::format("{}, {}", algorithm.name, bytes_option(size)));
    attempted.repeat = effort.warm_up + effort.repeat;
    attempted.judge = effort.warm_up > 0;  // in a run before, which those without a warm-up are to do without
    attempted.judge_apart = true;
    attempted.on_run = [&](const RunResult& result) { return runs.add(result); };
    attempted.keep_memory = kept_;
    const Outcome outcome = attempt(setting, algorithm, attempted);
    if (outcome.is(Outcome::Kind::interrupted)) return {};
    if (outcome.left_out()) return not_run(setting, algorithm, outcome.why);
    const std::size_t all_runs = runs.warm_up() + runs.run_s().size();
    const double run_s = all_runs == 0 ? 0 : runs.all_s() / static_cast<double>(all_runs);
    schedule_.add(algorithm, size, run_s, since(begin) - runs.all_s());
    return measured(setting, algorithm, outcome, runs);
  }

  StudyRow paired_row(const Setting& setting, const Algorithm& algorithm) {
    std::vector<std::string> words{std::string(name(spec_.collective)), fmt::format("--algorithms={}", algorithm.name)};
    if (facts_of(spec_.collective).carries_bytes()) words.push_back("--bytes=" + bytes_option(setting.request.bytes));
    for (const auto& [option, value] : arguments_.of_row()) words.push_back(fmt::format("--{}={}", option, value));
    const Pairs pairs = run_pairs(*other_, words, pairs_);
    if (!pairs.not_run.empty()) return not_run(setting, algorithm, pairs.not_run);
    const double runs = 2.0 * pairs_ * (effort_.warm_up + (effort_.typed_repeat ? effort_.repeat : RowEffort::fewest));
    schedule_.add(algorithm, setting.request.bytes, runs * repeats_of(pairs.other_s).median_s, 0);
    Json fields = fields_of(setting, algorithm);
    fields["verified"] = pairs.failure.empty();
    if (pairs.failure.empty())
      add_pairs(fields, pairs);
    else
      fields["failure"] = pairs.failure;
    return {std::move(fields), pairs.failure};
  }

  StudyRow measured(const Setting& setting, const Algorithm& algorithm, const Outcome& outcome, const Runs& runs) {
    const RunResult& result = outcome.run.result;
    const double bound = setting.slowest().bounds.model_time_s(setting.machine.cost);
    const Repeats repeats = repeats_of(runs.run_s());
    const bool failed = outcome.is(Outcome::Kind::failed);
    std::string note = failed ? "" : note_on(runs.run_s(), repeats);
    if (!failed && runs.warm_up() == 0) note += note.empty() ? "not judged" : ", not judged";
    Json fields = fields_of(setting, algorithm);
    fields["segments"] = setting.slowest().plan.segments;
    fields["steps"] = result.steps;
    fields["model_time_s"] = result.model_time_s;
    fields["model_time_lower_bound_s"] = bound;
    if (bound > 0) fields["times_the_bound"] = result.model_time_s / bound;
    fields["setup_s"] = result.setup_s + setting.plan_s;
    fields["warm_up_runs"] = runs.warm_up();
    fields["runs"] = repeats.runs;
    if (repeats.runs > 0) {
      const Bandwidth bandwidth = bandwidth_of(setting.request, setting.machine.topology.nodes(), repeats.median_s);
      fields["time_min_s"] = repeats.min_s;
      fields["time_median_s"] = repeats.median_s;
      fields["time_max_s"] = repeats.max_s;
      fields["algbw_bytes_per_s"] = bandwidth.algorithm;
      fields["busbw_bytes_per_s"] = bandwidth.bus;
    }
    if (const auto interval = median_interval(runs.run_s())) {
      fields["time_median_low_s"] = interval->first;
      fields["time_median_high_s"] = interval->second;
    }
    fields["wrong"] = runs.wrong();
    fields["verified"] = !failed;
    if (!note.empty()) fields["note"] = note;
    if (!failed) return {std::move(fields)};
    fields["failure"] = outcome.why;
    return {std::move(fields), fmt::format("{}; repeat it with: {}", outcome.why, outcome.repeat)};
  }

  const BenchArguments& arguments_;
  RowEffort effort_;
  RunSpec spec_;
  std::vector<Bytes> sizes_;
  std::vector<const Algorithm*> algorithms_;
  std::optional<Study> study_;
  std::optional<OtherBuild> other_;
  unsigned pairs_ = 10;
  std::size_t name_width_ = 9;
  Json table_;
  BenchSchedule schedule_;
  double last_pairs_s_ = 0;  ///< duration of the last paired row, to predict the next
  std::shared_ptr<detail::KeptPages> kept_ = kept_memory();
  BenchClock::time_point start_ = BenchClock::now();
};

}  // namespace

Command bench_command() {
  const auto arguments = std::make_shared<BenchArguments>();
  Command command{.help = "Wall time and bandwidth by size and algorithm, every run verified, as microbenchmarks print"};
  add_collective(command, arguments->collective);
  command.add("--algorithms", "ALGORITHM,..", &arguments->algorithms,
              "names with commas between, or all; default: at each size the one that `torus run` chooses");
  add_setting_options(command, arguments->setting);
  add_options(command, OptionGroup::choice, arguments->setting);
  command.describe("--bytes", "64,4KiB or 8:16MiB (times 4), 8:16MiB:x2, 1KiB:16KiB:+1KiB; default 8:64KiB", "SIZE,..");
  command.add("--warmup", "W", &arguments->warm_up, "runs that do not count; default: up to 2, the last one begun within 20 ms");
  command.add("--repeat", "R", &arguments->repeat,
              "counted runs of each row; default: up to 20, as many as begin within 20 ms, at least 3");
  command.add("--seconds", "S", &arguments->seconds,
              "the table ends within so long: rows get fewer runs, or say why they have none; default 57");
  command.add("--against", "PROGRAM", &arguments->against,
              "another build of torus: each row is run by both in turn, and has their medians and the ratio of these");
  command.add("--pairs", "N", &arguments->pairs, "of --against: so many for each row; default 10");
  command.add_output("--csv", ".csv", &arguments->csv,
                     "write the rows to this file; FILE.part until all are there, and the same command goes on with that");
  command.add("--json", "", &arguments->json, "print one JSON object instead of the table, when all rows are there");
  command.more_files = [arguments] { return kept_beside(arguments->csv); };
  command.body = [arguments] { return Bench(parse_collective(arguments->collective, arguments->setting), *arguments).run(); };
  return command;
}

}  // namespace torus::command
