/// What the messages of an MSCCL program carry: all its steps are followed in their order, chunk by chunk.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/foreign/partials.hpp"
#include "algorithms/foreign/step_order.hpp"

namespace torus::foreign {

/// Where the chunks of a gpu's buffers lie. In place, input and output are one buffer: a rank's block lies at its place in that of all.
class Cells {
 public:
  explicit Cells(const MscclProgram& program) : program_{program}, first_(program.gpus + std::size_t{1}, 0) {
    for (NodeId gpu = 0; gpu < program.gpus; ++gpu) {
      const std::uint32_t in = size(gpu, 'i'), out = size(gpu, 'o');
      first_[gpu + 1] = first_[gpu] + (program.in_place ? std::max(in, out) : in + out) + size(gpu, 's');
    }
  }

  std::size_t count() const noexcept { return first_.back(); }
  std::uint32_t size(NodeId gpu, char buffer) const noexcept {
    const auto [in, out, scratch] = program_.buffers[gpu];
    if (buffer == 's') return scratch;
    if (!program_.in_place) return buffer == 'i' ? in : out;
    const std::uint32_t all = program_.chunks * program_.gpus;
    if (program_.collective == Collective::multinode_broadcast) return buffer == 'i' ? program_.chunks : all;
    if (program_.collective == Collective::reduce_scatter) return buffer == 'i' ? all : program_.chunks;
    return std::max(in, out);
  }
  /// Within size().
  std::size_t at(NodeId gpu, char buffer, std::uint32_t offset) const noexcept {
    const std::size_t first = first_[gpu];
    if (buffer == 's') return first_[gpu + 1] - size(gpu, 's') + offset;
    if (!program_.in_place) return first + (buffer == 'o' ? size(gpu, 'i') : 0) + offset;
    const bool within = (program_.collective == Collective::multinode_broadcast && buffer == 'i') ||
                        (program_.collective == Collective::reduce_scatter && buffer == 'o');
    return first + (within ? std::size_t{gpu} * program_.chunks : 0) + offset;
  }
  /// "o[3]".
  std::string text(NodeId gpu, std::size_t cell) const {
    for (const char buffer : {'s', 'o', 'i'}) {
      if (size(gpu, buffer) == 0) continue;
      const std::size_t first = at(gpu, buffer, 0);
      if (cell >= first && cell < first + size(gpu, buffer)) return fmt::format("{}[{}]", buffer, cell - first);
    }
    return "a chunk";
  }

 private:
  const MscclProgram& program_;
  std::vector<std::size_t> first_;  // of each gpu
};

class ProgramData {
 public:
  /// Throws InputError: races, what is read before it is written, what is combined twice, what is not in the output at the end.
  ProgramData(const MscclProgram& program, StepOrder& order);

  struct Value {
    BlockId id = nothing;  ///< a block, or the segment of a partial
    ContributorSet from = {};
  };
  /// The contents of all messages, one after the other.
  const std::vector<Value>& contents() const noexcept { return contents_; }
  std::size_t first_content(std::size_t message) const noexcept { return first_content_[message]; }
  /// In reductions: the set of a gpu alone, and of all.
  const ContributorSet& own(NodeId gpu) const noexcept { return own_[gpu]; }
  const ContributorSet& all() const noexcept { return all_; }

 private:
  static constexpr BlockId nothing = 0xffffffff;
  const MscclStep& step(std::uint32_t at) const { return program_.steps[at]; }
  const Threadblock& block_of(std::uint32_t at) const { return program_.blocks[step(at).block]; }
  void touch(std::uint32_t at, std::size_t cell, bool writes);
  std::size_t cell(std::uint32_t at, char buffer, std::int32_t offset, std::int32_t index) const;
  Value load(std::uint32_t at, std::size_t cell);
  void store(std::uint32_t at, std::size_t cell, Value value);
  Value joined(std::uint32_t at, const Value& a, const Value& b);
  void begin_buffers();
  void evaluate();
  void evaluate(std::uint32_t at, std::int32_t k);
  /// Delivery is where the file says it is, in the output, not only on the gpu.
  void check_output() const;

  struct Reader {
    std::uint32_t step, before;
  };

  const MscclProgram& program_;
  StepOrder& order_;
  const Cells cells_;
  const bool reduction_;
  std::vector<std::uint32_t> position_;  // of each step in the order
  // What cells and messages have.
  std::vector<Value> values_, contents_;
  std::vector<std::size_t> first_content_;
  std::vector<ContributorSet> own_;
  ContributorSet all_;
  // Who touches a cell.
  std::vector<std::uint32_t> writer_, last_reader_;
  std::vector<Reader> readers_;
};

}  // namespace torus::foreign
