#include "algorithms/search/matching.hpp"

#include <cstddef>

namespace torus {
namespace {

constexpr std::uint32_t unmatched = 0xffffffffU;

/// Looks for a path from a free x to a free partner, breadth first, along which to change partners.
class Augmenter {
 public:
  Augmenter(const std::vector<std::uint32_t>& preferred, const std::function<bool(std::uint32_t, std::uint32_t)>& allowed)
      : preferred_{preferred}, allowed_{allowed}, partner_(preferred.size(), unmatched), of_partner_(preferred.size(), unmatched) {}

  bool match(std::uint32_t free) {
    const auto n = static_cast<std::uint32_t>(preferred_.size());
    std::vector<std::uint32_t> reached_from(n, unmatched);  // partner -> the x that reached it
    std::vector<std::uint32_t> queue{free};
    for (std::size_t head = 0; head < queue.size(); ++head) {
      const std::uint32_t x = queue[head];
      for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t y = preferred_[x] + i < n ? preferred_[x] + i : preferred_[x] + i - n;
        if (reached_from[y] != unmatched || !allowed_(x, y)) continue;
        reached_from[y] = x;
        if (of_partner_[y] == unmatched) {
          change(free, y, reached_from);
          return true;
        }
        queue.push_back(of_partner_[y]);
      }
    }
    return false;
  }

  const std::vector<std::uint32_t>& partners() const noexcept { return partner_; }

 private:
  void change(std::uint32_t free, std::uint32_t y, const std::vector<std::uint32_t>& reached_from) {
    while (true) {
      const std::uint32_t x = reached_from[y];
      const std::uint32_t left = partner_[x];
      partner_[x] = y;
      of_partner_[y] = x;
      if (x == free) return;
      y = left;
    }
  }

  const std::vector<std::uint32_t>& preferred_;
  const std::function<bool(std::uint32_t, std::uint32_t)>& allowed_;
  std::vector<std::uint32_t> partner_;     // of x
  std::vector<std::uint32_t> of_partner_;  // x of a partner
};

}  // namespace

std::optional<std::vector<std::uint32_t>> perfect_matching(const std::vector<std::uint32_t>& preferred,
                                                           const std::function<bool(std::uint32_t, std::uint32_t)>& allowed) {
  Augmenter augmenter(preferred, allowed);
  for (std::uint32_t x = 0; x < preferred.size(); ++x) {
    if (!augmenter.match(x)) return std::nullopt;
  }
  return augmenter.partners();
}

}  // namespace torus
