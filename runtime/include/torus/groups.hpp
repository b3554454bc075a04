/// Groups of nodes (MPI's communicators): each runs a collective by itself, at the same time as the others, on the channels of one machine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>
#include <torus/route.hpp>
#include <torus/topology.hpp>
#include <torus/violation.hpp>

namespace torus {

class Groups;

namespace detail {

class Description;
void describe(Description& to, const Groups& groups);

}  // namespace detail

/// Which nodes form which groups, and what a group's program sees: a topology of its own, with local ranks. An immutable value.
///
/// All groups have one shape and, in it, the same dead nodes, dead links and slow links, so that one plan and one placement serve them all.
/// Those that have others are a class by themselves, of which classes() makes Groups too: all classes are disjoint and share no channel.
/// Groups are numbered by their lowest rank; a group's local ranks ascend with the machine's, but for `file:`. A node is in one group at
/// most. One that is in none does nothing.
///
/// On a twisted torus a hop over the end of a short dimension moves along all long ones: a group that lacks one of these has a line there.
class Groups {
 public:
  /// Reads
  ///   rows, columns  nodes that differ in the last, or in the first, dimension only
  ///   axis:D,..      nodes that differ in these dimensions only, in ascending order
  ///   slice:AxB      boxes of these extents, which divide the sides: lines; a whole side keeps its wiring
  ///   stride:SxT     every S-th node of the first dimension, ..; one number for all. A hop of the group is S hops of the machine
  ///   file:F         a line of ranks a group, with blanks between, in the order of the local ranks: a complete graph, whose hops are
  ///   routes
  ///                  in dimension order; # begins a comment
  /// Throws InputError that names the text and what would do, also if not all groups are alike. O(nodes); with faults O(nodes * channels of
  /// a node).
  static Groups parse(std::string_view text, const Topology& topology);
  /// The same where groups may differ in what is dead or slow: a class for each such difference, by their lowest group.
  static std::vector<Groups> classes(std::string_view text, const Topology& topology);
  /// The same of ranks that are laid out otherwise: rank r is node nodes[r]. Groups, programs, sources and blocks go by ranks, which lie in
  /// row-major order on a topology like the machine's. text: as of parse(); empty: all ranks are one group.
  /// Where ranks next to each other are nodes next to each other, dimension by dimension, a hop is a hop of the machine. Else a message
  /// goes the shortest way between its two nodes, in the machine's routing order, whatever route its program has named. Throws InputError:
  /// not every node is named once; or so, where links or nodes are dead or slow. O(nodes * dimensions).
  static Groups mapped(std::string_view text, const Topology& topology, std::span<const NodeId> nodes);
  static std::vector<Groups> mapped_classes(std::string_view text, const Topology& topology, std::span<const NodeId> nodes);

  /// What parse() has read; empty: all nodes are one group.
  const std::string& text() const noexcept { return text_; }
  NodeId count() const noexcept { return count_; }
  /// Whether these are some of the groups that the text says: a class of them.
  bool are_a_class() const noexcept { return !tables_->numbers.empty(); }
  /// The number of a group among all that the text says: its own, but in a class of them.
  NodeId number_of(NodeId group) const noexcept { return tables_->numbers.empty() || group == none ? group : tables_->numbers[group]; }
  /// The topology of one group, with the faults that all groups have.
  const Topology& topology() const noexcept { return topology_; }
  /// What a program in a group sees of a machine: its rules, the ports that a group's nodes have use for, the speeds of its dimensions. A
  /// hop of `file:` groups has the T_c of the fastest channel that one may take, and the machine's byte_s is still that of the slowest.
  /// Throws InputError if it switches packets and hops of a group are several of the machine: see dilated().
  Machine machine(const Machine& whole) const;
  /// Whether a hop of a group may be several hops of the machine, so that groups may meet on channels.
  bool dilated() const noexcept { return dilated_; }
  /// Whether all nodes are one group, so that they only have other ranks.
  bool renames() const noexcept { return count_ == 1 && topology_.nodes() == whole_.nodes(); }

  static constexpr NodeId none = 0xffffffff;
  /// The group of a node of the machine; none if it is in no group.
  NodeId group_of(NodeId rank) const noexcept { return tables_->group_of[rank]; }
  /// A node's rank in its group; 0 if it is in no group.
  NodeId local(NodeId rank) const noexcept { return tables_->local[rank]; }
  /// The machine's rank of a node of a group.
  NodeId member(NodeId group, NodeId local) const noexcept {
    return tables_->members[static_cast<std::size_t>(group) * topology_.nodes() + local];
  }
  /// The nodes of a group, by local rank.
  std::span<const NodeId> members(NodeId group) const noexcept {
    return {&tables_->members[static_cast<std::size_t>(group) * topology_.nodes()], topology_.nodes()};
  }
  /// Nodes of all groups that live.
  NodeId living_members() const noexcept { return count_ * topology_.living_nodes(); }
  Bytes table_bytes() const noexcept;

  // From a group's legs to the machine's, and back.

  /// The machine's leg for a leg that stays in the group; none if it leaves it, and where a leg is a route of the machine (`file:`).
  std::optional<Leg> leg_out(NodeId rank, Dimension dimension, std::int32_t hops) const noexcept {
    if (static_cast<std::uint32_t>(dimension) >= ways_.size()) return std::nullopt;
    const Way& way = ways_[static_cast<std::size_t>(dimension)];
    if (!way.boundless) [[unlikely]] {
      if (!stays(rank, dimension, hops)) return std::nullopt;
    }
    return Leg{way.to, way.factor == 1 ? hops : times(hops, way.factor)};
  }
  /// Writes the machine's route for a group's route of a member; returns the rule that it breaks, if any. order: the machine's routing.
  std::optional<ViolationKind> route_out(NodeId rank, RouteView route, std::span<const Dimension> order, std::vector<Leg>& out) const;
  /// A group's leg for one of the machine, of a message between two members of one group. Of `file:` groups every leg of a route becomes
  /// the one hop between the two.
  Leg leg_in(NodeId source, NodeId destination, Leg leg) const noexcept {
    return dilated_ || turned_ ? dilated_leg_in(source, destination, leg) : Leg{local_dimension(leg.dimension), leg.hops};
  }
  /// The group's dimension for one of the machine's; not of `file:` groups.
  Dimension local_dimension(Dimension dimension) const noexcept { return local_dimensions_[static_cast<std::size_t>(dimension)]; }
  // As tables, for loops: local() by the machine's rank, local_dimension() by the machine's dimension.
  const NodeId* locals() const noexcept { return tables_->local.data(); }
  const Dimension* local_dimensions() const noexcept { return local_dimensions_.data(); }
  /// Whether legs are routes of the machine: of `file:` groups. Their messages then arrive in another order than on the group's topology.
  bool by_routes() const noexcept { return by_routes_; }
  /// Whether a message goes its own way between two nodes, and carries the route of its program to its receiver: of mapped ranks that lie
  /// apart.
  bool carries() const noexcept { return carries_; }
  /// Whether hops lie along other dimensions of the machine, or the other way round: messages then arrive in another order, too.
  bool turned() const noexcept { return turned_; }

  friend bool operator==(const Groups& a, const Groups& b) noexcept;

 private:
  friend void detail::describe(detail::Description& to, const Groups& groups);

  struct Tables {
    std::vector<NodeId> group_of, local;  // by the machine's rank
    std::vector<NodeId> members;          // by group, then by local rank
    std::vector<NodeId> numbers;          // of a class, by group; empty: all groups are there
  };
  /// How a dimension of the group lies in the machine.
  struct Way {
    Dimension to = 0;
    std::int32_t factor = 1;  // hops of the machine for one of the group; negative: the other way round
    bool boundless = false;   // no leg can leave the group: a ring of 2 or more
  };

  Groups(std::string_view text, const Topology& whole) : text_{text}, whole_{whole}, topology_{whole} {}
  /// What a group has of a dimension of the machine.
  struct Part {
    std::int32_t extent = 1;
    std::int32_t factor = 1;
    bool seen = true;  // false: the group's topology leaves it out
  };
  static Groups whole(std::string_view text, const Topology& topology);
  static Groups only_class(std::vector<Groups> classes);
  bool closes(std::span<const Part> parts, Dimension d) const;
  void divide(std::span<const Part> parts);
  void read_file(std::string_view file);
  void enter(std::vector<NodeId> members, std::vector<NodeId> numbers = {});
  Faults faults_of(NodeId group) const;
  std::vector<Groups> by_faults() const;
  Groups class_of(Faults faults, std::vector<NodeId> numbers) const;
  void lay_out(const Topology& whole, std::span<const NodeId> nodes);
  std::optional<std::vector<Way>> ways_of(std::span<const NodeId> nodes) const;
  double fastest_of_routes(const CostModel& cost) const;
  bool stays(NodeId rank, Dimension dimension, std::int32_t hops) const noexcept;
  Leg dilated_leg_in(NodeId source, NodeId destination, Leg leg) const noexcept;
  static std::int32_t times(std::int64_t hops, std::int32_t factor) noexcept;

  std::string text_;
  Topology whole_;
  Topology topology_;
  NodeId count_ = 0;
  bool dilated_ = false;
  bool by_routes_ = false;
  bool carries_ = false;
  bool turned_ = false;
  std::vector<Way> ways_;                    // by dimension of the group; none where legs are routes
  std::vector<Dimension> local_dimensions_;  // by dimension of the machine; 0 where the group has none
  std::shared_ptr<const Tables> tables_;
};

}  // namespace torus
