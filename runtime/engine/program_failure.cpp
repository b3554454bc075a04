#include "runtime/engine/program_failure.hpp"

#include <new>
#include <string>

#include <torus/error.hpp>

#include "runtime/model/figures.hpp"

namespace torus::detail {

void rethrow_naming(const Topology& topology, NodeId node, std::optional<Step> step, const std::exception_ptr& thrown) {
  const std::string where =
      (step ? "step " + std::to_string(*step) : std::string("before step 0")) + ", node " + node_text(topology, node) + ": ";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const InputError& error) {
    std::throw_with_nested(InputError(where + error.what()));
  } catch (const std::exception& error) {
    std::throw_with_nested(RunError(where + error.what()));
  } catch (...) {
    std::throw_with_nested(RunError(where + "its program threw what is no std::exception"));
  }
}

}  // namespace torus::detail
