#include "bench/host.hpp"

#include <ctime>
#include <fstream>
#include <string_view>

namespace torus::bench {
namespace {

double seconds_of(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// What follows the colon in the first line of a file under /proc that starts with the key; empty if there is none.
std::string field(const char* file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? std::string{} : line.substr(value);
  }
  return {};
}

/// /proc says "1234 kB".
Bytes memory(std::string_view key) {
  const std::string text = field("/proc/self/status", key);
  return text.empty() ? 0 : 1024 * std::stoull(text);
}

}  // namespace

std::string cpu_model() {
  const std::string model = field("/proc/cpuinfo", "model name");
  return model.empty() ? "unknown" : model;
}

double wall_s() noexcept { return seconds_of(CLOCK_MONOTONIC); }
double core_s() noexcept { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

Bytes resident_bytes() { return memory("VmRSS:"); }

bool forget_peak() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << 5 << std::flush;
  return clear.good();
}

}  // namespace torus::bench
