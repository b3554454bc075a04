#include "runtime/engine/processes/job.hpp"

#include <cstdlib>

namespace torus::detail {

std::optional<unsigned> number_in_job() noexcept {
  const auto number = [](const char* name) -> std::optional<unsigned> {
    const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody changes the environment then
    return text == nullptr ? std::nullopt : std::optional(static_cast<unsigned>(std::strtoul(text, nullptr, 10)));
  };
  struct Names {
    const char* size;
    const char* number;
  };
  for (const Names& names : {Names{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, Names{"PMI_SIZE", "PMI_RANK"}}) {
    if (number(names.size).value_or(1) > 1) return number(names.number).value_or(0);
  }
  // srun says how many also to programs that know no MPI: they are one job only where it speaks PMIx with them.
  if (number("PMIX_RANK") && number("SLURM_NTASKS").value_or(1) > 1) return number("PMIX_RANK");
  return std::nullopt;
}

}  // namespace torus::detail
