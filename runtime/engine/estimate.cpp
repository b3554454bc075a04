#include "runtime/engine/estimate.hpp"

#include <algorithm>
#include <string>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/engine/network/channel_table.hpp"
#include "runtime/engine/network/links.hpp"
#include "runtime/engine/network/message_arena.hpp"
#include "runtime/engine/payload/payload.hpp"
#include "runtime/engine/workers/active_set.hpp"

namespace torus {
namespace detail {
namespace {

Bytes times(Bytes a, Bytes b) noexcept {
  Bytes product = 0;
  return __builtin_mul_overflow(a, b, &product) ? out_of_reach : std::min(product, out_of_reach);
}

/// The longest blocks that fit in `room`; 0 if none do.
Bytes fitting_bytes(Bytes room, std::uint64_t blocks, unsigned workers) {
  Bytes fitting = 0;
  for (Bytes too_long = room / blocks + 1; too_long - fitting > 1;) {
    const Bytes bytes = fitting + (too_long - fitting) / 2;
    const SlotLengths lengths(blocks, bytes);
    (times(SlotPool::units_for(lengths, workers), lengths.unit()) <= room ? fitting : too_long) = bytes;
  }
  return fitting;
}

}  // namespace

std::string excess_text(const MemoryEstimate& estimate, Bytes limit, const Machine& machine, const Members& members, const Slab& own) {
  const std::uint64_t blocks = std::max<std::uint64_t>(1, most_held(members, own));
  return "a run of " + counted(own.nodes(), "node") +
         (own.whole()
              ? ""
              : ", of the " + grouped(machine.topology.nodes()) + " that " + std::to_string(own.processes()) + " processes share,") +
         " and " + counted(blocks, "block") + (members.placement().sizes() ? " of up to " : " of ") +
         counted(members.placement().longest(), "byte") + " needs " + bytes_text(estimate.total()) + " (blocks " +
         bytes_text(estimate.payload) + ", their bookkeeping " + bytes_text(estimate.blocks) + ", nodes " + bytes_text(estimate.nodes) +
         ", messages " + bytes_text(estimate.flight + estimate.routes) + ", tables " + bytes_text(estimate.tables) + ") and " +
         bytes_text(limit) + " may be used; ";
}

void refuse_too_large(const MemoryEstimate& estimate, Bytes limit, const Machine& machine, const Members& members, const Slab& own,
                      unsigned workers) {
  if (estimate.total() <= limit) return;
  const std::uint64_t blocks = std::max<std::uint64_t>(1, most_held(members, own));
  const Bytes rest = estimate.total() - estimate.payload;
  std::string text = excess_text(estimate, limit, machine, members, own);
  if (const Bytes fitting = rest < limit && !members.placement().sizes() ? fitting_bytes(limit - rest, blocks, workers) : 0; fitting > 0) {
    text += "blocks of at most " + std::to_string(fitting) + (fitting == 1 ? " byte would fit" : " bytes would fit");
  } else {
    text += members.placement().sizes() ? "choose smaller sizes or a smaller shape" : "choose a smaller shape";
    text += ": without any payload it needs " + bytes_text(rest);
  }
  if (!own.whole()) text += "; or start more processes";
  throw InputError(text);
}

Bytes spare_bytes(const MemoryEstimate& estimate, Bytes limit) noexcept {
  constexpr Bytes little = Bytes{1} << 24U;
  constexpr Bytes records = RunResult::max_step_records * sizeof(StepRecord);
  static_assert(records <= little / 2);
  return std::min(limit - estimate.total() + estimate.flight + little - records, out_of_reach);
}

MemoryEstimate estimate_of(const Machine& machine, const Members& members, const Slab& own, const ProgramMemory& programs,
                           unsigned workers) {
  const Placement& placement = members.placement();
  const Topology& topology = machine.topology;
  const Bytes nodes = own.nodes();
  const auto share = [&](Bytes all) {
    return own.whole() ? all : static_cast<Bytes>(static_cast<double>(all) * static_cast<double>(nodes) / topology.nodes());
  };
  const Bytes slots = static_cast<Bytes>(topology.channel_slots());
  const Bytes link = machine.contention == Contention::share ? SharedLinks::bytes_each() : ExclusiveLinks::bytes_each();
  MemoryEstimate estimate;
  const SlotLengths lengths = slots_held(members, own);
  const std::uint64_t units = SlotPool::units_for(lengths, workers);
  estimate.payload = times(units, lengths.unit());
  estimate.blocks = times(units, NodeTables::slot_overhead(placement) + Partials::slot_overhead(placement)) +
                    times(nodes * NodeTables::bucket_overhead, placement.buckets());
  estimate.nodes = nodes * (sizeof(Node) + slots * link + ArrivalFlags::bytes_each(slots)) +
                   share(ChannelTable::entries_for(machine) * sizeof(ChannelEntry)) + 2 * ActiveSet::bytes_for(own.nodes(), workers) +
                   times(nodes, programs.node);
  constexpr Bytes lists_of_worker = Bytes{80} << 10U;  // those that do not grow with the nodes
  estimate.flight = workers * lists_of_worker + times(nodes, programs.messages) +
                    (placement.reduces() ? 0 : 2 * share(members.initial_total()) * sizeof(std::uint64_t));
  estimate.tables = std::min(programs.tables, out_of_reach);
  if (const Groups* groups = members.groups(); groups != nullptr) {
    estimate.nodes += groups->table_bytes();
    if (groups->carries()) {  // its own way may have more legs than its program has named, which may begin a line
      const Bytes line = MessageArena::size_of(1, 1, 0), sent = times(nodes, (programs.messages + line - 1) / line);
      estimate.flight += times(sent, topology.dimensions() > 1 ? line : 0);
      constexpr Bytes copies_of_worker = Bytes{32} << 10U;  // of a node's arrivals, with the routes that their programs have named
      const Bytes kept = MessageArena::most_kept(static_cast<std::size_t>(topology.dimensions()));
      estimate.routes = times(sent + sent / 8, kept) + workers * copies_of_worker;  // of a busy step
    }
  }
  return estimate;
}

}  // namespace detail

MemoryEstimate estimate_memory(const Machine& machine, const Placement& placement, const ProgramMemory& programs, unsigned workers) {
  return detail::estimate_of(machine, detail::Members(machine, placement), detail::Slab(machine.topology), programs, workers);
}

}  // namespace torus
