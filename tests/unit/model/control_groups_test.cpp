// What control groups leave of their limits, of both versions, in folders like the kernel's.
#include "runtime/base/control_groups.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace torus;

namespace {

constexpr Bytes no_limit = std::numeric_limits<Bytes>::max();

void write(const std::string& path, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

void first_version(const std::string& group, const std::string& limit, const std::string& used) {
  write(group + "/memory.limit_in_bytes", limit);
  write(group + "/memory.usage_in_bytes", used);
}

void second_version(const std::string& group, const std::string& limit, const std::string& used) {
  write(group + "/memory.max", limit);
  write(group + "/memory.current", used);
}

/// What is left to a process with these lines in its file of groups.
Bytes left(const std::string& folder, const std::string& lines) {
  write(folder + "/groups", lines);
  return detail::left_of_control_groups(folder + "/groups", folder + "/mount");
}

}  // namespace

TEST_CASE("of groups that lie in each other the one that leaves least counts", "[unit]") {
  const support::Folder folder;
  const std::string mount = folder.file("mount");
  second_version(mount + "/user", "9000\n", "1000\n");
  second_version(mount + "/user/job", "5000\n", "300\n");
  second_version(mount + "/user/job/step", "max\n", "200\n");
  second_version(mount + "/other", "10\n", "0\n");
  CHECK(left(folder.file(""), "0::/user/job/step\n") == 4700);
  CHECK(left(folder.file(""), "0::/user\n") == 8000);
  CHECK(left(folder.file(""), "0::/\n") == no_limit);
  second_version(mount + "/user/job/step", "250\n", "260\n");
  CHECK(left(folder.file(""), "0::/user/job/step\n") == 0);
}

TEST_CASE("files that the kernel drops when asked for memory do not count as used", "[unit]") {
  const support::Folder folder;
  const std::string mount = folder.file("mount");
  second_version(mount, "1000", "900");
  write(mount + "/memory.stat", "anon 500\ninactive_file 300\nactive_file 100\n");
  CHECK(left(folder.file(""), "0::/\n") == 400);
  first_version(mount + "/memory", "1000", "900");
  write(mount + "/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 850\n");
  CHECK(left(folder.file(""), "4:memory:/\n") == 950);
}

TEST_CASE("both versions are read side by side, and a container's group at the top under the path that its host has for it", "[unit]") {
  const support::Folder folder;
  const std::string mount = folder.file("mount");
  first_version(mount + "/memory", "9223372036854771712", "100");
  first_version(mount + "/memory/jobs/7", "700", "100");
  CHECK(left(folder.file(""), "9:name=systemd:/jobs/7\n4:cpu,memory:/jobs/7\n2:cpuset:/\n0::/\n") == 600);
  CHECK(left(folder.file(""), "4:memory:/docker/12ab\n0::/\n") == 9223372036854771712U - 100);
  second_version(mount, "400", "100");
  CHECK(left(folder.file(""), "4:memory:/jobs/7\n0::/docker/12ab\n") == 300);
}

TEST_CASE("the tightest quota of processors counts, rounded up", "[unit]") {
  const support::Folder folder;
  const std::string mount = folder.file("mount");
  const auto processors = [&](const std::string& lines) {
    write(folder.file("groups"), lines);
    return detail::processors_of_control_groups(folder.file("groups"), mount);
  };
  CHECK(!processors("0::/user/job\n"));
  write(mount + "/user/cpu.max", "400000 100000\n");
  write(mount + "/user/job/cpu.max", "150000 100000\n");
  write(mount + "/user/job/step/cpu.max", "max 100000\n");
  CHECK(processors("0::/user/job/step\n") == 2);
  CHECK(processors("0::/user\n") == 4);
  CHECK(!processors("0::/\n"));
  write(mount + "/tiny/cpu.max", "1000 100000\n");
  CHECK(processors("0::/tiny\n") == 1);
  write(mount + "/cpu/jobs/cpu.cfs_quota_us", "-1");
  write(mount + "/cpu/jobs/cpu.cfs_period_us", "100000");
  CHECK(!processors("4:cpu,cpuacct:/jobs\n"));
  write(mount + "/cpu/jobs/cpu.cfs_quota_us", "250000");
  CHECK(processors("4:cpu,cpuacct:/jobs\n") == 3);
}

TEST_CASE("what is no list of groups limits nothing", "[unit]") {
  const support::Folder folder;
  CHECK(left(folder.file(""), "") == no_limit);
  CHECK(left(folder.file(""), "memory\n:\n::\n3:memory:relative\n") == no_limit);
  CHECK(detail::left_of_control_groups(folder.file("absent"), folder.file("mount")) == no_limit);
}
