#include "tools/torus/study/unfinished_table.hpp"

#include <filesystem>
#include <sys/stat.h>

#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace torus;
using namespace torus::command;

TEST_CASE("rows survive the writer, by number", "[unit]") {
  const support::Folder folder;
  const std::string path = folder.file("t.csv");
  {
    UnfinishedTable table(path, "of these");
    table.add(2, "5,6");
    table.add(0, "");
  }
  UnfinishedTable table(path, "of these");
  CHECK(table.rows() == 2);
  CHECK((table.has(0) && !table.has(1) && table.has(2)));
  CHECK(table.row(0).empty());
  CHECK(table.row(2) == "5,6");
  table.drop();
  CHECK(folder.files() == 0);
}

TEST_CASE("wherever a file was torn, what is whole of it is kept and the rest written anew", "[unit]") {
  const support::Folder folder;
  const std::string path = folder.file("t.csv");
  std::string whole;
  for (std::size_t length = 0; whole.empty() || length <= whole.size(); ++length) {
    CAPTURE(length);
    if (length > 0) folder.write("t.csv.part", whole.substr(0, length));
    {
      UnfinishedTable table(path, "of these");
      if (!table.has(0)) table.add(0, "1,2");
      if (!table.has(1)) table.add(1, "3,4");
    }
    const std::string text = support::text_of_file(path + ".part");
    if (whole.empty()) whole = text;
    CHECK(text == whole);
  }
  CHECK(whole.starts_with("of these\n0 "));
  CHECK(whole.ends_with(" 3,4\n"));
}

TEST_CASE("the unfinished table of something else is refused and left alone", "[unit]") {
  const support::Folder folder;
  const std::string path = folder.file("t.csv");
  for (const char* text : {"of those\n0 1,2\n", "of those", "of these\nzero 1,2\n", "of these\n0 00c0ffee00c0ffee 1,2\n", "of these\n\n",
                           "of these\n0 1,2\n"}) {
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

TEST_CASE("one table has one writer", "[unit]") {
  const support::Folder folder;
  const UnfinishedTable table(folder.file("t.csv"), "of these");
  CHECK_THROWS_AS(UnfinishedTable(folder.file("t.csv"), "of these"), InputError);
}

TEST_CASE("a table that has lost or changed a byte inside a row is refused", "[unit]") {
  const support::Folder folder;
  const std::string path = folder.file("t.csv");
  {
    UnfinishedTable table(path, "of these");
    table.add(0, "one,12345");
    table.add(17, "two,67890");
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
