#include "tools/torus/explain/against.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>
#include <vector>

#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

/// Sizes at which the same algorithms are the fastest and as many are faster than the one that is explained.
struct Standing {
  std::size_t first = 0, last = 0;             ///< of the sizes
  std::vector<const Contender*> fastest;       ///< more than one where they tie
  std::size_t place = 0;                       ///< 1: it is one of them; 0: no time of it is known
  std::size_t of = 0;                          ///< those whose times are known
  std::vector<double> times_the_fastest = {};  ///< by size
};

const Contender* contender_of(const Contest& contest, const Algorithm& algorithm) {
  const auto at = std::find_if(contest.contenders.begin(), contest.contenders.end(),
                               [&](const Contender& contender) { return contender.algorithm == &algorithm; });
  return at != contest.contenders.end() ? &*at : nullptr;
}

std::optional<double> time_at(const Contender* contender, std::size_t size) {
  if (contender == nullptr) return std::nullopt;
  const auto& entry = contender->entries[size];
  return entry && entry->timed() ? std::optional(entry->model_time_s()) : std::nullopt;
}

std::vector<Standing> standings_of(const Contest& contest, const Algorithm& algorithm) {
  std::vector<Standing> standings;
  const Contender* const own = contender_of(contest, algorithm);
  for (const WinnerRange& range : winners_of(contest)) {
    for (std::size_t size = range.first; size <= range.last; ++size) {
      Standing now{size, size, range.fastest};
      const auto time_s = time_at(own, size);
      double least_s = 0;
      if (time_s) now.place = 1;
      for (const Contender& contender : contest.contenders) {
        const auto other_s = time_at(&contender, size);
        if (!other_s) continue;
        ++now.of;
        if (time_s && *other_s < *time_s) ++now.place;
        if (contender.entries[size]->best) least_s = *other_s;
      }
      now.times_the_fastest = {time_s && least_s > 0 ? *time_s / least_s : 1};
      const bool same = !standings.empty() && standings.back().fastest == now.fastest && standings.back().place == now.place &&
                        standings.back().of == now.of;
      if (!same) {
        standings.push_back(std::move(now));
      } else {
        standings.back().last = size;
        standings.back().times_the_fastest.push_back(now.times_the_fastest.front());
      }
    }
  }
  return standings;
}

std::string range_text(const Comparison& comparison, std::size_t first, std::size_t last) {
  const std::string from = bytes_option(comparison.sizes[first]), to = bytes_option(comparison.sizes[last]);
  return first == last ? from : from + " .. " + to;
}

/// How an algorithm does against a rival, size by size, in words: "slower up to 4KiB, then faster". Empty where no size has both times.
std::string verdict(const Comparison& comparison, const Contender* own, const Contender& rival) {
  struct Part {
    std::string_view word;
    std::size_t last;
  };
  std::vector<Part> parts;
  bool every = true;
  for (std::size_t size = 0; size < comparison.sizes.size(); ++size) {
    const auto own_s = time_at(own, size), rival_s = time_at(&rival, size);
    every = every && own_s && rival_s;
    if (!own_s || !rival_s) continue;
    const std::string_view word = *own_s < *rival_s ? "faster" : *own_s > *rival_s ? "slower" : "as fast";
    if (!parts.empty() && parts.back().word == word)
      parts.back().last = size;
    else
      parts.push_back({word, size});
  }
  if (parts.empty()) return "";
  if (parts.size() == 1) {
    return fmt::format("{}{}", parts.front().word, comparison.sizes.size() == 1 ? "" : every ? " at every size" : " wherever both apply");
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", then ", parts[i].word);
    if (i + 1 < parts.size()) text += " up to " + bytes_option(comparison.sizes[parts[i].last]);
  }
  return text;
}

/// Rivals with the same verdict, in the order of the catalogue.
std::vector<std::pair<std::string, std::vector<std::string_view>>> verdicts_of(const Comparison& comparison, const Algorithm& algorithm) {
  const Contest& contest = comparison.contests.front();
  std::vector<std::pair<std::string, std::vector<std::string_view>>> verdicts;
  for (const Contender& rival : contest.contenders) {
    if (rival.algorithm == &algorithm) continue;
    const std::string text = verdict(comparison, contender_of(contest, algorithm), rival);
    if (text.empty()) continue;
    const auto same = std::find_if(verdicts.begin(), verdicts.end(), [&](const auto& each) { return each.first == text; });
    (same != verdicts.end() ? *same : verdicts.emplace_back(text, std::vector<std::string_view>{})).second.push_back(rival.algorithm->name);
  }
  return verdicts;
}

}  // namespace

std::string against_text(const Comparison& comparison, const Algorithm& algorithm) {
  const Contest& contest = comparison.contests.front();
  const bool sized = facts_of(comparison.request.collective).carries_bytes();
  std::string text = fmt::format("\nAgainst the others here, {} ({} of {} apply)\n", comparison.run_sizes > 0 ? "measured" : "predicted",
                                 contest.contenders.size(), contest.contenders.size() + contest.left_out.size());
  if (contest.contenders.size() == 1) return text + "No other algorithm applies on this machine.\n";
  Table table{{"sizes", "place", "times the fastest", "fastest"}};
  for (const Standing& standing : standings_of(contest, algorithm)) {
    std::vector<std::string_view> fastest;
    for (const Contender* each : standing.fastest) fastest.push_back(each->algorithm->name);
    const auto [least, most] = std::minmax_element(standing.times_the_fastest.begin(), standing.times_the_fastest.end());
    const std::string from = fmt::format("x{:.2f}", *least), to = fmt::format("x{:.2f}", *most);
    table.push_back({sized ? range_text(comparison, standing.first, standing.last) : "-",
                     standing.place == 0 ? "?" : fmt::format("{} of {}", standing.place, standing.of),
                     standing.place == 0 ? "-"
                     : from == to        ? from
                                         : from + " .. " + to,
                     fastest.empty() ? "none" : fmt::format("{}", fmt::join(fastest, ", "))});
  }
  text += "\n" + aligned(std::move(table)) + "\n";
  for (const auto& [verdict, rivals] : verdicts_of(comparison, algorithm))
    text += fmt::format("{}:  {}\n", verdict, fmt::join(rivals, ", "));
  return text;
}

Json against_json(const Comparison& comparison, const Algorithm& algorithm) {
  Json json{{"standings", Json::array()}, {"against", Json::array()}};
  for (const Standing& standing : standings_of(comparison.contests.front(), algorithm)) {
    Json fastest = Json::array();
    for (const Contender* each : standing.fastest) fastest.push_back(each->algorithm->name);
    json["standings"].push_back({{"from_bytes", comparison.sizes[standing.first]},
                                 {"to_bytes", comparison.sizes[standing.last]},
                                 {"place", standing.place},
                                 {"of", standing.of},
                                 {"algorithms", std::move(fastest)},
                                 {"times_the_fastest", standing.place == 0 ? Json() : Json(standing.times_the_fastest)}});
  }
  for (const auto& [verdict, rivals] : verdicts_of(comparison, algorithm)) {
    Json names = Json::array();
    for (const std::string_view rival : rivals) names.push_back(rival);
    json["against"].push_back({{"is", verdict}, {"than", std::move(names)}});
  }
  return json;
}

}  // namespace torus::command
