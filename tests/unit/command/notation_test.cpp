/// What people write: sizes, nodes, faults, and lists of settings.
#include "tools/torus/setting/notation.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/spec.hpp"

using namespace torus;
using namespace torus::command;

TEST_CASE("sizes are whole numbers with or without a binary unit", "[unit]") {
  CHECK(parse_bytes("--bytes", "0") == 0);
  CHECK(parse_bytes("--bytes", "64") == 64);
  CHECK(parse_bytes("--bytes", "64B") == 64);
  CHECK(parse_bytes("--bytes", "4KiB") == 4096);
  CHECK(parse_bytes("--bytes", "3MiB") == 3U << 20U);
  CHECK(parse_bytes("--bytes", "2GiB") == Bytes{2} << 30U);
  for (const char* bad : {"", "-1", "+1", "1.5", "0.3KiB", "4Kb", "4 KiB", "KiB", "KiB4", "9223372036854775808", "99999999999999999999",
                          "9000000000000TiB", "1e-3", "1e17", "nan", "inf", "0x10"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_bytes("--bytes", bad), InputError);
  }
}

TEST_CASE("sizes are read as people write them", "[unit]") {
  CHECK(parse_bytes("--bytes", "4K") == 4096);
  CHECK(parse_bytes("--bytes", "4k") == 4096);
  CHECK(parse_bytes("--bytes", "2M") == 2U << 20U);
  CHECK(parse_bytes("--bytes", "1G") == 1U << 30U);
  CHECK(parse_bytes("--bytes", "4KB") == 4000);
  CHECK(parse_bytes("--bytes", "1.5MiB") == 3U << 19U);
  CHECK(parse_bytes("--bytes", "1e6") == 1'000'000);
  CHECK(parse_bytes("--bytes", "9223372036854775807") == 0x7fffffffffffffff);
}

TEST_CASE("a number with a comma is told where its point goes", "[unit]") {
  CHECK(decimal_comma("0,1") == "; a decimal has a point: 0.1");
  CHECK(decimal_comma("1,5us") == "; a decimal has a point: 1.5us");
  for (const char* other : {"", "1", "0.1", ",1", "1,", "1e-10,2e-10", "1,2,3", "1ns,2ns", "a,b", "1,b"}) {
    CAPTURE(other);
    CHECK(decimal_comma(other).empty());
  }
  CHECK_THROWS_WITH(parse_seconds("--ts", "1,5us"),
                    "--ts '1,5us': it must be a number of seconds from 0 to 1000000, plain or with ms, us, ns or ps; for instance 1e-6 or "
                    "1us; a decimal has a point: 1.5us");
  CHECK_THROWS_WITH(parse_bytes("--bytes", "1,5KiB"),
                    "--bytes '1,5KiB': a size is a whole number of bytes below 2^63; for instance 64, 4KiB or 4K (4096), 4KB (4000), "
                    "1.5MiB or 1e6; a decimal has a point: 1.5KiB");
  CHECK_THROWS_WITH(parse_real("--plan-time", "0,5", 0, 1, "1"),
                    "--plan-time '0,5': it must be a number from 0 to 1; for instance 1; a decimal has a point: 0.5");
}

TEST_CASE("a bandwidth is the time of a byte", "[unit]") {
  CHECK(parse_byte_time("--bandwidth", "100Gb/s") == Approx(8e-11));
  CHECK(parse_byte_time("--bandwidth", "12.5GB/s") == Approx(8e-11));
  CHECK(parse_byte_time("--bandwidth", "1GiB/s") == Approx(0x1p-30));
  CHECK(parse_byte_time("--bandwidth", "8b/s") == Approx(1));
  for (const char* bad : {"", "100", "0Gb/s", "-1GB/s", "100G/s", "100Gb", "GB/s", "1e-9b/s", "nanGB/s"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_byte_time("--bandwidth", bad), InputError);
  }
}

TEST_CASE("sizes are written so that they are read back", "[unit]") {
  CHECK(bytes_option(0) == "0");
  CHECK(bytes_option(100) == "100");
  CHECK(bytes_option(65536) == "64KiB");
  CHECK(bytes_option(1000000) == "1000000");
  for (Bytes bytes = 1; bytes < Bytes{1} << 50U; bytes = bytes * 3 / 2 + 1) CHECK(parse_bytes("--bytes", bytes_option(bytes)) == bytes);
}

TEST_CASE("a node is a rank or its coordinates", "[unit]") {
  const Topology topology = Topology::parse("3x4x5");
  CHECK(parse_node("--source", "0", topology) == 0);
  CHECK(parse_node("--source", "59", topology) == 59);
  CHECK(parse_node("--source", "1,2,3", topology) == 33);
  for (const char* bad : {"", "60", "-1", "1,2", "1,2,5", "3,0,0", "1,2,3,0", "1,,3", "a", "1,2,3x"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_node("--source", bad, topology), InputError);
  }
}

TEST_CASE("sources are lists and patterns", "[unit]") {
  const Topology topology = Topology::parse("4x5");
  const auto sources = [&](const char* text) { return parse_sources("--sources", text, topology, 1); };
  using Nodes = std::vector<NodeId>;
  CHECK(sources("0,0;3,4") == Nodes{0, 19});
  CHECK(sources("7;2") == Nodes{2, 7});
  CHECK(sources("none").empty());
  CHECK(sources("all").size() == 20);
  CHECK(sources("row:1") == Nodes{5, 6, 7, 8, 9});
  CHECK(sources("column:2") == Nodes{2, 7, 12, 17});
  CHECK(sources("diagonal") == Nodes{0, 6, 12, 18});
  CHECK(sources("block:2x3") == Nodes{0, 1, 2, 5, 6, 7});
  CHECK(sources("density:0").empty());
  CHECK(sources("density:1").size() == 20);
  for (std::uint64_t s = 0; s <= 20; ++s) {
    const Nodes drawn = sources(("random:" + std::to_string(s)).c_str());
    CHECK(drawn.size() == s);
    CHECK(std::adjacent_find(drawn.begin(), drawn.end(), std::greater_equal<>()) == drawn.end());  // they ascend, none twice
  }
  for (const char* bad : {"",         ";",    "0;0",      "0,0;0",     "20",      "random:21", "random:",   "random:x",
                          "row:4",    "row:", "column:5", "block:5x5", "block:2", "block:0x1", "density:2", "density:-0.1",
                          "density:", "al",   "some",     "none:1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(sources(bad), InputError);
  }
}

TEST_CASE("in three dimensions a row is along the last, a column along the first", "[unit]") {
  const Topology topology = Topology::parse("3x4x5");
  CHECK(parse_sources("--sources", "row:2", topology, 1) == std::vector<NodeId>{10, 11, 12, 13, 14});
  CHECK(parse_sources("--sources", "column:7", topology, 1) == std::vector<NodeId>{7, 27, 47});
  CHECK_NOTHROW(parse_sources("--sources", "row:11", topology, 1));
  CHECK_NOTHROW(parse_sources("--sources", "column:19", topology, 1));
  for (const char* bad : {"row:12", "column:20"}) CHECK_THROWS_AS(parse_sources("--sources", bad, topology, 1), InputError);
}

TEST_CASE("random sources follow from the seed alone", "[unit]") {
  const Topology topology = Topology::parse("16x16");
  CHECK(parse_sources("--sources", "random:9", topology, 3) == parse_sources("--sources", "random:9", topology, 3));
  CHECK(parse_sources("--sources", "random:9", topology, 3) != parse_sources("--sources", "random:9", topology, 4));
  // Every node is drawn about as often: 4000 draws of 8 of 16 nodes give each 2000, with a deviation of 32.
  const Topology small = Topology::parse("16");
  std::vector<int> drawn(16);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    for (const NodeId node : parse_sources("--sources", "random:8", small, seed)) ++drawn[node];
  }
  for (const int times : drawn) CHECK(std::abs(times - 2000) < 200);
}

TEST_CASE("sources are written so that they are read back", "[unit]") {
  const Topology topology = Topology::parse("4x5");
  for (const char* text : {"none", "all", "0", "3;7;19", "row:2"}) {
    const auto sources = parse_sources("--sources", text, topology, 1);
    CHECK(parse_sources("--sources", sources_option(topology, sources), topology, 1) == sources);
  }
}

TEST_CASE("a near word is suggested, a far one is not", "[unit]") {
  constexpr std::array<std::string_view, 3> words{"wang-tseng", "flood", "span"};
  CHECK(did_you_mean("wang-tsang", words) == "; did you mean 'wang-tseng'?");
  CHECK(did_you_mean("flodo", words) == "; did you mean 'flood'?");
  CHECK(did_you_mean("zebra-crossing", words).empty());
}

TEST_CASE("numbers are read whole or not at all", "[unit]") {
  CHECK(parse_whole("--seed", "18446744073709551615", 0, 18446744073709551615U) == 18446744073709551615U);
  CHECK(parse_seconds("--ts", "1e-6") == 1e-6);
  CHECK(parse_seconds("--ts", "1us") == 1e-6);
  CHECK(parse_seconds("--tc", "0.1ns") == 1e-10);
  CHECK(parse_seconds("--ts", "2ms") == 2e-3);
  CHECK(parse_seconds("--ts", "3s") == 3);
  CHECK(parse_routing("1,0,2") == std::vector<Dimension>{1, 0, 2});
  for (const char* bad : {"", "x", "1x", "-1", "nan", "inf", "1e999", "0x1", " 1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_whole("--seed", bad, 0, 100), InputError);
    CHECK_THROWS_AS(parse_seconds("--ts", bad), InputError);
  }
  CHECK(parse_seconds("--ts", "1e6") == 1e6);
  CHECK_THROWS_AS(parse_seconds("--ts", "1.1e6"), InputError);
  CHECK_THROWS_WITH(parse_real("--expect", "-1", 0, 256, "1"), "--expect '-1': it must be a number from 0 to 256; for instance 1");
}

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

TEST_CASE("sizes come in lists and in ranges that have both ends", "[unit]") {
  using Sizes = std::vector<Bytes>;
  CHECK(parse_sizes("--bytes", "0") == Sizes{0});
  CHECK(parse_sizes("--bytes", "4KiB,64,64") == Sizes{64, 4096});
  CHECK(parse_sizes("--bytes", "1KiB:16KiB") == Sizes{1024, 4096, 16384});
  CHECK(parse_sizes("--bytes", "1:9") == Sizes{1, 4, 9});
  CHECK(parse_sizes("--bytes", "1:8:x2,3") == Sizes{1, 2, 3, 4, 8});
  CHECK(parse_sizes("--bytes", "1:8:+3") == Sizes{1, 4, 7, 8});
  CHECK(parse_sizes("--bytes", "1KiB:3KiB:+1KiB") == Sizes{1024, 2048, 3072});
  CHECK(parse_sizes("--bytes", "1:9223372036854775807:x1048576").size() == 5);
  for (const char* bad : {"", ",", "64,", "4:", ":4", "0:4", "4:4", "8:4", "1:2:3", "1:8:x1", "1:8:x", "1:8:+0", "1:8:+", "1:1GiB:+1",
                          "1:8:2", "1:2:x2:x2", "1:4Kb"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_sizes("--bytes", bad), InputError);
  }
}

TEST_CASE("shapes, ports and algorithms come in lists, each once", "[unit]") {
  const auto shapes = parse_shapes("8x8,mesh:4x6,8x8,2^3");
  REQUIRE(shapes.size() == 3);
  CHECK(shapes[1].text() == Topology::parse("4mx6m").text());
  CHECK_THROWS_AS(parse_shapes("8x8,"), InputError);
  CHECK(parse_port_counts("4,1,all,4") == std::vector<int>{4, 1, 0});
  for (const char* bad : {"", "0", "1,,2", "some"}) CHECK_THROWS_AS(parse_port_counts(bad), InputError);
}

TEST_CASE("algorithms are taken in the order of the catalogue", "[unit]") {
  const auto chosen = parse_algorithms("--algorithms", "wang-tseng,flood,flood", Collective::broadcast, catalogue());
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[0]->name == "flood");
  for (const Algorithm* algorithm : parse_algorithms("--algorithms", "all", Collective::total_exchange, catalogue()))
    CHECK(algorithm->collective == Collective::total_exchange);
  for (const char* bad : {"", "flud", "flood,", "a2"})
    CHECK_THROWS_AS(parse_algorithms("--algorithms", bad, Collective::broadcast, catalogue()), InputError);
}
