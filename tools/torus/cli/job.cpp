#include "tools/torus/cli/job.hpp"

#include <algorithm>
#include <csignal>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include <torus/error.hpp>

#include "runtime/base/host.hpp"
#include "runtime/engine/processes/job.hpp"
#include "runtime/engine/processes/together.hpp"
#include "tools/torus/cli/version.hpp"

namespace torus::command {
namespace {

/// Set once, by join_job().
struct Joined {
  detail::Job* job = nullptr;
  Bytes memory = 0;
};
Joined& joined() noexcept {
  static Joined joined;
  return joined;
}

/// The processes are copies of one command; what only one of them was asked would be lost.
void refuse_different(Processes& all, int argc, char** argv) {
  std::string started = fmt::format("{} {}", version, commit);
  for (int i = 1; i < argc; ++i) started += fmt::format(" '{}'", argv[i]);
  const std::vector<std::vector<std::byte>> each = detail::gather_bytes(all, detail::bytes_of(started));
  for (std::size_t p = 1; p < each.size(); ++p) {
    if (each[p] != each.front()) {
      throw InputError(fmt::format("process {} was started as torus {}, and process 0 as torus {}: start all alike", p,
                                   detail::text_of(each[p]), detail::text_of(each.front())));
    }
  }
}

int& complaints_descriptor() noexcept {
  static int descriptor = STDERR_FILENO;
  return descriptor;
}

void be_silent() {
  // What ends a process while it runs a node is said by that process.
  if (complaints() == STDERR_FILENO) complaints_descriptor() = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
}

/// Beside the program, where it is installed beside this one, and where this library was built and is to be installed.
std::filesystem::path find_module() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const std::filesystem::path& folder :
       {here, here.parent_path() / "lib" / "torus", std::filesystem::path(module_built), std::filesystem::path(module_installed)}) {
    if (std::filesystem::exists(folder / detail::job_module, error)) return folder / detail::job_module;
  }
  throw RunError(
      fmt::format("started as one of several processes, and {} is not there: configure with -DTORUS_MPI=ON (tools/setup mpi "
                  "installs Open MPI), or start torus without mpirun",
                  detail::job_module));
}

}  // namespace

void join_job(int argc, char** argv) {
  const std::optional<unsigned> number = detail::number_in_job();
  if (!number) return;
  if (*number > 0) {
    be_silent();
    std::signal(SIGINT, SIG_IGN);  // the first process ends the run of all
    std::signal(SIGTERM, SIG_IGN);
  }
  const std::filesystem::path module = find_module();
  void* const library = ::dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);  // global: parts of MPI that it loads itself look there
  void* const open = library != nullptr ? ::dlsym(library, detail::open_job_name) : nullptr;
  if (open == nullptr) throw RunError(fmt::format("{}: {}", module.string(), ::dlerror()));  // NOLINT(concurrency-mt-unsafe): one thread
  std::string why_not;
  joined().job = reinterpret_cast<detail::OpenJob>(open)(why_not);
  if (joined().job == nullptr) throw RunError(why_not);
  if (processes() == nullptr) return;
  if (!speaks()) be_silent();
  refuse_different(*processes(), argc, argv);
  const Bytes mine = usable_memory() / processes()->on_this_host();
  const std::vector<Bytes> each = detail::exchange_each(*processes(), mine);
  joined().memory = *std::min_element(each.begin(), each.end());
}

int leave_job(int status) {
  if (joined().job == nullptr) return detail::number_in_job().value_or(0) > 0 ? 0 : status;
  // Without this, those that have joined would wait for the first one's next run.
  if (processes() != nullptr && speaks() && joined().memory > 0) detail::gather_bytes(*processes(), {});
  joined().job->end();
  return speaks() ? status : 0;
}

Processes* processes() noexcept { return joined().job != nullptr && joined().job->count() > 1 ? joined().job : nullptr; }

Bytes memory_of_a_process() { return joined().memory > 0 ? joined().memory : usable_memory(); }

int complaints() noexcept { return complaints_descriptor(); }

bool speaks() noexcept { return joined().job == nullptr || joined().job->self() == 0; }

}  // namespace torus::command
