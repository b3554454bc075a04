// Which nodes form a group, what it looks like, and how its legs lie in the machine.
#include <string>
#include <vector>

#include <torus/error.hpp>
#include <torus/groups.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace torus;

namespace {

std::vector<NodeId> nodes_of(const Groups& groups, NodeId group) { return {groups.members(group).begin(), groups.members(group).end()}; }

std::string refusal_of(const char* text, const char* shape) {
  try {
    static_cast<void>(Groups::parse(text, Topology::parse(shape)));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Every leg of a group, to every neighbour, is the machine's between the same two nodes, and comes back as it was.
void check_legs(const Groups& groups, const Topology& whole) {
  const Topology& group = groups.topology();
  const Machine machine(whole);
  std::vector<Leg> out;
  for (NodeId rank = 0; rank < whole.nodes(); ++rank) {
    if (groups.group_of(rank) == Groups::none) continue;
    const NodeId local = groups.local(rank);
    REQUIRE(groups.member(groups.group_of(rank), local) == rank);
    group.each_link(local, [&](Dimension d, std::int32_t direction, NodeId to) {
      const Leg leg{d, direction};
      REQUIRE_FALSE(groups.route_out(rank, {&leg, 1}, machine.routing, out));
      NodeId at = rank;
      for (const Leg& each : out) at = whole.neighbour(at, each.dimension, each.hops).value();
      CHECK(at == groups.member(groups.group_of(rank), to));
      CHECK(groups.leg_in(rank, at, out.back()) == leg);
      if (!groups.by_routes()) CHECK(groups.leg_out(rank, d, direction) == out.front());
    });
  }
}

}  // namespace

TEST_CASE("groups are the lines, planes, boxes and lattices of a machine, numbered by their lowest rank", "[unit]") {
  struct Case {
    const char *text, *shape, *group;
    NodeId count;
    std::vector<NodeId> last;
  };
  for (const Case& c : {Case{"rows", "2x3", "3", 2, {3, 4, 5}},
                        {"columns", "2x3", "2", 3, {2, 5}},
                        {"rows", "4", "4", 1, {0, 1, 2, 3}},
                        {"columns", "2x2x3", "2", 6, {5, 11}},
                        {"axis:1", "2x3m", "3m", 2, {3, 4, 5}},
                        {"axis:2,0", "2x2x3", "2x3", 2, {3, 4, 5, 9, 10, 11}},
                        {"axis:0,1", "2x3", "2x3", 1, {0, 1, 2, 3, 4, 5}},
                        {"axis:0", "4x8t", "4m", 8, {7, 15, 23, 31}},  // a hop over the end leads to another line
                        {"axis:1", "4x8t", "8", 4, {24, 25, 26, 27, 28, 29, 30, 31}},
                        {"axis:0,2", "2x2x4t", "2x4t", 2, {4, 5, 6, 7, 12, 13, 14, 15}},
                        {"axis:0,1", "2x4x4t", "2mx4", 4, {3, 7, 11, 15, 19, 23, 27, 31}},
                        {"axis:1,2", "2x4x4t", "4x4", 2, {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}},
                        {"slice:2x2x2", "2x2x4t", "2mx2mx2m", 2, {2, 3, 6, 7, 10, 11, 14, 15}},
                        {"slice:2x2", "4x4", "2mx2m", 4, {10, 11, 14, 15}},
                        {"slice:2x4", "4x4", "2mx4", 2, {8, 9, 10, 11, 12, 13, 14, 15}},
                        {"slice:1x1", "2x3", "1mx1m", 6, {5}},
                        {"slice:2x3", "4x3c", "2mx3c", 2, {6, 7, 8, 9, 10, 11}},
                        {"stride:2", "4x4", "2x2", 4, {5, 7, 13, 15}},
                        {"stride:1x2", "2x4m", "2x2m", 2, {1, 3, 5, 7}},
                        {"stride:4x1", "4x2", "1x2", 4, {6, 7}}}) {
    CAPTURE(c.text, c.shape);
    const Topology whole = Topology::parse(c.shape);
    const Groups groups = Groups::parse(c.text, whole);
    CHECK(groups.text() == c.text);
    CHECK(groups.topology().text() == Topology::parse(c.group).text());
    CHECK(groups.count() == c.count);
    CHECK(nodes_of(groups, c.count - 1) == c.last);
    CHECK(groups.living_members() == whole.nodes());
    CHECK(groups.table_bytes() == Bytes{12} * whole.nodes());
    for (NodeId group = 1; group < c.count; ++group) CHECK(groups.member(group, 0) > groups.member(group - 1, 0));
    check_legs(groups, whole);
  }
}

TEST_CASE("parts of a twisted torus that are no tori are refused", "[unit]") {
  CHECK(refusal_of("stride:2", "4x8t").find("4x8t is twisted, and every so many of its nodes are no torus; choose rows") !=
        std::string::npos);
  CHECK(refusal_of("slice:1x2x4", "2x2x4t").find("one of its short dimensions is cut where another is whole; cut both or none") !=
        std::string::npos);
}

TEST_CASE("a file names groups line by line, and its groups are complete graphs", "[unit]") {
  const support::Folder folder;
  const std::string file = folder.file("groups");
  const auto write = [&](const char* text) { folder.write("groups", text); };
  write("\xef\xbb\xbf# two of four, behind a mark of UTF-8\n9 1 2  4\n\n8 0 7 3 # the first, by its lowest rank\n");
  const Topology whole = Topology::parse("4x3");
  const Groups groups = Groups::parse("file:" + file, whole);
  CHECK(groups.count() == 2);
  CHECK(groups.topology().text() == "4c");
  CHECK(groups.by_routes());
  CHECK(groups.dilated());
  CHECK(nodes_of(groups, 0) == std::vector<NodeId>{8, 0, 7, 3});
  CHECK(nodes_of(groups, 1) == std::vector<NodeId>{9, 1, 2, 4});
  CHECK(groups.group_of(5) == Groups::none);
  CHECK(groups.living_members() == 8);
  check_legs(groups, whole);
  CostModel cost;
  cost.dimension_byte_s = {3e-10, 1e-10};
  const CostModel seen = groups.machine(Machine(whole, all_ports, Switching::wormhole, Contention::share, {}, cost)).cost;
  CHECK(seen.byte_s == 3e-10);
  CHECK(seen.dimension_byte_s == std::vector<double>{1e-10});
  write("0 3 6 9\n");  // along the slow dimension alone
  CHECK(Groups::parse("file:" + file, whole)
            .machine(Machine(whole, all_ports, Switching::wormhole, Contention::share, {}, cost))
            .cost.one_speed());
  const auto refused = [&](const char* text) {
    write(text);
    return refusal_of(("file:" + file).c_str(), "4x3");
  };
  CHECK(refused("0 1\n2\n").find("line 2: a group of 1 node after one of 2") != std::string::npos);
  CHECK(refused("0 12\n").find("'12' is no rank; ranks go from 0 to 11") != std::string::npos);
  CHECK(refused("0 1\n1 2\n").find("line 2: node 1 is named twice") != std::string::npos);
  CHECK(refused("# nothing\n").find("names no node") != std::string::npos);
  CHECK(refusal_of("file:/no/such/file", "4x3").find("the file cannot be read (No such file or directory)") != std::string::npos);
  CHECK(refusal_of("file:/tmp", "4x3").find("the file is a folder") != std::string::npos);
  CHECK(refusal_of("file:/dev/zero", "4x3").find("the file holds a byte of value 0, as no text does; name one") != std::string::npos);
}

TEST_CASE("ranks on turned and shifted nodes hop as the machine does", "[unit]") {
  const Topology whole = Topology::parse("4x4x2");
  std::vector<NodeId> nodes;  // dimension 0 of the ranks lies in 1, reflected and shifted, and 1 in 0
  for (NodeId rank = 0; rank < whole.nodes(); ++rank)
    nodes.push_back(whole.rank(std::vector{whole.coordinate(rank, 1), (5 - whole.coordinate(rank, 0)) % 4, whole.coordinate(rank, 2)}));
  const Groups all = Groups::mapped("", whole, nodes), rows = Groups::mapped("axis:0", whole, nodes);
  for (const Groups* groups : {&all, &rows}) {
    CHECK_FALSE(groups->dilated());
    CHECK(groups->turned());
    check_legs(*groups, whole);
  }
  CHECK(all.renames());
  CHECK(all.topology() == whole);
  CHECK(all.local(nodes[9]) == 9);
  CHECK(rows.count() == 8);
  CHECK(all.leg_out(nodes[0], 0, 1) == Leg{1, -1});
  CHECK(all.machine(Machine(whole, all_ports, Switching::wormhole, Contention::forbid, {0, 1, 2})).routing ==
        std::vector<Dimension>{1, 0, 2});
  Faults faults;
  faults.dead_links = {{nodes[0], 1, -1}};
  const Groups holed = Groups::mapped("", whole.with_faults(faults), nodes);
  CHECK_FALSE(holed.topology().passes(0, 0, 1));
  CHECK(holed.topology().passes(0, 0, -1));
}

TEST_CASE("ranks on any nodes take the machine's shortest routes, and need one that is whole", "[unit]") {
  const Topology whole = Topology::parse("4x4");
  std::vector<NodeId> nodes{5, 0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const Groups groups = Groups::mapped("", whole, nodes);
  CHECK(groups.carries());
  CHECK(groups.dilated());
  CHECK(groups.topology() == whole);
  std::vector<Leg> out;
  const std::vector<Leg> route{{0, 1}, {1, 1}};  // from rank 0, node (1,1), to rank 5, node (1,0)
  CHECK_FALSE(groups.route_out(5, route, std::vector<Dimension>{0, 1}, out));
  CHECK(out == std::vector<Leg>{{1, -1}});
  Faults faults;
  faults.dead_links = {{0, 1, 1}};
  const auto refused = [&](const Topology& topology, std::vector<NodeId> to) {
    try {
      static_cast<void>(Groups::mapped("", topology, to));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused(whole.with_faults(faults), nodes).find("a map that turns or shifts the machine would do") != std::string::npos);
  CHECK(refused(whole, {0, 1, 2}).find("names 3 nodes, and 4x4 has 16; name each once") != std::string::npos);
  nodes[3] = 5;
  CHECK(refused(whole, nodes).find("names node 5 twice; name each once") != std::string::npos);
  nodes[3] = 16;
  CHECK(refused(whole, nodes).find("names node 16, and nodes go up to 15") != std::string::npos);
}

TEST_CASE("a text that names no groups is refused with what would do", "[unit]") {
  CHECK(refusal_of("rings", "4x4").find("there are no such groups; for instance rows, columns, axis:0,2") != std::string::npos);
  CHECK(refusal_of("rows:1", "4x4").find("no such groups") != std::string::npos);
  CHECK(refusal_of("slice", "4x4").find("no such groups") != std::string::npos);
  CHECK(refusal_of("axis:", "4x4").find("'' is no whole number from 0 on") != std::string::npos);
  CHECK(refusal_of("axis:2", "4x4").find("4x4 has dimensions 0 to 1, and not 2") != std::string::npos);
  CHECK(refusal_of("axis:1,1", "4x4").find("names dimension 1 twice") != std::string::npos);
  CHECK(refusal_of("slice:3x4", "4x4").find("3 does not divide side 0 of 4x4, which is 4") != std::string::npos);
  CHECK(refusal_of("slice:2", "4x4").find("1 numbers, and 4x4 2 dimensions") != std::string::npos);
  CHECK(refusal_of("stride:3", "6x4").find("3 does not divide side 1 of 6x4, which is 4") != std::string::npos);
  CHECK(refusal_of("slice:2x2", "4x4c").find("dimension 1 of 4x4c is complete") != std::string::npos);
}

TEST_CASE("a leg that leaves its group, or a dimension that it lacks, is named", "[unit]") {
  std::vector<Leg> out;
  const std::vector<Dimension> order{0, 1};
  const auto broken = [&](const Groups& groups, NodeId rank, std::vector<Leg> route) {
    if (route.size() == 1) CHECK_FALSE(groups.leg_out(rank, route[0].dimension, route[0].hops));
    return groups.route_out(rank, route, order, out);
  };
  const Groups slices = Groups::parse("slice:2x2", Topology::parse("4x4"));
  CHECK(broken(slices, 5, {{0, +1}}) == ViolationKind::leaves_the_group);
  CHECK(broken(slices, 5, {{0, -2}}) == ViolationKind::leaves_the_group);
  CHECK(broken(slices, 5, {{0, -1}, {0, -1}, {0, +1}}) == ViolationKind::leaves_the_group);  // and comes back
  CHECK(broken(slices, 5, {{2, +1}}) == ViolationKind::unknown_dimension);
  CHECK(broken(slices, 5, {{-1, +1}}) == ViolationKind::unknown_dimension);
  CHECK_FALSE(slices.route_out(5, std::vector<Leg>{{0, -1}, {1, -1}, {0, +1}}, order, out));
  CHECK(out == std::vector<Leg>{{0, -1}, {1, -1}, {0, +1}});
  const Groups rows = Groups::parse("rows", Topology::parse("4x4"));
  CHECK(broken(rows, 5, {{1, +1}}) == ViolationKind::unknown_dimension);
  CHECK(rows.leg_out(5, 0, -7) == Leg{1, -7});  // round a ring
  const Groups alone = Groups::parse("stride:4", Topology::parse("4x4"));
  CHECK(broken(alone, 5, {{0, +1}}) == ViolationKind::leaves_the_group);
  const Groups complete = Groups::parse("axis:0", Topology::parse("4cx4"));
  CHECK(broken(complete, 5, {{0, 4}}) == ViolationKind::leaves_the_group);
  CHECK(broken(complete, 5, {{0, -1}}) == ViolationKind::leaves_the_group);
  const Groups strides = Groups::parse("stride:2", Topology::parse("4x4"));
  CHECK(strides.leg_out(5, 0, 0x7fffffff) == Leg{0, 0x7fffffff});  // too far stays too far
  CHECK(strides.leg_out(5, 0, -3) == Leg{0, -6});
}

TEST_CASE("a group's machine has the rules, ports, routing and speeds of its dimensions", "[unit]") {
  const Machine whole(Topology::parse("4x6x8"), 3, Switching::wormhole, Contention::forbid, {2, 0, 1}, {.dimension_byte_s = {1, 2, 3}});
  const Groups planes = Groups::parse("axis:0,2", whole.topology);
  const Machine plane = planes.machine(whole);
  CHECK(plane.topology.text() == "4x8");
  CHECK(plane.ports == 3);
  CHECK(plane.routing == std::vector<Dimension>{1, 0});
  CHECK(plane.cost.dimension_byte_s == std::vector<double>{1, 3});
  const Machine row = Groups::parse("rows", whole.topology).machine(whole);
  CHECK(row.ports == 2);
  CHECK(row.cost.one_speed());
  CHECK(row.cost.byte_s == 3);
  const Machine packets(Topology::parse("4x6x8"), 0, Switching::packet);
  CHECK_NOTHROW(planes.machine(packets));
  CHECK_THROWS_AS(Groups::parse("stride:2", packets.topology).machine(packets), InputError);
  CHECK_THROWS_AS(Groups::parse("rows", Topology::parse("4x4")).machine(whole), InputError);
}

TEST_CASE("groups that differ in what is dead or slow are classes, with the numbers that they have among all", "[unit]") {
  const Topology whole = Topology::parse("4x3").with_faults(
      {.dead_nodes = {6}, .dead_links = {{1, 1, +1}}, .slow_links = {{{9, 1, +1}, 2}}});  // of rows 2, 0, 3; row 1 is whole
  const std::vector<Groups> rows = Groups::classes("rows", whole);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].topology().faults() == Faults{.dead_links = {{1, 0, +1}}});
  CHECK(rows[1].topology().faults().empty());
  CHECK(rows[2].topology().faults() == Faults{.dead_nodes = {0}});
  CHECK(rows[3].topology().faults() == Faults{.slow_links = {{{0, 0, +1}, 2}}});
  const std::vector<Groups> columns = Groups::classes("columns", whole);
  REQUIRE(columns.size() == 2);
  CHECK(columns[0].number_of(0) == 0);
  CHECK(columns[1].count() == 2);
  CHECK(columns[1].number_of(0) == 1);
  CHECK(columns[1].number_of(1) == 2);
  CHECK(columns[1].are_a_class());
  CHECK(columns[1].group_of(2) == 1);
  CHECK(columns[1].group_of(3) == Groups::none);
  CHECK(columns[1].living_members() == 8);
  CHECK_FALSE(Groups::classes("rows", Topology::parse("4x3")).front().are_a_class());
  CHECK(Groups::classes("axis:0,1", whole).size() == 1);
}

TEST_CASE("groups have the faults that all of them have, and others are refused", "[unit]") {
  const Topology plain = Topology::parse("3x4");
  const Topology alike = plain.with_faults({.dead_nodes = {1, 5, 9}, .slow_links = {{{2, 1, +1}, 2}, {{6, 1, +1}, 2}, {{11, 1, -1}, 2}}});
  const Topology row = Groups::parse("rows", alike).topology();
  CHECK(row.text() == "4");
  CHECK(row.faults().dead_nodes == std::vector<NodeId>{1});
  CHECK(row.faults().slow_links == std::vector<SlowLink>{{{2, 0, +1}, 2}});
  const Topology across = plain.with_faults({.dead_links = {{2, 0, +1}}});  // concerns no row
  CHECK(Groups::parse("rows", across).topology().whole());
  const auto refused = [](const char* text, const Topology& topology) {
    try {
      static_cast<void>(Groups::parse(text, topology));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("columns", across).find("group 2 has other dead or slow links or nodes than group 0") != std::string::npos);
  CHECK(refused("rows", plain.with_faults({.dead_nodes = {6}})).find("group 1 has other") != std::string::npos);
  CHECK(refused("slice:1x4", plain.with_faults({.slow_links = {{{5, 1, +1}, 3}}})).find("group 1 has other") != std::string::npos);
  CHECK(refused("stride:1x2", across).find("may cross the dead") != std::string::npos);
  Faults corners;  // each box loses both links of its first node
  for (const NodeId corner : {0U, 2U, 8U, 10U}) {
    corners.dead_links.push_back({corner, 0, +1});
    corners.dead_links.push_back({corner, 1, +1});
  }
  CHECK(refused("slice:2x2", Topology::parse("4x4").with_faults(corners)).find("of each group, dead links and nodes cut") !=
        std::string::npos);
}
