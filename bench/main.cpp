#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/build_facts.hpp"
#include "bench/host.hpp"
#include "bench/program.hpp"

namespace torus::bench {
namespace {

/// Whether a benchmark called SkipWithError; the field that says so changed its name in Google Benchmark 1.8.
template <class Run>
bool failed(const Run& run) {
  if constexpr (requires { run.error_occurred; }) {
    return run.error_occurred;
  } else {
    return run.skipped != decltype(run.skipped){};
  }
}

/// Shows what the usual reporter shows, and counts the benchmarks that found a wrong result.
class Reporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override { return shown_->ReportContext(context); }
  void ReportRuns(const std::vector<Run>& runs) override {
    failures_ += static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [](const Run& run) { return failed(run); }));
    shown_->ReportRuns(runs);
  }
  void Finalize() override { shown_->Finalize(); }
  std::size_t failures() const noexcept { return failures_; }

 private:
  std::unique_ptr<benchmark::BenchmarkReporter> shown_{benchmark::CreateDefaultDisplayReporter()};
  std::size_t failures_ = 0;
};

void add_context(const Settings& settings) {
  benchmark::AddCustomContext("compiler", compiler);
  benchmark::AddCustomContext("flags", flags);
  benchmark::AddCustomContext("build_type", build_type);
  benchmark::AddCustomContext("commit_at_configure", commit);
  benchmark::AddCustomContext("cpu_model", cpu_model());
  benchmark::AddCustomContext("cores", std::to_string(std::thread::hardware_concurrency()));
  benchmark::AddCustomContext("executor", std::string(name(settings.executor)));
}

/// Whether the caller asks for large benchmarks in Google Benchmark's words: by name, or by asking what there is.
bool asks_for_large(std::string_view argument) {
  const bool filter = argument.starts_with("--benchmark_filter") && argument.find("large") != std::string_view::npos;
  return filter || argument.starts_with("--benchmark_list_tests");
}

int run(int argc, char** argv) {
  Settings settings;
  bool own_time = false;
  for (const char* argument : std::span(argv, static_cast<std::size_t>(argc))) {
    settings.large |= asks_for_large(argument);
    own_time |= std::string_view(argument).starts_with("--benchmark_min_time");
  }
  // Many benchmarks of some milliseconds a run: a tenth of a second each unless told otherwise.
  std::string least_time = "--benchmark_min_time=0.1";
  std::vector<char*> arguments(argv, argv + argc);
  if (!own_time) arguments.push_back(least_time.data());
  auto count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[static_cast<std::size_t>(i)];
    constexpr std::string_view executor = "--executor=";
    if (argument == "--large") {
      settings.large = true;
    } else if (argument.starts_with(executor)) {
      settings.executor = parse_executor(argument.substr(executor.size()));
    } else {
      std::fprintf(stderr, "%s: it must be --large, --executor=NAME or an option of Google Benchmark (--help)\n", argument.data());
      return 2;
    }
  }
  add_context(settings);
  register_benchmarks(settings);
  Reporter reporter;
  const std::size_t benchmarks = benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::Shutdown();
  if (benchmarks == 0) std::fputs("no benchmark has such a name; --benchmark_list_tests shows all\n", stderr);
  if (reporter.failures() > 0) std::fprintf(stderr, "%zu wrong results\n", reporter.failures());
  return benchmarks == 0 || reporter.failures() > 0 ? 1 : 0;
}

}  // namespace

std::vector<unsigned> thread_counts() {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<unsigned> counts;
  for (unsigned threads = 1; threads < cores; threads *= 2) counts.push_back(threads);
  counts.push_back(cores);
  return counts;
}

}  // namespace torus::bench

int main(int argc, char** argv) {
  try {
    return torus::bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
