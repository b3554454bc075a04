#include "tools/torus/setting/names.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include <torus/error.hpp>

#include "tools/torus/machines/presets.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/setting/options.hpp"
#include "tools/torus/setting/spec.hpp"

namespace torus::command {
namespace {

/// What the field calls an algorithm, and its name here.
struct FieldName {
  Collective collective;
  std::string_view word, ours;
};

constexpr std::array field_names{
    FieldName{Collective::broadcast, "binomial", "mst"},
    FieldName{Collective::broadcast, "binomial-tree", "mst"},
    FieldName{Collective::broadcast, "binomial_tree", "mst"},
    FieldName{Collective::broadcast, "minimum-spanning-tree", "mst"},
    FieldName{Collective::broadcast, "chain", "pipeline"},
    FieldName{Collective::broadcast, "pipelined", "pipeline"},
    FieldName{Collective::broadcast, "flooding", "flood"},
    FieldName{Collective::broadcast, "recursive-doubling", "dimension-wise"},
    FieldName{Collective::broadcast, "recursive_doubling", "dimension-wise"},
    FieldName{Collective::broadcast, "recursive-splitting", "rs-bcast"},
    FieldName{Collective::broadcast, "scatter-allgather", "scatter-collect"},
    FieldName{Collective::broadcast, "scatter_allgather", "scatter-collect"},
    FieldName{Collective::broadcast, "van-de-geijn", "scatter-collect"},
    FieldName{Collective::multinode_broadcast, "bucket", "ring"},
    FieldName{Collective::multinode_broadcast, "recursive-doubling", "log"},
    FieldName{Collective::multinode_broadcast, "recursive_doubling", "log"},
    FieldName{Collective::total_exchange, "brucks", "bruck"},
    FieldName{Collective::total_exchange, "modified_bruck", "bruck"},
    FieldName{Collective::total_exchange, "pairwise", "direct"},
};

/// Our name of an algorithm that MPI libraries and papers call so: "binomial" is "mst". Empty if there is none.
std::string_view our_name(Collective collective, std::string_view word) noexcept {
  const auto at = std::find_if(field_names.begin(), field_names.end(),
                               [&](const FieldName& name) { return name.collective == collective && name.word == word; });
  return at == field_names.end() ? std::string_view() : at->ours;
}

}  // namespace

Collective parse_collective(std::string_view text, const TypedOptions& typed) {
  const Collective collective = parse_collective(text);
  if ((!text.ends_with('v') && !text.ends_with('V')) || typed["sizes"]) return collective;  // as in "alltoallv"
  throw InputError(fmt::format(
      "collective '{}': its blocks have sizes; say which, for instance --sizes zipf:1, --sizes zeros:0.5 or --sizes FILE", text));
}

Collective parse_collective(std::string_view text) {
  if (const auto found = find_collective(text)) return *found;
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->name == text)
      throw InputError(fmt::format("collective '{}': it is an algorithm, of {}; for instance torus run {} --algorithm {}", text,
                                   name(algorithm->collective), name(algorithm->collective), text));
  }
  std::vector<std::string_view> names{"bcast", "allgather", "alltoall"};
  for (const CollectiveFacts& each : collectives()) names.push_back(each.name);
  throw InputError(fmt::format("collective '{}': it must be {} (in MPI's words also bcast, allgather, alltoall){}", text,
                               fmt::join(std::span(names).subspan(3), ", "), did_you_mean(text, names)));
}

const Algorithm& named_algorithm(std::string_view option, Collective collective, std::string_view wanted,
                                 std::span<const Algorithm* const> algorithms) {
  std::vector<std::string_view> names;
  const Algorithm* elsewhere = nullptr;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective == collective) names.push_back(algorithm->name);
    if (algorithm->name != wanted) continue;
    if (algorithm->collective == collective) return *algorithm;
    elsewhere = algorithm;
  }
  if (const std::string now = renamed(collective, wanted); !now.empty())
    throw InputError(fmt::format("{} '{}': it is now {} {}", option, wanted, option, now));
  if (elsewhere != nullptr) {
    throw InputError(fmt::format("{} '{}': it is no {}; for instance torus run {} --algorithm {}", option, wanted, name(collective),
                                 name(elsewhere->collective), wanted));
  }
  const std::string refused = fmt::format("{} '{}'", option, wanted);
  if (find_collective(wanted)) {
    throw InputError(fmt::format("{}: it is a collective; for instance torus run {}, or {} {}", refused, wanted, option, names.front()));
  }
  if (const std::string_view ours = our_name(collective, wanted); !ours.empty())
    throw InputError(fmt::format("{}: here it is called {}; for instance {} {}", refused, ours, option, ours));
  const std::string near = did_you_mean(wanted, names);
  throw InputError(fmt::format("{}: there is no such {}{}", refused, name(collective),
                               !near.empty() ? near : fmt::format("; `torus list` shows all, for instance {}", names.front())));
}

std::vector<const Algorithm*> parse_algorithms(std::string_view option, std::string_view text, Collective collective,
                                               std::span<const Algorithm* const> algorithms) {
  std::set<const Algorithm*> named;
  if (text != "all") {
    for (const std::string_view part : split(text, ',')) named.insert(&named_algorithm(option, collective, part, algorithms));
  }
  std::vector<const Algorithm*> chosen;
  for (const Algorithm* algorithm : algorithms) {
    if (algorithm->collective == collective && (text == "all" || named.contains(algorithm))) chosen.push_back(algorithm);
  }
  return chosen;
}

std::vector<const Algorithm*> algorithms_called(std::string_view option, const std::optional<std::string>& word, std::string_view rule) {
  const std::optional<Collective> collective = word ? find_collective(*word) : std::nullopt;
  std::vector<const Algorithm*> called;
  std::vector<std::string_view> names;
  for (const CollectiveFacts& each : collectives()) names.push_back(each.name);
  for (const Algorithm* algorithm : catalogue()) {
    names.push_back(algorithm->name);
    if (!word || algorithm->collective == collective || algorithm->name == *word) called.push_back(algorithm);
  }
  if (called.empty()) {
    const std::string near = did_you_mean(*word, names);
    const auto alone = [&](std::string_view name) { return std::ranges::count(names, name) == 1; };  // of one collective
    const auto example = std::ranges::find_if(names.begin() + std::ssize(collectives()), names.end(), alone);
    refuse(option, *word, std::string(rule) + (near.empty() ? fmt::format("; for instance {}", *example) : near));
  }
  return called;
}

Topology parse_shape(std::string_view text) {
  const auto has_it = [text](const Preset& preset) { return preset.name == text; };
  if (std::any_of(presets().begin(), presets().end(), has_it))
    throw InputError(fmt::format("shape '{}': it is a machine; write --machine {}, and --on for another shape of it", text, text));
  return Topology::parse(text);
}

}  // namespace torus::command
