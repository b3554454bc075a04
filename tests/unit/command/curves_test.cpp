// Curves read from tables, and where they cross.
#include "tools/torus/curves/curves.hpp"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>

#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tools/torus/view/svg.hpp"

using namespace torus;
using namespace torus::command;

namespace {

const std::string head = "collective,shape,algorithm,bytes,model_time_s,model_time_formula_s,model_time_lower_bound_s,failure\n";

std::string row(const std::string& algorithm, Bytes bytes, const std::string& time, const std::string& failure = "") {
  return "broadcast,8x8," + algorithm + "," + std::to_string(bytes) + "," + time + ",," + "1e-6," + failure + "\n";
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("two curves cross where their lines meet, between logarithms", "[unit]") {
  // Time falls and rises by a factor of 16 over 16 sizes: they meet in the middle, at the geometric mean.
  const auto charts = curves_of(head + row("a", 16, "1e-6") + row("a", 4096, "16e-6") + row("b", 16, "16e-6") + row("b", 4096, "1e-6"));
  REQUIRE(charts.size() == 1);
  const auto crossings = crossings_of(charts[0], TimeKind::model);
  REQUIRE(crossings.size() == 1);
  CHECK(crossings[0].before == 0);
  CHECK(crossings[0].after == 1);
  CHECK(std::abs(crossings[0].bytes - 256) < 1e-6);
  CHECK(std::abs(crossings[0].seconds - 4e-6) < 1e-12);
  CHECK(crossings[0].faster.empty());
  CHECK(crossings_of(charts[0], TimeKind::wall).empty());
}

TEST_CASE("a chart says how many sources there are, where there are any to choose", "[unit]") {
  for (const auto& [count, words] : {std::pair("0", "packet"), {"1", "packet"}, {"5", "packet, 5 sources"}}) {
    const std::string table = "collective,shape,algorithm,bytes,model_time_s,switching,source_count\nallreduce,8x8,rings,16,1e-6,packet,";
    CHECK(curves_of(table + count + "\n").at(0).machine == words);
  }
}

TEST_CASE("nothing, 0 bytes, stands a factor of two before the smallest size", "[unit]") {
  const auto charts = curves_of(head + row("a", 0, "1e-6") + row("a", 1024, "4e-6") + row("b", 0, "4e-6") + row("b", 1024, "1e-6"));
  const auto crossings = crossings_of(charts[0], TimeKind::model);
  REQUIRE(crossings.size() == 1);
  CHECK(std::abs(crossings[0].bytes - std::sqrt(512.0 * 1024)) < 1e-6);
}

TEST_CASE("a crossing knows who is below it, and a tie is none", "[unit]") {
  const auto charts = curves_of(head + row("a", 16, "1e-3") + row("a", 4096, "3e-3") + row("b", 16, "2e-3") + row("b", 4096, "1e-3") +
                                row("c", 16, "1e-6") + row("c", 4096, "1e-6") + row("d", 16, "1e-6") + row("d", 4096, "1e-6"));
  const auto crossings = crossings_of(charts[0], TimeKind::model);
  REQUIRE(crossings.size() == 1);
  CHECK(crossings[0].faster == std::vector<std::size_t>{2, 3});
  // Equal for a while: it is where they part.
  const auto parting = curves_of(head + row("a", 16, "1") + row("a", 64, "2") + row("a", 256, "3") + row("b", 16, "2") + row("b", 64, "2") +
                                 row("b", 256, "2"));
  const auto one = crossings_of(parting[0], TimeKind::model);
  REQUIRE(one.size() == 1);
  CHECK(std::abs(one[0].bytes - 64) < 1e-9);
  CHECK(one[0].after == 1);
}

TEST_CASE("failed rows, zero bytes and zero seconds stay off the curves", "[unit]") {
  const auto charts = curves_of(head + row("a", 0, "1e-6") + row("a", 16, "0") + row("a", 64, "1e-6", "wrong") + row("a", 256, "2e-6"));
  const auto& points = charts[0].curves.at(0).points;
  REQUIRE(points.size() == 4);
  CHECK(time_of(points[0], TimeKind::model) == 1e-6);
  CHECK_FALSE(time_of(points[1], TimeKind::model));
  CHECK_FALSE(time_of(points[2], TimeKind::model));
  const std::string page = curves_page(charts);
  CHECK(count(page, "FAILED") == 1);
  CHECK(count(page, "nan") == 0);
  CHECK(count(page, "inf") == 0);
}

TEST_CASE("a page and a figure have a group for each curve, a box, a row and the lower bound", "[unit]") {
  const auto charts = curves_of(head + row("a", 16, "1e-6") + row("a", 4096, "16e-6") + row("b", 16, "16e-6") + row("b", 4096, "1e-6"));
  const std::string page = curves_page(charts), figure = curves_svg(charts);
  for (const std::string curve : {"data-curve=\"0\"", "data-curve=\"1\""}) {
    CHECK(count(page, "<g class=\"curve\" " + curve) == 2);  // time, and times the bound
    CHECK(count(page, "<tr " + curve) == 1);
  }
  CHECK(count(page, "type=\"checkbox\"") == 2);
  CHECK(count(page, "<g class=\"crossing\"") == 1);
  CHECK(count(figure, "<path class=\"bound\"") == 4);  // both panels, a line and its key
  CHECK(figure.starts_with("<svg xmlns="));
  CHECK(figure.ends_with("</svg>\n"));
}

TEST_CASE("of too many charts for a figure the page is written, and a part may be chosen by shapes", "[unit]") {
  std::string table = head;
  for (int side = 2; side < 16; ++side) {
    std::string line = row("a", 16, "1e-6");
    table += line.replace(line.find("8x8"), 3, fmt::format("{}x{}", side, side));
  }
  const support::Folder folder;
  CurveFiles files(folder.file("p.html"), folder.file("s.svg"));
  CHECK_NOTHROW(files.check(max_figure_charts));
  CHECK_NOTHROW(CurveFiles(folder.file("q.html"), std::nullopt).check(CurveTable::max_charts));
  CHECK_THROWS_AS(CurveFiles(folder.file("q.html"), std::nullopt).check(CurveTable::max_charts + 1), InputError);
  CHECK_THROWS_WITH(files.write(curves_of(table)), "--svg '" + folder.file("s.svg") +
                                                       "': a figure shows at most 12 charts, one for each shape and machine, and these are "
                                                       "14; choose fewer, or a page, which shows 100");
  CHECK(std::filesystem::exists(folder.file("p.html")));
  CHECK_FALSE(std::filesystem::exists(folder.file("s.svg")));
  const auto chosen = only_on(curves_of(table), "--on", "4x4,15x15");
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[1].shape == "15x15");
  CHECK_THROWS_WITH(only_on(curves_of(table), "--on", "4x4,4x5"), "--on '4x5': the table has no such shape; for instance 2x2");
}

TEST_CASE("nothing in a table is markup in a page or a figure", "[unit]") {
  const auto charts = curves_of(
      "collective,shape,algorithm,bytes,model_time_s,switching\n"
      "</section><script>alert(1)</script>,8x8,\"<img src=x> \"\"&'\x01\xff\",16,1e-6,TORUS_CHARTS TORUS_TITLE\n");
  for (const std::string& text : {curves_page(charts), curves_svg(charts)}) {
    CHECK(count(text, "<img") == 0);
    CHECK(count(text, "<script>alert") == 0);
    CHECK(count(text, "\x01") == 0);
    CHECK(count(text, "&lt;img src=x&gt; &quot;&amp;&#39; \xef\xbf\xbd") > 0);
  }
  CHECK(count(curves_page(charts), "<script") == 1);
}

TEST_CASE("wrong tables are refused with the line", "[unit]") {
  const support::Folder folder;
  const auto refused = [&](const std::string& text, const std::string& words) {
    CAPTURE(text);
    try {
      read_curves(folder.write("t.csv", text));
      FAIL("it was read");
    } catch (const InputError& error) {
      CAPTURE(error.what());
      CHECK(std::string(error.what()).find(words) != std::string::npos);
    }
  };
  refused("", "the file is empty");
  refused("a,b\n", "t.csv line 1: there is no column 'collective'");
  refused(head, "line 1: the table has no row with a time");
  refused(head + "broadcast,8x8,a\n", "line 2: it has 3 values and the first line 8");
  refused(head + row("a", 1, "x"), "line 2: model_time_s is 'x'; it must be a number from 0");
  refused(head + row("a", 1, "-1"), "it must be a number from 0");
  refused(head + row("a", 1, "inf"), "it must be a number from 0");
  refused(head + "broadcast,8x8,a,-4,1,,,\n", "line 2: bytes is '-4'");
  refused(head + "broadcast,\"8x8,a,4,1,,,\n", "line 2: a quote is not closed");
  refused(head + row("a", 1, "1") + row("a", 1, "1"), "line 3: a on 8x8 at 1 byte is there twice");
}

TEST_CASE("algorithms are chosen by name", "[unit]") {
  const auto charts = curves_of(head + row("a", 16, "1e-6") + row("b", 16, "16e-6"));
  const auto chosen = only(charts, "--algorithms", "b");
  REQUIRE(chosen.size() == 1);
  REQUIRE(chosen[0].curves.size() == 1);
  CHECK(chosen[0].curves[0].algorithm == "b");
  CHECK_THROWS_AS(only(charts, "--algorithms", "b,c"), InputError);
}
