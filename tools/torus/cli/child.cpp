#include "tools/torus/cli/child.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include <torus/error.hpp>

namespace torus::command {
namespace {

constexpr rlim_t most_output_bytes = rlim_t{64} << 20U;
constexpr int not_started = 127;

/// A file in memory, closed with this.
class MemoryFile {
 public:
  MemoryFile() : descriptor_{::memfd_create("torus", MFD_CLOEXEC)} {
    if (descriptor_ < 0) throw RunError("a file in memory: " + std::generic_category().message(errno));
    // Above those that the child gets, so that none is overwritten before it is used.
    const int above = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 10);
    ::close(descriptor_);
    descriptor_ = above;
    if (descriptor_ < 0) throw RunError("a file in memory: " + std::generic_category().message(errno));
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  int descriptor() const noexcept { return descriptor_; }
  std::string text() const {
    std::string text;
    std::array<char, 65536> part{};
    for (off_t at = 0;;) {
      const ssize_t length = ::pread(descriptor_, part.data(), part.size(), at);
      if (length <= 0) return text;
      text.append(part.data(), static_cast<std::size_t>(length));
      at += length;
    }
  }

 private:
  int descriptor_;
};

}  // namespace

ChildEnd run_child(const std::string& program, const std::vector<std::string>& arguments, std::optional<double> seconds) {
  const MemoryFile out, err, file;
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw RunError(program + " cannot be started: " + std::generic_category().message(errno));
  if (child == 0) {  // only what is safe beside other threads
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit limit{most_output_bytes, most_output_bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGXFSZ, SIG_DFL);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (::dup2(nothing, 0) < 0 || ::dup2(out.descriptor(), 1) < 0 || ::dup2(err.descriptor(), 2) < 0 || ::dup2(file.descriptor(), 3) < 0)
      ::_exit(not_started);
    ::execv(program.c_str(), words.data());
    ::_exit(not_started);
  }
  ChildEnd end;
  const auto start = std::chrono::steady_clock::now();
  int status = 0;
  for (;;) {
    const pid_t ended = ::waitpid(child, &status, seconds && end.in_time ? WNOHANG : 0);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) throw RunError(program + ": " + std::generic_category().message(errno));
    if (ended < 0) continue;
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > *seconds) {
      end.in_time = false;
      ::kill(child, SIGKILL);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
  end.out = out.text();
  end.err = err.text();
  end.file = file.text();
  end.started = end.status != not_started || !end.out.empty() || !end.err.empty();
  return end;
}

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace torus::command
