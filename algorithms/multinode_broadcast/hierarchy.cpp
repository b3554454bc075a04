#include "algorithms/multinode_broadcast/hierarchy.hpp"

#include <algorithm>
#include <cmath>

#include "algorithms/multinode_broadcast/forecast.hpp"

namespace torus::multinode {
namespace {

RingGather ddn_rings_of(const Topology& topology, std::int32_t h) {
  RingGather rings = whole_rings(topology, "ddn-rings");
  for (std::int32_t& length : rings.lengths) length /= h;
  rings.unit = h;
  return rings;
}

RingGather dcn_rings_of(const Topology& topology, std::int32_t h, Hierarchy::Dcn dcn) {
  RingGather rings = whole_rings(topology, "dcn-rings");
  std::fill(rings.lengths.begin(), rings.lengths.end(), h);
  if (dcn == Hierarchy::Dcn::log) rings.phases = std::min(1, rings.phases);
  return rings;
}

}  // namespace

Hierarchy::Hierarchy(const Topology& topology, std::int32_t partition, Dcn dcn_kind, Balance balanced)
    : nodes{static_cast<double>(topology.nodes())},
      dimensions{topology.dimensions()},
      h{partition},
      dcn{dcn_kind},
      balance{h > 1 ? balanced : Balance::none},
      strip{LineTree::window(5, h)},
      window{LineTree::window(3, h)},
      tuning{h, h <= 5 ? 5 : 3},
      ddn_rings{ddn_rings_of(topology, h)},
      dcn_rings{dcn_rings_of(topology, h, dcn)} {
  if (const Stations stations(topology, h); !stations.even()) class_windows.emplace(stations);
}

std::int32_t Hierarchy::aggregation_steps() const noexcept {
  return dimensions == 2 ? strip.levels() + (uneven() ? 1 : 0) : (dimensions - 1) * window.levels();
}

std::int32_t Hierarchy::balancing_steps() const noexcept { return tunes() ? tuning.steps() : 0; }

std::int32_t Hierarchy::steps() const noexcept {
  if (h == 1) return ddn_rings.steps();
  const std::int32_t before = aggregation_steps() + balancing_steps() + ddn_rings.steps();
  if (uneven() && dcn == Dcn::log) return before + class_windows->levels() + class_windows->gather_steps();
  if (uneven()) return before + window.levels() + 2 * class_windows->gather_steps();
  const std::int32_t spreading = dcn == Dcn::log ? window.levels() : (dimensions - 1) * window.levels();
  return before + spreading + dcn_rings.steps();
}

std::string Hierarchy::formula() const {
  const std::string k = dimensions > 2 ? "k" : "2";
  if (h == 1) return ddn_rings.together ? "sum of floor(n_d/2)" : "k floor(n/2)";
  const std::string rings = "tune + " + (ddn_rings.together ? "sum of floor(n_d/2h)" : k + " floor(n/2h)") + " + ";
  if (uneven() && dcn == Dcn::log) return "1 + L5(h) + " + rings + "levels of the longest window + floor(longest gap / 2)";
  if (uneven()) return "1 + L5(h) + " + rings + "L3(h) + 2 floor(longest gap / 2)";
  if (dcn == Dcn::log) return "L5(h) + " + rings + "L3(h) + floor(h/2)";
  if (dimensions > 2) return "(k-1) L3(h) + " + rings + "(k-1) L3(h) + k floor(h/2)";
  return "L5(h) + " + rings + "L3(h) + 2 floor(h/2)";
}

double Hierarchy::gathering_bytes(double s, Bytes m) const {
  if (h == 1) return 0;
  const double share = s / nodes, message = static_cast<double>(m);
  const double crowd = std::pow(h, dimensions - 1);  // nodes that a DDN node gathers, itself included
  const double members = nodes / crowd;
  double bytes = 0;
  const LineTree& gathering = dimensions == 2 ? strip : window;
  if (uneven()) bytes += message * fullest(share, nodes, 1);
  for (Dimension d = 1; d < dimensions; ++d) {
    for (const std::int32_t size : gathering.level_sizes()) {
      const double cap = size * std::pow(h, d - 1);
      bytes += message * fullest(cap * share, nodes / std::pow(h, d - 1), cap);
    }
  }
  if (tunes()) {
    const double piece = balance == Balance::split ? message / h : message;
    for (const TuneMoves::Move& move : tuning.moves) {
      const double cap = move.worst * crowd / h * pieces();
      bytes += (piece + (move.last_digit ? 0 : 4)) * fullest(cap * share, 2 * members, cap);
    }
  }
  return bytes;
}

double Hierarchy::messages_over_windows(double bundle) const {
  const double steps_with_all = (class_windows->stations().longest_gap() - 1) / 2.0;
  if (dcn == Dcn::log) return bundle * (class_windows->levels() + steps_with_all);
  double messages = (std::ceil(bundle / h) + bundle) * steps_with_all;
  for (const std::int32_t size : window.level_sizes()) messages += std::ceil(bundle * size / h);
  return messages;
}

double Hierarchy::spreading_bytes(double s, Bytes m) const {
  if (ddn_rings.axes.empty()) return 0;
  const bool split = balance == Balance::split;
  const Bytes piece = (m + pieces() - 1) / pieces(), part_bytes = (piece + parts() - 1) / parts();  // what each DDN gets of a message
  const double share = s / nodes, part = static_cast<double>(part_bytes);
  double crowd = std::pow(h, dimensions - 1);
  if (uneven()) crowd = nodes / (class_windows->stations().windows(0) * class_windows->stations().windows(1) * h);
  const double members = nodes / crowd;
  if (h == 1) return ddn_rings.channel_bytes(m, 1, share, members);
  double bytes = ddn_rings.channel_bytes(piece, crowd * pieces(), share, members);
  const double bundle = split ? std::ceil(s) : fullest(s / h, h, nodes / h);  // pieces or messages of the fullest DDN
  if (uneven()) return bytes + part * messages_over_windows(bundle);
  if (dcn == Dcn::log) {
    bytes += part * bundle * window.levels();
    return bytes + (split ? dcn_rings.channel_bytes(piece, bundle, 1, h) : dcn_rings.channel_bytes(m, nodes / h, share, h));
  }
  double run = bundle;
  for (Dimension d = 1; d < dimensions; ++d) {
    for (const std::int32_t size : window.level_sizes()) bytes += part * std::ceil(run * size / h);
    run /= h;
  }
  if (split) return bytes + dcn_rings.channel_bytes(piece, std::ceil(bundle / crowd), 1, h * crowd);
  return bytes + dcn_rings.channel_bytes(m, nodes / (h * crowd), share, h * crowd);
}

}  // namespace torus::multinode
