// torus paper, and the page algorithms/papers.md that it is printed on. Fails where a run takes more than its paper says, or another number
// than the page has; tools/update_pages writes that anew.
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/csv.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::command;
using support::Json;

namespace {

std::string value_text(const Json& row, const char* key) {
  const double value = row[key];
  return row["figure"] == "model_time_s" ? fmt::format("{:.4g} us", value * 1e6) : fmt::format("{:g}", value);
}

/// The value of the run, and what it is where it is neither the steps nor a time.
std::string run_text(const Json& row) {
  const std::string figure = row["figure"], value = value_text(row, "run");
  return figure == "steps" || figure == "model_time_s" ? value : fmt::format("{}, `{}`", value, figure);
}

/// The table of a paper.
std::string table_of(const Json& paper) {
  std::string text =
      fmt::format("\n## {}, {}\n\n{}. {}.\n\n| item | paper | run | bound |\n|---|---|---|---|\n", paper["paper"].get<std::string>(),
                  paper["year"].get<std::string>(), paper["title"].get<std::string>(), paper["where"].get<std::string>());
  for (const Json& row : paper["claims"]) {
    const std::string item = row["item"], says = row["says"];
    text += row.contains("command") ? fmt::format("| {}: {}<br>`{}` | {} | {} | {} |\n", item, says, row["command"].get<std::string>(),
                                                  value_text(row, "claimed"), run_text(row), value_text(row, "lower_bound"))
                                    : fmt::format("| {}: {} | | | |\n", item, says);
  }
  return text;
}

/// Figure 8 of Wang & Tseng: the steps of three schemes on n x n x n, by a sweep; and those of the paper's own scheme, by another.
std::string figure_8() {
  const std::string shapes = "sweep broadcast --on 4x4x4,5x5x5,7x7x7,8x8x8,10x10x10,13x13x13,16x16x16 --bytes 64 --algorithms ";
  const std::string papers = shapes + "wang-tseng --variant plain", sweep = shapes + "wang-tseng,tsai-mckinley,park-choi";
  const support::Folder folder;
  const auto table = [&](const std::string& line) {
    const std::string csv = folder.file(std::to_string(line.size()) + ".csv");
    support::good(line + " --csv " + csv);
    return support::table_of_csv(support::text_of_file(csv));
  };
  const std::vector<std::vector<std::string>> plain = table(papers), rows = table(sweep);
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
  };
  const std::size_t shape = column("shape"), algorithm = column("algorithm"), taken = column("steps"), bound = column("steps_lower_bound");
  std::string text = fmt::format(
      "\n## Wang & Tseng, figure 8\n\nSteps on n x n x n over n. The paper's scheme is the variant `plain`, by\n`torus {} --csv plain.csv`."
      "\nThe others, and the faster variant of `wang-tseng` (`trimmed` is ours), by\n`torus {} --csv steps.csv`.\n"
      "A scheme without steps needs other sides.\n\n"
      "| torus | wang-tseng, plain | its faster variant | tsai-mckinley | park-choi, on circuits | bound of wormhole |\n"
      "|---|---|---|---|---|---|\n",
      papers, sweep);
  std::map<std::string, std::string> steps, of_paper;
  for (std::size_t i = 1; i < plain.size(); ++i) of_paper[plain[i][shape]] = plain[i][taken];
  std::string least;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    steps[rows[i][algorithm]] = rows[i][taken];
    if (rows[i][algorithm] == "wang-tseng") least = rows[i][bound];  // park-choi runs on circuits, which have another
    if (i + 1 < rows.size() && rows[i + 1][shape] == rows[i][shape]) continue;
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", rows[i][shape], of_paper[rows[i][shape]], steps["wang-tseng"],
                        steps["tsai-mckinley"], steps["park-choi"], least);
    steps.clear();
  }
  return text;
}

}  // namespace

TEST_CASE("no run takes more than its paper says, and the page of papers has what it takes", "[conformance]") {
  std::string tables;
  int items = 0;
  for (const char* word : {"foundations", "sheu", "chen", "payne", "dimopoulos"}) {
    const Json papers = support::parsed(support::good(fmt::format("paper {} --json", word)).out)["papers"];
    const auto has_claims = [](const Json& paper) { return !paper["claims"].empty(); };
    const auto found = std::find_if(papers.begin(), papers.end(), has_claims);
    REQUIRE(found != papers.end());
    const Json& paper = *found;
    for (const Json& row : paper["claims"]) {
      CAPTURE(word, row.dump());
      if (!row.contains("command")) continue;
      CHECK(row["verdict"] != "more than in the paper");
      CHECK(row["verdict"] != "a lower bound than the paper's");
      CHECK(row["run"].get<double>() >= row["lower_bound"].get<double>() * (1 - 1e-9));
      ++items;
    }
    tables += table_of(paper);
  }
  CHECK(items >= 40);
  tables += figure_8();
  const std::string path = TORUS_SOURCE_DIR "/algorithms/papers.md";
  std::string page = support::text_of_file(path);
  const std::size_t begin = page.find("\n## ");
  REQUIRE(begin != std::string::npos);
  if (std::getenv("TORUS_UPDATE_PAGES") != nullptr) {
    page = page.substr(0, begin) + tables;
    std::ofstream(path) << page;
  }
  CHECK(page.substr(begin) == tables);
}

TEST_CASE("a paper is found by author, title or year, and its algorithms too", "[conformance]") {
  const std::string sheu = command("paper SHEU").out;
  CHECK(sheu.find("Journal of Supercomputing 20(3), 217-241, 2001\n") != std::string::npos);
  CHECK(sheu.find("paper 7, run 5, lower bound 5: less than in the paper\n") != std::string::npos);
  CHECK(sheu.find("paper 4, run 4, lower bound 4: as in the paper\n") != std::string::npos);
  const std::string wang = command("paper foundations").out;
  CHECK(wang.find("paper 3, run 4 (steps_lower_bound), lower bound 4: a higher bound than the paper's\n") != std::string::npos);
  CHECK(command("paper 1998").out.find("torus run total-exchange --on 8x8 --algorithm a3") != std::string::npos);
  const std::string see = "algorithms: tsai-mckinley\n  no items of its own; tsai-mckinley is run by torus paper 'Wang & Tseng'\n";
  CHECK(command("paper tsai").out.find(see) != std::string::npos);
  CHECK(command("paper 'wang & tseng'").out == wang);
  CHECK(command("paper sklansky").out.find("algorithms: sklansky\n") != std::string::npos);
  CHECK(command("list sheu").out.find("squeeze-expand") != std::string::npos);
  CHECK(command("list sheu").out.find("wang-tseng ") == std::string::npos);
  CHECK(command("list swing").out.find("tripling") == std::string::npos);  // an algorithm's name goes before a paper's words
  const support::Ended none = command("paper nobody");
  CHECK(none.status == 2);
  CHECK(none.err ==
        "torus: paper 'nobody': it must be of the authors, the title or the year of a paper that `torus paper` names; for instance sheu\n");
}
