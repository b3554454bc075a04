/// Buffers of the gpus, and what each step does to them.
#include "algorithms/foreign/program_data.hpp"

#include <fmt/format.h>
#include <string>

#include <torus/error.hpp>

namespace torus::foreign {
namespace {

using Type = MscclStep::Type;

}  // namespace

ProgramData::ProgramData(const MscclProgram& program, StepOrder& order)
    : program_{program}, order_{order}, cells_{program}, reduction_{facts_of(program.collective).combines} {
  evaluate();
  check_output();
}

void ProgramData::touch(std::uint32_t at, std::size_t cell, bool writes) {
  const auto check = [&](std::uint32_t before) {
    if (!order_.ordered(before, at, position_))
      program_.refuse(at, fmt::format("{} of gpu {} is touched by it and by threadblock {}, step {}, in no order, and one writes: a race",
                                      cells_.text(block_of(at).gpu, cell), block_of(at).gpu, block_of(before).id,
                                      before - block_of(before).first_step));
  };
  if (writer_[cell] != no_step) check(writer_[cell]);
  if (!writes) {
    readers_.push_back({at, std::exchange(last_reader_[cell], static_cast<std::uint32_t>(readers_.size()))});
    return;
  }
  for (std::uint32_t r = std::exchange(last_reader_[cell], no_step); r != no_step; r = readers_[r].before) check(readers_[r].step);
  writer_[cell] = at;
}

std::size_t ProgramData::cell(std::uint32_t at, char buffer, std::int32_t offset, std::int32_t index) const {
  const NodeId gpu = block_of(at).gpu;
  const std::int64_t size = cells_.size(gpu, buffer);
  if (offset < 0 || std::int64_t{offset} + index >= size)
    program_.refuse(at, fmt::format("it touches {}[{}], and that buffer has {} chunks", buffer, std::int64_t{offset} + index, size));
  return cells_.at(gpu, buffer, static_cast<std::uint32_t>(offset + index));
}

ProgramData::Value ProgramData::load(std::uint32_t at, std::size_t cell) {
  touch(at, cell, false);
  if (values_[cell].id == nothing)
    program_.refuse(at, fmt::format("it reads {}, which nothing has written", cells_.text(block_of(at).gpu, cell)));
  return values_[cell];
}

void ProgramData::store(std::uint32_t at, std::size_t cell, Value value) {
  touch(at, cell, true);
  values_[cell] = std::move(value);
}

ProgramData::Value ProgramData::joined(std::uint32_t at, const Value& a, const Value& b) {
  if (!reduction_) program_.refuse(at, "it combines chunks, as reductions alone do");
  if (a.id != b.id) program_.refuse(at, fmt::format("it combines chunk {} with chunk {}", a.id, b.id));
  if (const auto twice = a.from->first_common(*b.from))
    program_.refuse(at, fmt::format("it combines the contribution of gpu {} to chunk {} twice", *twice, a.id));
  auto both = std::make_shared<Contributors>(*a.from);
  both->add(*b.from);
  return {a.id, *both == *all_ ? all_ : both};
}

void ProgramData::begin_buffers() {
  values_.assign(cells_.count(), {});
  const NodeId gpus = program_.gpus;
  const std::uint32_t chunks = program_.chunks;
  if (reduction_) {
    auto all = std::make_shared<Contributors>();
    for (NodeId gpu = 0; gpu < gpus; ++gpu) {
      own_.push_back(std::make_shared<Contributors>(gpu, gpus));
      all->add(*own_.back());
    }
    all_ = all;
    if (gpus == 1) own_[0] = all_;
  }
  for (NodeId gpu = 0; gpu < gpus; ++gpu) {
    const Collective c = program_.collective;
    if (c == Collective::broadcast && gpu != program_.root) continue;
    const std::uint32_t own = c == Collective::total_exchange ? gpus : c == Collective::reduce_scatter ? chunks * gpus : chunks;
    if (cells_.size(gpu, 'i') < own)
      throw InputError(
          fmt::format("schedule '{}': gpu {}: its input has {} chunks; it must have {}", program_.file, gpu, cells_.size(gpu, 'i'), own));
    for (std::uint32_t k = 0; k < own; ++k) {
      const BlockId id = c == Collective::total_exchange        ? gpu * gpus + k
                         : c == Collective::multinode_broadcast ? gpu * chunks + k
                         : c == Collective::broadcast           ? program_.root * chunks + k
                                                                : k;
      values_[cells_.at(gpu, 'i', k)] = {id, reduction_ ? own_[gpu] : nullptr};
    }
  }
}

void ProgramData::evaluate() {
  const std::size_t steps = program_.steps.size();
  std::uint64_t touched = 0;
  for (const MscclStep& each : program_.steps) touched += static_cast<std::uint64_t>(each.count);
  if (touched > (std::uint64_t{1} << 26U))
    throw InputError(fmt::format("schedule '{}': its steps touch {} chunks; at most 2^26 are followed", program_.file, touched));
  begin_buffers();
  position_.resize(steps);
  for (std::size_t i = 0; i < steps; ++i) position_[order_.steps()[i]] = static_cast<std::uint32_t>(i);
  writer_.assign(values_.size(), no_step);
  last_reader_.assign(values_.size(), no_step);
  const std::vector<MscclMessage>& messages = order_.messages();
  first_content_.resize(messages.size());
  std::size_t contents = 0;
  for (std::size_t m = 0; m < messages.size(); ++m) {
    first_content_[m] = contents;
    contents += static_cast<std::size_t>(step(messages[m].send).count);
  }
  contents_.resize(contents);
  for (const std::uint32_t at : order_.steps()) {
    for (std::int32_t k = 0; k < step(at).count; ++k) evaluate(at, k);
  }
  readers_ = {};
}

void ProgramData::evaluate(std::uint32_t at, std::int32_t k) {
  const MscclStep& s = step(at);
  const auto source = [&] { return cell(at, s.source_buffer, s.source, k); };
  const auto target = [&] { return cell(at, s.target_buffer, s.target, k); };
  const auto index = static_cast<std::size_t>(k);
  const auto arrived = [&]() -> const Value& { return contents_[first_content_[order_.received_by(at)] + index]; };
  const auto send = [&](Value value) { contents_[first_content_[order_.sent_by(at)] + index] = std::move(value); };
  switch (s.type) {
    case Type::s: send(load(at, source())); break;
    case Type::r: store(at, target(), arrived()); break;
    case Type::cpy: store(at, target(), load(at, source())); break;
    case Type::re: {
      const Value more = load(at, source());
      store(at, target(), joined(at, load(at, target()), more));
      break;
    }
    case Type::rcs:
      store(at, target(), arrived());
      send(arrived());
      break;
    case Type::rrc: store(at, target(), joined(at, load(at, source()), arrived())); break;
    case Type::rrs: send(joined(at, load(at, source()), arrived())); break;
    case Type::rrcs: {
      Value both = joined(at, load(at, source()), arrived());
      store(at, target(), both);
      send(std::move(both));
      break;
    }
    case Type::nop: break;
  }
}

void ProgramData::check_output() const {
  const NodeId gpus = program_.gpus;
  const Collective c = program_.collective;
  const std::uint32_t chunks = program_.chunks;
  const std::uint32_t outputs = c == Collective::total_exchange ? gpus : c == Collective::multinode_broadcast ? gpus * chunks : chunks;
  for (NodeId gpu = 0; gpu < gpus; ++gpu) {
    if ((c == Collective::reduce && gpu != program_.root) || (c == Collective::broadcast && gpu == program_.root)) continue;
    const auto wrong = [&](std::uint32_t k, const std::string& why) {
      throw InputError(fmt::format("schedule '{}': gpu {}: at the end o[{}] {}", program_.file, gpu, k, why));
    };
    if (cells_.size(gpu, 'o') < outputs) wrong(outputs - 1, fmt::format("is not there: the output has {} chunks", cells_.size(gpu, 'o')));
    for (std::uint32_t k = 0; k < outputs; ++k) {
      const Value& value = values_[cells_.at(gpu, 'o', k)];
      const BlockId id = c == Collective::total_exchange   ? k * gpus + gpu
                         : c == Collective::reduce_scatter ? gpu * chunks + k
                         : c == Collective::broadcast      ? program_.root * chunks + k
                                                           : k;
      if (value.id == nothing) wrong(k, "is empty: nothing has written it");
      if (value.id != id) wrong(k, fmt::format("has block {}; it must have block {}", value.id, id));
      if (reduction_ && !(*value.from == *all_)) wrong(k, fmt::format("has the contributions of {} of {} gpus", value.from->count(), gpus));
    }
  }
}

}  // namespace torus::foreign
