/// Schedules as other programs write them, made here; and what is wrong with one.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <torus/error.hpp>
#include <torus/foreign_schedule.hpp>
#include <torus/judge.hpp>

#include "tests/support/folder.hpp"

namespace torus::support {

/// An MSCCL program, written step by step.
class Msccl {
 public:
  Msccl(std::string collective, int gpus, bool in_place, int in, int out, int scratch = 0)
      : collective_{std::move(collective)},
        gpus_{gpus},
        in_place_{in_place},
        buffers_{in, out, scratch},
        blocks_(static_cast<std::size_t>(gpus)) {}

  /// A threadblock; returns its number.
  int block(int gpu, int send, int receive, int channel = 0) {
    auto& blocks = blocks_[static_cast<std::size_t>(gpu)];
    blocks.push_back({send, receive, channel, {}});
    return static_cast<int>(blocks.size()) - 1;
  }
  /// A step of it: "rcs o 3 o 3"; waits for step `deps` of threadblock `depid`. Returns its number.
  int step(int gpu, int block, const std::string& type, char source, int from, char target, int to, int count = 1, int depid = -1,
           int deps = -1) {
    auto& steps = blocks_[static_cast<std::size_t>(gpu)][static_cast<std::size_t>(block)].steps;
    steps.push_back("type=\"" + type + "\" srcbuf=\"" + source + "\" srcoff=\"" + std::to_string(from) + "\" dstbuf=\"" + target +
                    "\" dstoff=\"" + std::to_string(to) + "\" cnt=\"" + std::to_string(count) + "\" depid=\"" + std::to_string(depid) +
                    "\" deps=\"" + std::to_string(deps) + "\" hasdep=\"0\"");
    return static_cast<int>(steps.size()) - 1;
  }
  std::string text() const {
    std::string text = "<algo name=\"made\" proto=\"Simple\" nchannels=\"4\" nchunksperloop=\"" +
                       std::to_string(std::max(buffers_[0], buffers_[1])) + "\" ngpus=\"" + std::to_string(gpus_) + "\" coll=\"" +
                       collective_ + "\" inplace=\"" + (in_place_ ? "1" : "0") + "\">\n";
    for (int gpu = 0; gpu < gpus_; ++gpu) {
      text += "  <gpu id=\"" + std::to_string(gpu) + "\" i_chunks=\"" + std::to_string(buffers_[0]) + "\" o_chunks=\"" +
              std::to_string(buffers_[1]) + "\" s_chunks=\"" + std::to_string(buffers_[2]) + "\">\n";
      int id = 0;
      for (const Block& block : blocks_[static_cast<std::size_t>(gpu)]) {
        text += "    <tb id=\"" + std::to_string(id++) + "\" send=\"" + std::to_string(block.send) + "\" recv=\"" +
                std::to_string(block.receive) + "\" chan=\"" + std::to_string(block.channel) + "\">\n";
        int s = 0;
        for (const std::string& step : block.steps) text += "      <step s=\"" + std::to_string(s++) + "\" " + step + " />\n";
        text += "    </tb>\n";
      }
      text += "  </gpu>\n";
    }
    return text + "</algo>\n";
  }

 private:
  struct Block {
    int send, receive, channel;
    std::vector<std::string> steps;
  };
  std::string collective_;
  int gpus_;
  bool in_place_;
  int buffers_[3];
  std::vector<std::vector<Block>> blocks_;
};

/// Round a ring: the input is copied to its place in the output, and each chunk has a channel of its own.
inline std::string msccl_ring_allgather(int n) {
  Msccl made("allgather", n, false, 1, n);
  for (int gpu = 0; gpu < n; ++gpu) {
    const int left = (gpu + n - 1) % n, right = (gpu + 1) % n;
    made.step(gpu, made.block(gpu, -1, -1), "cpy", 'i', 0, 'o', gpu);
    made.step(gpu, made.block(gpu, right, -1, gpu), "s", 'o', gpu, 'o', gpu, 1, 0, 0);
    for (int origin = 0; origin < n; ++origin) {
      if (origin == gpu) continue;
      const bool last = origin == right;
      made.step(gpu, made.block(gpu, last ? -1 : right, left, origin), last ? "r" : "rcs", 'o', origin, 'o', origin);
    }
  }
  return made.text();
}

/// In place, by doubling: threadblock k exchanges all that there is with the gpu at distance 2^k. Two waits take a nop.
inline std::string msccl_doubling_allgather(int rounds) {
  const int n = 1 << rounds;
  Msccl made("allgather", n, true, 0, n);
  for (int gpu = 0; gpu < n; ++gpu) {
    for (int k = 0; k < rounds; ++k) {
      const int peer = gpu ^ (1 << k), mine = gpu >> k << k, theirs = peer >> k << k;
      const int block = made.block(gpu, peer, peer);
      for (int earlier = 1; earlier < k; ++earlier) made.step(gpu, block, "nop", 'i', -1, 'o', -1, 0, earlier, earlier > 1 ? earlier : 1);
      made.step(gpu, block, "s", 'o', mine, 'o', mine, 1 << k, k > 0 ? 0 : -1, k > 0 ? 1 : -1);
      made.step(gpu, block, "r", 'o', theirs, 'o', theirs, 1 << k);
    }
  }
  return made.text();
}

/// In place, one threadblock a gpu: a reduce-scatter round the ring, then an all-gather.
inline std::string msccl_ring_allreduce(int n) {
  Msccl made("allreduce", n, true, n, 0);
  for (int gpu = 0; gpu < n; ++gpu) {
    const int block = made.block(gpu, (gpu + 1) % n, (gpu + n - 1) % n);
    const auto chunk = [&](int step) { return ((gpu - step) % n + n) % n; };
    made.step(gpu, block, "s", 'i', chunk(0), 'i', chunk(0));
    for (int s = 1; s < 2 * n - 1; ++s) {
      const std::string type = s < n - 1 ? "rrs" : s == n - 1 ? "rrcs" : s < 2 * n - 2 ? "rcs" : "r";
      made.step(gpu, block, type, 'i', chunk(s), 'i', chunk(s));
    }
  }
  return made.text();
}

/// Out of place: the input is kept, every gpu sends each chunk to its owner, which receives it into scratch and combines it there.
inline std::string msccl_direct_reduce_scatter(int n) {
  Msccl made("reduce_scatter", n, false, n, 1, n);
  for (int gpu = 0; gpu < n; ++gpu) {
    const int sum = made.block(gpu, -1, -1);
    made.step(gpu, sum, "cpy", 'i', gpu, 'o', 0);
    for (int peer = 0; peer < n; ++peer) {
      if (peer == gpu) continue;
      made.step(gpu, made.block(gpu, peer, -1), "s", 'i', peer, 's', gpu);
      const int receives = made.block(gpu, -1, peer);
      made.step(gpu, receives, "r", 'i', gpu, 's', peer);
      made.step(gpu, sum, "re", 's', peer, 'o', 0, 1, receives, 0);
    }
  }
  return made.text();
}

/// Every pair a message of its own, on a threadblock of its own.
inline std::string msccl_direct_alltoall(int n) {
  Msccl made("alltoall", n, false, n, n);
  for (int gpu = 0; gpu < n; ++gpu) {
    made.step(gpu, made.block(gpu, -1, -1), "cpy", 'i', gpu, 'o', gpu);
    for (int peer = 0; peer < n; ++peer) {
      if (peer == gpu) continue;
      made.step(gpu, made.block(gpu, peer, -1), "s", 'i', peer, 'o', gpu);
      made.step(gpu, made.block(gpu, -1, peer), "r", 'i', 0, 'o', peer);
    }
  }
  return made.text();
}

/// 4 gpus, n = 2 x 2: chunks for the other row go by way of the scratch of the gpu in the same column.
inline std::string msccl_alltoall_by_scratch() {
  Msccl made("alltoall", 4, false, 4, 4, 1);
  for (int gpu = 0; gpu < 4; ++gpu) {
    const int right = gpu ^ 1, below = gpu ^ 2, far = gpu ^ 3;
    made.step(gpu, made.block(gpu, -1, -1), "cpy", 'i', gpu, 'o', gpu);
    const int down = made.block(gpu, below, below);
    made.step(gpu, down, "s", 'i', below, 'o', gpu);
    made.step(gpu, down, "r", 'i', 0, 'o', below);
    const int relay = made.block(gpu, below, below, 1);
    made.step(gpu, relay, "s", 'i', far, 's', 0);
    const int came = made.step(gpu, relay, "r", 'i', 0, 's', 0);
    const int across = made.block(gpu, right, right);
    made.step(gpu, across, "s", 'i', right, 'o', gpu);
    made.step(gpu, across, "r", 'i', 0, 'o', right);
    const int on = made.block(gpu, right, right, 1);
    made.step(gpu, on, "s", 's', 0, 'o', below, 1, relay, came);
    made.step(gpu, on, "r", 'i', 0, 'o', far);
  }
  return made.text();
}

/// TE-CCL's flows: all-gather along a line of n ranks, both ways.
inline std::string teccl_line(int n) {
  std::string flows;
  for (int origin = 0; origin < n; ++origin) {
    for (const int way : {1, -1}) {
      for (int at = origin; at + way >= 0 && at + way < n; at += way) {
        flows += std::string(flows.empty() ? "" : ",\n") + "    \"Chunk 0 from " + std::to_string(origin) + " traveled over " +
                 std::to_string(at) + "->" + std::to_string(at + way) + " in epoch " + std::to_string((at - origin) * way) + "\"";
      }
    }
  }
  return "{\n  \"1-Epoch_Duration\": 0.01,\n  \"7-Flows\": [\n" + flows + "\n  ],\n  \"8-Chunk paths\": {}\n}\n";
}

/// ForestColl's trees: from each of n ranks a chain round the ring.
inline std::string forestcoll_ring(int n) {
  std::string text = "<trees nranks=\"" + std::to_string(n) + "\">\n";
  for (int root = 0; root < n; ++root) {
    text += "  <tree root=\"" + std::to_string(root) + "\" index=\"0\" nchunks=\"1\" height=\"" + std::to_string(n - 1) + "\">\n";
    for (int hop = 0; hop + 1 < n; ++hop) {
      const std::string from = std::to_string((root + hop) % n), to = std::to_string((root + hop + 1) % n);
      text += "    <send src=\"" + from + "\" dst=\"" + to + "\" path=\"" + from + "->" + to + "\"/>\n";
    }
    text += "  </tree>\n";
  }
  return text + "</trees>\n";
}

/// A text with the n-th place (from 0) of some words replaced; the text itself where there is none.
inline std::string replaced(std::string text, const std::string& was, const std::string& now, std::size_t n = 0) {
  std::size_t at = text.find(was);
  for (; n > 0 && at != std::string::npos; --n) at = text.find(was, at + 1);
  return at == std::string::npos ? text : text.replace(at, was.size(), now);
}

/// A schedule on a machine of its own kind with this topology, judged message by message.
struct JudgedFile {
  std::string refused;  ///< by the reader; empty: it was read
  Verdict verdict = {};
  Step steps = 0;
  /// Read, legal and complete.
  bool good() const { return refused.empty() && verdict.ok; }
};
inline JudgedFile judged(const std::string& text, const Topology& topology, const std::optional<Machine>& other = {}) {
  const Folder folder;
  JudgedFile out;
  try {
    const ForeignSchedule file = ForeignSchedule::read(folder.write("schedule", text));
    const NativeMachine native = file.native();
    const Machine machine =
        other ? *other : Machine(topology, native.ports == 0 ? all_ports : native.ports, native.switching, native.contention);
    const ForeignSchedule::Placed placed = file.on(machine, row_major(machine.topology));
    const Schedule& schedule = placed.schedule;
    out.steps = schedule.steps();
    const bool partials = facts_of(file.collective()).combines;
    Judge judge({.machine = machine,
                 .collective = std::string(name(file.collective())),
                 .sources = file.sources(),
                 .segments = file.segments(),
                 .registers = placed.registers});
    std::vector<Schedule::Send> sends(schedule.sends().begin(), schedule.sends().end());
    std::stable_sort(sends.begin(), sends.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
    for (const Schedule::Send& send : sends) {
      const auto route = schedule.route(send);
      const auto blocks = schedule.blocks(send);
      TraceMessage message;
      message.step = send.step;
      message.source = send.from;
      message.destination = send.to;
      message.path.assign(route.begin(), route.end());
      message.bytes = blocks.size();
      message.blocks.assign(blocks.begin(), blocks.end());
      message.registers = partials && (send.manner == Manner::combine || send.manner == Manner::share) ? send.registers : 0;
      message.releases = partials && (send.manner == Manner::combine || send.manner == Manner::give);
      if (!judge.message(message)) break;
    }
    out.verdict = judge.finish();
  } catch (const InputError& error) {
    out.refused = error.what();
  }
  return out;
}

}  // namespace torus::support
