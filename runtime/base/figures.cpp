#include "runtime/base/figures.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace torus {
namespace {

std::string formatted(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Bytes of the UTF-8 character with which the text begins; 0 if it begins with none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t bytes = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : byte(0) < 0xf5 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  return bytes;
}

}  // namespace

std::string printable(std::string_view text, std::string_view keep) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool control =
        bytes == 1 ? first < 0x20 || first == 0x7f : bytes == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    if (bytes > 0 && (!control || keep.find(text.front()) != std::string_view::npos)) {
      out += text.substr(0, bytes);
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", bytes == 2 ? static_cast<unsigned char>(text[1]) : first);
      out += code;
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  std::string text = grouped(count) + " ";
  if (count == 1) return text.append(one);
  return many.empty() ? text.append(one).append("s") : text.append(many);
}

std::string number_text(double value) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

std::string bytes_text(std::optional<Bytes> bytes) { return bytes ? bytes_text(*bytes) : "unknown"; }

std::string bytes_text(Bytes bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  const bool whole = value >= 10 || unit == 0 || value == static_cast<int>(value);
  return formatted(whole ? "%.0f " : "%.1f ", value) + units[unit];
}

std::string seconds_text(double seconds) {
  const double size = std::abs(seconds);
  if (size == 0) return "0 s";
  if (size < 1e-6) return formatted("%.3g ns", seconds * 1e9);
  if (size < 1e-3) return formatted("%.4g us", seconds * 1e6);
  if (size < 1) return formatted("%.4g ms", seconds * 1e3);
  return formatted("%.4g s", seconds);
}

std::string rate_text(double per_second, std::string_view unit) {
  if (!std::isfinite(per_second)) return "-";
  const auto text = [&](double scale, const char* prefix) {
    return formatted("%.3g ", per_second / scale) + prefix + std::string(unit) + "/s";
  };
  if (per_second >= 1e9) return text(1e9, "G");
  if (per_second >= 1e6) return text(1e6, "M");
  if (per_second >= 1e3) return text(1e3, "k");
  return text(1, "");
}

double per_second(double amount, double seconds) noexcept { return seconds > 0 ? amount / seconds : 0; }

std::string node_text(const Topology& topology, NodeId node) {
  std::string text = "(";
  for (Dimension d = 0; d < topology.dimensions(); ++d) text += (d > 0 ? "," : "") + std::to_string(topology.coordinate(node, d));
  return text + ")";
}

}  // namespace torus
