/// Wrong values of every option of every subcommand, and wrong orders of words: one line each, with the value and one that would do.
#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

using namespace torus;
using support::refusal;

namespace {

/// A subcommand with all that it requires.
struct Usage {
  std::string line;
  bool all_options;  ///< of all subcommands that set up a machine, one tries the options of these
};

/// The options of a subcommand that take a value, as its help has them, but those that take any name.
std::vector<std::string> options_of(const std::string& subcommand) {
  std::istringstream help(support::good(subcommand + " --help").out);
  std::vector<std::string> options;
  for (std::string line; std::getline(help, line);) {
    if (!line.starts_with("  --")) continue;
    std::istringstream words(line);
    std::string option, type;
    words >> option >> type;
    const bool takes_value =
        line.size() > option.size() + 2 && line[option.size() + 3] != ' ' && type == line.substr(option.size() + 3, type.size());
    const bool any_name =
        type.find("FILE") != std::string::npos || type.find("FOLDER") != std::string::npos || type.find("PROGRAM") != std::string::npos;
    if (takes_value && !any_name) options.push_back(option.substr(0, option.find(',')));
  }
  return options;
}

/// Whether a refusal says what would do, or where that stands.
bool helps(const std::string& text) {
  constexpr std::array<std::string_view, 12> words{"for instance",      "must be ",      "would do",     "leave it out",
                                                   "did you mean",      "name the file", "sources are ", "; see ",
                                                   "is 16 hexadecimal", "choose ",       "leave out",    "add --svg"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

}  // namespace

TEST_CASE("a wrong value of an option is refused in one line with the value and what would do", "[conformance]") {
  const support::Folder folder;
  const std::string trace = support::traced(folder, "broadcast --on 4x4 --bytes 64");
  support::good("sweep broadcast --on 4x4 --bytes 64 --algorithms flood --csv " + folder.file("s.csv"));
  const std::vector<Usage> usages{{"run allreduce --on 4x4", true},
                                  {"compare broadcast --on 4x4", false},
                                  {"sweep broadcast --on 4x4 --csv " + folder.file("out.csv"), false},
                                  {"bench broadcast --on 4x4", false},
                                  {"regret broadcast --on 4x4", false},
                                  {"explain swath --on 4x4", false},
                                  {"list", false},
                                  {"bounds", false},
                                  {"stress", true},
                                  {"verify " + trace, true},
                                  {"view " + trace + " -o " + folder.file("v.html"), true},
                                  {"export " + trace + " --to dot -o " + folder.file("e"), true},
                                  {"plot " + folder.file("s.csv") + " -o " + folder.file("p.html"), true}};
  const std::vector<std::string> of_run = options_of("run");
  std::size_t tried = 0;
  for (const Usage& usage : usages) {
    for (const std::string& option : options_of(usage.line.substr(0, usage.line.find(' ')))) {
      if (!usage.all_options && std::find(of_run.begin(), of_run.end(), option) != of_run.end()) continue;
      if (usage.line.find(option + " ") != std::string::npos) continue;
      for (const std::string value : {"", "nosuch", "-1", "1e400"}) {
        const support::Ended ended = support::command(usage.line + " " + option + " '" + value + "'");
        CAPTURE(usage.line, option, value, ended.out, ended.err);
        CHECK(ended.status == 2);
        CHECK(ended.out.empty());
        CHECK(support::lines(ended.err) == 1);
        CHECK((ended.err.find(" '" + value + "'") != std::string::npos || ended.err.find(" " + value + ": ") != std::string::npos));
        CHECK(helps(ended.err));
        ++tried;
      }
    }
  }
  CHECK(tried > 200);
}

TEST_CASE("a wrong word is refused with what would do", "[conformance]") {
  const std::vector<std::pair<std::string, std::string>> refusals{
      {"explain nosuch",
       "explain 'nosuch': it must be a collective or an algorithm that `torus list` names; for instance edst-broadcast\n"},
      {"new my-sum -o", "-o: it takes one value, and stands there once; see torus new --help\n"},
      {"explain swat", "that `torus list` names; did you mean 'swath'?\n"},
      {"explain", "what is required: an algorithm, or a collective before it; see torus explain --help\n"},
      {"list nosuch",
       "list 'nosuch': it must be a collective, an algorithm that `torus list` names, or of a paper that `torus paper` names; for instance "
       "edst-broadcast\n"},
      {"help nosuch", "subcommand 'nosuch': it must be run, "},
      {"nosuch --help", "subcommand 'nosuch': it must be run, "},
      {"--on 4x4 run broadcast", "'--on': it stands before run, whose option it is; write it behind\n"},
      {"run broadcast allreduce", "'allreduce': run has no such argument; several at once have a + between, for instance + allreduce; "},
      {"run broadcast --offset 3", "--offset 3: it is for several collectives at once; "},
      {"run broadcast -1", "'-1': run has no such option; see torus run --help\n"},
      {"run broadcast --on 2^0", "the number of dimensions '0' must be a whole number from 1 to 32; "},
      {"run broadcast --on hypercube:40", "the number of dimensions '40' must be a whole number from 1 to 31; "},
      {"run allreduce --bytes 9223372036854775807", "; 9223372036854775804 would do\n"},
      {"run allreduce --on 4x4 --bytes 7EiB", "at the end of an allreduce the 16 nodes hold "},
      {"run broadcast --trace x --csv ./x", "--csv './x': it is the file that --trace writes; for instance --csv ./x.csv\n"},
      {"run broadcast --trace /", "file '/': it is a folder; name a file in it, for instance /out\n"},
      {"view /", "trace '/': it is a folder; name a file that `torus run --trace` wrote\n"},
      {"verify /", "'/': it is a folder; name a file that `torus run --trace` wrote, MSCCL XML, "},
      {"plot /", "table '/': it is a folder; name a file that torus sweep, compare or bench wrote with --csv\n"}};
  for (const auto& [line, words] : refusals) {
    const std::string said = refusal(line);
    CAPTURE(line, said, words);
    CHECK(said.find(words) != std::string::npos);
  }
  const support::Folder folder;
  const std::string said = refusal("run broadcast --config " + folder.write("config", std::string(500, 'x') + " = 1\n"));
  CAPTURE(said);
  CHECK(said.find("': run has no such option; see torus run --help\n") != std::string::npos);
  CHECK(said.size() < 250);
}
