#include "algorithms/multinode_broadcast/hierarchy_choice.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "algorithms/multinode_broadcast/partition.hpp"

namespace torus::multinode {
namespace {

using Balance = Hierarchy::Balance;

/// The least time so far, and whose it is.
class Choice {
 public:
  Choice(const Machine& machine, const Request& request, double s)
      : machine_{machine},
        bytes_{request.bytes},
        balance_{request.parameters.word("prefix")},
        s_{s},
        room_{static_cast<double>(most_blocks) / machine.topology.nodes() / std::max(1.0, s)} {}

  void weigh(const Hierarchy& scheme) {
    const bool all = s_ >= scheme.nodes, bare = scheme.balance == Balance::none;
    const std::uint32_t blocks = scheme.parts() * scheme.pieces();
    if (balance_.empty() && all && !bare && scheme.h > 1) return;
    if (balance_.empty() && scheme.pieces() > 1 && (blocks > bytes_ || blocks > room_)) return;
    const bool clustered = balance_.empty() && !all && bare && scheme.h > 1;
    const double bytes = clustered ? scheme.channel_bytes_at_worst(s_, bytes_) : scheme.channel_bytes(s_, bytes_);
    const double time = machine_.cost.steps(scheme.steps(), bytes, scheme.hops_for_h());
    if (best_ && time >= least_) return;
    least_ = time;
    best_ = scheme;
  }

  Hierarchy best() && { return std::move(*best_); }

 private:
  const Machine& machine_;
  Bytes bytes_;
  std::string_view balance_;
  double s_, room_;
  std::optional<Hierarchy> best_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Hierarchy choose_hierarchy(const Machine& machine, const Request& request, Hierarchy::Dcn dcn, double s) {
  const std::string_view word = request.parameters.word("prefix");
  const std::uint32_t asked = request.parameters.whole("h");
  Choice choice(machine, request, s);
  for (const std::int32_t h : any_partitions(machine.topology)) {
    if (asked != 0 && static_cast<std::uint32_t>(h) != asked) continue;
    Hierarchy scheme(machine.topology, h, dcn, Balance::none);  // its tables serve all
    for (const Balance balance : {Balance::hash, Balance::none, Balance::split}) {
      if (!word.empty() && word != balances[static_cast<std::size_t>(balance)]) continue;
      scheme.ddn_rings.together = false;
      scheme.balance = h > 1 ? balance : Balance::none;
      const std::int32_t steps = scheme.steps();
      choice.weigh(scheme);
      scheme.ddn_rings.together = true;
      if (scheme.steps() < steps) choice.weigh(scheme);
    }
  }
  return std::move(choice).best();
}

}  // namespace torus::multinode
