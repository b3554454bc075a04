// Dead and slow links as people write them.
#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/spec.hpp"

using namespace torus;
using namespace torus::command;

TEST_CASE("links are a node, a direction and a dimension", "[unit]") {
  const Topology shape("4x8");
  CHECK(parse_links("--dead-link", "3,4:+0", shape) == std::vector<Link>{{28, 0, 1}});
  CHECK(parse_links("--dead-link", "28:-1;0:+0", shape) == std::vector<Link>{{28, 1, -1}, {0, 0, 1}});
  CHECK(parse_links("--dead-link", "1:3@1", Topology("4x8c")) == std::vector<Link>{{1, 1, 3}});
  CHECK(parse_links("--dead-link", "0:300@0;7:256@0", Topology("500c")) == std::vector<Link>{{0, 0, 300}, {7, 0, 256}});
  CHECK(parse_slow_links("--slow-link", "3,4:+0:2.5", shape) == std::vector<SlowLink>{{{28, 0, 1}, 2.5}});
  for (const char* bad : {"", "3", "3:", "3:0", "3:+2", "3:+", "3:*1", "99:+0", "3:+0;", "3:0@0", "3:1@2", "3,4,5:+0"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_links("--dead-link", bad, shape), InputError);
  }
  for (const char* bad : {"3:+0", "3:+0:", "3:+0:x", "3"}) CHECK_THROWS_AS(parse_slow_links("--slow-link", bad, shape), InputError);
}

TEST_CASE("random dead links follow from the seed and leave the machine in one piece", "[unit]") {
  const Topology shape("4x4");
  Faults one, again, other;
  add_random_dead_links("--dead-links", "random:9", shape, 1, one);
  add_random_dead_links("--dead-links", "random:9", shape, 1, again);
  add_random_dead_links("--dead-links", "random:9", shape, 2, other);
  CHECK(one == again);
  CHECK_FALSE(one == other);
  CHECK(shape.with_faults(one).channels() == 64 - 18);
  Faults most;
  CHECK_NOTHROW(add_random_dead_links("--dead-links", "random:1", Topology("5"), 1, most));
  CHECK_THROWS_AS(add_random_dead_links("--dead-links", "random:1", Topology("5"), 1, most), InputError);
  for (const char* bad : {"5", "random", "random:0", "random:x", "random:1001"})
    CHECK_THROWS_AS(add_random_dead_links("--dead-links", bad, shape, 1, most), InputError);
}

TEST_CASE("options give the faults again, and sources keep to living nodes", "[unit]") {
  TypedOptions options;
  options["on"] = "4x4c";
  options["dead-link"] = "0:+0;1:2@1";
  options["dead-node"] = "0,0;7";
  options["slow-link"] = "2,1:-0:3";
  options["bytes"] = "8";
  const RunSpec spec = parse_spec(Collective::broadcast, options);
  const Topology& shape = spec.shape;
  CHECK(shape.living_nodes() == 14);
  CHECK(damage_options(shape.faults(), shape) == " --dead-link '0:+0;1:2@1' --dead-node '0;7' --slow-link '9:-0:3'");
  CHECK(damage_text(shape.faults()) == "2 dead links, 2 dead nodes, 1 slow link");
  CHECK(make_request(spec).sources == std::vector<NodeId>{1});
  CHECK(make_request(parse_spec(Collective::multinode_broadcast, options)).sources.size() == 14);
  options["sources"] = "7";
  CHECK_THROWS_AS(make_request(parse_spec(Collective::broadcast, options)), InputError);
}
