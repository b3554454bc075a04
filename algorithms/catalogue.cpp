#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "algorithms/generated/algorithms.hpp"

namespace torus {
namespace {

/// By collective, and within one in the order of the list of sources.
std::vector<const Algorithm*> of_this_project() {
  std::vector<const Algorithm*> all;
  for (const Entries* entries : all_entries) {
    for (const Algorithm* algorithm : std::span<const Algorithm* const>(*entries)) all.push_back(algorithm);
  }
  std::stable_sort(all.begin(), all.end(), [](const Algorithm* a, const Algorithm* b) { return a->collective < b->collective; });
  return all;
}

/// Grows at the start of a program, and never after. The command and its tests would else have to hand the list to every place that reads
/// an option.
std::vector<const Algorithm*>& all() {
  static std::vector<const Algorithm*> algorithms = of_this_project();
  return algorithms;
}

/// What an own algorithm must have, so that lists and commands can name it.
void check_own(const Algorithm* own, std::span<const Algorithm* const> taken) {
  if (own == nullptr) throw InputError("algorithm: a null pointer; give the address of one, for instance {&mine}");
  const std::string name(own->name);
  const auto refuse = [&](const std::string& rule) { throw InputError("algorithm '" + name + "': " + rule); };
  if (name.empty() || name.front() < 'a' || name.front() > 'z' ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
    refuse("a name has small letters, digits and hyphens, a letter first; for instance my-" + std::string(torus::name(own->collective)));
  for (const Algorithm* other : taken) {
    if (name == torus::name(other->collective)) refuse("it is the name of a collective; for instance my-" + name);
    if (other->collective == own->collective && other->name == name)
      refuse("there is a " + std::string(torus::name(other->collective)) + " of that name already; for instance my-" + name);
  }
  if (own->plan == nullptr) refuse("it has no plan; set .plan to a function that returns a Plan");
}

}  // namespace

std::span<const Algorithm* const> catalogue() noexcept { return all(); }

void extend_catalogue(std::span<const Algorithm* const> own) {
  std::vector<const Algorithm*> extended = all();
  for (const Algorithm* algorithm : own) {
    check_own(algorithm, extended);
    // By collective, as reports and lists expect: behind the last of its own.
    const auto behind = std::find_if(extended.rbegin(), extended.rend(),
                                     [&](const Algorithm* other) { return other->collective == algorithm->collective; });
    extended.insert(behind.base(), algorithm);
  }
  all() = std::move(extended);
}

bool is_own(const Algorithm& algorithm) noexcept {
  for (const Entries* entries : all_entries) {
    const std::span<const Algorithm* const> ours = *entries;
    if (std::find(ours.begin(), ours.end(), &algorithm) != ours.end()) return false;
  }
  return true;
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) noexcept {
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == collective && algorithm->name == name) return algorithm;
  }
  return nullptr;
}

std::string renamed(Collective collective, std::string_view name) {
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective != collective) continue;
    for (const FormerName& former : algorithm->former_names) {
      if (former.name == name)
        return std::string(algorithm->name) + (former.parameters.empty() ? "" : " " + std::string(former.parameters));
    }
  }
  return {};
}

}  // namespace torus
