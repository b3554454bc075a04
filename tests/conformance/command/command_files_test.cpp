/// torus ... with files: none that a command reads, or writes for another option, is overwritten.
#include <filesystem>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/foreign.hpp"

using namespace torus;
using support::command;

TEST_CASE("a command does not overwrite the file that it reads", "[conformance]") {
  const support::Folder folder;
  const std::string schedule = folder.write("m.xml", support::msccl_ring_allgather(4)), sizes = folder.write("fs", "1 2 3 4\n"),
                    map = folder.write("mp", "0 1 2 3\n"), groups = folder.write("gg", "0 1\n2 3\n"),
                    config = folder.write("k.toml", "on = '2x2'\n"), table = folder.write("t.csv.part", "1 2 3 4\n");
  const std::string trace = support::traced(folder, "broadcast --on 2x2");
  std::filesystem::create_symlink("fs", folder.file("link"));
  const std::size_t files = folder.files();
  const auto refused = [&](const std::string& line, const std::string& file, const std::string& words) {
    const std::string before = support::text_of_file(file);
    const support::Ended ended = command(line);
    CAPTURE(line, ended.err);
    CHECK(ended.status == 2);
    CHECK(support::lines(ended.err) == 1);
    CHECK(ended.err.find(words) != std::string::npos);
    CHECK(support::text_of_file(file) == before);
    CHECK(folder.files() == files);
  };
  const std::string played = "allgather --on 4 --schedule " + schedule, sized = "allgather --on 2x2 --sizes ";
  refused("run " + played + " --trace " + schedule, schedule, "it is the file that --schedule reads; for instance --trace ");
  refused("compare " + played + " --bytes 64 --csv " + schedule, schedule, "it is the file that --schedule reads");
  refused("run " + played + " --map file:" + map + " --csv " + map, map, "it is the file that --map reads");
  refused("run " + sized + sizes + " --trace " + sizes, sizes, "it is the file that --sizes reads");
  refused("run " + sized + folder.file("link") + " --view " + sizes, sizes, "it is the file that --sizes reads");
  refused("run allreduce --on 2x2 --groups file:" + groups + " --switching wormhole --trace " + groups, groups, "that --groups reads");
  refused("run broadcast --config " + config + " --json-file " + config, config, "it is the file that --config reads");
  refused("verify " + trace + " --json-file " + trace, trace, "it is the file that torus verify reads");
  refused("view " + trace + " " + trace + " --svg " + trace + " -o " + folder.file("o"), trace, "it is the file that torus view reads");
  refused("import " + schedule + " --on 4 -o " + schedule, schedule, "it is the file that torus import reads");
  refused("bench " + sized + sizes + " --csv " + sizes, sizes, "it is the file that --sizes reads");
  refused("sweep " + sized + table + " --csv " + folder.file("t.csv"), table, "it is the file that --sizes reads");
  // The files of several collectives at once.
  refused("run broadcast --on 2x2 --json-file " + sizes + " + " + sized.substr(0, 9) + " --sizes " + sizes, sizes, "that --sizes reads");
  const std::string second = folder.file("t.2.jsonl");
  std::filesystem::copy_file(sizes, second);
  const support::Ended ended = command("run broadcast --on 2x2 --trace " + trace + " + allgather --sizes " + second);
  CHECK(ended.status == 2);
  CHECK(ended.err.find("--trace '" + second + "': it is the file that --sizes reads") != std::string::npos);
  CHECK(support::text_of_file(second) == "1 2 3 4\n");
}

TEST_CASE("a file that cannot be read is refused with the reason", "[conformance]") {
  const support::Folder folder;
  const std::string here = folder.file("d"), absent = folder.file("absent");
  std::filesystem::create_directory(here);
  const auto says = [](const std::string& line, const std::string& words) {
    const std::string text = support::refusal(line);
    CAPTURE(line, text);
    CHECK(text.find(words) != std::string::npos);
  };
  for (const std::string& file :
       {"allgather --on 2x2 --sizes " + here, "allgather --on 2x2 --groups file:" + here, "broadcast --on 2x2 --config " + here})
    says("run " + file, " is a folder; ");
  for (const std::string& file :
       {"allgather --on 2x2 --sizes " + absent, "allgather --on 2x2 --groups file:" + absent, "broadcast --on 2x2 --config " + absent})
    says("run " + file, " cannot be read (No such file or directory); ");
}

TEST_CASE("a file that is read may have the name of a rule, and a device is read and written", "[conformance]") {
  const support::Folder folder;
  support::good("run allgather --on 2x2 --sizes uniform:1:2 --trace " + folder.file("t") + " --csv " + folder.file("c"));
  support::good("verify " + folder.file("t") + " --json-file " + folder.file("c"));
  support::good("export " + folder.file("t") + " --to dot -o /dev/null");
}
