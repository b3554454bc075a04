#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/error.hpp>

#include "algorithms/broadcast/dimension_wise.hpp"
#include "algorithms/broadcast/edf.hpp"
#include "algorithms/broadcast/edst_broadcast.hpp"
#include "algorithms/broadcast/flood.hpp"
#include "algorithms/broadcast/mst.hpp"
#include "algorithms/broadcast/park_choi.hpp"
#include "algorithms/broadcast/peters_syska.hpp"
#include "algorithms/broadcast/pipeline.hpp"
#include "algorithms/broadcast/rs_bcast.hpp"
#include "algorithms/broadcast/scatter_collect.hpp"
#include "algorithms/broadcast/separate_dimensions.hpp"
#include "algorithms/broadcast/span.hpp"
#include "algorithms/broadcast/squeeze_expand.hpp"
#include "algorithms/broadcast/strip.hpp"
#include "algorithms/broadcast/swath.hpp"
#include "algorithms/broadcast/synthesized.hpp"
#include "algorithms/broadcast/synthesized_ordered.hpp"
#include "algorithms/broadcast/tree_packing.hpp"
#include "algorithms/broadcast/tsai_mckinley.hpp"
#include "algorithms/broadcast/wang_tseng.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute.hpp"
#include "algorithms/multinode_broadcast/edst.hpp"
#include "algorithms/multinode_broadcast/edst_pipelined.hpp"
#include "algorithms/multinode_broadcast/hierarchical.hpp"
#include "algorithms/multinode_broadcast/hyperplane.hpp"
#include "algorithms/multinode_broadcast/joint_swath.hpp"
#include "algorithms/multinode_broadcast/log.hpp"
#include "algorithms/multinode_broadcast/relay.hpp"
#include "algorithms/multinode_broadcast/ring.hpp"
#include "algorithms/multinode_broadcast/swaths.hpp"
#include "algorithms/reduction/broadcast_trees.hpp"
#include "algorithms/reduction/diagonal.hpp"
#include "algorithms/reduction/dimension_wise.hpp"
#include "algorithms/reduction/exchange.hpp"
#include "algorithms/reduction/exchanges.hpp"
#include "algorithms/reduction/flood_barrier.hpp"
#include "algorithms/reduction/hamiltonian.hpp"
#include "algorithms/reduction/hierarchical.hpp"
#include "algorithms/reduction/lattice.hpp"
#include "algorithms/reduction/line.hpp"
#include "algorithms/reduction/ring.hpp"
#include "algorithms/reduction/rings.hpp"
#include "algorithms/reduction/spread.hpp"
#include "algorithms/reduction/stars.hpp"
#include "algorithms/reduction/tree.hpp"
#include "algorithms/reduction/tree_packing.hpp"
#include "algorithms/reduction/trees.hpp"
#include "algorithms/reduction/windows.hpp"
#include "algorithms/total_exchange/a2.hpp"
#include "algorithms/total_exchange/a3.hpp"
#include "algorithms/total_exchange/bruck.hpp"
#include "algorithms/total_exchange/dimension_wise.hpp"
#include "algorithms/total_exchange/direct.hpp"
#include "algorithms/total_exchange/log_rotating.hpp"
#include "algorithms/total_exchange/logarithmic.hpp"
#include "algorithms/total_exchange/open_shop.hpp"
#include "algorithms/total_exchange/phases.hpp"
#include "algorithms/total_exchange/rotating.hpp"
#include "algorithms/total_exchange/sequential.hpp"
#include "algorithms/total_exchange/stride.hpp"
#include "algorithms/total_exchange/ternary_rotating.hpp"

namespace torus {
namespace {

constexpr std::array of_this_project{
    &broadcast::flood,
    &broadcast::flood_pipelined,
    &broadcast::edst_broadcast,
    &broadcast::tree_packing,
    &broadcast::dimension_wise,
    &broadcast::wang_tseng,
    &broadcast::wang_tseng_trimmed,
    &broadcast::tsai_mckinley,
    &broadcast::swath,
    &broadcast::span,
    &broadcast::squeeze_expand,
    &broadcast::two_line,
    &broadcast::pairs,
    &broadcast::peters_syska,
    &broadcast::park_choi,
    &broadcast::synthesized,
    &broadcast::synthesized_ordered,
    &broadcast::mst_naive,
    &broadcast::mst,
    &broadcast::separate_dimensions,
    &broadcast::rs_bcast,
    &broadcast::strip,
    &broadcast::pipeline,
    &broadcast::edf,
    &broadcast::scatter_collect_1d,
    &broadcast::scatter_collect_2d,
    &multinode::ring,
    &multinode::log,
    &multinode::hyperplane,
    &multinode::relay,
    &multinode::swaths,
    &multinode::joint_swath,
    &multinode::edst,
    &multinode::edst_pipelined,
    &multinode::hierarchical,
    &multinode::hierarchical_log,
    &multinode::aggregate_distribute,
    &reduction::rings_all_gather,
    &reduction::rings_single_all_gather,
    &reduction::hamiltonian_all_gather,
    &reduction::dimension_wise_all_gather,
    &reduction::ring_all_gather,
    &reduction::halving_all_gather,
    &reduction::swing_all_gather,
    &reduction::tripling_all_gather,
    &reduction::lattice_all_gather,
    &reduction::tree_packing_all_gather,
    &exchange::a2,
    &exchange::a3,
    &exchange::phases,
    &exchange::open_shop,
    &exchange::dimension_wise,
    &exchange::sequential,
    &exchange::rotating,
    &exchange::logarithmic,
    &exchange::log_rotating,
    &exchange::ternary_rotating,
    &exchange::bruck,
    &exchange::stride,
    &exchange::direct,
    &reduction::tree_reduce,
    &reduction::trees_reduce,
    &reduction::tree_packing_reduce,
    &reduction::tree_dimension_wise.reduce,
    &reduction::tree_wang_tseng.reduce,
    &reduction::tree_wang_tseng_trimmed.reduce,
    &reduction::tree_tsai_mckinley.reduce,
    &reduction::tree_mst.reduce,
    &reduction::tree_separate_dimensions.reduce,
    &reduction::tree_rs_bcast.reduce,
    &reduction::tree_span.reduce,
    &reduction::tree_squeeze_expand.reduce,
    &reduction::tree_two_line.reduce,
    &reduction::tree_pairs.reduce,
    &reduction::tree_peters_syska.reduce,
    &reduction::tree_park_choi.reduce,
    &reduction::tree_synthesized.reduce,
    &reduction::rings_allreduce,
    &reduction::rings_single_allreduce,
    &reduction::exchange_allreduce,
    &reduction::exchange_rotated_allreduce,
    &reduction::windows_allreduce,
    &reduction::diagonal_allreduce,
    &reduction::hamiltonian_allreduce,
    &reduction::dimension_wise_allreduce,
    &reduction::ring_allreduce,
    &reduction::halving_allreduce,
    &reduction::swing_allreduce,
    &reduction::tripling_allreduce,
    &reduction::lattice_allreduce,
    &reduction::hierarchical_allreduce,
    &reduction::hierarchical_log_allreduce,
    &reduction::stars_allreduce,
    &reduction::trees_allreduce,
    &reduction::tree_packing_allreduce,
    &reduction::tree_dimension_wise.allreduce,
    &reduction::tree_wang_tseng.allreduce,
    &reduction::tree_wang_tseng_trimmed.allreduce,
    &reduction::tree_tsai_mckinley.allreduce,
    &reduction::tree_mst.allreduce,
    &reduction::tree_separate_dimensions.allreduce,
    &reduction::tree_rs_bcast.allreduce,
    &reduction::tree_span.allreduce,
    &reduction::tree_squeeze_expand.allreduce,
    &reduction::tree_two_line.allreduce,
    &reduction::tree_pairs.allreduce,
    &reduction::tree_peters_syska.allreduce,
    &reduction::tree_park_choi.allreduce,
    &reduction::tree_synthesized.allreduce,
    &reduction::rings_reduce_scatter,
    &reduction::rings_single_reduce_scatter,
    &reduction::hamiltonian_reduce_scatter,
    &reduction::dimension_wise_reduce_scatter,
    &reduction::ring_reduce_scatter,
    &reduction::halving_reduce_scatter,
    &reduction::swing_reduce_scatter,
    &reduction::tripling_reduce_scatter,
    &reduction::lattice_reduce_scatter,
    &reduction::hierarchical_reduce_scatter,
    &reduction::hierarchical_log_reduce_scatter,
    &reduction::tree_packing_reduce_scatter,
    &reduction::line_scan,
    &reduction::spread_scatter,
    &reduction::tree_scatter,
    &reduction::tree_dimension_wise.scatter,
    &reduction::tree_wang_tseng_trimmed.scatter,
    &reduction::tree_tsai_mckinley.scatter,
    &reduction::tree_rs_bcast.scatter,
    &reduction::tree_span.scatter,
    &reduction::tree_synthesized.scatter,
    &reduction::spread_gather,
    &reduction::tree_gather,
    &reduction::tree_dimension_wise.gather,
    &reduction::tree_wang_tseng_trimmed.gather,
    &reduction::tree_tsai_mckinley.gather,
    &reduction::tree_rs_bcast.gather,
    &reduction::tree_span.gather,
    &reduction::tree_synthesized.gather,
    &reduction::flood_barrier,
    &reduction::exchange_barrier,
    &reduction::windows_barrier,
    &reduction::diagonal_barrier,
};

/// Grows at the start of a program, and never after. The command and its tests would else have to hand the list to every place that reads
/// an option.
std::vector<const Algorithm*>& all() {
  static std::vector<const Algorithm*> algorithms(of_this_project.begin(), of_this_project.end());
  return algorithms;
}

/// What an own algorithm must have, so that lists and commands can name it.
void check_own(const Algorithm* own, std::span<const Algorithm* const> taken) {
  if (own == nullptr) throw InputError("algorithm: a null pointer; give the address of one, for instance {&mine}");
  const std::string name(own->name);
  const auto refuse = [&](const std::string& rule) { throw InputError("algorithm '" + name + "': " + rule); };
  if (name.empty() || name.front() < 'a' || name.front() > 'z' ||
      name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
    refuse("a name has small letters, digits and hyphens, a letter first; for instance my-" + std::string(torus::name(own->collective)));
  for (const Algorithm* other : taken) {
    if (name == torus::name(other->collective)) refuse("it is the name of a collective; for instance my-" + name);
    if (other->collective == own->collective && other->name == name)
      refuse("there is a " + std::string(torus::name(other->collective)) + " of that name already; for instance my-" + name);
  }
  if (own->plan == nullptr) refuse("it has no plan; set .plan to a function that returns a Plan");
}

}  // namespace

std::span<const Algorithm* const> catalogue() noexcept { return all(); }

void extend_catalogue(std::span<const Algorithm* const> own) {
  std::vector<const Algorithm*> extended = all();
  for (const Algorithm* algorithm : own) {
    check_own(algorithm, extended);
    // By collective, as reports and lists expect: behind the last of its own.
    const auto behind = std::find_if(extended.rbegin(), extended.rend(),
                                     [&](const Algorithm* other) { return other->collective == algorithm->collective; });
    extended.insert(behind.base(), algorithm);
  }
  all() = std::move(extended);
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) noexcept {
  for (const Algorithm* algorithm : catalogue()) {
    if (algorithm->collective == collective && algorithm->name == name) return algorithm;
  }
  return nullptr;
}

}  // namespace torus
