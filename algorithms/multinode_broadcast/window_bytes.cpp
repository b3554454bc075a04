#include "algorithms/multinode_broadcast/window_bytes.hpp"

#include <algorithm>
#include <cstddef>

namespace torus::multinode {
namespace {

class Count {
 public:
  Count(const Hierarchy& scheme, const std::array<Bytes, 2>& part, const std::vector<Bytes>& of_ddn)
      : scheme_{scheme}, grid_{scheme.class_windows->stations()}, h_{scheme.h}, part_{part}, of_ddn_{of_ddn} {}

  ByteSum broadcast() const {
    ByteSum bytes = 0;
    for (std::int32_t level = scheme_.class_windows->levels(); level-- > 0;) bytes += spread(level);
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
        const LineTree& tree = scheme_.class_windows->tree(d, i);
        if (level >= tree.levels() || tree.level_sizes()[static_cast<std::size_t>(level)] == 0) continue;
        most = std::max(most, times_bytes(of_ddn_[static_cast<std::size_t>(i % h_)], part_[static_cast<std::size_t>(1 - d)]));
      }
    }
    return most;
  }

  /// The scatter of a DDN's bundle over a window.
  void cut(std::int32_t ddn) {
    const LineTree& window = scheme_.window;
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
    for (std::int32_t step = 1; step <= scheme_.class_windows->gather_steps(); ++step) {
      ByteSum most = 0;
      for (Dimension d = 0; d < 2; ++d) {
        for (std::int32_t place = 0; place < grid_.extent(d); ++place) {
          const auto take = scheme_.class_windows->taken(d, place, -1, step);  // the - side gives the larger half
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

}  // namespace

ByteSum window_bytes_of_all(const Hierarchy& scheme, const std::array<Bytes, 2>& part, const std::vector<Bytes>& of_ddn) {
  Count count(scheme, part, of_ddn);
  return scheme.dcn == Hierarchy::Dcn::log ? count.broadcast() : count.scatter();
}

}  // namespace torus::multinode
