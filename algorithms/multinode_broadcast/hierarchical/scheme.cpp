#include "algorithms/multinode_broadcast/hierarchical/scheme.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/common/parameters.hpp"
#include "algorithms/multinode_broadcast/forecast.hpp"
#include "algorithms/multinode_broadcast/partition.hpp"

namespace torus::multinode_broadcast::hierarchical {
namespace {

using Dcn = HierarchyForm::Dcn;
using Balance = HierarchyForm::Balance;

RingGather ddn_rings_of(const Topology& topology, const HierarchyForm& form) {
  RingGather rings = whole_rings(topology, "ddn-rings");
  for (std::int32_t& length : rings.lengths) length /= form.h;
  rings.unit = form.h;
  rings.together = form.together;
  return rings;
}

RingGather dcn_rings_of(const Topology& topology, const HierarchyForm& form) {
  RingGather rings = whole_rings(topology, "dcn-rings");
  std::fill(rings.lengths.begin(), rings.lengths.end(), form.h);
  if (form.dcn == Hierarchy::Dcn::broadcast) rings.phases = std::min(1, rings.phases);
  return rings;
}

/// All forms that the request allows, those of one h in a row. The DCNs' broadcast is for two dimensions, and for h = 1 the same as the
/// scatter.
std::vector<HierarchyForm> possible_forms(const Machine& machine, const Request& request) {
  const auto asks_other = [&](std::string_view parameter, std::string_view word) {
    const std::string_view asked = request.parameters.word(parameter);
    return !asked.empty() && asked != word;
  };
  const std::uint32_t asked = request.parameters.whole("h");
  std::vector<HierarchyForm> forms;
  for (const std::int32_t h : any_partitions(machine.topology)) {
    if (asked != 0 && static_cast<std::uint32_t>(h) != asked) continue;
    for (const Dcn dcn : {Dcn::scatter, Dcn::broadcast}) {
      if (asks_other("dcn", dcn_words[static_cast<std::size_t>(dcn)])) continue;
      if (dcn == Dcn::broadcast && request.parameters.word("dcn").empty() && (h == 1 || machine.topology.dimensions() != 2)) continue;
      for (const Balance balance : {Balance::hash, Balance::none, Balance::split}) {
        if (asks_other("prefix", balance_words[static_cast<std::size_t>(balance)])) continue;
        for (const bool together : {false, true}) forms.push_back({h, dcn, balance, together});
      }
    }
  }
  return forms;
}

/// Predicts the time of forms. Keeps the tables of the last h.
class FormTime {
 public:
  FormTime(const Machine& machine, const Request& request, double s)
      : machine_{machine},
        bytes_{request.bytes},
        free_{request.parameters.word("prefix").empty()},
        s_{s},
        room_{static_cast<double>(most_blocks) / machine.topology.nodes() / std::max(1.0, s)} {}

  Hierarchy scheme(const HierarchyForm& form) {
    if (tables_ == nullptr || h_ != form.h) tables_ = std::make_shared<const HierarchyTables>(machine_.topology, h_ = form.h);
    return {machine_.topology, form, tables_};
  }

  /// None where the form is no choice.
  std::optional<double> operator()(const HierarchyForm& form) {
    const Hierarchy scheme = this->scheme(form);
    if (form.together && scheme.steps() >= this->scheme({form.h, form.dcn, form.balance, false}).steps()) return std::nullopt;
    const bool all = s_ >= scheme.nodes, balances = scheme.tunes();
    if (free_ && all && balances) return std::nullopt;
    const std::uint32_t blocks = scheme.parts() * scheme.pieces();
    if (free_ && scheme.pieces() > 1 && (blocks > bytes_ || blocks > room_)) return std::nullopt;
    const bool clustered = free_ && !all && !balances && scheme.h > 1;
    const double bytes = clustered ? scheme.channel_bytes_at_worst(s_, bytes_) : scheme.channel_bytes(s_, bytes_);
    return machine_.cost.steps(scheme.steps(), bytes, scheme.hops_for_h());
  }

 private:
  const Machine& machine_;
  Bytes bytes_;
  bool free_;  // to balance as it is best
  double s_, room_;
  std::int32_t h_ = 0;
  std::shared_ptr<const HierarchyTables> tables_;
};

}  // namespace

HierarchyTables::HierarchyTables(const Topology& topology, std::int32_t h)
    : strip{LineTree::window(5, h)}, window{LineTree::window(3, h)}, tuning{h, h <= 5 ? 5 : 3} {
  if (const Stations stations(topology, h); !stations.even()) class_windows.emplace(stations);
}

Hierarchy::Hierarchy(const Topology& topology, const HierarchyForm& form, std::shared_ptr<const HierarchyTables> shared)
    : nodes{static_cast<double>(topology.nodes())},
      dimensions{topology.dimensions()},
      h{form.h},
      dcn{form.dcn},
      balance{form.h > 1 ? form.balance : Balance::none},
      tables{std::move(shared)},
      ddn_rings{ddn_rings_of(topology, form)},
      dcn_rings{dcn_rings_of(topology, form)} {}

std::int32_t Hierarchy::aggregation_steps() const noexcept {
  return dimensions == 2 ? strip().levels() + (uneven() ? 1 : 0) : (dimensions - 1) * window().levels();
}

std::int32_t Hierarchy::balancing_steps() const noexcept { return tunes() ? tuning().steps() : 0; }

std::int32_t Hierarchy::steps() const noexcept {
  if (h == 1) return ddn_rings.steps();
  const std::int32_t before = aggregation_steps() + balancing_steps() + ddn_rings.steps();
  if (uneven() && dcn == Dcn::broadcast) return before + class_windows().levels() + class_windows().gather_steps();
  if (uneven()) return before + window().levels() + 2 * class_windows().gather_steps();
  const std::int32_t spreading = dcn == Dcn::broadcast ? window().levels() : (dimensions - 1) * window().levels();
  return before + spreading + dcn_rings.steps();
}

std::string Hierarchy::formula() const {
  const std::string k = dimensions > 2 ? "k" : "2";
  if (h == 1) return ddn_rings.together ? "sum of floor(n_d/2)" : "k floor(n/2)";
  const std::string rings = "tune + " + (ddn_rings.together ? "sum of floor(n_d/2h)" : k + " floor(n/2h)") + " + ";
  if (uneven() && dcn == Dcn::broadcast) return "1 + L5(h) + " + rings + "levels of the longest window + floor(longest gap / 2)";
  if (uneven()) return "1 + L5(h) + " + rings + "L3(h) + 2 floor(longest gap / 2)";
  if (dcn == Dcn::broadcast) return "L5(h) + " + rings + "L3(h) + floor(h/2)";
  if (dimensions > 2) return "(k-1) L3(h) + " + rings + "(k-1) L3(h) + k floor(h/2)";
  return "L5(h) + " + rings + "L3(h) + 2 floor(h/2)";
}

double Hierarchy::gathering_bytes(double s, Bytes m) const {
  if (h == 1) return 0;
  const double share = s / nodes, message = static_cast<double>(m);
  const double crowd = std::pow(h, dimensions - 1);  // nodes that a DDN node gathers, itself included
  const double members = nodes / crowd;
  double bytes = 0;
  const LineTree& gathering = dimensions == 2 ? strip() : window();
  if (uneven()) bytes += message * fullest(share, nodes, 1);
  for (Dimension d = 1; d < dimensions; ++d) {
    for (const std::int32_t size : gathering.level_sizes()) {
      const double cap = size * std::pow(h, d - 1);
      bytes += message * fullest(cap * share, nodes / std::pow(h, d - 1), cap);
    }
  }
  if (tunes()) {
    const double piece = balance == Balance::split ? message / h : message;
    for (const TuneMoves::Move& move : tuning().moves) {
      const double cap = move.worst * crowd / h * pieces();
      bytes += (piece + (move.last_digit ? 0 : 4)) * fullest(cap * share, 2 * members, cap);
    }
  }
  return bytes;
}

double Hierarchy::messages_over_windows(double bundle) const {
  const double steps_with_all = (class_windows().stations().longest_gap() - 1) / 2.0;
  if (dcn == Dcn::broadcast) return bundle * (class_windows().levels() + steps_with_all);
  double messages = (std::ceil(bundle / h) + bundle) * steps_with_all;
  for (const std::int32_t size : window().level_sizes()) messages += std::ceil(bundle * size / h);
  return messages;
}

double Hierarchy::spreading_bytes(double s, Bytes m) const {
  if (ddn_rings.axes.empty()) return 0;
  const bool split = balance == Balance::split;
  const Bytes piece = (m + pieces() - 1) / pieces(), part_bytes = (piece + parts() - 1) / parts();  // what each DDN gets of a message
  const double share = s / nodes, part = static_cast<double>(part_bytes);
  double crowd = std::pow(h, dimensions - 1);
  if (uneven()) crowd = nodes / (class_windows().stations().windows(0) * class_windows().stations().windows(1) * h);
  const double members = nodes / crowd;
  if (h == 1) return ddn_rings.channel_bytes(m, 1, share, members);
  double bytes = ddn_rings.channel_bytes(piece, crowd * pieces(), share, members);
  const double bundle = split ? std::ceil(s) : fullest(s / h, h, nodes / h);  // pieces or messages of the fullest DDN
  if (uneven()) return bytes + part * messages_over_windows(bundle);
  if (dcn == Dcn::broadcast) {
    bytes += part * bundle * window().levels();
    return bytes + (split ? dcn_rings.channel_bytes(piece, bundle, 1, h) : dcn_rings.channel_bytes(m, nodes / h, share, h));
  }
  double run = bundle;
  for (Dimension d = 1; d < dimensions; ++d) {
    for (const std::int32_t size : window().level_sizes()) bytes += part * std::ceil(run * size / h);
    run /= h;
  }
  if (split) return bytes + dcn_rings.channel_bytes(piece, std::ceil(bundle / crowd), 1, h * crowd);
  return bytes + dcn_rings.channel_bytes(m, nodes / (h * crowd), share, h * crowd);
}

Hierarchy choose_hierarchy(const Machine& machine, const Request& request, double s) {
  const FormTime time(machine, request, s);
  return {machine.topology, *cheapest(possible_forms(machine, request), time)};
}

}  // namespace torus::multinode_broadcast::hierarchical
