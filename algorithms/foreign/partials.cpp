#include "algorithms/foreign/partials.hpp"

#include <algorithm>
#include <bit>

namespace torus::foreign {

bool Contributors::contains(const Contributors& other) const noexcept {
  for (std::size_t i = 0; i < other.bits_.size(); ++i) {
    if ((other.bits_[i] & ~(i < bits_.size() ? bits_[i] : 0)) != 0) return false;
  }
  return true;
}
void Contributors::add(const Contributors& other) {
  bits_.resize(std::max(bits_.size(), other.bits_.size()));
  for (std::size_t i = 0; i < other.bits_.size(); ++i) bits_[i] |= other.bits_[i];
}
void Contributors::remove(const Contributors& other) {
  for (std::size_t i = 0; i < std::min(bits_.size(), other.bits_.size()); ++i) bits_[i] &= ~other.bits_[i];
}
bool Contributors::none() const noexcept {
  return std::all_of(bits_.begin(), bits_.end(), [](std::uint64_t word) { return word == 0; });
}
std::uint32_t Contributors::count() const noexcept {
  std::uint32_t count = 0;
  for (const std::uint64_t word : bits_) count += static_cast<std::uint32_t>(std::popcount(word));
  return count;
}
std::optional<NodeId> Contributors::first_common(const Contributors& other) const noexcept {
  for (std::size_t i = 0; i < std::min(bits_.size(), other.bits_.size()); ++i) {
    if (const std::uint64_t both = bits_[i] & other.bits_[i]; both != 0)
      return static_cast<NodeId>(64 * i + static_cast<std::size_t>(std::countr_zero(both)));
  }
  return std::nullopt;
}

struct RegisterPlan::Chain {
  Contributors holds;
  Step from = 0;               ///< the step that first has something in it
  std::int64_t last_use = -1;  ///< the step of the last need
  std::size_t last_need = 0;
  std::vector<std::size_t> arrivals, needs;
};

namespace {

/// Arrivals, the latest first, that together are `missing` and come in steps first..last.
std::vector<std::size_t> covering(Contributors missing, const std::vector<Arrival>& arrivals, std::int64_t first, Step last) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = arrivals.size(); i-- > 0 && !missing.none();) {
    const Arrival& a = arrivals[i];
    if (a.visible > last) continue;
    if (std::int64_t{a.visible} < first) break;
    if (!missing.contains(*a.what)) continue;
    missing.remove(*a.what);
    chosen.push_back(i);
  }
  if (!missing.none()) chosen.clear();
  return chosen;
}

}  // namespace

/// Arrivals that would do, had they not come while what they are combined with was still needed as it was.
void RegisterPlan::note_too_early(const Need& need, std::span<const Chain> chains, const std::vector<Arrival>& arrivals) {
  std::uint32_t most = 0;
  for (const Chain& chain : chains) {
    if (!need.what->contains(chain.holds) || chain.holds.count() <= most) continue;
    Contributors missing = *need.what;
    missing.remove(chain.holds);
    const std::vector<std::size_t> found = covering(std::move(missing), arrivals, 0, need.step);
    if (found.empty()) continue;
    most = chain.holds.count();
    early.clear();
    not_before = static_cast<Step>(chain.last_use + 1);
    for (const std::size_t i : found) {
      if (arrivals[i].visible < not_before) early.push_back(arrivals[i].item);
    }
  }
}

std::string RegisterPlan::find(std::vector<Need>& needs, std::vector<Arrival>& arrivals) {
  early.clear();
  std::vector<Chain> chains(1);
  chains[0].holds = *own_;
  for (std::size_t n = 0; n < needs.size(); ++n) {
    const Need& need = needs[n];
    std::size_t best = chains.size();
    std::vector<std::size_t> more;
    for (std::size_t c = 0; c < chains.size(); ++c) {
      const Chain& chain = chains[c];
      if (!need.what->contains(chain.holds)) continue;
      if (best < chains.size() && chain.holds.count() <= chains[best].holds.count()) continue;
      Contributors missing = *need.what;
      missing.remove(chain.holds);
      const bool same = missing.none();
      std::vector<std::size_t> found = covering(std::move(missing), arrivals, chain.last_use + 1, need.step);
      if (found.empty() && !same) continue;
      best = c;
      more = std::move(found);
    }
    if (best == chains.size()) {
      more = covering(*need.what, arrivals, 0, need.step);
      if (more.empty()) {
        failed = need.item;
        for (const std::size_t i : chains[0].arrivals) {
          if (!need.what->contains(*arrivals[i].what)) early.push_back(arrivals[i].item);
        }
        not_before = need.step + 1;
        if (early.empty()) note_too_early(need, chains, arrivals);
        return "a node combines what it holds only with what arrives, and this asks it to keep both, or to combine two partials that it "
               "keeps";
      }
      chains.emplace_back();
      Chain& fresh = chains.back();
      fresh.from = arrivals[*std::min_element(more.begin(), more.end())].visible;
    }
    Chain& chain = chains[best];
    chain.holds = *need.what;
    chain.last_use = need.step;
    chain.last_need = n;
    chain.needs.push_back(n);
    chain.arrivals.insert(chain.arrivals.end(), more.begin(), more.end());
  }

  // The node's own contribution is in register 0, and so must be what it wants at the end; both may be one chain.
  std::vector<std::int64_t> busy_until(1, chains[0].needs.empty() ? (wanted_ ? std::int64_t{Need::at_end} : -1) : chains[0].last_use);
  std::vector<std::size_t> order;
  for (std::size_t c = 1; c < chains.size(); ++c) order.push_back(c);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return chains[a].from < chains[b].from; });
  std::vector<std::uint8_t> reg(chains.size(), 0);
  std::vector<std::size_t> holder(1, 0);  // the last chain of each register
  const std::size_t final_chain = [&] {
    for (std::size_t c = 0; c < chains.size(); ++c) {
      if (wanted_ && !chains[c].needs.empty() && needs[chains[c].last_need].step == Need::at_end) return c;
    }
    return chains.size();
  }();
  const auto release = [&](std::size_t c) { needs[chains[c].last_need].releases = true; };
  for (const std::size_t c : order) {
    std::size_t r = 0;
    if (c != final_chain) {
      // Register 0 is left to the last chain where there is one.
      r = 1;
      while (r < busy_until.size() && busy_until[r] >= std::int64_t{chains[c].from}) ++r;
      if (r == 8) {
        failed = needs[chains[c].needs.front()].item;
        return "it keeps more than 8 partials of a chunk at once";
      }
      if (r == busy_until.size()) {
        busy_until.push_back(-1);
        holder.push_back(chains.size());
      }
    } else if (busy_until[0] >= std::int64_t{chains[c].from}) {
      failed = needs[chains[c].needs.front()].item;
      return "the result arrives while the node still needs its own contribution";
    }
    if (holder[r] < chains.size()) release(holder[r]);
    holder[r] = c;
    reg[c] = static_cast<std::uint8_t>(r);
    busy_until[r] = chains[c].last_use;
  }
  // What a node does not want it must not keep.
  if (!wanted_ && !chains[0].needs.empty()) release(0);
  registers = static_cast<std::uint32_t>(busy_until.size());
  for (std::size_t c = 0; c < chains.size(); ++c) {
    for (const std::size_t n : chains[c].needs) needs[n].reg = reg[c];
    for (const std::size_t i : chains[c].arrivals) arrivals[i].registers |= static_cast<std::uint8_t>(1U << reg[c]);
  }
  if (final_chain < chains.size()) {
    const Chain& result = chains[final_chain];
    Step complete = 0;
    for (const std::size_t i : result.arrivals) complete = std::max(complete, arrivals[i].visible);
    const bool comes_whole = final_chain > 0 && result.arrivals.size() == 1;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      Arrival& arrival = arrivals[i];
      if (!(*arrival.what == result.holds)) continue;
      arrival.replaces = arrival.registers == 0 ? arrival.visible > complete || (comes_whole && arrival.visible == complete)
                                                : comes_whole && arrival.registers == 1 && result.arrivals.front() == i;
    }
  }
  for (Arrival& arrival : arrivals) {
    if (arrival.registers == 0 && registers < 8) arrival.registers = static_cast<std::uint8_t>(1U << registers++);
  }
  return {};
}

}  // namespace torus::foreign
