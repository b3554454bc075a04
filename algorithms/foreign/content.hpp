/// What the readers of foreign schedules make: messages between ranks, in steps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/foreign_schedule.hpp>
#include <torus/route.hpp>

namespace torus::foreign {

/// Messages between the ranks of a file; blocks are numbered by ranks too.
struct RankSends {
  struct RankMessage {
    Step step = 0;
    NodeId from = 0, to = 0;
    std::size_t first_leg = 0, first_block = 0;
    std::uint32_t legs = 0;  ///< 0: the file names no route
    std::uint32_t blocks = 0;
    std::uint8_t registers = 0;  ///< of the receiver that blocks are combined into, a bit each; 0: they replace
    bool releases = false;       ///< of partials
  };
  std::vector<RankMessage> sends;
  std::vector<Leg> legs;
  std::vector<BlockId> blocks;
  std::uint32_t registers = 1;
};

}  // namespace torus::foreign

namespace torus {

class ForeignSchedule::Content {
 public:
  virtual ~Content() = default;

  Kind kind{};
  std::string file;  ///< for errors
  std::string name;
  Collective collective{};
  NodeId ranks = 0;
  std::vector<NodeId> sources;
  std::uint32_t segments = 1;
  bool uneven = false;
  NativeMachine native = {};

  /// Where the ranks are.
  struct Place {
    const Machine& machine;
    std::span<const NodeId> node_of_rank;
    /// Steps that a message between two ranks takes.
    Step steps(NodeId from, NodeId to) const;
  };
  /// The messages on a machine of as many nodes.
  virtual foreign::RankSends sends(const Place& place) const = 0;
};

namespace foreign {

/// A file in memory, for errors with its name.
struct File {
  std::string path;
  std::string text;  ///< uncompressed
  [[noreturn]] void refuse(std::string_view why) const;
};
/// Throws InputError: no such file, or more than 512 MiB of text.
File read_file(const std::string& path);

using Content = ForeignSchedule::Content;
std::shared_ptr<const Content> read_msccl(const File& file);
std::shared_ptr<const Content> read_forestcoll(const File& file);
std::shared_ptr<const Content> read_teccl(const File& file);
std::shared_ptr<const Content> read_trace(const std::string& path);

/// Lays messages between ranks onto a machine.
ForeignSchedule::Placed placed(const Content& content, const Content::Place& place);

}  // namespace foreign
}  // namespace torus
