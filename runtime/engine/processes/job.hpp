/// A job of several processes that something like mpirun has started, and the module that speaks MPI for them.
#pragma once

#include <optional>
#include <string>

#include <torus/processes.hpp>

namespace torus::detail {

/// This process in its job.
class Job : public Processes {
 public:
  /// Ends the job, when all have come here.
  virtual void end() = 0;
};

/// What the module gives: null, with a text, if MPI does not start. To be called once.
using OpenJob = Job* (*)(std::string& why_not);
inline constexpr const char* open_job_name = "torus_open_job";
/// The file of the module. It is loaded where several processes are started, so that the command itself needs no MPI.
inline constexpr const char* job_module = "torus-mpi.so";

/// The number of this process, if it was started as one of several, by what mpirun, mpiexec or srun say in the environment.
std::optional<unsigned> number_in_job() noexcept;

}  // namespace torus::detail
