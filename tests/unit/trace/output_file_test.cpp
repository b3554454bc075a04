#include "runtime/base/output_file.hpp"

#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

#include <torus/error.hpp>

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
    std::cout << "not tried here: this file system knows no files without names\n";
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

TEST_CASE("a link is written through and stays, whether or not its target is there", "[unit]") {
  const support::Folder folder;
  for (const bool there : {true, false}) {
    CAPTURE(there);
    if (there) folder.write("target", "old");
    std::filesystem::create_symlink("target", folder.file("relative"));
    std::filesystem::create_symlink(folder.file("relative"), folder.file("link"));
    OutputFile file(folder.file("link"));
    file.write("new");
    file.commit();
    CHECK(std::filesystem::is_symlink(folder.file("link")));
    CHECK(std::filesystem::is_symlink(folder.file("relative")));
    CHECK(std::filesystem::symlink_status(folder.file("target")).type() == std::filesystem::file_type::regular);
    CHECK(support::text_of_file(folder.file("target")) == "new");
    CHECK(folder.files() == 3);
    for (const char* name : {"target", "relative", "link"}) std::filesystem::remove(folder.file(name));
  }
}

TEST_CASE("what is open already is written to behind what it holds, and the link to it stays", "[unit]") {
  const support::Folder folder;
  const int descriptor = ::open(folder.file("open").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(descriptor >= 0);
  REQUIRE(::write(descriptor, "before ", 7) == 7);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(descriptor), folder.file("link"));
  for (const std::string& path : {folder.file("link"), "/dev/fd/" + std::to_string(descriptor)}) {
    OutputFile file(path);
    file.write("new ");
    file.commit();
  }
  REQUIRE(::write(descriptor, "after", 5) == 5);
  ::close(descriptor);
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(support::text_of_file(folder.file("open")) == "before new new after");
  CHECK(folder.files() == 2);
}

TEST_CASE("links that lead round are wrong inputs", "[unit]") {
  const support::Folder folder;
  std::filesystem::create_symlink("b", folder.file("a"));
  std::filesystem::create_symlink("a", folder.file("b"));
  CHECK_THROWS_AS(OutputFile(folder.file("a")), InputError);
  CHECK(folder.files() == 2);
}

TEST_CASE("a file that is written anew keeps its mode", "[unit]") {
  const support::Folder folder;
  using std::filesystem::perms;
  const std::string path = folder.write("a.txt", "old");
  for (const perms mode : {perms::owner_read | perms::owner_write, perms::owner_all | perms::group_all | perms::others_all}) {
    std::filesystem::permissions(path, mode);
    OutputFile file(path);
    file.write("new");
    file.commit();
    CHECK(std::filesystem::status(path).permissions() == mode);
  }
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
  CHECK_THROWS_AS(OutputFile("-"), InputError);
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

TEST_CASE("a name as long as a name can be is written, and told from others that begin alike", "[unit]") {
  const support::Folder folder;
  for (std::size_t length = 235; length <= 255; length += 5) {
    CAPTURE(length);
    const std::string name(length - 1, 'n');
    OutputFile one(folder.file(name + "1"));
    OutputFile other(folder.file(name + "2"));
    OutputFile named(folder.file(name + "3"), false);
    OutputFile another(folder.file(name + "4"), false);
    one.write("one");
    other.write("other");
    named.write("named");
    another.write("another");
    for (OutputFile* file : {&one, &other, &named, &another}) file->commit();
    CHECK(support::text_of_file(folder.file(name + "1")) == "one");
    CHECK(support::text_of_file(folder.file(name + "2")) == "other");
    CHECK(support::text_of_file(folder.file(name + "3")) == "named");
    CHECK(support::text_of_file(folder.file(name + "4")) == "another");
  }
  CHECK(folder.files() == 20);
  CHECK_THROWS_AS(OutputFile(folder.file(std::string(256, 'n'))), InputError);
}

TEST_CASE("an interrupt leaves nothing of files that had to have a name", "[unit]") {
  const support::Folder folder;
  folder.write("old", "old");
  std::vector<std::unique_ptr<OutputFile>> files;
  for (int i = 0; i < 10; ++i) {
    files.push_back(std::make_unique<OutputFile>(folder.file("f" + std::to_string(i)), false));
    files.back()->write("begun");
  }
  CHECK(folder.files() == 11);
  files[3]->commit();
  files[4].reset();
  files.push_back(std::make_unique<OutputFile>(folder.file("old"), false));
  CHECK(folder.files() == 11);
  OutputFile::remove_unfinished();  // what the handler of a signal does before it ends the process
  CHECK(folder.files() == 2);
  CHECK(support::text_of_file(folder.file("f3")) == "begun");
  CHECK(support::text_of_file(folder.file("old")) == "old");
}

TEST_CASE("a file that is not there is the same whether its path names the folder or not", "[unit]") {
  CHECK(OutputFile::written_path("no-such-file") == OutputFile::written_path("./no-such-file"));
  CHECK(OutputFile::written_path("no-such-file") == OutputFile::written_path(std::filesystem::current_path() / "no-such-file"));
  CHECK(OutputFile::written_path("no-such-file") != OutputFile::written_path("no-such-folder/no-such-file"));
}
