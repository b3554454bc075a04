/// A trace as a program for MSCCL, whose runtime plays it on GPUs.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/collective.hpp>
#include <torus/error.hpp>
#include <torus/route.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/trace/contributors.hpp"
#include "tools/torus/traces/formats.hpp"
#include "tools/torus/traces/unused.hpp"
#include "tools/torus/view/by_node.hpp"

namespace torus::command {
namespace {

constexpr std::uint32_t most_steps_of_a_block = 256;
constexpr std::uint32_t most_waits = 64;  ///< before the steps of one arrival

/// A step of a threadblock: which gpu's, and its place there.
struct Place {
  std::uint32_t block = 0, step = 0;
  auto operator<=>(const Place&) const = default;
};

struct Threadblock {
  std::int64_t send = -1, receive = -1;
  std::uint32_t channel = 0, steps = 0;
  std::string text;
};

/// A chunk of a buffer.
struct Chunk {
  char buffer = 'o';
  std::uint32_t offset = 0;
  auto operator<=>(const Chunk&) const = default;
};

/// Writes programs: a threadblock for each queue and end of it. A step waits for those that wrote what it reads, and for those that touched
/// what it writes.
class Program {
 public:
  explicit Program(const TraceHeader& header)
      : header_{header},
        facts_{facts_of(header.collective)},
        nodes_{header.machine.topology.nodes()},
        gpus_(nodes_),
        segments_{header.segments} {
    static const std::map<Collective, std::string_view> names{
        {Collective::multinode_broadcast, "allgather"}, {Collective::allreduce, "allreduce"},
        {Collective::reduce_scatter, "reduce_scatter"}, {Collective::total_exchange, "alltoall"},
        {Collective::broadcast, "broadcast"},           {Collective::reduce, "reduce"}};
    const auto name = names.find(facts_.collective);
    if (name == names.end())
      throw InputError(fmt::format("MSCCL has no {}; it has allgather, allreduce, reduce-scatter, total-exchange, broadcast and reduce",
                                   header.collective));
    name_ = name->second;
    if (!header.groups.empty() && !header.mapped())
      throw InputError("the trace is of groups of nodes; an MSCCL program is of all its gpus");
    if (!header.sizes.empty()) throw InputError("blocks have sizes of their own; the chunks of an MSCCL program are all alike");
    if (header.machine.topology.living_nodes() < nodes_)
      throw InputError("the machine has dead nodes, and an MSCCL program uses all its gpus");
    if (facts_.from_sources() && header.sources.size() < nodes_)
      throw InputError(
          fmt::format("the run has {}, and an MSCCL allgather has all {} nodes", counted(header.sources.size(), "source"), nodes_));
    vector_ = facts_.combines && facts_.takes_sizes() ? nodes_ * segments_ : segments_;
    if (facts_.of_pairs()) copy_own();
    for (NodeId node = 0; node < nodes_ && facts_.combines; ++node) {
      for (std::uint32_t s = 0; s < vector_; ++s) gpus_[node].full.insert(s);
      gpus_[node].scratch = (header.registers - 1) * vector_;
    }
  }

  bool reduces() const noexcept { return facts_.combines; }
  std::uint32_t vector() const noexcept { return vector_; }

  /// The messages of a step: all are sent before any arrives.
  void step(const TraceStep& of) {
    const std::vector<TraceMessage>& messages = of.messages;
    std::vector<std::vector<Run>> runs(messages.size());
    std::map<std::pair<NodeId, NodeId>, std::uint32_t> channels;  // taken in this step
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const TraceMessage& m = messages[i];
      runs[i] = runs_of(m);
      for (Run& run : runs[i]) {
        run.channel = channels[{m.source, m.destination}]++;
        send(m, run);
      }
    }
    for (const auto& [node, block] : of.released) gpus_[node].full.erase(static_cast<std::uint32_t>(block));
    for (std::size_t i = 0; i < messages.size(); ++i) {
      for (const Run& run : runs[i]) receive(messages[i], run);
    }
    messages_ += static_cast<std::uint64_t>(
        std::count_if(messages.begin(), messages.end(), [](const TraceMessage& m) { return !m.blocks.empty(); }));
  }

  Note write(OutputFile& file) {
    std::uint32_t channels = 0;
    std::size_t blocks = 0;
    for (const Gpu& gpu : gpus_) {
      for (const Threadblock& block : gpu.blocks) channels = std::max(channels, block.channel + 1);
      blocks += gpu.blocks.size();
    }
    const bool in_place = !facts_.of_pairs();
    std::uint32_t in = 0, out = 0;
    if (facts_.combines)
      in = vector_;
    else if (facts_.of_pairs())
      in = out = nodes_;
    else
      out = facts_.rooted() ? segments_ : nodes_ * segments_;
    file.write(
        fmt::format("<algo name=\"torus\" proto=\"Simple\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" inplace=\"{}\" "
                    "shape=\"{}\"{}>\n",
                    channels, std::max(in, out), nodes_, name_, in_place ? 1 : 0, header_.machine.topology.text(),
                    facts_.rooted() ? fmt::format(" root=\"{}\"", header_.sources.front()) : ""));
    for (NodeId node = 0; node < nodes_; ++node) {
      const Gpu& gpu = gpus_[node];
      file.write(fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", node, in, out, gpu.scratch));
      for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
        const Threadblock& block = gpu.blocks[b];
        file.write(fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", b, block.send, block.receive, block.channel));
        file.write(block.text);
        file.write("    </tb>\n");
      }
      file.write("  </gpu>\n");
    }
    file.write("</algo>\n");
    return fmt::format("{}, {}, {}", counted(nodes_, "gpu"), counted(blocks, "threadblock"), counted(messages_, "message"));
  }

 private:
  /// Consecutive chunks of a message, as a step names them.
  struct Run {
    Chunk first;
    std::uint32_t count = 0, channel = 0;
    std::uint64_t block = 0;  ///< of the first
  };
  struct Touched {
    std::optional<Place> writer = {};
    std::vector<Place> readers = {};
  };
  struct Gpu {
    std::vector<Threadblock> blocks;
    std::map<std::tuple<bool, NodeId, std::uint32_t>, std::uint32_t> block_of;  // sends?, peer, channel
    std::map<Chunk, Touched> touched;
    std::map<std::uint64_t, Chunk> relayed;  // alltoall: where blocks for others are
    std::set<std::uint32_t> full;            // reductions: registers with something in them
    std::uint32_t scratch = 0;
  };

  struct Pair {
    std::map<std::uint32_t, std::uint32_t> channel;
    std::uint32_t next = 0;
  };

  void copy_own() {
    for (NodeId node = 0; node < nodes_; ++node) {
      gpus_[node].blocks.push_back({});
      add(node, 0, "cpy", {'i', node}, {'o', node}, 1, {}, {});
    }
  }

  /// Where a node has a block.
  Chunk chunk_of(NodeId node, std::uint64_t block) const {
    if (facts_.from_sources()) return {'o', static_cast<std::uint32_t>(block)};
    if (facts_.rooted() && !facts_.combines)
      return {'o', static_cast<std::uint32_t>(block - std::uint64_t{header_.sources.front()} * segments_)};
    if (facts_.combines) {
      const auto id = static_cast<std::uint32_t>(block);
      return id < vector_ ? Chunk{'i', id} : Chunk{'s', id - vector_};
    }
    const auto origin = static_cast<std::uint32_t>(block / nodes_), destination = static_cast<std::uint32_t>(block % nodes_);
    if (origin == node) return {'i', destination};
    if (destination == node) return {'o', origin};
    return gpus_[node].relayed.at(block);
  }
  bool held(NodeId node, std::uint64_t block) const {
    return !facts_.of_pairs() || block / nodes_ == node || block % nodes_ == node || gpus_[node].relayed.contains(block);
  }

  std::vector<Run> runs_of(const TraceMessage& m) {
    std::vector<std::uint64_t> blocks = m.blocks;
    std::sort(blocks.begin(), blocks.end());
    std::vector<Run> runs;
    for (const std::uint64_t block : blocks) {
      if (block > 0xffffffffU || !held(m.source, block))
        throw InputError(
            fmt::format("step {}: node {} sends block {}, which it does not have; torus verify says more", m.step, m.source, block));
      if (facts_.of_pairs() && block / nodes_ != m.destination && block % nodes_ != m.destination) {
        Gpu& gpu = gpus_[m.destination];
        const auto [at, fresh] = gpu.relayed.try_emplace(block, Chunk{'s', gpu.scratch});
        if (fresh) ++gpu.scratch;
      }
      const Chunk from = chunk_of(m.source, block), to = chunk_of(m.destination, block);
      const auto follows = [&](const Run& run) {
        const Chunk before = chunk_of(m.destination, run.block);
        return run.first.buffer == from.buffer && run.first.offset + run.count == from.offset && before.buffer == to.buffer &&
               before.offset + run.count == to.offset && (!facts_.combines || m.registers == 0 || run.block / vector_ == block / vector_);
      };
      // Each chunk of a reduction is a step of its own: what its receiver has decides what it does.
      if (!runs.empty() && !facts_.combines && follows(runs.back()))
        ++runs.back().count;
      else
        runs.push_back({from, 1, 0, block});
    }
    return runs;
  }

  /// Appends a step, behind waits for what it needs. `reads` and `writes` are places that it touches.
  Place add(NodeId node, std::uint32_t block, const char* type, Chunk from, Chunk to, std::uint32_t count, const std::vector<Chunk>& reads,
            const std::vector<Chunk>& writes, std::string_view more = {}) {
    Gpu& gpu = gpus_[node];
    std::set<Place> waits;
    for (const Chunk& chunk : reads) {
      if (const Touched& touched = gpu.touched[chunk]; touched.writer) waits.insert(*touched.writer);
    }
    for (const Chunk& chunk : writes) {
      const Touched& touched = gpu.touched[chunk];
      if (touched.writer) waits.insert(*touched.writer);
      waits.insert(touched.readers.begin(), touched.readers.end());
    }
    // The last of each other threadblock: it runs its steps in order.
    std::map<std::uint32_t, std::uint32_t> last;
    for (const Place& place : waits) {
      if (place.block != block) last[place.block] = std::max(last[place.block], place.step);
    }
    while (last.size() > most_waits / 4) {  // a threadblock that does nothing but wait for many
      gpu.blocks.push_back({});
      Threadblock& helper = gpu.blocks.back();
      for (int waits = 0; waits < 200 && !last.empty(); ++waits) {
        line(helper, "nop", {'i', 0}, {'o', 0}, 0, *last.begin());
        last.erase(last.begin());
      }
      last[static_cast<std::uint32_t>(gpu.blocks.size() - 1)] = helper.steps - 1;
    }
    Threadblock& own = gpu.blocks[block];
    while (last.size() > 1) {
      line(own, "nop", {'i', 0}, {'o', 0}, 0, *last.begin());
      last.erase(last.begin());
    }
    const Place place{block, own.steps};
    line(own, type, from, to, count, last.empty() ? std::pair(-1U, -1U) : std::pair<std::uint32_t, std::uint32_t>(*last.begin()), more);
    for (const Chunk& chunk : reads) gpu.touched[chunk].readers.push_back(place);
    for (const Chunk& chunk : writes) gpu.touched[chunk] = {place, {}};
    return place;
  }
  static void line(Threadblock& block, std::string_view type, Chunk from, Chunk to, std::uint32_t count,
                   std::pair<std::uint32_t, std::uint32_t> wait, std::string_view more = {}) {
    const bool none = wait.first == -1U;
    block.text += fmt::format(
        "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" deps=\"{}\" "
        "hasdep=\"1\"{}/>\n",
        block.steps++, type, from.buffer, from.offset, to.buffer, to.offset, count, none ? -1 : static_cast<std::int64_t>(wait.first),
        none ? -1 : static_cast<std::int64_t>(wait.second), more);
  }

  /// The step and, where it is not what a reader would take, the way: a program has neither, and its readers ignore them, but `torus`.
  std::string lock_step_of(const TraceMessage& m) const {
    std::string text = fmt::format(" at=\"{}\"", m.step);
    const Route shortest = shortest_route(header_.machine.topology, m.source, m.destination, header_.machine.routing);
    if (std::equal(m.path.begin(), m.path.end(), shortest.begin(), shortest.end())) return text;
    text += " route=\"";
    for (const auto [d, hops] : m.path) text += fmt::format("{}{}{:+}", text.back() == '"' ? "" : " ", d, hops);
    return text + '"';
  }

  /// The threadblock at one end of a queue.
  std::uint32_t block_at(NodeId node, bool sends, NodeId peer, std::uint32_t channel) {
    Gpu& gpu = gpus_[node];
    const auto [at, fresh] = gpu.block_of.try_emplace({sends, peer, channel}, static_cast<std::uint32_t>(gpu.blocks.size()));
    if (fresh) gpu.blocks.push_back({sends ? std::int64_t{peer} : -1, sends ? -1 : std::int64_t{peer}, channel, 0, {}});
    return at->second;
  }

  static std::vector<Chunk> each(Chunk first, std::uint32_t count) {
    std::vector<Chunk> chunks;
    for (std::uint32_t k = 0; k < count; ++k) chunks.push_back({first.buffer, first.offset + k});
    return chunks;
  }

  /// A channel for the n-th run between two gpus in a step: the one of the last n-th run, while both of its ends have room.
  std::uint32_t channel_of(const TraceMessage& m, std::uint32_t n) {
    Pair& pair = pairs_[{m.source, m.destination}];
    const auto [at, fresh] = pair.channel.try_emplace(n, pair.next);
    if (fresh) ++pair.next;
    const auto full = [this, channel = at->second](NodeId node, bool sends, NodeId peer) {
      return gpus_[node].blocks[block_at(node, sends, peer, channel)].steps + most_waits > most_steps_of_a_block;
    };
    if (full(m.source, true, m.destination) || full(m.destination, false, m.source)) at->second = pair.next++;
    return at->second;
  }

  void send(const TraceMessage& m, Run& run) {
    run.channel = channel_of(m, run.channel);
    const std::uint32_t block = block_at(m.source, true, m.destination, run.channel);
    add(m.source, block, "s", run.first, chunk_of(m.destination, run.block), run.count, each(run.first, run.count), {}, lock_step_of(m));
  }

  void receive(const TraceMessage& m, const Run& run) {
    Gpu& gpu = gpus_[m.destination];
    const std::uint32_t block = block_at(m.destination, false, m.source, run.channel);
    if (!facts_.combines) {
      const Chunk to = chunk_of(m.destination, run.block);
      add(m.destination, block, "r", to, to, run.count, {}, each(to, run.count));
      return;
    }
    std::vector<std::uint32_t> registers;
    detail::each_place(m, run.block, 8, vector_, [&](std::uint64_t at, bool) { registers.push_back(static_cast<std::uint32_t>(at)); });
    const auto combines = [&](std::uint32_t id) { return m.registers != 0 && gpu.full.contains(id); };
    if (registers.size() == 1) {
      const Chunk to = chunk_of(m.destination, registers[0]);
      const bool adds = combines(registers[0]);
      add(m.destination, block, adds ? "rrc" : "r", to, to, 1, adds ? std::vector{to} : std::vector<Chunk>(), {to});
    } else {  // by way of a chunk of its own
      const Chunk between{'s', gpu.scratch++};
      add(m.destination, block, "r", between, between, 1, {}, {between});
      for (const std::uint32_t id : registers) {
        const Chunk to = chunk_of(m.destination, id);
        const bool adds = combines(id);
        add(m.destination, block, adds ? "re" : "cpy", between, to, 1, adds ? std::vector{between, to} : std::vector{between}, {to});
      }
    }
    gpu.full.insert(registers.begin(), registers.end());
  }

  const TraceHeader& header_;
  const CollectiveFacts& facts_;
  const NodeId nodes_;
  std::vector<Gpu> gpus_;
  std::map<std::pair<NodeId, NodeId>, Pair> pairs_;
  const std::uint32_t segments_;
  std::uint32_t vector_ = 1;  // segments of the whole vector
  std::string_view name_;     // MSCCL's of the collective
  std::uint64_t messages_ = 0;
};

}  // namespace

Note export_msccl(TraceSteps& steps, OutputFile& file) {
  const ByNode by_node(steps.header());
  Program program(by_node.header());
  std::vector<TraceStep> all;  // of a reduction
  TraceStep step;
  std::uint64_t count = 0, left_out = 0;
  while (steps.next(step.messages)) {
    for (TraceMessage& m : step.messages) by_node.rename(m);
    count += step.messages.size();
    if (count > max_msccl_messages)
      throw InputError(fmt::format("the trace has more than {} messages, which a program holds at most; choose a smaller run",
                                   grouped(max_msccl_messages)));
    if (!program.reduces()) {
      program.step(step);
      continue;
    }
    for (const TraceMessage& m : step.messages) {
      for (const std::uint64_t block : m.blocks) {
        if (block >= std::uint64_t{steps.header().registers} * program.vector())
          throw InputError(fmt::format("step {}: node {} sends block {}, which does not exist", m.step, m.source, block));
        if (m.releases) step.released.emplace_back(m.source, block);
      }
    }
    all.push_back(std::exchange(step, {}));
  }
  if (program.reduces()) left_out = leave_out_unused(all, by_node.header(), program.vector());
  for (const TraceStep& each : all) program.step(each);
  Note note = program.write(file);
  if (left_out > 0) note += fmt::format("; {} partials that nobody uses are left out", grouped(left_out));
  return note;
}

}  // namespace torus::command
