// SPDX-License-Identifier: MIT
#include "runtime/output_file.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>

#include "runtime/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace torus;

TEST_CASE("a file that was not committed is not there, and nothing is left of it", "[unit]") {
  const support::Folder folder;
  {
    OutputFile file(folder.file("a.txt"));
    file.write(std::string(1 << 20, 'x'));
  }
  CHECK(folder.files() == 0);
}

#ifdef O_TMPFILE
TEST_CASE("nothing is left of a file when its process is killed", "[unit]") {
  const support::Folder folder;
  const int nameless = ::open(folder.file("").c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (nameless < 0) {
    WARN("this file system knows no files without names");
    return;
  }
  ::close(nameless);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    OutputFile file(folder.file("a.txt"));
    file.write(std::string(1 << 20, 'x'));
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(folder.files() == 0);
}
#endif

TEST_CASE("a committed file is there whole, under its name alone", "[unit]") {
  const support::Folder folder;
  OutputFile file(folder.file("a.txt"));
  std::string wanted;
  for (int i = 0; i < 100000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    file.write(line);
    wanted += line;
  }
  file.commit();
  CHECK(support::text_of_file(folder.file("a.txt")) == wanted);
  CHECK(folder.files() == 1);
}

TEST_CASE("a file that is written anew keeps its old text until the commit", "[unit]") {
  const support::Folder folder;
  const std::string path = folder.write("a.txt", "old");
  {
    OutputFile file(path);
    file.write("new");
  }
  CHECK(support::text_of_file(path) == "old");
  OutputFile file(path);
  file.write("new");
  file.commit();
  CHECK(support::text_of_file(path) == "new");
}

TEST_CASE("a name that ends in .gz is compressed", "[unit]") {
  const support::Folder folder;
  OutputFile file(folder.file("a.gz"));
  const std::string wanted(3 << 20, 'y');
  file.write("x");
  file.write(wanted);
  file.commit();
  CHECK(support::text_of_file(folder.file("a.gz")).size() < 100000);
  gzFile read = gzopen(folder.file("a.gz").c_str(), "rb");
  std::string got(wanted.size() + 2, ' ');
  const int size = gzread(read, got.data(), static_cast<unsigned>(got.size()));
  gzclose(read);
  got.resize(static_cast<std::size_t>(size));
  CHECK(got == "x" + wanted);
}

TEST_CASE("a folder that is not there, a folder for a file and an empty name are wrong inputs", "[unit]") {
  const support::Folder folder;
  CHECK_THROWS_AS(OutputFile(folder.file("none/a.txt")), InputError);
  CHECK_THROWS_AS(OutputFile(folder.file("")), InputError);
  CHECK_THROWS_AS(OutputFile(""), InputError);
}

TEST_CASE("a full disk is an error of the run", "[unit]") {
  OutputFile file("/dev/full");
  CHECK_THROWS_AS(
      [&] {
        file.write(std::string(1 << 20, 'x'));
        file.commit();
      }(),
      RunError);
}
