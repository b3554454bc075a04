/// Shapes to test on: the telling ones, which every law and every algorithm that applies should see, and random ones from a seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <torus/topology.hpp>

namespace torus::support {

/// Extents 1, 2, 3, even, odd and prime, equal and unequal, rings, lines and complete dimensions, alone and mixed; at most 243 nodes.
inline std::vector<Topology> telling_shapes() {
  std::vector<Topology> shapes;
  for (const char* text :
       {"1",           "2",    "3",   "4",     "7",     "12",    "1m",    "2m",      "3m",       "8m",       "2c",
        "3c",          "5c",   "1x1", "1x5",   "2x2",   "2x3",   "3x3",   "4x4",     "5x5",      "6x6",      "8x8",
        "4x7",         "13x3", "9x1", "2x11",  "5x5m",  "4mx3",  "3x4c",  "4cx4c",   "mesh:4x6", "mesh:1x7", "mesh:3x3x3",
        "hypercube:5", "2^5",  "3^5", "3x3x3", "2x3x5", "4x4x4", "5x1x4", "2x2x2x2", "2mx3x4c",  "1^4"}) {
    shapes.push_back(Topology::parse(text));
  }
  return shapes;
}

/// The seed of random tests: 1, or what TORUS_TEST_SEED says. Show it: CAPTURE(support::seed()).
inline std::uint64_t seed() {
  const char* text = std::getenv("TORUS_TEST_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

/// The turns of a long loop that are taken: one of `plain`, and others for each seed. With sanitizers, under which programs take some ten
/// times as long, one of `n`, with ThreadSanitizer of 4 n. TORUS_TEST_ALL=1 takes all.
class Share {
 public:
  explicit Share(unsigned n, unsigned plain = 1) : n_{times == 0 ? plain : n * times}, turn_{seed()} {
    if (std::getenv("TORUS_TEST_ALL") != nullptr) n_ = 1;
  }
  bool takes_turn() noexcept { return turn_++ % n_ == 0; }
  unsigned one_in() const noexcept { return n_; }

 private:
#if defined(__SANITIZE_THREAD__)
  static constexpr unsigned times = 4;
#elif defined(__SANITIZE_ADDRESS__)
  static constexpr unsigned times = 1;
#else
  static constexpr unsigned times = 0;
#endif
  unsigned n_;
  std::uint64_t turn_;
};

/// A number from 0 to `below` - 1, the same on every platform for a generator's state.
inline std::uint32_t random_below(std::mt19937_64& random, std::uint64_t below) { return static_cast<std::uint32_t>(random() % below); }

/// One to five dimensions of any wiring, at most `most_nodes` nodes.
inline Topology random_topology(std::mt19937_64& random, std::uint32_t most_nodes) {
  std::vector<DimensionShape> shape(1 + random_below(random, 5));
  std::uint32_t room = most_nodes;
  for (DimensionShape& dimension : shape) {
    dimension.extent = static_cast<std::int32_t>(1 + random_below(random, std::min<std::uint32_t>(room, 14)));
    dimension.wiring = static_cast<Wiring>(random_below(random, 3));
    room /= static_cast<std::uint32_t>(dimension.extent);
  }
  return Topology(std::move(shape));
}

/// At most so many dead links, dead nodes and slow links, anywhere: one may be there twice, and they may cut the shape apart.
inline Faults random_faults(std::mt19937_64& random, const Topology& whole, std::uint32_t dead_links, std::uint32_t dead_nodes,
                            std::uint32_t slow_links) {
  std::vector<Link> links;
  for (NodeId node = 0; node < whole.nodes(); ++node)
    whole.each_link(node, [&](Dimension d, std::int32_t hop, NodeId) { links.push_back({node, d, hop}); });
  const auto some_link = [&] { return links[random_below(random, links.size())]; };
  Faults faults;
  for (std::uint32_t n = links.empty() ? 0 : random_below(random, dead_links + 1); n > 0; --n) faults.dead_links.push_back(some_link());
  for (std::uint32_t n = random_below(random, dead_nodes + 1); n > 0; --n) faults.dead_nodes.push_back(random_below(random, whole.nodes()));
  for (std::uint32_t n = links.empty() ? 0 : random_below(random, slow_links + 1); n > 0; --n)
    faults.slow_links.push_back({some_link(), 1.0 + random_below(random, 5)});
  return faults;
}

/// The first living node from this one on, round the end of the ranks.
inline NodeId living_from(const Topology& topology, NodeId node) {
  while (!topology.living(node)) node = (node + 1) % topology.nodes();
  return node;
}

}  // namespace torus::support
