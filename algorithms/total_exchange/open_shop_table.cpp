#include "algorithms/total_exchange/open_shop_table.hpp"

#include <algorithm>
#include <bit>

namespace torus::total_exchange {

OpenShopTable::OpenShopTable(std::size_t machines, std::size_t jobs, std::uint32_t slots)
    : slots_{slots},
      words_{slots / 64U + 1U},
      jobs_(machines * slots, none),
      busy_(machines * words_),
      first_free_(machines),
      operations_(jobs),
      job_busy_(words_) {}

void OpenShopTable::add(Job job, std::size_t machine, std::uint32_t operations) {
  for (const Operation& o : operations_[job]) job_busy_[o.slot / 64U] |= std::uint64_t{1} << (o.slot % 64U);
  for (std::uint32_t i = 0; i < operations; ++i) {
    std::uint32_t slot = first_free_of_both(machine);
    if (slot == slots_) {
      slot = first_free_of_job();
      exchange_chain(machine, slot, first_free_[machine]);
    }
    put(job, machine, slot);
    job_busy_[slot / 64U] |= std::uint64_t{1} << (slot % 64U);
  }
  for (const Operation& o : operations_[job]) job_busy_[o.slot / 64U] = 0;
}

std::uint32_t OpenShopTable::first_free_of_job() const noexcept {
  std::uint32_t slot = 0;
  while ((job_busy_[slot / 64U] >> (slot % 64U) & 1U) != 0) ++slot;
  return slot;
}

std::uint32_t OpenShopTable::first_free_of_both(std::size_t machine) const noexcept {
  const std::uint64_t* busy = &busy_[machine * words_];
  for (std::size_t word = first_free_[machine] / 64U; word < words_; ++word) {
    const std::uint64_t free = ~(busy[word] | job_busy_[word]);
    if (free == 0) continue;
    const auto slot = static_cast<std::uint32_t>(word * 64U + static_cast<std::size_t>(std::countr_zero(free)));
    return slot < slots_ ? slot : slots_;
  }
  return slots_;
}

OpenShopTable::Operation* OpenShopTable::operation_at(Job job, std::uint32_t slot) noexcept {
  for (Operation& o : operations_[job]) {
    if (o.slot == slot) return &o;
  }
  return nullptr;
}

void OpenShopTable::put(Job job, std::size_t machine, std::uint32_t slot) {
  jobs_[machine * slots_ + slot] = job;
  operations_[job].push_back({slot, static_cast<std::uint32_t>(machine)});
  std::uint64_t* busy = &busy_[machine * words_];
  busy[slot / 64U] |= std::uint64_t{1} << (slot % 64U);
  std::uint32_t& first = first_free_[machine];
  while (first < slots_ && (busy[first / 64U] >> (first % 64U) & 1U) != 0) ++first;
}

/// Frees slot a of the machine, whose slot b is free: what is on it at a moves to b, what that job did at b moves to a, and so on. The
/// chain does not come back to the machine, nor to a job that is free at a: it reaches machines from b and jobs from a.
void OpenShopTable::exchange_chain(std::size_t machine, std::uint32_t a, std::uint32_t b) {
  struct Link {
    Job job;
    std::size_t machine;
    std::uint32_t to;
  };
  std::vector<Link> chain;
  std::size_t at = machine;
  while (true) {
    const Job job = job_at(at, a);
    if (job == none) break;
    chain.push_back({job, at, b});
    const Operation* other = operation_at(job, b);
    if (other == nullptr) break;
    at = other->machine;
    chain.push_back({job, at, a});
  }
  for (const Link& link : chain) {
    jobs_[link.machine * slots_ + a] = none;
    jobs_[link.machine * slots_ + b] = none;
  }
  for (const Link& link : chain) {
    jobs_[link.machine * slots_ + link.to] = link.job;
    for (Operation& o : operations_[link.job]) {
      if (o.machine == link.machine && (o.slot == a || o.slot == b)) {
        o.slot = link.to;
        break;
      }
    }
  }
  // Inside the chain every machine is busy in both slots before and after; its ends change.
  for (const std::size_t end : {machine, chain.back().machine}) {
    for (const std::uint32_t slot : {a, b}) {
      const std::uint64_t bit = std::uint64_t{1} << (slot % 64U);
      std::uint64_t& word = busy_[end * words_ + slot / 64U];
      word = job_at(end, slot) == none ? word & ~bit : word | bit;
    }
    std::uint32_t& first = first_free_[end];
    first = std::min({first, a, b});
    while (first < slots_ && job_at(end, first) != none) ++first;
  }
}

}  // namespace torus::total_exchange
