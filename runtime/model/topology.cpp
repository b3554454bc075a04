#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>

#include <torus/error.hpp>
#include <torus/topology.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/model/detour.hpp"

namespace torus {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw InputError("shape '" + std::string(text) + "': " + why +
                   "; for instance 16x16, 8x8x8, 16x16m, 4x4c, 4x4x8t, mesh:4x6, 2^10, hypercube:10");
}

std::int32_t number(std::string_view text, std::string_view digits, const char* what, std::int32_t max) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size() || value < 1 || value > max) {
    refuse(text, std::string(what) + " '" + std::string(digits) + "' must be a whole number from 1 to " + std::to_string(max));
  }
  return value;
}

// ---- twisted tori: what a hop over the end of a short dimension does, and distances that follow ----

std::int32_t shortest(const Topology& topology) {
  std::int32_t least = topology.extent(0);
  for (Dimension d = 1; d < topology.dimensions(); ++d) least = std::min(least, topology.extent(d));
  return least;
}

/// Throws InputError on a shape that cannot be twisted.
void check_twist(const Topology& topology) {
  const std::int64_t k = shortest(topology);
  bool has_long = false;
  bool fits = k >= 2 && (topology.shape().size() == 2 || topology.shape().size() == 3);
  for (const DimensionShape& d : topology.shape()) {
    fits = fits && d.wiring == Wiring::ring && (d.extent == k || d.extent == 2 * k);
    has_long = has_long || d.extent == 2 * k;
  }
  if (!fits || !has_long)
    throw InputError("a twisted torus has two or three rings, of extents k and 2k, both, k at least 2; 4x8t or 4x4x8t would do");
}

/// Tries every choice of short dimensions that are left over an end. Over both ends of one, or twice, is never shorter.
Coordinates twisted_offsets(const Topology& topology, NodeId from, NodeId to) noexcept {
  const std::int32_t k = shortest(topology);
  Coordinates best;
  std::int32_t least = 0;
  const unsigned choices = 1U << topology.shape().size();
  for (int wraps = 0; wraps < static_cast<int>(topology.shape().size()); ++wraps) {
    for (unsigned over = 0; over < choices; ++over) {
      if (std::popcount(over) != wraps) continue;
      Coordinates apart;
      std::int32_t hops = 0;
      bool possible = true;
      for (Dimension d = 0; d < topology.dimensions(); ++d) {
        const bool wrap = (over >> static_cast<unsigned>(d) & 1U) != 0;
        std::int32_t o = topology.coordinate(to, d) - topology.coordinate(from, d);
        if (topology.extent(d) == k) {
          if (wrap) o += o > 0 ? -k : k;
        } else {
          possible = possible && !wrap;
          o = topology.offset(d, 0, modulo(std::int64_t{o} + (wraps % 2 != 0 ? k : 0), 2 * k));
        }
        apart.push_back(o);
        hops += std::abs(o);
      }
      if (!possible || (!best.empty() && hops >= least)) continue;
      best = apart;
      least = hops;
    }
  }
  return best;
}

/// O(nodes).
std::int32_t twisted_diameter(const Topology& topology) noexcept {
  std::int32_t farthest = 0;
  for (NodeId node = 0; node < topology.nodes(); ++node) farthest = std::max(farthest, topology.distance(0, node));
  return farthest;
}

}  // namespace

namespace detail {

std::int32_t twisted_circle(const Topology& topology) noexcept { return 2 * shortest(topology); }

NodeId over_the_end(const Topology& topology, NodeId from, Dimension d, std::int64_t to) noexcept {
  const std::int32_t n = topology.extent(d);
  const std::int32_t inside = modulo(to, n);
  NodeId node = from + static_cast<NodeId>(inside - topology.coordinate(from, d)) * topology.stride(d);
  const bool odd_wraps = ((to - inside) / n) % 2 != 0;
  if (!odd_wraps || n != shortest(topology)) return node;
  for (Dimension l = 0; l < topology.dimensions(); ++l) {
    if (topology.extent(l) != n) node += static_cast<NodeId>(topology.coordinate(from, l) < n ? n : -n) * topology.stride(l);
  }
  return node;
}

}  // namespace detail

Topology::Topology(std::vector<DimensionShape> dimensions, bool twisted) : shape_(std::move(dimensions)), twisted_{twisted} {
  if (shape_.empty() || shape_.size() > max_dimensions) {
    throw InputError("a shape of " + counted(shape_.size(), "dimension") + ": it must have 1 to 32");
  }
  std::uint64_t nodes = 1;
  std::int64_t slots = 0;
  std::int64_t ports = 0;
  for (const DimensionShape& dimension : shape_) {
    const std::int32_t n = dimension.extent;
    if (n < 1) throw InputError("an extent of " + std::to_string(n) + ": it must be at least 1");
    nodes *= static_cast<std::uint64_t>(n);
    if (nodes > (std::uint64_t{1} << 31U)) throw InputError("a shape of more than 2^31 nodes: choose smaller extents");
    facts_.push_back(
        {detail::Divisor(static_cast<std::uint32_t>(n)), detail::Divisor{}, n, static_cast<std::int32_t>(slots), dimension.wiring});
    slots += dimension.wiring == Wiring::complete ? n - 1 : (n > 1 ? 2 : 0);
    if (dimension.wiring == Wiring::complete)
      ports += n - 1;
    else if (dimension.wiring == Wiring::ring)
      ports += n > 1 ? 2 : 0;
    else
      ports += n > 2 ? 2 : n - 1;
    if (slots > 1 << 20) throw InputError("a shape of more than 2^20 channels a node: choose smaller complete dimensions");
  }
  nodes_ = static_cast<NodeId>(nodes);
  slots_ = static_cast<std::int32_t>(slots);
  max_ports_ = static_cast<std::int32_t>(std::max<std::int64_t>(ports, 1));
  std::uint64_t stride = nodes;
  for (Facts& facts : facts_) {
    stride /= static_cast<std::uint64_t>(facts.extent);
    facts.by_stride = detail::Divisor(static_cast<std::uint32_t>(stride));
  }
  if (twisted_) check_twist(*this);
}

Topology Topology::parse(std::string_view text) {
  std::string_view rest = text;
  std::vector<DimensionShape> shape;
  if (rest.starts_with("hypercube:")) {
    const std::int32_t k = number(text, rest.substr(10), "the number of dimensions", 31);
    return Topology(std::vector<DimensionShape>(static_cast<std::size_t>(k), DimensionShape{2, Wiring::line}));
  }
  Wiring wiring = Wiring::ring;
  if (rest.starts_with("mesh:")) {
    wiring = Wiring::line;
    rest.remove_prefix(5);
  } else if (rest.starts_with("torus:")) {
    rest.remove_prefix(6);
  }
  const bool twisted = rest.ends_with('t');
  if (twisted) rest.remove_suffix(1);
  if (rest.empty()) refuse(text, "it is empty");
  while (true) {
    const std::size_t x = rest.find('x');
    std::string_view part = rest.substr(0, x);
    DimensionShape dimension{1, wiring};
    if (part.ends_with('m')) dimension.wiring = Wiring::line;
    if (part.ends_with('c')) dimension.wiring = Wiring::complete;
    if (part.ends_with('m') || part.ends_with('c')) part.remove_suffix(1);
    std::int32_t times = 1;
    if (const std::size_t power = part.find('^'); power != std::string_view::npos) {
      times = number(text, part.substr(power + 1), "the number of dimensions", static_cast<std::int32_t>(max_dimensions));
      part = part.substr(0, power);
    }
    dimension.extent = number(text, part, "the extent", std::numeric_limits<std::int32_t>::max());
    if (shape.size() + static_cast<std::size_t>(times) > max_dimensions) refuse(text, "it has more than 32 dimensions");
    shape.insert(shape.end(), static_cast<std::size_t>(times), dimension);
    if (x == std::string_view::npos) break;
    rest.remove_prefix(x + 1);
  }
  try {
    return Topology(std::move(shape), twisted);
  } catch (const InputError& error) {
    refuse(text, error.what());
  }
}

std::string Topology::text() const {
  const bool mesh = std::all_of(shape_.begin(), shape_.end(), [](const auto& d) { return d.wiring == Wiring::line; });
  std::string out = mesh ? "mesh:" : "";
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (d > 0) out += 'x';
    out += std::to_string(shape_[d].extent);
    if (!mesh && shape_[d].wiring == Wiring::line) out += 'm';
    if (shape_[d].wiring == Wiring::complete) out += 'c';
  }
  if (twisted_) out += 't';
  return out;
}

Coordinates Topology::coordinates(NodeId rank) const noexcept {
  Coordinates out;
  for (Dimension d = 0; d < dimensions(); ++d) out.push_back(coordinate(rank, d));
  return out;
}

NodeId Topology::rank(std::span<const std::int32_t> coordinates) const noexcept {
  TORUS_ASSERT(coordinates.size() == shape_.size());
  NodeId rank = 0;
  for (Dimension d = 0; d < dimensions(); ++d) {
    rank += static_cast<NodeId>(modulo(coordinates[static_cast<std::size_t>(d)], extent(d))) * stride(d);
  }
  return rank;
}

std::uint64_t Topology::channels() const noexcept {
  std::uint64_t channels = 0;
  for (const DimensionShape& dimension : shape_) {
    const auto n = static_cast<std::uint64_t>(dimension.extent);
    const std::uint64_t each_row = dimension.wiring == Wiring::complete ? n * (n - 1)
                                   : n == 1                             ? 0
                                   : dimension.wiring == Wiring::ring   ? 2 * n
                                                                        : 2 * (n - 1);
    channels += nodes_ / n * each_row;
  }
  return faults_ == nullptr ? channels : channels - faults_->dead_channels.size();
}

std::int32_t Topology::offset(Dimension d, std::int32_t from, std::int32_t to) const noexcept {
  const std::int32_t n = extent(d);
  switch (wiring(d)) {
    case Wiring::line: return to - from;
    case Wiring::complete: return modulo(std::int64_t{to} - from, n);
    case Wiring::ring: break;
  }
  const std::int32_t forward = modulo(std::int64_t{to} - from, n);
  return 2 * std::int64_t{forward} <= n ? forward : forward - n;
}

Coordinates Topology::offsets(NodeId from, NodeId to) const noexcept {
  if (twisted_) return twisted_offsets(*this, from, to);
  Coordinates out;
  for (Dimension d = 0; d < dimensions(); ++d) out.push_back(offset(d, coordinate(from, d), coordinate(to, d)));
  return out;
}

std::int32_t Topology::distance(NodeId a, NodeId b) const noexcept {
  const Coordinates apart = offsets(a, b);
  std::int32_t hops = 0;
  for (Dimension d = 0; d < dimensions(); ++d) {
    const std::int32_t o = apart[static_cast<std::size_t>(d)];
    hops += wiring(d) == Wiring::complete ? static_cast<std::int32_t>(o != 0) : std::abs(o);
  }
  return hops;
}

std::int32_t Topology::eccentricity(NodeId from) const {
  std::int32_t hops = 0;
  if (!whole()) {
    search(*this, from, [&](NodeId, std::int32_t distance) { hops = distance; });
    return hops;
  }
  if (twisted_) return twisted_diameter(*this);
  for (Dimension d = 0; d < dimensions(); ++d) {
    const std::int32_t n = extent(d);
    const std::int32_t x = coordinate(from, d);
    switch (wiring(d)) {
      case Wiring::ring: hops += n / 2; break;
      case Wiring::line: hops += std::max(x, n - 1 - x); break;
      case Wiring::complete: hops += n > 1 ? 1 : 0; break;
    }
  }
  return hops;
}

std::int32_t Topology::diameter() const noexcept {
  if (twisted_) return twisted_diameter(*this);
  std::int32_t hops = 0;
  for (const DimensionShape& d : shape_)
    hops += d.wiring == Wiring::ring ? d.extent / 2 : d.wiring == Wiring::line ? d.extent - 1 : d.extent > 1 ? 1 : 0;
  return hops;
}

bool is_torus(const Topology& topology) noexcept {
  const auto ring = [](const DimensionShape& d) { return d.wiring == Wiring::ring || d.extent == 1; };
  return !topology.twisted() && std::ranges::all_of(topology.shape(), ring);
}

bool is_square_torus(const Topology& topology) noexcept {
  return is_torus(topology) &&
         std::ranges::all_of(topology.shape(), [&](const DimensionShape& d) { return d.extent == topology.extent(0); });
}

bool is_torus_or_mesh(const Topology& topology) noexcept {
  return std::ranges::all_of(topology.shape(), [](const DimensionShape& d) { return d.wiring != Wiring::complete || d.extent == 1; });
}

}  // namespace torus
