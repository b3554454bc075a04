#include "tools/torus/grid.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

#include <torus/error.hpp>

#include "tools/torus/notation.hpp"

namespace torus::command {
namespace {

/// A range by steps has at most so many sizes: a slip of the pen in the step is no reason to fill the memory.
constexpr Bytes most_sizes = 1U << 16U;

/// `A:B`, `A:B:xF` or `A:B:+S`.
std::vector<Bytes> size_range(std::string_view option, std::string_view text) {
  const auto parts = split(text, ':');
  const auto refuse = [&](std::string_view rule) {
    throw InputError(fmt::format("{} '{}': {}; for instance 1KiB:16MiB, 1KiB:16MiB:x2 or 1KiB:16KiB:+1KiB", option, text, rule));
  };
  if (parts.size() > 3) refuse("a range of sizes has two ends and at most a factor or a step");
  const Bytes first = parse_bytes(option, parts[0]);
  const Bytes last = parse_bytes(option, parts[1]);
  if (first < 1 || first >= last) refuse("a range of sizes goes up, from 1 or more");
  std::uint64_t factor = 4;
  Bytes step = 0;
  if (parts.size() == 3 && parts[2].starts_with('+')) {
    factor = 1;
    step = parse_bytes(option, parts[2].substr(1));
    if (step < 1) refuse("the step of a range is 1 or more");
    if ((last - first) / step >= most_sizes) refuse("a range by steps has at most 65536 sizes");
  } else if (parts.size() == 3) {
    if (!parts[2].starts_with('x')) refuse("a range goes on by x and a whole number, or by + and a size");
    factor = parse_whole(option, parts[2].substr(1), 2, 1U << 20U);
  }
  std::vector<Bytes> sizes;
  for (Bytes size = first; size < last; size = size * factor + step) {
    sizes.push_back(size);
    if (size > (last - step) / factor) break;
  }
  sizes.push_back(last);
  return sizes;
}

}  // namespace

std::vector<Bytes> parse_sizes(std::string_view option, std::string_view text) {
  std::set<Bytes> sizes;
  for (const std::string_view part : split(text, ',')) {
    if (part.find(':') == std::string_view::npos) {
      sizes.insert(parse_bytes(option, part));
    } else {
      for (const Bytes size : size_range(option, part)) sizes.insert(size);
    }
  }
  return {sizes.begin(), sizes.end()};
}

std::vector<Topology> parse_shapes(std::string_view text) {
  std::vector<Topology> shapes;
  for (const std::string_view part : split(text, ',')) {
    Topology shape = Topology::parse(part);
    const auto same = [&](const Topology& other) { return other.text() == shape.text(); };
    if (std::none_of(shapes.begin(), shapes.end(), same)) shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<int> parse_port_counts(std::string_view text) {
  std::vector<int> counts;
  for (const std::string_view part : split(text, ',')) {
    const int count = part == "all" ? 0 : static_cast<int>(parse_whole("--ports", part, 1, std::numeric_limits<int>::max()));
    if (std::find(counts.begin(), counts.end(), count) == counts.end()) counts.push_back(count);
  }
  return counts;
}

}  // namespace torus::command
