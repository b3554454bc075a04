#include <algorithm>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <sstream>
#include <utility>

#include <torus/error.hpp>
#include <torus/groups.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/input_file.hpp"

namespace torus {
namespace {

[[noreturn]] void refuse_groups(std::string_view text, const std::string& why) {
  throw InputError("groups '" + std::string(text) + "': " + why);
}

constexpr const char* examples = "for instance rows, columns, axis:0,2, slice:4x4, stride:2 or file:groups.txt";

/// Whole numbers with a character between.
std::vector<std::int32_t> numbers(std::string_view text, std::string_view list, char between, std::int32_t least) {
  std::vector<std::int32_t> values;
  while (true) {
    const std::string_view word = list.substr(0, list.find(between));
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc{} || end != word.data() + word.size() || value < least)
      refuse_groups(text, "'" + std::string(word) + "' is no whole number from " + std::to_string(least) + " on; " + examples);
    values.push_back(value);
    if (word.size() == list.size()) return values;
    list.remove_prefix(word.size() + 1);
  }
}

/// A number for each dimension. one_for_all: a single one may stand for all.
std::vector<std::int32_t> sides(std::string_view text, std::string_view list, const Topology& whole, bool one_for_all) {
  std::vector<std::int32_t> values = numbers(text, list, 'x', 1);
  const auto dimensions = static_cast<std::size_t>(whole.dimensions());
  if (one_for_all && values.size() == 1) values.resize(dimensions, values.front());
  if (values.size() != dimensions)
    refuse_groups(text, "it has " + std::to_string(values.size()) + " numbers, and " + whole.text() + " " + std::to_string(dimensions) +
                            (dimensions == 1 ? " dimension" : " dimensions") + "; give one a dimension");
  for (Dimension d = 0; d < whole.dimensions(); ++d) {
    const std::int32_t n = whole.extent(d), value = values[static_cast<std::size_t>(d)];
    if (n % value == 0) continue;
    refuse_groups(text, std::to_string(value) + " does not divide side " + std::to_string(d) + " of " + whole.text() + ", which is " +
                            std::to_string(n) + "; choose a divisor");
  }
  return values;
}

}  // namespace

Groups Groups::parse(std::string_view text, const Topology& topology) { return only_class(classes(text, topology)); }

Groups Groups::mapped(std::string_view text, const Topology& topology, std::span<const NodeId> nodes) {
  return only_class(mapped_classes(text, topology, nodes));
}

std::vector<Groups> Groups::classes(std::string_view text, const Topology& topology) { return whole(text, topology).by_faults(); }

/// As if nothing were dead or slow.
Groups Groups::whole(std::string_view text, const Topology& topology) {
  const std::string_view kind = text.substr(0, text.find(':'));
  const std::string_view rest = text.substr(std::min(text.size(), kind.size() + 1));
  const bool listed = text.find(':') != std::string_view::npos;
  const auto dimensions = static_cast<std::size_t>(topology.dimensions());
  Groups groups(text, topology);
  if (kind == "file" && listed) {
    groups.read_file(rest);
    return groups;
  }
  std::vector<Part> parts(dimensions);
  if (((kind == "rows" || kind == "columns") && !listed) || (kind == "axis" && listed)) {
    std::vector<std::int32_t> axes{kind == "rows" ? topology.dimensions() - 1 : 0};
    if (kind == "axis") axes = numbers(text, rest, ',', 0);
    for (Part& part : parts) part.seen = false;
    for (const Dimension d : axes) {
      if (d >= topology.dimensions())
        refuse_groups(
            text, topology.text() + " has dimensions 0 to " + std::to_string(topology.dimensions() - 1) + ", and not " + std::to_string(d));
      Part& part = parts[static_cast<std::size_t>(d)];
      if (part.seen) refuse_groups(text, "it names dimension " + std::to_string(d) + " twice; name each once");
      part = {topology.extent(d), 1, true};
    }
  } else if ((kind == "slice" || kind == "stride") && listed) {
    const std::vector<std::int32_t> values = sides(text, rest, topology, kind == "stride");
    for (std::size_t d = 0; d < dimensions; ++d) {
      const std::int32_t n = topology.extent(static_cast<Dimension>(d));
      parts[d] = kind == "slice" ? Part{values[d], 1, true} : Part{n / values[d], values[d], true};
      if (topology.wiring(static_cast<Dimension>(d)) == Wiring::complete && parts[d].extent != n)
        refuse_groups(text, "dimension " + std::to_string(d) + " of " + topology.text() + " is complete; take it whole");
    }
  } else {
    refuse_groups(text, std::string("there are no such groups; ") + examples);
  }
  groups.divide(parts);
  return groups;
}

std::vector<Groups> Groups::mapped_classes(std::string_view text, const Topology& topology, std::span<const NodeId> nodes) {
  std::vector<bool> named(topology.nodes());
  for (const NodeId node : nodes) {
    if (node >= topology.nodes() || named[node])
      throw InputError(
          "a map of ranks names node " + std::to_string(node) +
          (node < topology.nodes() ? " twice; name each once" : ", and nodes go up to " + std::to_string(topology.nodes() - 1)));
    named[node] = true;
  }
  if (nodes.size() != topology.nodes())
    throw InputError("a map of ranks names " + counted(nodes.size(), "node") + ", and " + topology.text() + " has " +
                     std::to_string(topology.nodes()) + "; name each once");
  const Topology plain({topology.shape().begin(), topology.shape().end()}, topology.twisted());
  Groups groups = text.empty() ? Groups(text, plain) : whole(text, plain);
  if (text.empty()) {
    std::vector<Part> parts;
    for (const DimensionShape& side : plain.shape()) parts.push_back({side.extent, 1, true});
    groups.divide(parts);
  }
  groups.lay_out(topology, nodes);
  return groups.by_faults();
}

/// How each dimension of the ranks lies in the machine, if hops of ranks are hops of nodes along one dimension each.
std::optional<std::vector<Groups::Way>> Groups::ways_of(std::span<const NodeId> nodes) const {
  std::vector<Way> ways;
  std::vector<bool> taken(whole_.shape().size());
  for (Dimension d = 0; d < whole_.dimensions(); ++d) {
    const auto follows = [&](Dimension to, std::int32_t sign) {
      if (taken[static_cast<std::size_t>(to)] || whole_.extent(to) != whole_.extent(d) || whole_.wiring(to) != whole_.wiring(d))
        return false;
      for (NodeId rank = 0; rank < whole_.nodes() && whole_.extent(d) > 1; ++rank) {
        const auto next = whole_.neighbour(rank, d, 1), there = whole_.neighbour(nodes[rank], to, sign);
        if (next && (!there || *there != nodes[*next])) return false;
      }
      return true;
    };
    std::optional<Way> way;
    for (Dimension to = 0; to < whole_.dimensions() && !way; ++to) {
      for (const std::int32_t sign : {1, -1}) {
        if (!way && (sign > 0 || whole_.wiring(d) != Wiring::complete) && follows(to, sign)) way = {to, sign};
      }
    }
    if (!way) return std::nullopt;
    taken[static_cast<std::size_t>(way->to)] = true;
    ways.push_back(*way);
  }
  return ways;
}

/// Gives the ranks other nodes.
void Groups::lay_out(const Topology& whole, std::span<const NodeId> nodes) {
  const auto ways = ways_of(nodes);
  whole_ = whole;
  std::vector<NodeId> members = tables_->members;
  for (NodeId& member : members) member = nodes[member];
  enter(std::move(members));
  if (!by_routes_ && ways) {
    for (Way& way : ways_) {
      const Way& by = (*ways)[static_cast<std::size_t>(way.to)];
      turned_ = turned_ || by.to != way.to || by.factor < 0;
      way = {by.to, way.factor * by.factor, way.boundless};
    }
    const std::vector<Dimension> before = local_dimensions_;
    for (std::size_t d = 0; d < before.size(); ++d) local_dimensions_[static_cast<std::size_t>((*ways)[d].to)] = before[d];
    return;
  }
  if (!whole_.whole() || whole_.has_slow_links())
    throw InputError("a map of ranks lays them apart, so that messages may take the dead or slow links and nodes of " + whole_.text() +
                     "; a map that turns or shifts the machine would do, for instance row-major");
  if (by_routes_) return;
  dilated_ = carries_ = true;
  ways_.clear();
}

/// Whether a hop over the end of a dimension comes back to its group. On a twisted torus it moves along the long dimensions, all of which
/// the group must have.
bool Groups::closes(std::span<const Part> parts, Dimension d) const {
  if (!whole_.twisted() || whole_.extent(d) == whole_.circle(d)) return true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto other = static_cast<Dimension>(i);
    if (whole_.extent(other) == whole_.circle(other) && (!parts[i].seen || parts[i].extent != whole_.extent(other))) return false;
  }
  return true;
}

void Groups::divide(std::span<const Part> parts) {
  std::vector<DimensionShape> shape;
  local_dimensions_.assign(parts.size(), 0);
  bool twisted = false, cuts_a_short_one = false;
  for (std::size_t d = 0; d < parts.size(); ++d) {
    const Part& part = parts[d];
    if (!part.seen) continue;
    const DimensionShape& side = whole_.shape()[d];
    const auto in = static_cast<Dimension>(d);
    const bool is_short = whole_.twisted() && side.extent != whole_.circle(in);
    const bool cut = part.factor == 1 && (part.extent != side.extent || !closes(parts, in));
    twisted = twisted || (is_short && !cut);
    cuts_a_short_one = cuts_a_short_one || (is_short && cut);
    local_dimensions_[d] = static_cast<Dimension>(ways_.size());
    ways_.push_back({in, part.factor, !cut && side.wiring == Wiring::ring && part.extent > 1});
    shape.push_back({part.extent, cut ? Wiring::line : side.wiring});
    dilated_ = dilated_ || part.factor > 1;
  }
  if (whole_.twisted() && dilated_)
    refuse_groups(text_, whole_.text() + " is twisted, and every so many of its nodes are no torus; choose rows, columns, axis: or slice:");
  if (twisted && cuts_a_short_one)
    refuse_groups(text_, whole_.text() + " is twisted, and one of its short dimensions is cut where another is whole; cut both or none");
  topology_ = Topology(shape, twisted);
  count_ = whole_.nodes() / topology_.nodes();
  std::vector<NodeId> numbers(count_, none), members(whole_.nodes());
  NodeId next = 0;
  for (NodeId rank = 0; rank < whole_.nodes(); ++rank) {
    NodeId place = 0;  // of the group among all, in mixed radix
    NodeId local = 0;
    for (std::size_t d = 0; d < parts.size(); ++d) {
      const Part& part = parts[d];
      const std::int32_t c = whole_.coordinate(rank, static_cast<Dimension>(d));
      const bool strides = part.factor > 1;
      local = local * static_cast<NodeId>(part.extent) + static_cast<NodeId>(strides ? c / part.factor : c % part.extent);
      const std::int32_t others = whole_.extent(static_cast<Dimension>(d)) / part.extent;
      place = place * static_cast<NodeId>(others) + static_cast<NodeId>(strides ? c % part.factor : c / part.extent);
    }
    if (numbers[place] == none) numbers[place] = next++;
    members[static_cast<std::size_t>(numbers[place]) * topology_.nodes() + local] = rank;
  }
  enter(std::move(members));
}

void Groups::read_file(std::string_view file) {
  if (!whole_.whole() || whole_.has_slow_links())
    refuse_groups(text_,
                  "its routes may take the dead or slow links and nodes of " + whole_.text() + "; choose rows, columns, axis: or slice:");
  std::istringstream in(text_of_file(std::string(file), most_text, [&](const std::string& why) {
    refuse_groups(text_, "the file " + why + "; name one with a line of ranks a group");
  }));
  std::vector<std::vector<NodeId>> groups;
  std::vector<bool> taken(whole_.nodes());
  std::string line;
  for (std::uint64_t number = 1; std::getline(in, line); ++number) {
    const auto wrong = [&](const std::string& why) { refuse_groups(text_, "line " + std::to_string(number) + ": " + why); };
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<NodeId> group;
    for (std::string word; words >> word;) {
      NodeId rank = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), rank);
      if (error != std::errc{} || end != word.data() + word.size() || rank >= whole_.nodes())
        wrong("'" + printable(word.substr(0, 20)) + "' is no rank; ranks go from 0 to " + std::to_string(whole_.nodes() - 1));
      if (taken[rank]) wrong("node " + std::to_string(rank) + " is named twice; a node is in one group at most");
      taken[rank] = true;
      group.push_back(rank);
    }
    if (group.empty()) continue;
    if (!groups.empty() && group.size() != groups.front().size())
      wrong("a group of " + counted(group.size(), "node") + " after one of " + std::to_string(groups.front().size()) +
            "; all groups must be of one size");
    groups.push_back(std::move(group));
  }
  if (groups.empty()) refuse_groups(text_, "the file names no node; write a line of ranks a group");
  std::sort(groups.begin(), groups.end(),
            [](const auto& a, const auto& b) { return *std::min_element(a.begin(), a.end()) < *std::min_element(b.begin(), b.end()); });
  topology_ = Topology({{static_cast<std::int32_t>(groups.front().size()), Wiring::complete}});
  count_ = static_cast<NodeId>(groups.size());
  dilated_ = by_routes_ = true;
  std::vector<NodeId> members;
  for (const std::vector<NodeId>& group : groups) members.insert(members.end(), group.begin(), group.end());
  enter(std::move(members));
}

/// members: by group, then by local rank. numbers: of the groups among all; empty: these are all.
void Groups::enter(std::vector<NodeId> members, std::vector<NodeId> numbers) {
  Tables tables{std::vector<NodeId>(whole_.nodes(), none), std::vector<NodeId>(whole_.nodes(), 0), std::move(members), std::move(numbers)};
  for (std::size_t i = 0; i < tables.members.size(); ++i) {
    tables.group_of[tables.members[i]] = static_cast<NodeId>(i / topology_.nodes());
    tables.local[tables.members[i]] = static_cast<NodeId>(i % topology_.nodes());
  }
  tables_ = std::make_shared<const Tables>(std::move(tables));
}

/// What is dead or slow in a group, in its own terms.
Faults Groups::faults_of(NodeId group) const {
  Faults faults;
  for (NodeId local = 0; local < topology_.nodes(); ++local) {
    const NodeId rank = member(group, local);
    if (!whole_.living(rank)) faults.dead_nodes.push_back(local);
    topology_.each_link(local, [&](Dimension d, std::int32_t direction, NodeId to) {
      // Each link once, by one of its two channels.
      if (topology_.wiring(d) == Wiring::complete ? to < local : direction < 0) return;
      const Way& way = ways_[static_cast<std::size_t>(d)];
      const std::int32_t there = direction * way.factor;
      const bool ends_live = whole_.living(rank) && whole_.living(member(group, to));
      if (ends_live && !whole_.passes(rank, way.to, there)) faults.dead_links.push_back({local, d, direction});
      const double slowness = whole_.slowness(rank, way.to, there);
      if (slowness > 1) faults.slow_links.push_back({{local, d, direction}, slowness});
    });
  }
  return faults;
}

std::vector<Groups> Groups::by_faults() const {
  if (whole_.faults().empty()) return {*this};
  if (dilated_)
    refuse_groups(text_,
                  "its hops may cross the dead or slow links and nodes of " + whole_.text() + "; choose rows, columns, axis: or slice:");
  std::vector<std::pair<Faults, std::vector<NodeId>>> alike;
  for (NodeId group = 0; group < count_; ++group) {
    Faults faults = faults_of(group);
    const auto at = std::find_if(alike.begin(), alike.end(), [&](const auto& each) { return each.first == faults; });
    if (at == alike.end())
      alike.push_back({std::move(faults), {group}});
    else
      at->second.push_back(group);
  }
  std::vector<Groups> classes;
  for (auto& [faults, numbers] : alike) classes.push_back(class_of(std::move(faults), std::move(numbers)));
  return classes;
}

/// The groups of these numbers alone, which have these faults.
Groups Groups::class_of(Faults faults, std::vector<NodeId> numbers) const {
  Groups some = *this;
  try {
    some.topology_ = topology_.with_faults(std::move(faults));
  } catch (const InputError& error) {
    refuse_groups(text_,
                  (numbers.size() == count_ ? "of each group, " : "of group " + std::to_string(numbers.front()) + ", ") + error.what());
  }
  if (numbers.size() == count_) return some;
  some.count_ = static_cast<NodeId>(numbers.size());
  std::vector<NodeId> nodes;
  for (const NodeId group : numbers) nodes.insert(nodes.end(), members(group).begin(), members(group).end());
  some.enter(std::move(nodes), std::move(numbers));
  return some;
}

/// The groups, of which there must be one class.
Groups Groups::only_class(std::vector<Groups> classes) {
  if (classes.size() > 1)
    refuse_groups(classes.front().text_, "group " + std::to_string(classes[1].number_of(0)) +
                                             " has other dead or slow links or nodes than group 0; all groups must have the same");
  return std::move(classes.front());
}

Machine Groups::machine(const Machine& whole) const {
  if (whole.topology.shape().size() != whole_.shape().size() || whole.topology.nodes() != whole_.nodes())
    refuse_groups(text_, "they were made for " + whole_.text() + ", and not for " + whole.topology.text());
  if (dilated_ && whole.switching == Switching::packet) {
    const std::string why = "several hops of the machine, and packet switching takes one a step; wormhole or circuit switching would do";
    if (renames()) throw InputError("ranks laid out by a map: a hop between two of them may be " + why);
    refuse_groups(text_, "a hop of such a group is " + why);
  }
  CostModel cost = whole.cost;
  std::vector<Dimension> routing;
  if (by_routes_ || carries_) {
    cost.dimension_byte_s.clear();
  } else {
    std::vector<double> speeds;
    for (const Way& way : ways_) speeds.push_back(whole.cost.byte_s_of(way.to));
    if (!whole.cost.one_speed()) cost.dimension_byte_s = std::move(speeds);
    for (const Dimension d : whole.routing) {
      const auto at = std::find_if(ways_.begin(), ways_.end(), [d](const Way& way) { return way.to == d; });
      if (at != ways_.end()) routing.push_back(static_cast<Dimension>(at - ways_.begin()));
    }
  }
  Machine seen(topology_, std::min<int>(whole.ports, topology_.max_ports()), whole.switching, whole.contention, std::move(routing),
               std::move(cost));
  // As on a machine with slow links: no hop is slower than byte_s, and none faster than its dimension.
  if (const double fastest = by_routes_ || carries_ ? fastest_of_routes(whole.cost) : whole.cost.byte_s; fastest < whole.cost.byte_s)
    seen.cost.dimension_byte_s.assign(topology_.shape().size(), fastest);
  return seen;
}

/// T_c of the fastest dimension in which nodes of one group differ, so that no route between them is faster.
double Groups::fastest_of_routes(const CostModel& cost) const {
  double fastest = cost.byte_s;
  for (Dimension d = 0; d < whole_.dimensions(); ++d) {
    bool taken = whole_.twisted();
    for (std::size_t i = 0; i < tables_->members.size() && !taken; ++i) {
      const NodeId first = tables_->members[i - i % topology_.nodes()];
      taken = whole_.coordinate(tables_->members[i], d) != whole_.coordinate(first, d);
    }
    if (taken) fastest = std::min(fastest, cost.byte_s_of(d));
  }
  return fastest;
}

Bytes Groups::table_bytes() const noexcept {
  return (tables_->group_of.size() + tables_->local.size() + tables_->members.size() + tables_->numbers.size()) * sizeof(NodeId);
}

/// Whether a leg along a dimension of the group that may end leaves the group nowhere.
bool Groups::stays(NodeId rank, Dimension dimension, std::int32_t hops) const noexcept {
  if (hops == 0) return true;
  const std::int32_t n = topology_.extent(dimension);
  if (topology_.wiring(dimension) == Wiring::complete) return hops > 0 && hops < n;
  if (topology_.wiring(dimension) == Wiring::ring) return n > 1;
  const std::int64_t to = std::int64_t{topology_.coordinate(local(rank), dimension)} + hops;
  return to >= 0 && to < n;
}

Leg Groups::dilated_leg_in(NodeId source, NodeId destination, Leg leg) const noexcept {
  if (carries_) {  // of a message whose own route is not known
    std::vector<Dimension> order(topology_.shape().size());
    std::iota(order.begin(), order.end(), 0);
    for (const Leg& each : shortest_route(topology_, local(source), local(destination), order)) {
      if (each.hops != 0) leg = each;
    }
    return leg;
  }
  if (by_routes_) {
    const auto nodes = static_cast<std::int32_t>(topology_.nodes());
    return {0, modulo(std::int64_t{local(destination)} - local(source), nodes)};
  }
  const Dimension d = local_dimension(leg.dimension);
  return {d, leg.hops / ways_[static_cast<std::size_t>(d)].factor};
}

/// A leg that is far too long stays so.
std::int32_t Groups::times(std::int64_t hops, std::int32_t factor) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp(hops * factor, -most, most));
}

std::optional<ViolationKind> Groups::route_out(NodeId rank, RouteView route, std::span<const Dimension> order,
                                               std::vector<Leg>& out) const {
  out.clear();
  NodeId at = rank;
  const auto go = [&](NodeId to) {
    const Route hop = shortest_route(whole_, at, to, order);
    std::copy_if(hop.begin(), hop.end(), std::back_inserter(out), [](const Leg& each) { return each.hops != 0; });
  };
  for (const Leg& leg : route) {
    if (leg.dimension < 0 || leg.dimension >= topology_.dimensions()) return ViolationKind::unknown_dimension;
    if (!stays(at, leg.dimension, leg.hops)) return ViolationKind::leaves_the_group;
    if (leg.hops == 0) continue;
    const auto to = topology_.neighbour(local(at), leg.dimension, leg.hops);
    const NodeId next = member(group_of(at), *to);
    if (by_routes_)
      go(next);
    else if (!carries_)
      out.push_back(*leg_out(at, leg.dimension, leg.hops));
    at = next;
  }
  if (carries_) {
    const NodeId end = std::exchange(at, rank);
    go(end);
  }
  return std::nullopt;
}

bool operator==(const Groups& a, const Groups& b) noexcept {
  return a.whole_ == b.whole_ && a.topology_ == b.topology_ && a.by_routes_ == b.by_routes_ && a.carries_ == b.carries_ &&
         a.tables_->members == b.tables_->members;
}

}  // namespace torus
