#include "algorithms/reduction/star_packing.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "algorithms/common/shuffle.hpp"
#include "runtime/model/words.hpp"

namespace torus::reduction {
namespace {

constexpr std::uint64_t most_work = 6'000;  // nodes that are looked at in all orders of a step together; fewer with more than 8 ports each
constexpr std::uint64_t most_orders = 24;
constexpr std::size_t most_guides = 200;
}  // namespace

StarPacking::StarPacking(const Machine& machine, const Sublattice& classes, std::vector<bool> kept)
    : machine_{&machine},
      ports_{std::min(machine.ports, machine.topology.max_ports())},
      neighbours_{machine.topology, classes},
      classes_{classes.index()},
      regular_{classes},
      kept_{std::move(kept)},
      channels_{machine} {
  kept_.resize(machine.topology.nodes(), false);
}

bool StarPacking::add_star(const Neighbourhood& around, std::size_t centre, int least, int most, std::uint64_t turn, Worms& worms) {
  const NodeId node = around.nodes[centre];
  if (roles_[node] != Role::none) return false;
  const std::size_t channels = channels_.taken(), sent = worms.size();
  std::vector<Near> near;
  for (const Near& other : around.near[centre]) {
    if (roles_[other.node] == Role::none) near.push_back(other);
  }
  if (near.size() < static_cast<std::size_t>(least)) return false;
  const auto key = [&](const Near& n) {
    return std::pair(n.distance,
                     detail::mixed((turn ^ (std::uint64_t{n.displacement} << 20U) ^ neighbours_.class_of(node)) + detail::mixed_step));
  };
  std::sort(near.begin(), near.end(), [&](const Near& a, const Near& b) { return key(a) < key(b); });
  for (const Near& other : near) {
    if (worms.size() - sent == static_cast<std::size_t>(most)) break;
    Route route;
    if (channels_.take(other.node, node, route)) worms.push_back({other.node, node, route});
  }
  if (worms.size() - sent < static_cast<std::size_t>(least)) {
    channels_.free_after(channels);
    worms.resize(sent);
    return false;
  }
  roles_[node] = Role::centre;
  for (std::size_t j = sent; j < worms.size(); ++j) roles_[worms[j].from] = Role::sender;
  return true;
}

void StarPacking::add_regular(const Neighbourhood& around, const Guide& guide, const std::vector<std::size_t>& order, std::uint64_t turn,
                              Worms& worms) {
  std::vector<std::map<std::uint32_t, std::vector<std::size_t>>> by_class(classes_);
  for (const std::size_t i : order)
    by_class[neighbours_.class_of(around.nodes[i])][guide.centres.coset(neighbours_.coordinates(around.nodes[i]))].push_back(i);
  for (const auto& cosets : by_class) {
    const std::vector<std::size_t>* best = nullptr;
    std::size_t most = 0;
    const std::size_t channels = channels_.taken(), sent = worms.size();
    const auto add = [&](const std::vector<std::size_t>& centres) {
      for (const std::size_t i : centres) add_star(around, i, 1, static_cast<int>(guide.cosets) - 1, turn, worms);
    };
    for (const auto& [coset, centres] : cosets) {
      add(centres);
      if (best == nullptr || worms.size() - sent > most) best = &centres;
      most = std::max(most, worms.size() - sent);
      for (std::size_t i = sent; i < worms.size(); ++i) roles_[worms[i].from] = roles_[worms[i].to] = Role::none;
      worms.resize(sent);
      channels_.free_after(channels);
    }
    if (best != nullptr) add(*best);
  }
}

Worms StarPacking::pack(const Neighbourhood& around, const Guide* guide) {
  roles_.assign(kept_.size(), Role::none);
  std::vector<std::size_t> order(around.nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random_);
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return kept_[around.nodes[i]]; });
  channels_.free_after(0);
  Worms worms;
  const std::uint64_t turn = random_();
  if (guide != nullptr) add_regular(around, *guide, order, turn, worms);
  for (int least = ports_; least > 0; --least) {
    for (const std::size_t i : order) add_star(around, i, least, ports_, guide != nullptr ? turn : random_(), worms);
  }
  return worms;
}

std::vector<StarPacking::Guide> StarPacking::guides() const {
  std::vector<Guide> guides;
  for (std::uint32_t cosets = static_cast<std::uint32_t>(ports_) + 1; regular_ && cosets > 1; --cosets) {
    regular_->each_within(machine_->topology, cosets, most_guides, [&](const Sublattice& within) {
      guides.push_back({within, cosets});
      return true;
    });
  }
  return guides;
}

Worms StarPacking::merge(const std::vector<bool>& active) {
  const Neighbourhood around = neighbours_.around(active, kept_, static_cast<std::size_t>(2 * ports_ + 6));
  const std::uint64_t nodes = std::max<std::uint64_t>(1, around.nodes.size());
  const std::uint64_t orders =
      std::clamp<std::uint64_t>(most_work * 8 / static_cast<std::uint64_t>(std::max(8, ports_)) / nodes, 2, most_orders);
  std::vector<std::uint32_t> members(classes_, 0);
  for (const NodeId node : around.nodes) ++members[neighbours_.class_of(node)];
  std::uint64_t fewest = 0;  // that can be left
  for (const std::uint32_t count : members)
    fewest += (count + static_cast<std::uint32_t>(ports_)) / (static_cast<std::uint32_t>(ports_) + 1);
  std::pair<std::uint64_t, std::uint64_t> least{UINT64_MAX, UINT64_MAX};  // left: in the fullest class, in all
  Worms best;
  const std::vector<Guide> all = guides();
  const Guide* chosen = nullptr;
  for (std::uint64_t tried = 0; tried < orders && least.second > fewest; ++tried) {
    const Guide* guide = all.empty() || tried < orders / 4 ? nullptr : &all[random_() % all.size()];
    Worms worms = pack(around, guide);
    std::vector<std::uint32_t> left = members;
    for (const Worm& worm : worms) --left[neighbours_.class_of(worm.from)];
    const std::pair<std::uint64_t, std::uint64_t> rest{*std::max_element(left.begin(), left.end()), nodes - worms.size()};
    if (rest >= least) continue;
    least = rest;
    best = std::move(worms);
    chosen = guide;
  }
  if (chosen != nullptr && least.second == nodes / chosen->cosets)
    regular_ = chosen->centres;
  else
    regular_.reset();
  return best;
}

}  // namespace torus::reduction
