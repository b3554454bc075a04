/// A comparison as a table for people, as JSON for programs, as CSV for spreadsheets.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include <torus/bandwidth.hpp>

#include "algorithms/optimum/fewest.hpp"
#include "runtime/base/figures.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/study/comparison.hpp"

namespace torus::command {
namespace {

std::string names_text(const std::vector<const Contender*>& contenders) {
  std::string text;
  for (const Contender* contender : contenders) text += (text.empty() ? "" : ", ") + std::string(contender->algorithm->name);
  return text;
}

/// Whether sizes tell the columns apart: a barrier has none.
bool sized(const Comparison& comparison) { return facts_of(comparison.request.collective).carries_bytes(); }

/// By the model time; none where that is not known.
std::optional<Bandwidth> bandwidth_at(const Comparison& comparison, const Contest& contest, const Entry& entry, std::size_t size) {
  if (!entry.timed()) return std::nullopt;
  const double algorithm = per_second(contest.asked_bytes[size], entry.model_time_s());
  return Bandwidth{algorithm, algorithm * bus_factor(comparison.request.collective, contest.machine.topology.nodes())};
}

std::string ratio_text(std::optional<double> ratio) { return ratio ? fmt::format("x{:.2f}", *ratio) : "-"; }

/// "7" or "7 .. 130": min and max over the sizes.
template <class Value>
std::string span_text(const std::vector<Value>& values) {
  if (values.empty()) return "-";
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  return *min == *max ? grouped(*min) : grouped(*min) + " .. " + grouped(*max);
}

/// Whether results are rounded, so that algorithms differ in their errors.
bool rounded(const Comparison& comparison) {
  return facts_of(comparison.request.collective).combines && rounds(comparison.request.reduction);
}

/// The largest error of the runs of an algorithm.
std::string error_text(const Contender& contender) {
  std::optional<double> most;
  for (const auto& entry : contender.entries) {
    if (entry && entry->run && entry->run->error_ulp) most = std::max(most.value_or(0), *entry->run->error_ulp);
  }
  return most ? fmt::format("{:.4g}", *most) : "-";
}

/// How much a cell says.
enum class Cells { times_and_ratios, ratios };

std::string cell_of(const Contest& contest, const std::optional<Entry>& entry, std::size_t size, Cells cells) {
  if (!entry) return "-";
  if (!entry->failure.empty()) return "FAILED";
  if (!entry->no_plan.empty()) return "no plan";
  if (!entry->timed()) return "?";
  const std::string_view sign = entry->run ? "" : !entry->not_run.empty() ? "~" : entry->exact && entry->by_speed ? "" : "<";
  const std::optional<double> ratio = times_the_bound(contest, *entry, size);
  const std::string time = cells == Cells::ratios && ratio ? "" : seconds_text(entry->model_time_s()) + " ";
  return fmt::format("{}{}{}{}", sign, time, ratio_text(ratio), entry->best ? " *" : "");
}

std::vector<std::string> contender_line(const Contest& contest, const Contender& contender, Cells say, bool error) {
  std::vector<std::string> cells;
  std::vector<std::uint64_t> steps;
  for (std::size_t i = 0; i < contender.entries.size(); ++i) {
    const auto& entry = contender.entries[i];
    if (entry && (entry->run || entry->predicted)) steps.push_back(entry->run ? entry->run->steps : entry->steps);
    cells.push_back(cell_of(contest, entry, i, say));
  }
  if (error) cells.insert(cells.begin(), error_text(contender));
  cells.insert(cells.begin(), {std::string(contender.algorithm->name), span_text(steps)});
  return cells;
}

/// What did not run or failed and why, and the entries that it concerns.
std::map<std::string, std::string> remarks(const Comparison& comparison, const Contest& contest) {
  std::map<std::string, std::string> remarks;
  for (const Contender& contender : contest.contenders) {
    for (std::size_t i = 0; i < contender.entries.size(); ++i) {
      const auto& entry = contender.entries[i];
      if (!entry || (entry->not_run.empty() && entry->failure.empty() && entry->no_plan.empty())) continue;
      std::string& entries = remarks[!entry->failure.empty()   ? "FAILED: " + entry->failure
                                     : !entry->no_plan.empty() ? "no plan: " + entry->no_plan
                                                               : "not run: " + entry->not_run];
      entries += fmt::format("{}{}", entries.empty() ? "" : ", ", contender.algorithm->name);
      if (sized(comparison)) entries += " at " + bytes_option(comparison.sizes[i]);
    }
  }
  return remarks;
}

std::string contest_text(const Comparison& comparison, const Contest& contest) {
  Table table{{"algorithm", "steps"}, {"lower bound", ""}};
  std::vector<std::uint64_t> steps;
  for (std::size_t i = 0; i < comparison.sizes.size(); ++i) {
    const bool run = std::any_of(contest.contenders.begin(), contest.contenders.end(),
                                 [i](const Contender& contender) { return contender.entries[i] && contender.entries[i]->run; });
    table[0].push_back((sized(comparison) ? bytes_option(comparison.sizes[i]) : "model time") +
                       (run && i < comparison.run_sizes ? " (run)" : ""));
    table[1].push_back(seconds_text(contest.bounds[i].model_time_s(contest.machine.cost)));
    steps.push_back(contest.bounds[i].steps);
  }
  table[1][1] = span_text(steps);
  const bool error = rounded(comparison);
  if (error) {
    table[0].insert(table[0].begin() + 2, "ulp");
    table[1].insert(table[1].begin() + 2, "");
  }
  const std::size_t heads = table.size();
  for (const Cells cells : {Cells::times_and_ratios, Cells::ratios}) {
    table.resize(heads);
    for (const Contender& contender : contest.contenders) table.push_back(contender_line(contest, contender, cells, error));
    if (fits(table)) break;
  }
  const std::string fewest = fewest_text(contest.machine, comparison.request.collective);
  std::string text = fmt::format("{}: {} of {}{}\n{}", rules_text(contest.machine), contest.contenders.size(),
                                 counted(contest.contenders.size() + contest.left_out.size(), "algorithm applies", "algorithms apply"),
                                 fewest.empty() ? "" : "; fewest steps possible: " + fewest, aligned(std::move(table), {.left_out = {1}}));
  for (const auto& [why, entries] : remarks(comparison, contest)) text += fmt::format("{}: {}\n", entries, why);
  for (const auto& [algorithm, because] : contest.left_out) {
    if (comparison.named) text += fmt::format("{}: {}\n", algorithm->name, because);
  }
  return text + "\n";
}

/// A figure of the fastest over the sizes of a range: at the first, and at the last if it differs.
template <class Text>
std::string over(const WinnerRange& range, const Text& text) {
  const auto of = [&](std::size_t size) {
    return range.fastest.empty() ? "-" : std::string(text(*range.fastest.front()->entries[size], size));
  };
  const std::string first = of(range.first), last = of(range.last);
  return first == last ? first : first + " .. " + last;
}

std::string winners_text(const Comparison& comparison) {
  Table table{{"machine", "sizes", "fastest", "times the bound", "algbw"}};
  for (const Contest& contest : comparison.contests) {
    std::string machine = rules_text(contest.machine);
    for (const WinnerRange& range : winners_of(contest)) {
      const std::string first = bytes_option(comparison.sizes[range.first]), last = bytes_option(comparison.sizes[range.last]);
      table.push_back({machine,
                       !sized(comparison) ? "-"
                       : first == last    ? first
                                          : first + " .. " + last,
                       range.fastest.empty() ? "none" : names_text(range.fastest),
                       over(range, [&](const Entry& entry, std::size_t size) { return ratio_text(times_the_bound(contest, entry, size)); }),
                       over(range, [&](const Entry& entry, std::size_t size) {
                         return !sized(comparison) ? "-" : rate_text(bandwidth_at(comparison, contest, entry, size)->algorithm, "B");
                       })});
      machine.clear();
    }
  }
  if (comparison.contests.size() == 1) {
    for (auto& line : table) line.erase(line.begin());
  }
  return aligned(std::move(table));
}

std::string legend(const Comparison& comparison) {
  const bool all_run = comparison.run_sizes >= comparison.sizes.size();
  std::string text =
      "model time, and how many times the lower bound that is (narrow tables: only this; --wide has both); *: the minimum at this size on "
      "this machine\n"
      "algbw: the bytes that the collective asks for, over the model time\n";
  if (rounded(comparison)) text += "ulp: the largest error of the runs, in units of the last place of the exact result\n";
  if (comparison.run_sizes == 0 && comparison.run_best)
    text += "the best of each size (*) were run, every byte verified, every message judged; the rest is predicted\n";
  else if (comparison.run_sizes == 0)
    text += "nothing was run: all is predicted\n";
  else
    text += fmt::format("(run): measured, every byte verified, every message judged{}\n", all_run ? "" : "; the rest is predicted");
  if (comparison.other_machines > 0)
    text += fmt::format("this is the machine that torus run takes; --all-machines adds {} that algorithms were made for\n",
                        comparison.other_machines);
  if (comparison.usual_switching) {
    const bool packet = comparison.contests.front().machine.switching == Switching::packet;
    text += fmt::format("--switching is left open: {} for this collective, {}; name it to compare collectives on one machine\n",
                        packet ? "packet" : "wormhole",
                        packet ? "wormhole for broadcast and allgather" : "packet for all but broadcast and allgather");
  }
  text += "<: an upper limit or an estimate; ~: predicted, for it was not run; ?: neither; -: does not apply at this size\n";
  if (facts_of(comparison.request.collective).from_sources()) {
    text += fmt::format(
        "predictions assume {} source{} anywhere, since the programs do not know them; measured times are those of the {} asked for\n",
        *comparison.request.expected_sources, *comparison.request.expected_sources == 1 ? "" : "s",
        grouped(comparison.request.sources.size()));
  }
  return text;
}

}  // namespace

std::string heading_text(const Topology& topology, const Request& request) {
  std::string text = fmt::format("{} (MPI: {}) on {}, {}", name(request.collective), facts_of(request.collective).mpi, topology.text(),
                                 counted(topology.nodes(), "node"));
  if (!facts_of(request.collective).rooted()) return text;
  return text + fmt::format(", {} {}", request.collective == Collective::broadcast ? "from" : "root",
                            node_text(topology, request.sources.front()));
}

std::string to_table(const Comparison& comparison) {
  const Topology& topology = comparison.contests.front().machine.topology;
  std::string text = heading_text(topology, comparison.request);
  if (comparison.request.from_sources()) text += fmt::format(", from {}", counted(comparison.request.sources.size(), "source"));
  if (comparison.groups) text += fmt::format(", in each group of {} of {} at once", *comparison.groups, comparison.shape.text());
  if (const auto& others = comparison.other_classes; !others.empty())
    text += fmt::format(", planned apart: groups like 0; {}{}; times and bounds are of the slowest",
                        fmt::join(std::span(others).first(std::min<std::size_t>(others.size(), 4)), "; "), others.size() > 4 ? " .." : "");
  if (comparison.map) text += fmt::format(", ranks laid out by {}", *comparison.map);
  text += "\n\n" + winners_text(comparison) + "\n";
  for (const Contest& contest : comparison.contests) text += contest_text(comparison, contest);
  return text + legend(comparison);
}

namespace {

/// What a run of it would report, under the names of `torus run --json`.
Json entry_json(const Comparison& comparison, const Contest& contest, const Entry& entry, std::size_t size) {
  Json json{{"bytes", comparison.sizes[size]}, {"segments", entry.segments}};
  if (entry.predicted) {
    json["steps_formula"] = entry.steps;
    json["steps_formula_exact"] = entry.exact;
    json["channel_bytes_formula"] = entry.channel_bytes;
    json["model_time_formula_s"] = entry.predicted_s;
  }
  json["best"] = entry.best;
  json["run"] = entry.run.has_value();
  if (const auto bandwidth = bandwidth_at(comparison, contest, entry, size)) {
    json["model_algbw_bytes_per_s"] = bandwidth->algorithm;
    json["model_busbw_bytes_per_s"] = bandwidth->bus;
  }
  if (const auto ratio = times_the_bound(contest, entry, size)) json["times_the_bound"] = *ratio;
  if (entry.run) {
    json["steps"] = entry.run->steps;
    json["channel_bytes_sum"] = entry.run->channel_bytes;
    json["model_time_s"] = entry.run->model_time_s;
    json["verified"] = entry.failure.empty();
    if (entry.run->error_ulp) json["error_ulp"] = *entry.run->error_ulp;
  }
  if (!entry.not_run.empty()) json["not_run"] = entry.not_run;
  if (!entry.no_plan.empty()) json["no_plan"] = entry.no_plan;
  if (!entry.failure.empty()) json["failure"] = entry.failure;
  return json;
}

Json bounds_json(const Bounds& bounds, const CostModel& cost) {
  return {{"steps_lower_bound", bounds.steps},
          {"steps_lower_bound_reason", bounds.steps_reason},
          {"channel_bytes_lower_bound", bounds.channel_bytes},
          {"bytes_reason", bounds.bytes_reason},
          {"model_time_lower_bound_s", bounds.model_time_s(cost)},
          {"model_time_simple_bound_s", bounds.simple_model_time_s(cost)}};
}

Json winner_json(const WinnerRange& range, const std::vector<Bytes>& sizes) {
  Json json{{"from_bytes", sizes[range.first]}, {"to_bytes", sizes[range.last]}, {"algorithms", Json::array()}};
  for (const Contender* contender : range.fastest) json["algorithms"].push_back(contender->algorithm->name);
  return json;
}

Json contest_json(const Comparison& comparison, const Contest& contest) {
  const Machine& machine = contest.machine;
  Json json{{"ports", machine.ports},
            {"switching", name(machine.switching)},
            {"contention", name(machine.contention)},
            {"routing", machine.routing},
            {"ts_s", machine.cost.start_up_s},
            {"tc_s", machine.cost.byte_s},
            {"th_s", machine.cost.hop_s},
            {"bounds", Json::array()},
            {"algorithms", Json::array()},
            {"left_out", Json::array()},
            {"fastest", Json::array()}};
  if (!machine.cost.one_speed()) json["tc_by_dimension_s"] = machine.cost.dimension_byte_s;
  json.update(fewest_json(machine, comparison.request.collective));
  for (std::size_t i = 0; i < comparison.sizes.size(); ++i) {
    json["bounds"].push_back(bounds_json(contest.bounds[i], machine.cost));
    json["bounds"].back()["bytes"] = comparison.sizes[i];
  }
  for (const Contender& contender : contest.contenders) {
    Json entries = Json::array();
    for (std::size_t i = 0; i < contender.entries.size(); ++i) {
      if (contender.entries[i]) entries.push_back(entry_json(comparison, contest, *contender.entries[i], i));
    }
    json["algorithms"].push_back(
        {{"algorithm", contender.algorithm->name}, {"reference", contender.algorithm->source}, {"sizes", std::move(entries)}});
  }
  for (const LeftOut& out : contest.left_out) json["left_out"].push_back({{"algorithm", out.algorithm->name}, {"because", out.because}});
  for (const WinnerRange& range : winners_of(contest)) json["fastest"].push_back(winner_json(range, comparison.sizes));
  return json;
}

}  // namespace

std::string fewest_text(const Machine& machine, Collective collective) {
  const auto fewest = optimum::fewest_known(machine, collective);
  return fewest ? fewest->text() : "";
}

Json fewest_json(const Machine& machine, Collective collective) {
  Json json = Json::object();
  const auto fewest = optimum::fewest_known(machine, collective);
  if (!fewest) return json;
  json["fewest_steps_min"] = fewest->at_least;
  json["fewest_steps_max"] = fewest->at_most ? Json(*fewest->at_most) : Json();
  return json;
}

Json heading_json(const Topology& topology, const Request& request) {
  return {{"collective", name(request.collective)},
          {"mpi", facts_of(request.collective).mpi},
          {"shape", topology.text()},
          {"nodes", topology.nodes()},
          {"sources", request.sources}};
}

Json to_json(const Comparison& comparison) {
  const Topology& topology = comparison.contests.front().machine.topology;
  Json json = heading_json(topology, comparison.request);
  if (comparison.groups) {
    json.update({{"groups", *comparison.groups}, {"group_shape", topology.text()}, {"group_nodes", topology.nodes()}});
    json.update({{"shape", comparison.shape.text()}, {"nodes", comparison.shape.nodes()}});
  }
  if (!comparison.other_classes.empty()) json["other_classes"] = comparison.other_classes;
  if (comparison.map) json["map"] = *comparison.map;
  json["source_count"] = comparison.request.sources.size();
  json["bytes"] = comparison.sizes;
  json["machines"] = Json::array();
  if (comparison.request.expected_sources) json["sources_assumed"] = *comparison.request.expected_sources;
  for (const Contest& contest : comparison.contests) json["machines"].push_back(contest_json(comparison, contest));
  if (comparison.failure) json["failure"] = *comparison.failure;
  return json;
}

std::string to_csv(const Comparison& comparison) {
  Json rows = Json::array();
  for (const Contest& contest : comparison.contests) {
    for (const Contender& contender : contest.contenders) {
      for (std::size_t i = 0; i < contender.entries.size(); ++i) {
        if (!contender.entries[i]) continue;
        Json row = machine_json(contest.machine);
        row.update(entry_json(comparison, contest, *contender.entries[i], i));
        row.update(bounds_json(contest.bounds[i], contest.machine.cost));
        row.update({{"collective", name(comparison.request.collective)},
                    {"shape", comparison.shape.text()},
                    {"nodes", comparison.shape.nodes()},
                    {"algorithm", contender.algorithm->name}});
        if (comparison.groups) row["groups"] = *comparison.groups;
        if (comparison.map) row["map"] = *comparison.map;
        rows.push_back(std::move(row));
      }
    }
  }
  const std::string columns =
      "collective,shape,nodes,ports,switching,contention,algorithm,bytes,segments,steps_formula,steps_formula_exact,channel_bytes_formula,"
      "model_time_formula_s,best,run,model_algbw_bytes_per_s,model_busbw_bytes_per_s,times_the_bound,steps,channel_bytes_sum,model_time_s,"
      "verified,not_run,no_plan,failure,steps_lower_bound,channel_bytes_lower_bound,model_time_lower_bound_s,groups";
  return csv_of(columns + (comparison.map ? ",map" : "") + (rounded(comparison) ? ",error_ulp" : ""), rows);
}

}  // namespace torus::command
