/// torus bench COLLECTIVE: wall time and bandwidth by size and algorithm, a row as soon as it is measured, as microbenchmarks print them.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include <torus/bandwidth.hpp>
#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"
#include "tools/torus/bench/pairs.hpp"
#include "tools/torus/bench/runs.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/cli/version.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/run/report.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/refusals.hpp"

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
    sizes_ = table_sizes(collective, arguments.setting["bytes"], "8:64KiB", arguments.setting);
    schedule_ = BenchSchedule(sizes_);
    if (spec_.memory == 0) spec_.memory = memory_of_a_process();  // not again where kept pages count as used
    algorithms_ = parse_algorithms("--algorithms", arguments.algorithms.value_or("all"), collective, catalogue());
    static_cast<void>(make_machine(spec_, NativeMachine{}));
    refuse_where_nothing_applies();
    prepare_pairs();
    if (arguments.csv) csv_.emplace(*arguments.csv);
    for (const Algorithm* algorithm : algorithms_) name_width_ = std::max(name_width_, algorithm->name.size());
  }

  int run() {
    print_words(head());
    for (const Bytes size : sizes_) rows_of(size);
    progress_.clear();
    print_words(noise());
    if (csv_) {
      csv_->write(bench_csv(table_.at("rows")));
      csv_->commit();
    }
    answer(
        arguments_.json, [&] { return table_; }, [] { return ""; });
    if (failures_ == 0) return 0;
    throw RunError(fmt::format("{} of {} failed; the first: {}", failures_, counted(table_["rows"].size(), "row"), first_failure_));
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
                                                    : fmt::format("{} to {} within {}", std::min(Effort::fewest, effort_.repeat),
                                                                  counted(effort_.repeat, "run"), seconds_text(Effort::row_s));
    return fmt::format("# torus {}, commit {}\n# {}\n# {}, executor {}\n# {}\n# {}\n", version, commit, cpu_text(),
                       counted(workers_of(spec_.executor, spec_.threads), "thread"), name(spec_.executor), date,
                       arguments_.command(spec_.collective)) +
           fmt::format("# {} (MPI: {}) on {}, {}{}; {} a row after {} of warm-up; every byte of each verified\n", name(spec_.collective),
                       facts_of(spec_.collective).mpi, spec_.shape.text(), counted(spec_.shape.nodes(), "node"),
                       spec_.groups ? fmt::format(" in groups {}", spec_.groups->text()) : "", counts, effort_.warm_up) +
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

  /// How noisy the host was.
  std::string noise() const {
    if (noises_.empty()) return "";
    std::vector<double> sorted = noises_;
    std::sort(sorted.begin(), sorted.end());
    return fmt::format("# noise of the host: the median of a row was {:.2f} times its min (median of {}), at most {:.2f} times\n",
                       sorted[sorted.size() / 2], counted(sorted.size(), "row"), sorted.back());
  }

  static std::string machine_words(const Machine& machine) {
    return fmt::format("{}:{}{}", name(machine.switching), machine.ports, machine.contention == Contention::share ? ":share" : "");
  }

  void rows_of(Bytes size) {
    spec_.bytes = size;
    std::optional<Request> request;
    std::string refusal;
    bool any = false;
    try {
      request = make_fitting_request(spec_);
    } catch (const InputError& error) {
      refusal = error.what();
    }
    if (request && !arguments_.algorithms) {
      try {
        const Setting chosen = make_setting(spec_, std::nullopt, catalogue());
        return row(open_setting(chosen.machine, *request, spec_), *chosen.algorithm);
      } catch (const InputError& error) {
        refusal = error.what();
        request.reset();
      }
    }
    for (const Algorithm* algorithm : algorithms_) {
      if (!request) break;
      Setting setting = open_setting(make_machine(spec_, algorithm->native), *request, spec_);
      if (const auto why_not = why_not_here(*algorithm, setting)) {
        if (refusal.empty()) refusal = *why_not;
        if (arguments_.algorithms.value_or("all") != "all") add_not_run(setting, *algorithm, *why_not);
        any = any || arguments_.algorithms.value_or("all") != "all";
        continue;
      }
      any = true;
      row(std::move(setting), *algorithm);
    }
    if (any) return;
    Json fields{{"collective", name(spec_.collective)},
                {"shape", spec_.shape.text()},
                {"nodes", spec_.shape.nodes()},
                {"bytes", size},
                {"not_run", refusal}};
    print_words(line(bytes_option(size), {"-", "not run: " + refusal}));
    table_["rows"].push_back(std::move(fields));
  }

  Json fields_of(const Setting& setting, const Algorithm& algorithm) const {
    return {{"collective", name(spec_.collective)},
            {"shape", spec_.shape.text()},
            {"nodes", spec_.shape.nodes()},
            {"ports", setting.machine.ports},
            {"switching", name(setting.machine.switching)},
            {"contention", name(setting.machine.contention)},
            {"sources", facts_of(spec_.collective).of_pairs() ? seen_shape(spec_).nodes() : setting.request.sources.size()},
            {"bytes", setting.request.bytes},
            {"algorithm", algorithm.name},
            {"threads", workers_of(spec_.executor, spec_.threads)},
            {"executor", name(spec_.executor)},
            {"seed", spec_.seed},
            {"groups", spec_.groups ? Json(spec_.groups->text()) : Json()}};
  }

  void add_not_run(const Setting& setting, const Algorithm& algorithm, const std::string& why) {
    progress_.clear();
    print_words(line(bytes_option(setting.request.bytes), {std::string(algorithm.name), "not run: " + why}));
    Json fields = fields_of(setting, algorithm);
    fields["not_run"] = why;
    table_["rows"].push_back(std::move(fields));
  }

  void row(Setting setting, const Algorithm& algorithm) {
    const Bytes size = setting.request.bytes;
    const double likely = last_pairs_s_ + schedule_.row_s(algorithm, size, 1);
    if (since(start_) + likely > effort_.table_s) {
      return add_not_run(setting, algorithm,
                         fmt::format("it would take about {}, and the {} of the table end before; a larger --seconds runs it",
                                     seconds_text(likely), seconds_text(effort_.table_s)));
    }
    const BenchClock::time_point begin = BenchClock::now();
    if (other_) {
      paired_row(setting, algorithm);
      last_pairs_s_ = since(begin);
      return;
    }
    const std::string what = fmt::format("{}, {}", algorithm.name, bytes_option(size));
    Effort effort = effort_;
    const double usual = schedule_.row_s(algorithm, size, effort.usual()) + 1.2 * schedule_.later_s(algorithm, size);  // caches end
    if (schedule_.is_long(algorithm, size) && since(start_) + usual > effort.table_s) effort.be_brief();
    // Kept memory holds what earlier rows have left there: with another seed, none of it is right.
    setting.seed += table_["rows"].size();
    setting.sources_text.clear();
    Runs runs{effort};
    EmulationOptions options;
    options.repeat = effort.warm_up + effort.repeat;
    options.stop = &interrupted();
    options.keep_memory = kept_;
    options.processes = processes();
    options.on_run = [&](const RunResult& result) { return runs.add(result); };
    options.on_step = [&](Step step) {
      if (progress_.due()) progress_.show(fmt::format("{}: run {}, step {}", what, runs.warm_up() + runs.run_s().size() + 1, step));
    };
    Emulation emulation;
    std::string not_run;
    try {
      if (const auto why_not = plan_with(setting, algorithm, nullptr, &cache_)) return add_not_run(setting, algorithm, *why_not);
      emulation = emulate(setting, options);
    } catch (const InputError& error) {  // it does not fit into the memory
      not_run = error.what();
    } catch (const std::bad_alloc&) {
      not_run = "there is not enough memory";
    } catch (const std::exception& error) {
      emulation.failure = error.what();
    }
    if (emulation.interrupted || interrupted()) {
      progress_.clear();
      throw RunError(fmt::format("interrupted after {}; --csv, --json and --json-file are written at the end only",
                                 counted(table_["rows"].size(), "row")));
    }
    if (!not_run.empty()) return add_not_run(setting, algorithm, not_run);
    const std::size_t all_runs = runs.warm_up() + runs.run_s().size();
    const double run_s = all_runs == 0 ? 0 : runs.all_s() / static_cast<double>(all_runs);
    schedule_.add(algorithm, size, run_s, since(begin) - runs.all_s());
    add_measured(setting, algorithm, emulation, runs);
  }

  void paired_row(const Setting& setting, const Algorithm& algorithm) {
    const std::string size = bytes_option(setting.request.bytes);
    std::vector<std::string> words{std::string(name(spec_.collective)), fmt::format("--algorithms={}", algorithm.name)};
    if (facts_of(spec_.collective).carries_bytes()) words.push_back("--bytes=" + size);
    for (const auto& [option, value] : arguments_.of_row()) words.push_back(fmt::format("--{}={}", option, value));
    const Pairs pairs = run_pairs(*other_, words, pairs_);
    if (!pairs.not_run.empty()) return add_not_run(setting, algorithm, pairs.not_run);
    const double runs = 2.0 * pairs_ * (effort_.warm_up + (effort_.typed_repeat ? effort_.repeat : Effort::fewest));
    schedule_.add(algorithm, setting.request.bytes, runs * repeats_of(pairs.other_s).median_s, 0);
    Json fields = fields_of(setting, algorithm);
    fields["verified"] = pairs.failure.empty();
    std::vector<std::string> cells{std::string(algorithm.name), machine_words(setting.machine)};
    if (pairs.failure.empty()) {
      const std::vector<std::string> figures = add_pairs(fields, pairs);
      cells.insert(cells.end(), figures.begin(), figures.end());
    } else {
      fields["failure"] = pairs.failure;
      cells.push_back("FAILED: " + pairs.failure);
      if (failures_++ == 0) first_failure_ = pairs.failure;
    }
    print_words(line(size, cells));
    table_["rows"].push_back(std::move(fields));
  }

  void add_measured(const Setting& setting, const Algorithm& algorithm, const Emulation& emulation, const Runs& runs) {
    const RunResult& result = emulation.result;
    const double bound = lower_bounds(setting.machine, setting.request).model_time_s(setting.machine.cost);
    const Repeats repeats = repeats_of(runs.run_s());
    const auto interval = median_interval(runs.run_s());
    const Bandwidth bandwidth = bandwidth_of(setting.request, setting.machine.topology.nodes(), repeats.median_s);
    const std::string note = emulation.failure ? "" : note_on(runs.run_s(), repeats);
    if (repeats.runs > 1 && repeats.min_s > 0) noises_.push_back(repeats.median_s / repeats.min_s);
    Json fields = fields_of(setting, algorithm);
    fields["segments"] = setting.plan.segments;
    fields["steps"] = result.steps;
    fields["model_time_s"] = result.model_time_s;
    fields["model_time_lower_bound_s"] = bound;
    if (bound > 0) fields["times_the_bound"] = result.model_time_s / bound;
    fields["setup_s"] = result.setup_s + setting.plan_s;
    fields["warm_up_runs"] = runs.warm_up();
    fields["runs"] = repeats.runs;
    if (repeats.runs > 0) {
      fields["time_min_s"] = repeats.min_s;
      fields["time_median_s"] = repeats.median_s;
      fields["time_max_s"] = repeats.max_s;
      fields["algbw_bytes_per_s"] = bandwidth.algorithm;
      fields["busbw_bytes_per_s"] = bandwidth.bus;
    }
    if (interval) {
      fields["time_median_low_s"] = interval->first;
      fields["time_median_high_s"] = interval->second;
    }
    fields["wrong"] = runs.wrong();
    fields["verified"] = !emulation.failure;
    if (!note.empty()) fields["note"] = note;
    std::string last = note;
    if (emulation.failure) {
      std::string failure = *emulation.failure;
      std::replace(failure.begin(), failure.end(), '\n', ' ');
      if (failures_++ == 0) first_failure_ = fmt::format("{}; repeat it with: {}", failure, command_line(setting));
      fields["failure"] = failure;
      last = "FAILED: " + failure;
    }
    const double spread = interval ? std::max(interval->second - repeats.median_s, repeats.median_s - interval->first) : 0;
    progress_.clear();
    print_words(
        line(bytes_option(setting.request.bytes),
             {std::string(algorithm.name), machine_words(setting.machine), grouped(result.steps), seconds_text(result.model_time_s),
              bound > 0 ? fmt::format("x{:.2f}", result.model_time_s / bound) : "-", std::to_string(repeats.runs),
              seconds_text(repeats.min_s), seconds_text(repeats.median_s),
              interval && repeats.median_s > 0 ? fmt::format("{:.0f}%", 100 * spread / repeats.median_s) : "-", seconds_text(repeats.max_s),
              rate_text(bandwidth.algorithm, "B"), rate_text(bandwidth.bus, "B"), std::to_string(runs.wrong()), last}));
    table_["rows"].push_back(std::move(fields));
  }

  const BenchArguments& arguments_;
  Effort effort_;
  RunSpec spec_;
  std::vector<Bytes> sizes_;
  std::vector<const Algorithm*> algorithms_;
  std::optional<OutputFile> csv_;
  std::vector<double> noises_;  ///< of rows with several runs: how many times the min the median is
  std::optional<OtherBuild> other_;
  unsigned pairs_ = 10;
  std::size_t name_width_ = 9, failures_ = 0;
  std::string first_failure_;
  Json table_;
  BenchSchedule schedule_;
  double last_pairs_s_ = 0;  ///< duration of the last paired row, to predict the next
  std::shared_ptr<detail::KeptPages> kept_ = kept_memory();
  BenchClock::time_point start_ = BenchClock::now();
  PlanCache cache_;
  Progress progress_;
};

}  // namespace

Command bench_command() {
  const auto arguments = std::make_shared<BenchArguments>();
  Command command{"bench", "Wall time and bandwidth by size and algorithm, every run verified, as microbenchmarks print"};
  add_collective(command, arguments->collective);
  command.add("--algorithms", "ALGORITHM,..", &arguments->algorithms,
              "names with commas between, or all; default: at each size the one that `torus run` chooses");
  add_setting_options(command, arguments->setting);
  command.describe("--bytes", "64,4KiB or 8:16MiB (times 4), 8:16MiB:x2, 1KiB:16KiB:+1KiB; default 8:64KiB", "SIZE,..");
  command.add("--warmup", "W", &arguments->warm_up, "runs that do not count; default: up to 2, the last one begun within 20 ms");
  command.add("--repeat", "R", &arguments->repeat,
              "counted runs of each row; default: up to 20, as many as begin within 20 ms, at least 3");
  command.add("--seconds", "S", &arguments->seconds,
              "the table ends within so long: rows get fewer runs, or say why they have none; default 57");
  command.add("--against", "PROGRAM", &arguments->against,
              "another build of torus: each row is run by both in turn, and has their medians and the ratio of these");
  command.add("--pairs", "N", &arguments->pairs, "of --against: so many for each row; default 10");
  command.add_output("--csv", ".csv", &arguments->csv, "write the rows to this file, when all are there");
  command.add("--json", "", &arguments->json, "print one JSON object instead of the table, when all rows are there");
  command.body = [arguments] { return Bench(parse_collective(arguments->collective, arguments->setting), *arguments).run(); };
  return command;
}

}  // namespace torus::command
