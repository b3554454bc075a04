/// torus paper NAME: what a paper states, item by item, and what the run that shows it takes here.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/answer.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/cli/parser.hpp"
#include "tools/torus/papers/claims.hpp"
#include "tools/torus/papers/references.hpp"
#include "tools/torus/run/arguments.hpp"
#include "tools/torus/run/report.hpp"
#include "tools/torus/study/study.hpp"

namespace torus::command {
namespace {

struct PaperArguments {
  std::optional<std::string> name;
  bool json = false;
};

/// A figure of a run's JSON: "steps", "blocks_per_ddn_after/max".
double figure_of(const Json& run, std::string_view path) {
  const std::size_t slash = path.find('/');
  const Json found = slash == path.npos ? run.at(path) : run.at(path.substr(0, slash)).at(path.substr(slash + 1));
  return found.number().value();
}

/// The JSON of the run that shows a claim. Throws RunError where it fails.
Json run_of(const Claim& claim, Study& study) {
  RunArguments arguments;
  parse_line(describe_run(arguments), std::string(claim.command));
  Setting setting = make_setting(spec_of(arguments), arguments.algorithm, catalogue());
  const Outcome outcome = attempt(setting, *setting.algorithm, study.effort(std::string(claim.item)));
  if (outcome.is(Outcome::Kind::interrupted)) throw RunError("interrupted");
  if (!outcome.is(Outcome::Kind::done)) throw RunError(fmt::format("{} run {}: {}", program(), claim.command, outcome.why));
  return to_json(setting, outcome.run);
}

/// Where the paper states a bound, the bound here is the figure: a higher one says more.
std::string_view verdict_of(const Claim& claim, double run) {
  constexpr double rounding = 1e-9;
  if (std::abs(run - claim.claimed) <= rounding * claim.claimed) return "as in the paper";
  const bool less = run < claim.claimed;
  if (claim.figure == claim.bound) return less ? "a lower bound than the paper's" : "a higher bound than the paper's";
  return less ? "less than in the paper" : "more than in the paper";
}

/// A claim and what its run takes. The one that only says why nothing here shows it has no run.
Json row_of(const Claim& claim, Study& study) {
  Json row{{"item", claim.item}, {"says", claim.says}};
  if (claim.command.empty()) return row;
  const Json run = run_of(claim, study);
  const double taken = figure_of(run, claim.figure);
  row.update({{"command", fmt::format("torus run {}", claim.command)},
              {"figure", claim.figure},
              {"claimed", claim.claimed},
              {"run", taken},
              {"lower_bound", figure_of(run, claim.bound)},
              {"verdict", verdict_of(claim, taken)}});
  return row;
}

Json paper_of(const Reference& reference, Study& study) {
  Json paper{{"paper", reference.cited_as}, {"authors", reference.authors},       {"title", reference.title}, {"where", reference.where},
             {"year", reference.year},      {"algorithms", reference.algorithms}, {"claims", Json::array()}};
  for (const Claim& claim : claims()) {
    if (claim.paper == reference.cited_as) paper["claims"].push_back(row_of(claim, study));
  }
  return paper;
}

/// A value of a figure: a time, or a number.
std::string value_text(const Json& row, std::string_view key) {
  const double value = row.at(key).number().value();
  return row.at("figure").cell().ends_with("_s") ? seconds_text(value) : fmt::format("{:g}", value);
}

/// What the figure is, where it is neither the steps nor a time: " (steps_lower_bound)".
std::string figure_text(const Json& row) {
  const std::string figure = row.at("figure").cell();
  return figure == "steps" || figure.ends_with("_s") ? "" : fmt::format(" ({})", figure);
}

std::string text_of(const Json& row) {
  if (row.at("command").is_null()) return fmt::format("  {}\n      {}\n", row.at("item").cell(), row.at("says").cell());
  return fmt::format("  {}: {}\n      paper {}, run {}{}, lower bound {}: {}\n      {}\n", row.at("item").cell(), row.at("says").cell(),
                     value_text(row, "claimed"), value_text(row, "run"), figure_text(row), value_text(row, "lower_bound"),
                     row.at("verdict").cell(), row.at("command").cell());
}

/// Of a paper without items: which papers' items run its algorithms.
std::string see_text(const Reference& reference) {
  std::string text;
  for (const std::string& algorithm : reference.algorithms) {
    std::set<std::string_view> papers;
    for (const Claim& claim : claims()) {
      if (fmt::format("{} ", claim.command).find(fmt::format(" --algorithm {} ", algorithm)) != std::string::npos)
        papers.insert(claim.paper);
    }
    for (const std::string_view paper : papers)
      text += fmt::format("  no items of its own; {} is run by {} paper '{}'\n", algorithm, program(), paper);
  }
  return text;
}

std::string text_of(const Json& paper, const Reference& reference) {
  std::string text = fmt::format("{}\n  algorithms: {}\n", reference.text(), fmt::join(reference.algorithms, ", "));
  const Json rows = paper.at("claims");
  if (rows.size() == 0) text += see_text(reference);
  for (std::size_t i = 0; i < rows.size(); ++i) text += text_of(rows.at(i));
  return text;
}

/// All papers, and how much there is to show of each.
std::string list_text() {
  std::string text;
  for (const Reference& each : references()) {
    const auto items = std::ranges::count(claims(), each.cited_as, &Claim::paper);
    text += fmt::format("{} ({}): {}{}\n", each.cited_as, each.year, each.title,
                        items > 0 ? fmt::format("; {}", counted(static_cast<std::uint64_t>(items), "item")) : "");
  }
  return text + fmt::format("\nOne of them, by author, title or year: {} paper {}\n", program(), "sheu");
}

int paper(const PaperArguments& arguments) {
  if (!arguments.name) {
    answer(
        arguments.json,
        [] {
          Json json{{"papers", Json::array()}};
          for (const Reference& each : references()) json["papers"].push_back(Json(each.cited_as));
          return json;
        },
        list_text);
    return 0;
  }
  const std::vector<const Reference*> found = references_with(*arguments.name);
  if (found.empty()) {
    throw InputError(
        fmt::format("paper '{}': it must be of the authors, the title or the year of a paper that `torus paper` names; "
                    "for instance sheu",
                    *arguments.name));
  }
  Study study(fmt::format("paper {}", *arguments.name), {}, {}, std::nullopt);
  Json json{{"papers", Json::array()}};
  std::string text;
  for (const Reference* each : found) {
    json["papers"].push_back(paper_of(*each, study));
    text += (text.empty() ? "" : "\n") + text_of(json.at("papers").at(json.at("papers").size() - 1), *each);
  }
  study.progress().clear();
  answer(
      arguments.json, [&] { return json; }, [&] { return text; });
  return 0;
}

}  // namespace

Command paper_command() {
  const auto arguments = std::make_shared<PaperArguments>();
  Command command{.help = "What a paper states, beside what its algorithms take here and the lower bounds",
                  .footer = "Each item is run, verified and judged first. The papers of one author: torus paper tseng"};
  command.add("name", "NAME", &arguments->name, "a word of its authors or title, or its year; left out: the papers are listed");
  command.add("--json", "", &arguments->json, "print one JSON object");
  command.body = [arguments] { return paper(*arguments); };
  return command;
}

}  // namespace torus::command
