/// An MSCCL program: gpus, their threadblocks, and the steps of these.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/foreign/content.hpp"

namespace torus::foreign {

constexpr std::uint32_t no_step = 0xffffffff;

struct MscclStep {
  enum class Type : std::uint8_t { s, r, cpy, re, rcs, rrc, rrs, rrcs, nop };

  Type type = Type::nop;
  char source_buffer = 'i', target_buffer = 'i';  ///< i, o or s
  std::int32_t source = -1, target = -1, count = 0;
  std::uint32_t block = 0;            ///< the threadblock
  std::uint32_t waits_for = no_step;  ///< a step of another threadblock
  Step not_before = 0;                ///< of a send: it leaves in this step of the machine or later
  std::uint32_t route = no_step;      ///< of a send: MscclProgram::routes; else the shortest

  bool sends() const noexcept { return type == Type::s || type == Type::rcs || type == Type::rrs || type == Type::rrcs; }
  bool receives() const noexcept { return type != Type::s && type != Type::cpy && type != Type::re && type != Type::nop; }
};

struct Threadblock {
  std::uint32_t gpu = 0, id = 0;
  std::int32_t send = -1, receive = -1, channel = 0;  ///< ranks; -1: none
  std::uint32_t first_step = 0, steps = 0;
};

struct MscclProgram {
  std::string file, name;
  Collective collective{};
  NodeId gpus = 0, root = 0;
  bool in_place = false;
  std::uint32_t chunks = 1;                           ///< of a rank's block, or of the vector
  std::vector<std::array<std::uint32_t, 3>> buffers;  ///< by gpu: chunks of i, o and s
  std::vector<Threadblock> blocks;                    ///< by gpu, then by id
  std::vector<MscclStep> steps;                       ///< by threadblock
  std::string shape;                                  ///< on which the routes are; empty: none
  std::vector<std::vector<Leg>> routes;

  /// "gpu 3, threadblock 1, step 0".
  std::string place(std::uint32_t step) const;
  /// Throws InputError of a step.
  [[noreturn]] void refuse(std::uint32_t step, std::string_view why) const;
};

/// The order of a program's steps, and what its messages carry.
struct MscclMessage {
  std::uint32_t send = 0, receive = 0;  ///< steps
  Step step = 0;                        ///< in lock step
};

/// Its messages in lock step. Throws InputError: a send without a receive, steps that wait for each other, races, what is sent before it is
/// written, what is combined twice, what is not in the output at the end.
RankSends in_lock_step(const MscclProgram& program, const Content::Place& place);

}  // namespace torus::foreign
