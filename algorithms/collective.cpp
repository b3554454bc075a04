#include <algorithm>
#include <cctype>
#include <string>

#include <torus/collective.hpp>
#include <torus/error.hpp>

namespace torus {
namespace {

using enum CollectiveFacts::Start;
using enum CollectiveFacts::Unit;
using Wanted = CollectiveFacts::Wanted;
constexpr auto root = Wanted::at_root, everyone = Wanted::everywhere, owner = Wanted::at_owner, prefix = Wanted::of_prefix;

constexpr std::string_view usual_regret = "8x8,15x15,16x16,25x25,12x40,8x8x8,4x4x4x4";

// Collective, names; where data starts, who wants it, what bytes count, whether it combines; what the command says and takes.
constexpr CollectiveFacts rows[] = {
    {Collective::broadcast, "broadcast", "Bcast", "bcast", "", at_root, everyone, vector, false,
     "of the message, which each node has in the end", 65536, "16x16x16",
     "5x5,8x8,15x15,16x16,25x25,32x32,64x64,12x40,4x64,4x4x4,8x8x8,16x16x16", "1KiB:256MiB"},
    {Collective::multinode_broadcast, "multinode-broadcast", "Allgather", "allgather", "all-gather", at_sources, everyone, block_of_node,
     false, "of a source's block; a node has those of all sources in the end", 4096, "16x16",
     "5x5,8x8,15x15,16x16,25x25,12x40,4x4x4,8x8x8"},
    {Collective::total_exchange, "total-exchange", "Alltoall", "alltoall", "all-to-all", everywhere, owner, block_of_pair, false,
     "of a block; each node has one for each node", 64, "16x16", "5x5,8x8,9x9,16x16,4x16,4x4x4,8x8x8"},
    {Collective::reduce, "reduce", "Reduce", "", "", everywhere, root, vector, true, "of each node's vector", 65536, "16x16", usual_regret,
     "64:64MiB"},
    {Collective::allreduce, "allreduce", "Allreduce", "all-reduce", "", everywhere, everyone, vector, true, "of each node's vector", 65536,
     "16x16", usual_regret, "64:64MiB"},
    {Collective::reduce_scatter, "reduce-scatter", "Reduce_scatter_block", "reducescatter", "", everywhere, owner, block_of_node, true,
     "of a node's block of the result; each node contributes a vector of a block for each node"},
    {Collective::scan, "scan", "Scan", "", "", everywhere, prefix, vector, true, "of each node's vector"},
    {Collective::scatter, "scatter", "Scatter", "", "", at_root, owner, block_of_node, false,
     "of a node's block; the root has one of each node"},
    {Collective::gather, "gather", "Gather", "", "", everywhere, root, block_of_node, false,
     "of a node's block; the root has one of each node"},
    {Collective::barrier, "barrier", "Barrier", "", "", everywhere, everyone, none, false, "none: no bytes are asked for", 0, "16x16",
     usual_regret, "0"},
};

}  // namespace

std::span<const CollectiveFacts> collectives() noexcept { return rows; }

const CollectiveFacts& facts_of(Collective collective) noexcept { return rows[static_cast<std::size_t>(collective)]; }

std::string_view name(Collective collective) noexcept { return facts_of(collective).name; }

const CollectiveFacts& facts_of(std::string_view name) {
  if (const auto found = find_collective(name)) return facts_of(*found);
  throw InputError("collective '" + std::string(name) + "': there is no such collective; for instance broadcast");
}

std::optional<Collective> find_collective(std::string_view text) {
  std::string plain(text);
  std::transform(plain.begin(), plain.end(), plain.begin(), [](unsigned char c) { return c == '_' ? '-' : std::tolower(c); });
  std::string_view word = plain;
  if (word.starts_with("mpi-")) word.remove_prefix(4);
  if (word.ends_with("allv") || word.ends_with("gatherv") || word.ends_with("scatterv")) word.remove_suffix(1);  // blocks with sizes
  for (const CollectiveFacts& each : rows) {
    if (!word.empty() && (word == each.name || word == each.word || word == each.second_word)) return each.collective;
  }
  return std::nullopt;
}

}  // namespace torus
