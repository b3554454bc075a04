// The index of words: in order, each on the page that it leads to, and all there that reports, formulas, phases and names of algorithms
// say.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/terms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/exchange.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

std::string small(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

std::vector<std::string> split(const std::string& text, const std::string& between) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(between, from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + between.size();
  }
  return parts;
}

/// "- [swath, strip](page.md#part): what it is"
struct Entry {
  std::vector<std::string> words;
  std::string page;  ///< without the part
  std::string says;
};

std::vector<Entry> index_of_words() {
  std::istringstream lines(support::text_of_file(TORUS_SOURCE_DIR "/tools/words.md"));
  std::vector<Entry> entries;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("- [")) continue;
    const std::size_t to = line.find("]("), end = line.find("): ");
    REQUIRE(end != std::string::npos);
    const std::string link = line.substr(to + 2, end - to - 2);
    entries.push_back({split(small(line.substr(3, to - 3)), ", "), link.substr(0, link.find('#')), line.substr(end + 3)});
  }
  return entries;
}

std::set<std::string> all_words() {
  std::set<std::string> words;
  for (const Entry& entry : index_of_words()) words.insert(entry.words.begin(), entry.words.end());
  return words;
}

/// Whether a word is in the index, in the singular or the plural.
bool has(const std::set<std::string>& words, const std::string& word) {
  return words.contains(word) || words.contains(word + "s") || (word.ends_with('s') && words.contains(word.substr(0, word.size() - 1)));
}

/// Whether a text has a word, or its plural, between what is no letter, digit or _: "h" is not in "which".
bool has_alone(const std::string& text, const std::string& word) {
  const auto part_of_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool plural = end < text.size() && text[end] == 's';
    const std::size_t after = plural ? end + 1 : end;
    if ((at == 0 || !part_of_word(text[at - 1])) && (after >= text.size() || !part_of_word(text[after]))) return true;
  }
  return false;
}

/// Whether the index has the name of a phase, or all words of it: "dcn-rings", "names to the roots", "dimension 2".
bool explains(const std::set<std::string>& words, const std::string& phase) {
  if (has(words, phase)) return true;
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
  const std::set<std::string> small_words{"all", "between", "from", "the", "to"};
  bool any = false;
  for (std::size_t at = phase.find_first_of(letters); at != std::string::npos;) {
    const std::size_t end = std::min(phase.find_first_not_of(letters, at), phase.size());
    const std::string word = phase.substr(at, end - at);
    at = phase.find_first_of(letters, end);
    if (small_words.contains(word)) continue;
    if (!has(words, word)) return false;
    any = true;
  }
  return any;
}

/// The phases of a run; none where the algorithm does not apply.
std::set<std::string> phases_of(const Algorithm& algorithm, const Machine& machine, const Request& request) {
  std::set<std::string> phases;
  if (refuses(algorithm, machine, request)) return phases;
  try {
    for (const PhaseTotals& phase : support::emulate(algorithm, machine, request).result.phases) {
      if (phase.phase != nullptr) phases.insert(small(phase.phase));
    }
  } catch (const std::runtime_error&) {  // a search that finds nothing
  }
  return phases;
}

}  // namespace

TEST_CASE("the words of the index are in order, each once, and say what they mean in a line", "[unit]") {
  const auto entries = index_of_words();
  CHECK(entries.size() > 80);
  std::string last;
  std::set<std::string> seen;
  for (const Entry& entry : entries) {
    CAPTURE(entry.words.front());
    CHECK(last < entry.words.front());
    last = entry.words.front();
    for (const std::string& word : entry.words) CHECK(seen.insert(word).second);
    CHECK(entry.says.size() > 5);
  }
}

TEST_CASE("each word of the index stands on the page that it leads to", "[unit]") {
  for (const Entry& entry : index_of_words()) {
    const std::string page = small(support::text_of_file(std::string(TORUS_SOURCE_DIR "/tools/") + entry.page));
    for (const std::string& word : entry.words) {
      CAPTURE(word, entry.page);
      CHECK(has_alone(page, word));
    }
  }
}

TEST_CASE("every name of an algorithm has a word of the index, or an author", "[unit]") {
  const auto words = all_words();
  const std::string authors = small(support::text_of_file(TORUS_SOURCE_DIR "/algorithms/references.md"));
  for (const Algorithm* a : catalogue()) {
    CAPTURE(std::string(a->name));
    auto parts = split(std::string(a->name), "-");
    parts.emplace_back(a->name);
    CHECK(std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return has(words, part) || authors.find("| " + part) != std::string::npos || authors.find("& " + part) != std::string::npos;
    }));
  }
}

TEST_CASE("every word of a formula and every key of a report's notes is in the index", "[unit]") {
  const auto words = all_words();
  for (const Algorithm* a : catalogue()) {
    CAPTURE(std::string(a->name), std::string(name(a->collective)));
    for (const Term& term : terms_of(*a, a->steps)) {
      const std::string symbol = small(std::string(term.symbol));
      if (symbol.size() < 2 || symbol.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos) continue;  // a letter
      CAPTURE(symbol);
      CHECK(has(words, symbol));
    }
    for (const char* shape : {"8x8", "5x10", "4x4x4"}) {
      const Machine machine = support::native_machine(*a, Topology(shape));
      Request request;
      request.collective = a->collective;
      request.bytes = a->collective == Collective::barrier ? 0 : 4096;
      if (facts_of(a->collective).names_sources()) request.sources = {0};
      if (refuses(*a, machine, request)) continue;
      std::optional<Plan> plan;
      try {
        plan = a->plan(machine, request);
      } catch (const std::runtime_error&) {  // a search that finds nothing
        continue;
      }
      for (const auto& note : plan->notes) {
        const std::string& key = note.first;
        CAPTURE(key);
        const auto begins = [&](const std::string& word) { return key.starts_with(word); };
        CHECK(std::any_of(words.begin(), words.end(), begins));
      }
    }
  }
}

TEST_CASE("every phase that an algorithm names is in the index, whatever the shape, the ports and the parameters", "[unit]") {
  const auto words = all_words();
  std::set<std::string> all;
  support::Share share(32, 20);
  for (const Algorithm* a : catalogue()) {
    for (const char* shape : {"8x8", "5x10", "4x4x4", "7x7x7", "4x4m", "9"}) {
      const Topology topology(shape);
      const Machine native = support::native_machine(*a, topology);
      const Machine one_port(topology, 1, native.switching, native.contention);
      Request request;
      request.collective = a->collective;
      request.bytes = a->collective == Collective::barrier ? 0 : 64;
      if (facts_of(a->collective).rooted()) request.sources = {0};
      if (a->collective == Collective::multinode_broadcast) request.sources = {0, 1, 4, 6};
      Request large = request;
      large.bytes *= 256;
      std::vector<std::pair<Machine, Request>> runs{{native, request}, {one_port, request}, {native, std::move(large)}};
      for (const Parameter& parameter : a->parameters) {
        std::vector<std::string> values(parameter.words.begin(), parameter.words.end());
        if (values.empty()) values = {"2", "4"};
        for (const std::string& value : values) {
          Request other = request;
          other.parameters.set(parameter.name, value);
          runs.emplace_back(native, std::move(other));
        }
      }
      for (const auto& [machine, asked] : runs) {
        if (share.takes_turn()) all.merge(phases_of(*a, machine, asked));
      }
    }
  }
  CHECK(all.size() > 20);
  for (const std::string& phase : all) {
    CAPTURE(phase);
    CHECK(explains(words, phase));
  }
}
