#include "runtime/model/figures.hpp"

#include <limits>

#include "tests/support/catch.hpp"

using namespace torus;

TEST_CASE("figures are grouped and carry units", "[unit]") {
  CHECK(grouped(0) == "0");
  CHECK(grouped(999) == "999");
  CHECK(grouped(1000) == "1,000");
  CHECK(grouped(1234567) == "1,234,567");
  CHECK(seconds_text(0) == "0 s");
  CHECK(seconds_text(1.5e-9) == "1.5 ns");
  CHECK(seconds_text(45.32e-6) == "45.32 us");
  CHECK(seconds_text(0.25) == "250 ms");
  CHECK(seconds_text(90) == "90 s");
  CHECK(rate_text(1.234e9, "B") == "1.23 GB/s");
  CHECK(rate_text(12, "hops") == "12 hops/s");
  CHECK(rate_text(std::numeric_limits<double>::infinity(), "B") == "-");
  CHECK(rate_text(1.5e3, "B") == "1.5 kB/s");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1536) == "1.5 KiB");
  CHECK(bytes_text(Bytes{16} << 20U) == "16 MiB");
  CHECK(per_second(10, 4) == 2.5);
  CHECK(per_second(10, 0) == 0);
}

TEST_CASE("a node is written by its coordinates", "[unit]") {
  CHECK(node_text(Topology::parse("4x6"), 9) == "(1,3)");
  CHECK(node_text(Topology::parse("7"), 3) == "(3)");
}
