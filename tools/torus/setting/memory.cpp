#include "tools/torus/setting/memory.hpp"

#include <torus/error.hpp>
#include <torus/run.hpp>

#include "runtime/engine/estimate.hpp"
#include "tools/torus/cli/job.hpp"
#include "tools/torus/setting/refusals.hpp"

namespace torus::command {
namespace {

/// What a run of a plan needs, of several processes the first, by the engine's own estimate.
class Needed {
 public:
  Needed(const Setting& setting, const Plan& plan, unsigned workers)
      : machine_{setting.whole()},
        placement_{placement_of(setting.machine, setting.request, plan)},
        members_{machine_, placement_, setting.groups_or_null()},
        own_{machine_.topology, setting.processes},
        estimate_{detail::estimate_of(machine_, members_, own_,
                                      memory_beside_engine(machine_, setting.request, plan, setting.groups_or_null()), workers)} {}

  Bytes total() const noexcept { return estimate_.total(); }
  std::string excess_text(Bytes limit) const { return detail::excess_text(estimate_, limit, machine_, members_, own_); }

 private:
  const Machine& machine_;
  Placement placement_;
  detail::Members members_;
  detail::Slab own_;
  MemoryEstimate estimate_;
};

}  // namespace

Bytes memory_needed(const Setting& setting, const Plan& plan) {
  return Needed(setting, plan, workers_of(setting.executor, setting.threads)).total();
}

void refuse_too_large(const Setting& setting) {
  const unsigned workers = workers_of(setting.executor, setting.threads);
  const Bytes limit = setting.memory > 0 ? setting.memory : memory_of_a_process();
  const Needed needed(setting, setting.plan, workers);
  if (needed.total() <= limit) return;
  const Request& request = setting.request;
  const Bytes unit = unit_of(request.collective, request.reduction);
  Setting smaller = setting;
  Bytes fitting = 0;
  for (Bytes too_many = request.sizes ? 0 : request.bytes / unit; too_many > fitting + 1;) {
    const Bytes units = fitting + (too_many - fitting) / 2;
    smaller.request.bytes = units * unit;
    (Needed(smaller, setting.plan, workers).total() <= limit ? fitting : too_many) = units;
  }
  // A quarter less: a plan for fewer bytes may cut them into other blocks and hold more of these.
  throw InputError(needed.excess_text(limit) +
                   what_would_fit(request.collective, request.reduction, request.sizes, (fitting - fitting / 4) * unit) +
                   (setting.processes > 1 ? "; or start more processes" : ""));
}

}  // namespace torus::command
