/// Sizes of blocks that differ, as those of MPI's Alltoallv and Allgatherv do: one for each pair of nodes of a total exchange, else one for
/// each node.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>

namespace torus {

/// What the sizes follow from: a table, or a rule and a seed. Without a table it takes no memory, however many nodes there are.
struct SizeRule {
  enum class Kind : std::uint8_t {
    zipf,     ///< the node of place r in a random order gets a share of 1 / r^exponent; of a pair, the destination counts
    uniform,  ///< whole numbers from `from` to `to`, all as likely
    zeros,    ///< each is 0 with the chance `share`, the others are alike
    table
  };

  Kind kind = Kind::uniform;
  double exponent = 0;                                    ///< zipf: 0 to 16
  double share = 0;                                       ///< zeros: 0 to 1
  Bytes from = 0, to = 0;                                 ///< uniform
  std::uint64_t seed = 1;                                 ///< of all but a table
  std::shared_ptr<const std::vector<Bytes>> listed = {};  ///< table: by node, or by origin x nodes + destination
  std::string text = {};                                  ///< as parse() read it
  /// The sizes are of pairs, and the blocks of all but some sources are nothing.
  bool of_sources = false;

  /// All blocks of the sources are alike.
  static SizeRule even_of_sources();

  /// "zipf:1", "uniform:0:4096", "zeros:0.5", or the name of a file of whole numbers. A # begins a comment. Throws InputError.
  static SizeRule parse(std::string_view text);

  /// True if the rule says all sizes by itself; false if it divides a mean that the caller says.
  bool fixed() const noexcept { return kind == Kind::uniform || kind == Kind::table; }
  /// The mean of sizes that are fixed, all of them multiples of `unit`: rounded up to such a one.
  Bytes mean(Bytes unit = 1) const noexcept;
};

/// The size of every block, a pure function of its number. Immutable; copies share a table.
class Sizes {
 public:
  /// pairs: a size for each pair of nodes instead of each node. Sizes of a rule are multiples of `unit`. `mean`: see SizeRule::fixed().
  /// sources: see SizeRule::of_sources.
  /// Throws InputError where a table has not as many numbers as there are sizes, or one that is no multiple, or where no multiple lies in
  /// the range of `uniform`. O(nodes), or O(table).
  Sizes(const SizeRule& rule, NodeId nodes, bool pairs, Bytes mean, Bytes unit = 1, std::span<const NodeId> sources = {});

  /// The size of a node's block, or of a pair's, whose number is origin x nodes + destination.
  Bytes operator()(std::uint64_t number) const noexcept;
  /// Whether a node's blocks for others may be more than nothing, where sizes are of pairs.
  bool is_source(NodeId node) const noexcept { return !is_source_ || (*is_source_)[node]; }
  /// No size is more.
  Bytes longest() const noexcept { return longest_; }
  /// How many there are.
  std::uint64_t count() const noexcept { return count_; }
  const SizeRule& rule() const noexcept { return *rule_; }

 private:
  std::uint64_t place(NodeId node) const noexcept;

  std::shared_ptr<const SizeRule> rule_;
  std::shared_ptr<const std::vector<bool>> is_source_;  // by node, where the rule asks
  NodeId nodes_;
  std::uint64_t count_;
  Bytes unit_;
  double usual_ = 0;  // zipf: units of the first place; zeros: units of those that are not 0
  unsigned half_bits_ = 0;
  Bytes longest_ = 0;
};

}  // namespace torus
