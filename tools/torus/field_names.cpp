#include "tools/torus/field_names.hpp"

#include <algorithm>
#include <array>

namespace torus::command {
namespace {

struct FieldName {
  Collective collective;
  std::string_view word, ours;
};

using enum Collective;
constexpr std::array field_names{
    FieldName{broadcast, "binomial", "mst"},
    FieldName{broadcast, "binomial-tree", "mst"},
    FieldName{broadcast, "binomial_tree", "mst"},
    FieldName{broadcast, "minimum-spanning-tree", "mst"},
    FieldName{broadcast, "chain", "pipeline"},
    FieldName{broadcast, "pipelined", "pipeline"},
    FieldName{broadcast, "flooding", "flood"},
    FieldName{broadcast, "recursive-doubling", "dimension-wise"},
    FieldName{broadcast, "recursive_doubling", "dimension-wise"},
    FieldName{broadcast, "recursive-splitting", "rs-bcast"},
    FieldName{broadcast, "scatter-allgather", "scatter-collect-1d"},
    FieldName{broadcast, "scatter_allgather", "scatter-collect-1d"},
    FieldName{broadcast, "van-de-geijn", "scatter-collect-1d"},
    FieldName{multinode_broadcast, "bucket", "ring"},
    FieldName{multinode_broadcast, "recursive-doubling", "log"},
    FieldName{multinode_broadcast, "recursive_doubling", "log"},
    FieldName{total_exchange, "brucks", "bruck"},
    FieldName{total_exchange, "modified_bruck", "bruck"},
    FieldName{total_exchange, "pairwise", "direct"},
};

}  // namespace

std::string_view our_name(Collective collective, std::string_view word) noexcept {
  const auto at = std::find_if(field_names.begin(), field_names.end(),
                               [&](const FieldName& name) { return name.collective == collective && name.word == word; });
  return at == field_names.end() ? std::string_view() : at->ours;
}

}  // namespace torus::command
