/// One node of `hyperplane`: what it holds of each part of the messages, and what it sends when.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

#include <torus/node.hpp>

#include "algorithms/common/received.hpp"
#include "algorithms/multinode_broadcast/hyperplane.hpp"

namespace torus::multinode {

/// One node's view: what it holds of each part.
class HyperplaneSite {
 public:
  HyperplaneSite(Node& self, const HyperplaneScheme& scheme, Cargo cargo, const Bundle& own)
      : self_{self},
        scheme_{scheme},
        cargo_{cargo},
        last_id_{self.topology().nodes() * scheme.segments() - 1},
        position_{scheme.position(self.coordinates())},
        parts_(scheme.parts()) {
    for (const BlockId id : own) parts_[scheme.part_of(id)].push_back(id);
  }

  /// Passes on the pieces that have not come to their ends in `places` places.
  void deal(std::int32_t places) {
    const auto reach = static_cast<std::uint32_t>(scheme_.reach());
    for (std::uint32_t move = 0; move < scheme_.axes().size(); ++move) {
      Bundle leaving;
      for (Bundle& part : parts_) {
        const auto goes = [&](BlockId id) {
          const std::uint32_t piece = scheme_.piece_of(id);
          return piece > 0 && (piece - 1) / reach == move && (piece - 1) % reach >= static_cast<std::uint32_t>(places);
        };
        std::copy_if(part.begin(), part.end(), std::back_inserter(leaving), goes);
        std::erase_if(part, goes);
      }
      send_bundle(self_, move_route(move, 1), leaving, cargo_);
    }
  }

  void hand_up(std::int32_t level) {
    const LineTree::Vertex& v = scheme_.tree().at(position_);
    if (v.level == level) send_parts(v.slot, v.parent - position_);
  }
  void hand_down(std::int32_t level) {
    if (!scheme_.tree().holds_at(position_, level)) return;
    scheme_.tree().for_children(position_, level, [&](std::int32_t child, std::int32_t slot) { send_parts(slot, child - position_); });
  }
  void exchange(std::size_t step) {
    if (position_ != 0) return;
    const PlaneExchange& plane = scheme_.exchange();
    for (std::size_t move = 0; move < plane.moves(); ++move) {
      const NodeId end = plane.end_of(step, move, scheme_.rank_in_plane(self_.coordinates()));
      Bundle leaving;
      for (const Bundle& part : parts_) {
        std::copy_if(part.begin(), part.end(), std::back_inserter(leaving),
                     [&](BlockId id) { return plane.passes(step, move, end, scheme_.owner_of(self_.topology(), id)); });
      }
      send_bundle(self_, move_route(move, plane.distance(step)), leaving, cargo_);
    }
  }
  void take(const Arrivals& came) {
    for (const Message& m : came) {
      for (const BlockId id : brought(m, cargo_)) parts_[scheme_.part_of(bounded(id, BlockId{0}, last_id_, "block"))].push_back(id);
    }
  }
  /// In the plane a bundle may come twice.
  void drop_duplicates() {
    for (Bundle& part : parts_) {
      std::sort(part.begin(), part.end());
      part.erase(std::unique(part.begin(), part.end()), part.end());
    }
  }
  /// What it handed up comes back from the plane.
  void forget() {
    if (position_ == 0) return;
    for (Bundle& part : parts_) part.clear();
  }
  Bundle all() const {
    Bundle bundle;
    for (const Bundle& part : parts_) bundle.insert(bundle.end(), part.begin(), part.end());
    return bundle;
  }

 private:
  void send_parts(std::int32_t slot, std::int32_t hops) {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const std::size_t axis = scheme_.trees() == HyperplaneScheme::Trees::lines ? part : static_cast<std::size_t>(std::abs(slot) - 1);
      send_bundle(self_, {{scheme_.axes()[axis], hops}}, parts_[part], cargo_);
    }
  }
  /// In the order of the machine's routing.
  Route move_route(std::size_t move, std::int32_t places) const {
    const Dimension onwards = scheme_.axes()[move], back = scheme_.axes()[(move + 1) % scheme_.axes().size()];
    Route route;
    for (const Dimension d : self_.machine().routing) {
      if (d == onwards) route.push_back({d, places});
      if (d == back) route.push_back({d, -places});
    }
    return route;
  }

  Node& self_;
  const HyperplaneScheme& scheme_;
  Cargo cargo_;
  BlockId last_id_;
  std::int32_t position_;
  std::vector<Bundle> parts_;
};

}  // namespace torus::multinode
