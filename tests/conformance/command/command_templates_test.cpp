/// What `torus new` writes: a program of each collective that is right wherever it applies (tests/support/own_templates.cpp.in).
#include <algorithm>
#include <filesystem>

#include <torus/algorithm.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

TEST_CASE("the algorithm that is written for a collective passes the stress", "[conformance]") {
  support::Share share(5, 5);
  for (const CollectiveFacts& each : collectives()) {
    if (!share.takes_turn()) continue;
    const std::string own = "my-" + std::string(each.name);
    const auto run = [](const std::string& line) {
      return support::run_program(TORUS_TEMPLATES_PROGRAM, {.arguments = support::words(line)});
    };
    const support::Ended first = run("run " + std::string(each.name) + " --on 4x3m --algorithm " + own + " --judge");
    CAPTURE(own, first.out, first.err);
    CHECK(first.status == 0);
    const support::Ended stress = run("stress --only " + own + " --runs 60 --seed " + std::to_string(support::seed()) + " --threads 2");
    CAPTURE(stress.out, stress.err);
    CHECK(stress.status == 0);
  }
}

TEST_CASE("a project is of the collective that is named", "[conformance]") {
  const support::Folder folder;
  const auto made = [&](const std::string& options) {
    const support::Ended ended = support::command("new mine " + options + " -o " + folder.file("p"));
    CAPTURE(options, ended.err);
    CHECK(ended.status == 0);
    std::string text = support::text_of_file(folder.file("p/mine.cpp"));
    std::filesystem::remove_all(folder.file("p"));
    return text;
  };
  CHECK(made("").find("Collective::broadcast") != std::string::npos);
  CHECK(made("--collective alltoall").find("Collective::total_exchange") != std::string::npos);
  for (const CollectiveFacts& each : collectives()) {
    std::string enumerator(each.name);
    std::replace(enumerator.begin(), enumerator.end(), '-', '_');
    const std::string text = made("--collective " + std::string(each.name));
    CHECK(text.find(".collective = Collective::" + enumerator + ",\n") != std::string::npos);
    CHECK(text.find(".name = \"mine\"") != std::string::npos);
  }
  support::check_refused("new mine --collective alreduce");
  CHECK(support::command("new mine --collective alreduce").err.find("did you mean 'allreduce'?") != std::string::npos);
  CHECK(support::command("new rings --collective allreduce").err.find("there is an algorithm of allreduce of that name") !=
        std::string::npos);
}

TEST_CASE("a command that is not installed says how, before its project is built", "[conformance]") {
  const support::Folder folder;
  const std::string project = folder.file("p"), prefix = "\"$HOME/torusemu\"";
  const std::filesystem::path build = std::filesystem::path(TORUS_PROGRAM).parent_path().parent_path();
  CHECK(support::command("new mine -o " + project).out ==
        project + "/CMakeLists.txt\n" + project + "/mine.cpp\n\ncmake --install " + build.string() + " --prefix " + prefix + "\ncmake -S " +
            project + " -B " + project + "/build -D CMAKE_PREFIX_PATH=" + prefix + " && cmake --build " + project + "/build\n" + project +
            "/build/mine stress --only mine --seconds 5\n");
}
