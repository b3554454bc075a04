// The catalogue says of every algorithm what a user must know. algorithms/catalogue.md shows it; algorithms/references.md has the papers
// that they cite. tools/update_pages updates the tables.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/common/integers.hpp"
#include "algorithms/terms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/exchange.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/generated.hpp"

using namespace torus;

namespace {

std::string machine_of(const Algorithm& algorithm) {
  return std::string(name(algorithm.native.switching)) + ", " + ports_text(algorithm) +
         (algorithm.native.contention == Contention::share ? ", shared channels" : "");
}

/// A section for each collective; a line for each machine, with the algorithms made for it.
std::string table() {
  std::string out;
  const std::span<const Algorithm* const> all = catalogue();
  for (auto from = all.begin(); from != all.end();) {
    const Collective collective = (*from)->collective;
    const auto to = std::find_if(from, all.end(), [&](const Algorithm* a) { return a->collective != collective; });
    std::vector<std::pair<std::string, std::string>> lines;  // the machine, and the algorithms
    for (; from != to; ++from) {
      const std::string machine = machine_of(**from);
      auto line = std::find_if(lines.begin(), lines.end(), [&](const auto& other) { return other.first == machine; });
      if (line == lines.end()) line = lines.insert(lines.end(), {machine, {}});
      line->second += (line->second.empty() ? "`" : ", `") + std::string((*from)->name) + "`";
    }
    out += "\n**" + std::string(name(collective)) + "**\n\n";
    for (const auto& [machine, algorithms] : lines) out += "- " + machine + ": " + algorithms + "\n";
  }
  return out + "\n";
}

/// The cells of a row of a table, with the spaces around them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (std::size_t from = 1, to = 0; (to = line.find('|', from)) != std::string::npos; from = to + 1)
    cells.push_back(line.substr(from, to - from));
  return cells;
}

/// The algorithms whose source cites a paper so.
std::string citing(const std::string& cited) {
  std::string names;
  for (const Algorithm* a : catalogue()) {
    const std::string quoted = "`" + std::string(a->name) + "`";  // once, also if it has two collectives
    if (a->source.find(cited) != std::string_view::npos && names.find(quoted) == std::string::npos)
      names += (names.empty() ? "" : ", ") + quoted;
  }
  return names.empty() ? "-" : names;
}

/// Whether a source names authors or a year.
bool cites(std::string_view source) {
  return source.find(" & ") != std::string_view::npos || source.find("et al.") != std::string_view::npos ||
         source.find("19") != std::string_view::npos || source.find("20") != std::string_view::npos;
}

/// From the first node, or from the first nine.
Request request_of(Collective collective, Bytes bytes) {
  Request request;
  request.collective = collective;
  request.bytes = collective == Collective::barrier ? 0 : bytes;
  if (collective == Collective::multinode_broadcast) request.sources = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  if (facts_of(collective).rooted()) request.sources = {0};
  return request;
}

}  // namespace

TEST_CASE("a former name of an algorithm leads to its new one, which reads the parameters that it names", "[unit]") {
  CHECK(renamed(Collective::reduce, "tree-mst") == "tree-of-broadcast --along mst");
  CHECK(renamed(Collective::reduce, "no-such-tree").empty());
  for (const Algorithm* algorithm : catalogue()) {
    for (const FormerName& former : algorithm->former_names) {
      CAPTURE(std::string(algorithm->name), std::string(former.name));
      CHECK(find_algorithm(algorithm->collective, former.name) == nullptr);
      std::istringstream options{std::string(former.parameters)};
      Request request;
      request.collective = algorithm->collective;
      request.sources = {0};
      for (std::string option, value; options >> option >> value;) request.parameters.set(option.substr(2), value);
      const auto why = refuses(*algorithm, Machine(Topology::parse("4x4")), request);
      CHECK_FALSE((why && why->about == Refusal::About::parameter));
    }
  }
}

TEST_CASE("every paper that an algorithm cites is on the page of references, in full", "[unit]") {
  const std::string path = TORUS_SOURCE_DIR "/algorithms/references.md";
  std::istringstream lines(support::text_of_file(path));
  std::string page;
  std::vector<std::string> papers;
  for (std::string line; std::getline(lines, line); page += line + "\n") {
    if (!line.starts_with("| ") || line.starts_with("| cited as")) continue;
    std::vector<std::string> cells = cells_of(line);
    CAPTURE(line);
    REQUIRE(cells.size() == 6);
    for (std::string& cell : cells) {
      REQUIRE(cell.size() > 2);
      cell = cell.substr(1, cell.size() - 2);
    }
    papers.push_back(cells[0]);
    CHECK(std::is_sorted(papers.begin(), papers.end()));
    CHECK(cells[4].size() == 4);
    CHECK(cells[4].find_first_not_of("0123456789") == std::string::npos);
    CHECK(cells[1].find(cells[0].substr(0, cells[0].find_first_of(" ,"))) != std::string::npos);  // the first author
    if (std::getenv("TORUS_UPDATE_PAGES") != nullptr)
      line = line.substr(0, line.rfind('|', line.size() - 2) + 2) + citing(cells[0]) + " |";
    else
      CHECK(cells[5] == citing(cells[0]));
  }
  CHECK(papers.size() >= 12);
  if (std::getenv("TORUS_UPDATE_PAGES") != nullptr) std::ofstream(path) << page;
  for (const Algorithm* a : catalogue()) {
    CAPTURE(a->name, a->source);
    const auto cited = [&](const std::string& paper) { return a->source.find(paper) != std::string_view::npos; };
    CHECK((!cites(a->source) || std::any_of(papers.begin(), papers.end(), cited)));
  }
}

TEST_CASE("every algorithm has a name of its own, and a source, shapes and steps in words", "[unit]") {
  std::set<std::pair<Collective, std::string_view>> names;
  for (const Algorithm* a : catalogue()) {
    CAPTURE(a->name);
    CHECK(names.emplace(a->collective, a->name).second);
    CHECK(a->name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos);
    for (const std::string_view words : {a->name, a->source, a->shapes, a->steps}) {
      CHECK_FALSE(words.empty());
      CHECK(words.find_first_of("|\n") == std::string_view::npos);
    }
    CHECK(a->plan != nullptr);
    CHECK(find_algorithm(a->collective, a->name) == a);
  }
  CHECK(find_algorithm(Collective::broadcast, "no such algorithm") == nullptr);
}

TEST_CASE("every algorithm says its idea in three sentences or more, and no two say the same", "[unit]") {
  std::set<std::string> ideas;
  for (const Algorithm* a : catalogue()) {
    CAPTURE(std::string(a->name), std::string(name(a->collective)));
    REQUIRE(a->idea.said());
    for (const std::string_view sentence : {a->idea.first, a->idea.then, a->idea.good}) {
      REQUIRE(sentence.size() > 30);
      CHECK((sentence.front() >= 'A' && sentence.front() <= 'Z'));
      CHECK(sentence.back() == '.');
      CHECK(sentence.find_first_of("|\n{}^") == std::string_view::npos);
      CHECK(sentence.find("  ") == std::string_view::npos);
      // Where it is shown, its place is said before it.
      for (const std::string_view place : {"First ", "First,", "Then ", "Then,", "Why "}) CHECK_FALSE(sentence.starts_with(place));
    }
    CHECK(ideas.insert(std::string(a->idea.first) + std::string(a->idea.then) + std::string(a->idea.good)).second);
  }
}

TEST_CASE("every symbol of a formula is named, by its algorithm or as all mean it", "[unit]") {
  for (const Algorithm* a : catalogue()) {
    CAPTURE(std::string(a->name), std::string(name(a->collective)), std::string(a->steps));
    for (const Term& term : terms_of(*a, a->steps)) {
      CAPTURE(std::string(term.symbol));
      CHECK_FALSE(term.meaning.empty());
    }
    for (const Term& own : a->terms) CHECK_FALSE((own.symbol.empty() || own.meaning.empty()));
  }
}

TEST_CASE("every symbol of a plan's formula is named, whatever the shape, the ports and the parameters", "[unit]") {
  std::set<std::string> formulas;
  PlanCache cache;
  const auto check = [&](const Algorithm& algorithm, const Machine& machine, const Request& request) {
    if (refuses(algorithm, machine, request)) return;
    std::optional<Plan> plan;
    try {
      plan = algorithm.plan(machine, request, cache);
    } catch (const std::runtime_error&) {  // a search that finds nothing
      return;
    }
    if (!formulas.insert(std::string(algorithm.name) + plan->formula).second) return;
    CAPTURE(std::string(algorithm.name), machine.topology.text(), plan->formula);
    for (const Term& term : terms_of(algorithm, *plan)) {
      CAPTURE(std::string(term.symbol));
      CHECK_FALSE(term.meaning.empty());
    }
  };
  for (const char* shape : {"8x8", "5x5", "5x10", "8mx4", "3x4c", "4x4x4", "4x4x8", "9"}) {
    for (const Algorithm* a : catalogue()) {
      const Machine machine = support::native_machine(*a, Topology(shape));
      const Request plain = request_of(a->collective, 4096);
      check(*a, machine, plain);
      check(*a, Machine(machine.topology, 1, machine.switching, machine.contention), plain);
      for (const Parameter& parameter : a->parameters) {
        std::vector<std::string> values(parameter.words.begin(), parameter.words.end());
        if (values.empty()) values = {"1", "2", "3"};
        for (const std::string& value : values) {
          Request request = plain;
          request.parameters.set(parameter.name, value);
          check(*a, machine, request);
        }
      }
    }
  }
  CHECK(formulas.size() > 100);
}

TEST_CASE("the formula of a tree of a broadcast has the broadcast's terms", "[unit]") {
  const Algorithm& tree = *find_algorithm(Collective::reduce, "tree-of-broadcast");
  Plan plan;
  plan.formula = "p";
  CHECK(terms_of(tree, plan).front().meaning == "ports that a node uses at once");
  plan.notes = {{"along", "tsai-mckinley"}};
  CHECK(terms_of(tree, plan).front().meaning == "power of 2 that is the side of the square");
}

TEST_CASE("symbols are single letters, letters with a number or an index, and functions; own terms go before", "[unit]") {
  const std::array own{Term{"n", "nodes of the longest side"}, Term{"c_t", "nodes after t steps"}, Term{"tune", "steps of tuning"},
                       Term{"[..]", "1 where it holds"}};
  Algorithm algorithm;
  algorithm.terms = own;
  const auto symbols = [&](std::string_view formula) {
    std::vector<std::string> found;
    for (const Term& term : terms_of(algorithm, formula)) found.push_back(std::string(term.symbol) + (term.meaning.empty() ? "?" : ""));
    return found;
  };
  using Found = std::vector<std::string>;
  CHECK(symbols("k*ceil(log_{2k+1} N)+(k-1)") == Found{"k", "ceil", "log", "N"});
  CHECK(symbols("as many as a tree's, on n x n") == Found{"n"});
  CHECK(terms_of(algorithm, "n").front().meaning == "nodes of the longest side");
  CHECK(symbols("2-D: tune + L3(h); kD: sum of floor(n_d/2); 2D; 1d; log5 N") == Found{"tune", "L3", "h?", "floor", "n_d", "log", "N"});
  CHECK(symbols("c_0 = 1, c_{t+1} = 6 c_t + [t > 1], N_e") == Found{"[..]", "c_t", "t?", "N_e?"});
  CHECK(symbols("diameter").empty());
}

TEST_CASE("the page on the catalogue shows it", "[unit]") {
  support::check_generated(TORUS_SOURCE_DIR "/algorithms/catalogue.md", "<!-- the catalogue -->\n", "<!-- end of the catalogue -->\n",
                           table());
}

TEST_CASE("logarithms are rounded up, exactly", "[unit]") {
  CHECK(ceil_log(2, 1) == 0);
  CHECK(ceil_log(3, 1) == 0);
  CHECK(ceil_log(2, 2) == 1);
  CHECK(ceil_log(2, 3) == 2);
  for (const std::uint64_t base : {2U, 3U, 5U, 7U, 9U, 33U}) {
    std::uint64_t power = 1;
    for (std::uint32_t t = 0; power < (std::uint64_t{1} << 40U); ++t, power *= base) {
      CHECK(ceil_log(base, power) == t);
      CHECK(ceil_log(base, power + 1) == t + 1);
      if (power > base) CHECK(ceil_log(base, power - 1) == t);
    }
  }
}

TEST_CASE("a machine allows the switching that algorithms of humbler machines need", "[unit]") {
  CHECK(allows(Switching::circuit, Switching::packet));
  CHECK(allows(Switching::wormhole, Switching::packet));
  CHECK(allows(Switching::wormhole, Switching::wormhole));
  CHECK_FALSE(allows(Switching::packet, Switching::wormhole));
  CHECK_FALSE(allows(Switching::wormhole, Switching::circuit));
}
