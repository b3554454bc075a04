#include "tools/torus/slips.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <utility>

#include <torus/error.hpp>
#include <torus/topology.hpp>

#include "tools/torus/notation.hpp"

namespace torus::command {
namespace {

/// What other programs, and papers, call our options.
constexpr std::array<std::pair<std::string_view, std::string_view>, 21> other_names{
    {{"--size", "--bytes"},  {"--count", "--bytes"},     {"--message-size", "--bytes"}, {"-b", "--bytes"},       {"-m", "--bytes"},
     {"-n", "--on"},         {"--nodes", "--on"},        {"--shape", "--on"},           {"--topology", "--on"},  {"--torus", "--on"},
     {"--dims", "--on"},     {"--alpha", "--ts"},        {"--startup", "--ts"},         {"--beta", "--tc"},      {"--iters", "--repeat"},
     {"--runs", "--repeat"}, {"--workers", "--threads"}, {"-j", "--threads"},           {"--output", "--trace"}, {"-o", "--trace"},
     {"--dtype", "--type"}}};

bool there(std::string_view option, const std::vector<std::string>& options) {
  return std::find(options.begin(), options.end(), option) != options.end();
}

bool is_shape(std::string_view word) {
  try {
    return word.find_first_of("0123456789") != std::string_view::npos && Topology::parse(std::string(word)).dimensions() > 0;
  } catch (const InputError&) {
    return false;
  }
}

bool is_unit(std::string_view word) {
  constexpr std::array<std::string_view, 18> units{"B",   "K", "M",  "G",  "KB", "MB",   "GB",   "KiB",   "MiB",
                                                   "GiB", "s", "ms", "us", "ns", "Gb/s", "GB/s", "bytes", "kb"};
  return std::find(units.begin(), units.end(), word) != units.end();
}

}  // namespace

std::string meant_by_option(std::string_view word, const std::vector<std::string>& options) {
  for (const auto& [other, ours] : other_names) {
    if (word == other && there(ours, options)) return fmt::format("; did you mean '{}'?", ours);
  }
  for (const std::string& option : options) {
    if (word.size() > 4 && option.starts_with(word)) return fmt::format("; did you mean '{}'?", option);
  }
  const std::vector<std::string_view> views(options.begin(), options.end());
  return did_you_mean(word, views);
}

std::string meant_by_argument(std::string_view word, const std::vector<std::string>& options) {
  if (is_shape(word) && there("--on", options)) return fmt::format("; a shape is --on {}", word);
  if (is_unit(word)) return fmt::format("; a value and its unit are one word, for instance 64{}", word);
  if (word.ends_with(".json") && there("--json", options))
    return fmt::format("; --json goes to standard output, and > {} to that file", word);
  return "";
}

}  // namespace torus::command
