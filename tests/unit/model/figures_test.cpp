#include "runtime/base/figures.hpp"

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
  CHECK(bytes_text(std::optional<Bytes>{1536}) == "1.5 KiB");
  CHECK(bytes_text(std::optional<Bytes>{}) == "unknown");
  CHECK(per_second(10, 4) == 2.5);
  CHECK(per_second(10, 0) == 0);
}

TEST_CASE("one of a thing is in the singular, and none and several in the plural", "[unit]") {
  CHECK(counted(0, "node") == "0 nodes");
  CHECK(counted(1, "node") == "1 node");
  CHECK(counted(1234, "dead link") == "1,234 dead links");
  CHECK(counted(1, "process", "processes") == "1 process");
  CHECK(counted(2, "process", "processes") == "2 processes");
}

TEST_CASE("a node is written by its coordinates", "[unit]") {
  CHECK(node_text(Topology::parse("4x6"), 9) == "(1,3)");
  CHECK(node_text(Topology::parse("7"), 3) == "(3)");
}

TEST_CASE("text from outside reaches no terminal with a control character in it", "[unit]") {
  CHECK(printable("plain, \xc3\xa4, \xe2\x82\xac, \xf0\x9f\x98\x80 \\ \"") == "plain, \xc3\xa4, \xe2\x82\xac, \xf0\x9f\x98\x80 \\ \"");
  CHECK(printable("a\x1b[31m\x7f\n\t\r") == "a\\u001b[31m\\u007f\\u000a\\u0009\\u000d");
  CHECK(printable(std::string("\0x", 2)) == "\\u0000x");
  CHECK(printable("\xc2\x9b"
                  "2J") == "\\u009b2J");  // the control sequence introducer of 8 bits, in UTF-8
  CHECK(printable("\x9b"
                  "2J\xff") == "\\u009b2J\\u00ff");             // and alone, as is no UTF-8
  CHECK(printable("\xe2\x82") == "\\u00e2\\u0082");             // cut off
  CHECK(printable("\xc1\x81\xed") == "\\u00c1\\u0081\\u00ed");  // too long a form
  CHECK(printable("a\n\tb\x1b", "\n\t") == "a\n\tb\\u001b");
  CHECK(printable(printable("\x1b")) == printable("\x1b"));
}
