#include "algorithms/optimum/fewest.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "algorithms/generated/fewest.hpp"
#include "algorithms/optimum/play.hpp"

namespace torus::optimum {
namespace {

/// "4", "4-6" or "4-?".
Between between(const std::string& text) {
  const std::size_t hyphen = text.find('-');
  const auto number = [](const std::string& digits) { return static_cast<std::uint32_t>(std::stoul(digits)); };
  if (hyphen == std::string::npos) return {number(text), number(text)};
  if (text.ends_with('?')) return {number(text.substr(0, hyphen)), std::nullopt};
  return {number(text.substr(0, hyphen)), number(text.substr(hyphen + 1))};
}

std::vector<FewestOfShape> read_table() {
  std::vector<FewestOfShape> table;
  std::istringstream lines{std::string(generated::fewest)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    FewestOfShape& row = table.emplace_back();
    std::string switching;
    words >> row.shape >> switching;
    row.switching = parse_switching(switching);
    for (std::string numbers; words >> numbers;) {
      const std::size_t colon = numbers.find(':');
      row.by_ports.push_back({between(numbers.substr(0, colon)), between(numbers.substr(colon + 1))});
    }
  }
  return table;
}

/// A shape as the table has it; empty: it has no such shapes. Extents of 1 are nothing.
std::string text_of(const std::vector<DimensionShape>& shape) {
  const auto all = [&](Wiring wiring) {
    return std::all_of(shape.begin(), shape.end(), [&](const DimensionShape& d) { return d.wiring == wiring; });
  };
  if (!all(Wiring::ring) && !all(Wiring::line)) return "";
  std::string text;
  for (const DimensionShape& d : shape) text += (text.empty() ? "" : "x") + std::to_string(d.extent);
  return (all(Wiring::line) ? "mesh:" : "") + text;
}

const FewestOfShape* find(const std::vector<DimensionShape>& shape, Switching switching) {
  static const auto* const by_shape = [] {
    auto* all = new std::map<std::pair<std::string, Switching>, const FewestOfShape*>;
    for (const FewestOfShape& row : fewest_table()) all->emplace(std::pair(row.shape, row.switching), &row);
    return all;
  }();
  const auto found = by_shape->find({text_of(shape), switching});
  return found == by_shape->end() ? nullptr : found->second;
}

}  // namespace

std::string Between::text() const {
  const std::string least = std::to_string(at_least);
  if (proven()) return least;
  if (!at_most) return least + " or more";
  return least + (*at_most == at_least + 1 ? " or " : " to ") + std::to_string(*at_most);
}

const std::vector<FewestOfShape>& fewest_table() {
  static const auto* const table = new std::vector<FewestOfShape>(read_table());
  return *table;
}

std::optional<Between> fewest_known(const Machine& machine, Collective collective) {
  const Topology& topology = machine.topology;
  const auto family = family_of(collective);
  if (!family || !topology.whole() || topology.twisted() || topology.nodes() == 1) return std::nullopt;
  if (machine.contention == Contention::share || machine.switching == Switching::circuit) return std::nullopt;
  std::vector<DimensionShape> shape;
  for (const Dimension d : machine.routing) {
    if (topology.extent(d) > 1) shape.push_back(topology.shape()[static_cast<std::size_t>(d)]);
  }
  const auto by_extent = [](const DimensionShape& a, const DimensionShape& b) { return a.extent < b.extent; };
  // Packets take one dimension a step. A gossip backwards is one of the worms in the opposite order, and a broadcast what collects.
  if (machine.switching == Switching::packet) std::sort(shape.begin(), shape.end(), by_extent);
  const bool sorted = std::is_sorted(shape.begin(), shape.end(), by_extent);
  std::reverse(shape.begin(), shape.end());
  const bool reversed = std::is_sorted(shape.begin(), shape.end(), by_extent);
  const bool fits = *family == Family::gossip ? sorted || reversed : *family == Family::spread ? sorted : reversed;
  if (machine.switching == Switching::wormhole && !fits) return std::nullopt;
  std::sort(shape.begin(), shape.end(), by_extent);
  const FewestOfShape* const row = find(shape, machine.switching);
  if (row == nullptr || static_cast<std::size_t>(machine.ports) > row->by_ports.size()) return std::nullopt;
  const auto& numbers = row->by_ports[static_cast<std::size_t>(machine.ports - 1)];
  return *family == Family::gossip ? numbers.gossip : numbers.broadcast;
}

}  // namespace torus::optimum
