#include "tools/torus/compare/unfinished_table.hpp"

#include <filesystem>
#include <sys/stat.h>

#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace torus;
using namespace torus::command;

TEST_CASE("rows survive the writer, and the finished table has them by number", "[unit]") {
  const support::Folder folder;
  const std::string path = folder.file("t.csv");
  {
    UnfinishedTable table(path, "of these");
    table.add(2, true, "a,b\n", "5,6\n");
    table.add(0, false, "a,b\n", "1,2\n");
  }
  UnfinishedTable table(path, "of these");
  CHECK(table.rows() == 2);
  CHECK(table.failures() == 1);
  CHECK((table.has(0) && !table.has(1) && table.has(2)));
  CHECK_THROWS_AS(table.add(1, false, "a,c\n", "3,4\n"), InputError);
  table.add(1, false, "a,b\n", "3,4\n");
  OutputFile file(path);
  table.finish(file);
  CHECK(support::text_of_file(path) == "a,b\n1,2\n3,4\n5,6\n");
  CHECK(folder.files() == 1);
}

TEST_CASE("wherever a file was torn, what is whole of it is kept and the rest written anew", "[unit]") {
  const support::Folder folder;
  const std::string path = folder.file("t.csv");
  const std::string whole = "of these\na,b\n0 ok 094f95fe90c35e7f 1,2\n1 failed 6e6c30a39e00ebb5 3,4\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    CAPTURE(length);
    folder.write("t.csv.part", whole.substr(0, length));
    {
      UnfinishedTable table(path, "of these");
      if (!table.has(0)) table.add(0, false, "a,b\n", "1,2\n");
      if (!table.has(1)) table.add(1, true, "a,b\n", "3,4\n");
    }
    CHECK(support::text_of_file(path + ".part") == whole);
  }
}

TEST_CASE("the unfinished table of something else is refused and left alone", "[unit]") {
  const support::Folder folder;
  const std::string path = folder.file("t.csv");
  for (const char* text : {"of those\na,b\n0 ok 1,2\n", "of those", "of these\na,b\nzero ok 1,2\n", "of these\na,b\n0 good 1,2\n",
                           "of these\na,b\n0 ok 1,2\n"}) {
    CAPTURE(text);
    folder.write("t.csv.part", text);
    CHECK_THROWS_AS(UnfinishedTable(path, "of these"), InputError);
    CHECK(support::text_of_file(path + ".part") == text);
  }
}

TEST_CASE("what is no regular file is no unfinished table, and is not read", "[unit]") {
  const support::Folder folder;
  REQUIRE(::mkfifo(folder.file("pipe.csv.part").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/zero", folder.file("endless.csv.part"));
  for (const char* name : {"pipe.csv", "endless.csv"}) CHECK_THROWS_AS(UnfinishedTable(folder.file(name), "of these"), InputError);
}

TEST_CASE("one table has one writer, and stands beside a regular file", "[unit]") {
  const support::Folder folder;
  const UnfinishedTable table(folder.file("t.csv"), "of these");
  CHECK_THROWS_AS(UnfinishedTable(folder.file("t.csv"), "of these"), InputError);
  CHECK_THROWS_AS(UnfinishedTable("/dev/null", "of these"), InputError);
}

TEST_CASE("a table that has lost or changed a byte inside a row is refused", "[unit]") {
  const support::Folder folder;
  const std::string path = folder.file("t.csv");
  {
    UnfinishedTable table(path, "of these");
    table.add(0, false, "name,figure\n", "one,12345\n");
    table.add(17, true, "name,figure\n", "two,67890\n");
  }
  const std::string whole = support::text_of_file(path + ".part");
  const std::size_t rows = whole.find('\n') + 1;
  for (std::size_t at = rows; at + 1 < whole.size(); ++at) {
    CAPTURE(at);
    std::string lost = whole;
    lost.erase(at, 1);
    folder.write("t.csv.part", lost);
    CHECK_THROWS_AS(UnfinishedTable(path, "of these"), InputError);
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    folder.write("t.csv.part", changed);
    CHECK_THROWS_AS(UnfinishedTable(path, "of these"), InputError);
  }
  folder.write("t.csv.part", whole);
  CHECK(UnfinishedTable(path, "of these").rows() == 2);
}
