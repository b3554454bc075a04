/// The bytes of `hierarchical` for all sources where h does not divide the sides: how many messages each node has is counted, phase by
/// phase.
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <torus/byte_sum.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/multinode_broadcast/hierarchical/scheme.hpp"

namespace torus::multinode_broadcast::hierarchical {
namespace {

/// What follows the rings of the DDNs. part: bytes of either part of a message; of_ddn: messages of every DDN.
class WindowCount {
 public:
  WindowCount(const Hierarchy& scheme, const std::array<Bytes, 2>& part, const std::vector<Bytes>& of_ddn)
      : scheme_{scheme}, grid_{scheme.class_windows().stations()}, h_{scheme.h}, part_{part}, of_ddn_{of_ddn} {}

  ByteSum broadcast() const {
    ByteSum bytes = 0;
    for (std::int32_t level = scheme_.class_windows().levels(); level-- > 0;) bytes += spread(level);
    return bytes + gather(0, [&](std::int32_t piece) { return of_ddn_[static_cast<std::size_t>(piece)]; });
  }

  ByteSum scatter() {
    for (std::int32_t ddn = 0; ddn < h_; ++ddn) cut(ddn);
    ByteSum bytes = 0;
    for (const std::uint64_t most : scattered_) bytes += times_bytes(most, part_[0]);
    bytes += gather(0, [&](std::int32_t piece) { return *std::max_element(run(piece, 0), run(piece, 0) + h_); });
    return bytes + gather(1, [&](std::int32_t piece) {
             Bytes sum = 0;
             for (std::int32_t ddn = 0; ddn < h_; ++ddn) sum += *run(ddn, modulo(piece - ddn - window_low(h_), h_));
             return sum;
           });
  }

 private:
  /// Messages of a DDN in its run for a place of the window, from the lowest.
  std::vector<Bytes>::iterator run(std::int32_t ddn, std::int32_t place) { return runs_.begin() + std::ptrdiff_t{ddn} * h_ + place; }

  /// Bytes of a level of the spread.
  ByteSum spread(std::int32_t level) const {
    ByteSum most = 0;
    for (Dimension d = 0; d < 2; ++d) {
      for (std::int32_t i = 0; i < grid_.stations(d); ++i) {
        const LineTree& tree = scheme_.class_windows().tree(d, i);
        if (level >= tree.levels() || tree.level_sizes()[static_cast<std::size_t>(level)] == 0) continue;
        most = std::max(most, times_bytes(of_ddn_[static_cast<std::size_t>(i % h_)], part_[static_cast<std::size_t>(1 - d)]));
      }
    }
    return most;
  }

  /// The scatter of a DDN's bundle over a window.
  void cut(std::int32_t ddn) {
    const LineTree& window = scheme_.window();
    runs_.resize(static_cast<std::size_t>(h_ * h_));
    scattered_.resize(static_cast<std::size_t>(window.levels()));
    const auto at = [&](std::int32_t place) -> Bytes& { return *run(ddn, place - window.low()); };
    at(0) = of_ddn_[static_cast<std::size_t>(ddn)];
    for (std::int32_t level = window.levels(); level-- > 0;) {
      for (std::int32_t place = window.low(); place <= window.high(); ++place) {
        if (!window.holds_at(place, level)) continue;
        const LineTree::Vertex& own = window.at(place);
        window.for_children(place, level, [&](std::int32_t child, std::int32_t) {
          const LineTree::Vertex& v = window.at(child);
          at(child) = items(own, at(place), v.low, v.high);
          scattered_[static_cast<std::size_t>(level)] = std::max(scattered_[static_cast<std::size_t>(level)], at(child));
        });
      }
    }
    std::vector<Bytes> kept;
    for (std::int32_t place = window.low(); place <= window.high(); ++place)
      kept.push_back(items(window.at(place), at(place), place, place));
    std::copy(kept.begin(), kept.end(), run(ddn, 0));
  }
  static Bytes items(const LineTree::Vertex& segment, Bytes total, std::int32_t low, std::int32_t high) {
    return first_item(segment, total, high + 1) - first_item(segment, total, low);
  }

  /// messages(piece): the most that a place takes of a class in this phase.
  template <class F>
  ByteSum gather(Dimension phase, F messages) const {
    std::vector<Bytes> of_class;
    for (std::int32_t piece = 0; piece < h_; ++piece) of_class.push_back(messages(piece));
    ByteSum bytes = 0;
    for (std::int32_t step = 1; step <= scheme_.class_windows().gather_steps(); ++step) {
      ByteSum most = 0;
      for (Dimension d = 0; d < 2; ++d) {
        for (std::int32_t place = 0; place < grid_.extent(d); ++place) {
          const auto take = scheme_.class_windows().taken(d, place, -1, step);  // the - side gives the larger half
          if (!take) continue;
          const Bytes full = of_class[static_cast<std::size_t>(take->piece)];
          most = std::max(most, times_bytes(take->half ? (full + 1) / 2 : full, part_[static_cast<std::size_t>((d + phase) % 2)]));
        }
      }
      bytes += most;
    }
    return bytes;
  }

  const Hierarchy& scheme_;
  const Stations& grid_;
  std::int32_t h_;
  const std::array<Bytes, 2>& part_;
  const std::vector<Bytes>& of_ddn_;
  std::vector<Bytes> runs_;       // by DDN and place of the window
  std::vector<Bytes> scattered_;  // by level: the most messages that a channel carries
};

/// Up to the rings of the DDNs.
class StationCount {
 public:
  StationCount(const Hierarchy& scheme, Bytes m)
      : scheme_{scheme},
        grid_{scheme.class_windows().stations()},
        h_{scheme.h},
        m_{m},
        part_{(m + 1) / 2, m / 2},
        of_ddn_(static_cast<std::size_t>(h_)) {
    for (std::int32_t u = 0; u < grid_.stations(0); ++u) {
      for (std::int32_t v = 0; v < grid_.stations(1); ++v) {
        held_.push_back(Bytes{1} + (spare_after(0, u) ? 1U : 0U) + (spare_after(1, v) ? 1U : 0U) +
                        (spare_after(0, u - 1) && spare_after(1, v - 1) ? 1U : 0U));
      }
    }
  }

  ByteSum all() {
    ByteSum bytes = times_bytes(1, m_);  // join
    for (std::int32_t level = 0; level < scheme_.strip().levels(); ++level) bytes += times_bytes(aggregate(level), m_);
    bytes += rings();
    WindowCount windows(scheme_, part_, of_ddn_);
    return bytes + (scheme_.dcn == Hierarchy::Dcn::broadcast ? windows.broadcast() : windows.scatter());
  }

 private:
  bool spare_after(Dimension d, std::int32_t index) const { return grid_.hops(d, index, 1) == 2; }
  Bytes& held(std::int32_t u, std::int32_t v) {
    const std::int32_t row = modulo(u, grid_.stations(0)), column = modulo(v, grid_.stations(1));
    return held_[static_cast<std::size_t>(row) * static_cast<std::size_t>(grid_.stations(1)) + static_cast<std::size_t>(column)];
  }
  Bytes aggregate(std::int32_t level) {
    Bytes most = 0;
    for (std::int32_t u = 0; u < grid_.stations(0); ++u) {
      for (std::int32_t v = 0; v < grid_.stations(1); ++v) {
        const std::int32_t o = centred(u - v, h_);
        const LineTree::Vertex& vertex = scheme_.strip().at(o);
        if (vertex.level != level) continue;
        most = std::max(most, held(u, v));
        const bool near = vertex.slot == 1 || vertex.slot == -1;
        (near ? held(u + vertex.parent - o, v) : held(u, v + o - vertex.parent)) += held(u, v);
        held(u, v) = 0;
      }
    }
    return most;
  }

  /// Bytes on the fullest channels of a ring of `length` nodes, around which bundles of `full` whole messages go.
  ByteSum ring(std::int32_t length, std::uint64_t full) const {
    const ByteSum half = times_bytes((full + 1) / 2, part_[0]) + times_bytes(full / 2, part_[1]);
    return times_bytes(static_cast<std::uint64_t>((length - 1) / 2) * full, m_) + (length % 2 == 0 ? half : 0);
  }

  ByteSum rings() {
    const std::array length{grid_.windows(0), grid_.windows(1)};
    Bytes alone = 0;
    std::array<Bytes, 2> line{0, 0};  // by part: the most that it has of a line of its own dimension
    for (std::int32_t ddn = 0; ddn < h_; ++ddn) {
      for (const std::size_t part : {0U, 1U}) {
        for (std::int32_t across = 0; across < length[1 - part]; ++across) {
          Bytes sum = 0;
          for (std::int32_t along = 0; along < length[part]; ++along) {
            const std::int32_t a = (part == 0 ? along : across) * h_ + ddn, b = (part == 0 ? across : along) * h_ + ddn;
            alone = std::max(alone, held(a, b));
            sum += held(a, b);
          }
          line[part] = std::max(line[part], sum);
          if (part == 0) of_ddn_[static_cast<std::size_t>(ddn)] += sum;
        }
      }
    }
    if (scheme_.ddn_rings.together) return ring(length[0], alone) + ring(length[1], line[0]);
    ByteSum bytes = 0;
    for (const std::size_t phase : {0U, 1U}) {
      for (std::int32_t step = 1; step <= scheme_.ddn_rings.steps_of(0); ++step) {
        ByteSum most = 0;
        for (const std::size_t part : {0U, 1U}) {
          const std::uint64_t full = phase == 0 ? alone : line[part];
          const std::int32_t ring = length[(part + phase) % 2];
          if (2 * step <= ring) most = std::max(most, times_bytes(2 * step == ring ? (full + 1) / 2 : full, part_[part]));
        }
        bytes += most;
      }
    }
    return bytes;
  }

  const Hierarchy& scheme_;
  const Stations& grid_;
  std::int32_t h_;
  Bytes m_;
  std::array<Bytes, 2> part_;
  std::vector<Bytes> held_;    // by station
  std::vector<Bytes> of_ddn_;  // after the rings
};

}  // namespace

double uneven_bytes_of_all(const Hierarchy& scheme, Bytes m) { return StationCount(scheme, m).all(); }

}  // namespace torus::multinode_broadcast::hierarchical
