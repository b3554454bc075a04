/// The bytes of uneven.hpp for all sources, up to the rings of the DDNs: how many messages each node has is counted, phase by phase.
#include <algorithm>
#include <array>

#include "algorithms/multinode_broadcast/uneven.hpp"
#include "algorithms/multinode_broadcast/window_bytes.hpp"

namespace torus::multinode {
namespace {

class Count {
 public:
  Count(const Hierarchy& scheme, Bytes m)
      : scheme_{scheme},
        grid_{scheme.class_windows->stations()},
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
    for (std::int32_t level = 0; level < scheme_.strip.levels(); ++level) bytes += times_bytes(aggregate(level), m_);
    bytes += rings();
    return bytes + window_bytes_of_all(scheme_, part_, of_ddn_);
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
        const LineTree::Vertex& vertex = scheme_.strip.at(o);
        if (vertex.level != level) continue;
        most = std::max(most, held(u, v));
        const bool near = vertex.slot == 1 || vertex.slot == -1;
        (near ? held(u + vertex.parent - o, v) : held(u, v + o - vertex.parent)) += held(u, v);
        held(u, v) = 0;
      }
    }
    return most;
  }

  /// Of a ring round which bundles of so many whole messages go.
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

double uneven_bytes_of_all(const Hierarchy& scheme, Bytes m) { return Count(scheme, m).all(); }

}  // namespace torus::multinode
