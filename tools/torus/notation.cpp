#include "tools/torus/notation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include <torus/error.hpp>

namespace torus::command {
namespace {

constexpr std::array<std::pair<std::string_view, unsigned>, 6> units{
    {{"", 0}, {"B", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};

template <class Number>
std::optional<Number> number_of(std::string_view text) noexcept {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Distance between words in insertions, deletions, replacements and swaps of neighbours.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      d[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

void refuse(std::string_view option, std::string_view text, std::string_view rule) {
  throw InputError(fmt::format("{} '{}': {}", option, text, rule));
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> whole_number(std::string_view text) noexcept { return number_of<std::uint64_t>(text); }
std::optional<double> real_number(std::string_view text) noexcept { return number_of<double>(text); }

Bytes parse_bytes(std::string_view option, std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (const auto number = whole_number(text.substr(0, digits))) {
    for (const auto& [unit, shift] : units) {
      if (text.substr(digits) == unit && *number <= std::numeric_limits<Bytes>::max() >> (shift + 1)) return *number << shift;
    }
  }
  refuse(option, text, "a size is a whole number below 2^63, plain or with B, KiB, MiB, GiB or TiB; for instance 64 or 4KiB");
}

std::string bytes_option(Bytes bytes) {
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    const Bytes size = Bytes{1} << unit->second;
    if (unit->second > 0 && bytes >= size && bytes % size == 0) return std::to_string(bytes / size) + std::string(unit->first);
  }
  return std::to_string(bytes);
}

std::uint64_t parse_whole(std::string_view option, std::string_view text, std::uint64_t min, std::uint64_t max) {
  const auto value = whole_number(text);
  if (value && *value >= min && *value <= max) return *value;
  refuse(option, text,
         fmt::format("it must be a whole number from {} to {}; for instance {}", min, max, std::clamp<std::uint64_t>(1, min, max)));
}

double parse_real(std::string_view option, std::string_view text, double min, double max, std::string_view example) {
  const auto value = real_number(text);
  if (value && *value >= min && *value <= max) return *value;
  refuse(option, text, fmt::format("it must be a number from {} to {}; for instance {}", min, max, example));
}

double parse_seconds(std::string_view option, std::string_view text) { return parse_real(option, text, 0, 1e6, "1e-6"); }

std::vector<Dimension> parse_routing(std::string_view text) {
  std::vector<Dimension> order;
  for (const std::string_view part : split(text, ',')) {
    const auto d = whole_number(part);
    if (!d || *d >= max_dimensions) refuse("--routing", text, "it must name every dimension once, with commas between; for instance 1,0");
    order.push_back(static_cast<Dimension>(*d));
  }
  return order;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t min = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : words) {
    const std::size_t distance = edits(word, candidate);
    if (distance < min) {
      min = distance;
      best = candidate;
    }
  }
  return best.empty() ? "" : fmt::format("; did you mean '{}'?", best);
}

}  // namespace torus::command
