/// The page of curves in a browser: algorithms and crossings come and go.
#include <string>
#include <utility>
#include <vector>

#include "tests/support/browser.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::Json;
using torus::support::browser;
using torus::support::command;
using torus::support::Folder;

TEST_CASE("the page of curves opens without a word, and algorithms and crossings come and go", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  REQUIRE(
      command("compare broadcast --on 25x25 --switching wormhole --ports 4 --bytes 1KiB:16MiB --run none --html " + folder.file("c.html"))
          .status == 0);
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(390, 844)}) {
    for (const char* scheme : {"light", "dark"}) {
      b->open(folder.file("c.html"), width, height, scheme);
      CHECK(b->value("document.documentElement.scrollWidth <= innerWidth") == true);
      // The whole figure is seen, without scrolling.
      CHECK(b->value("(f => f.scrollWidth <= f.clientWidth)(document.querySelector('.figure'))") == true);
      const std::string paper = b->value("getComputedStyle(document.body).backgroundColor");
      CHECK((paper == "rgb(255, 255, 255)") == (scheme == std::string("light")));
    }
  }
  const std::string shown = "[...document.querySelectorAll('g.curve')].filter(e => e.getAttribute('display') !== 'none').length";
  const std::string crossings =
      "[...document.querySelectorAll('g.crossing')].filter(e => e.getAttribute('display') !== 'none').map(e => e.dataset.pair)";
  // At first those that another beats at every size are off; they are in the page.
  const int best = b->value(shown), all = b->value("2 * document.querySelectorAll('.switches input').length");
  CHECK(best < all);
  CHECK(best == b->value("2 * document.querySelectorAll('.switches input:checked').length").get<int>());
  b->value("document.querySelector('button.all').click(), 0");
  CHECK(b->value(shown) == all);
  const Json at_first = b->value(crossings);
  CHECK_FALSE(at_first.empty());
  // Without an algorithm that is the fastest somewhere, others cross.
  const std::string pair = at_first[0];
  const std::string fastest = pair.substr(0, pair.find(' '));
  const std::string before = b->screenshot();
  b->value("document.querySelectorAll('.switches input')[" + fastest + "].click(), 0");
  b->settle();
  CHECK(b->value(shown) == all - 2);
  CHECK(b->value("document.querySelector('tr[data-curve=\"" + fastest + "\"]').hidden") == true);
  const Json without = b->value(crossings);
  CHECK(without != at_first);
  for (const Json& other : without) CHECK((" " + other.get<std::string>() + " ").find(" " + fastest + " ") == std::string::npos);
  CHECK(b->screenshot() != before);
  b->value("document.querySelector('button.none').click(), 0");
  CHECK(b->value(shown) == 0);
  CHECK(b->value(crossings).empty());
  b->value("document.querySelector('button.all').click(), 0");
  CHECK(b->value(crossings) == at_first);
  b->value("document.querySelector('button.best').click(), 0");
  CHECK(b->value(shown) == best);
  CHECK(b->value(crossings) == at_first);
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("the page of curves has the fastest by size on top, their table under it, and values on hovering", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  const std::string line = "compare broadcast --on 25x25 --switching wormhole --ports 4 --bytes 1KiB:16MiB --run none --html ";
  REQUIRE(command(line + folder.file("c.html")).status == 0);
  for (const auto& [width, height] : {std::pair(1280, 800), std::pair(390, 844)}) {
    for (const char* scheme : {"light", "dark"}) {
      CAPTURE(width, scheme);
      b->open(folder.file("c.html"), width, height, scheme);
      // Bar, table, figure, from above; the bar has its place at once, and within the window.
      const Json tops = b->value("['.winners', 'table', 'svg'].map(what => document.querySelector(what).getBoundingClientRect().top)");
      CHECK(tops[0] < tops[1]);
      CHECK(tops[1] < tops[2]);
      CHECK(tops[0] < height / 3);
      CHECK(b->value("[...document.querySelectorAll('.winners div')].every(e => e.getBoundingClientRect().right <= innerWidth)") == true);
      // As many sizes as the table has, each with the row that has its star.
      CHECK(b->value(
                "(() => { const rows = [...document.querySelectorAll('table')[0].rows], bar = "
                "[...document.querySelectorAll('.winners div')].flatMap(e => Array(Number(e.style.flexGrow)).fill(e.dataset.winner)); "
                "return bar.length === rows[0].cells.length - 1 && bar.every((winner, i) => rows.some(r => r.dataset.curve === winner && "
                "!r.hidden && r.cells[i + 1].textContent.includes('*'))); })()") == true);
      // Its colour is that of the curve.
      CHECK(b->value("[...document.querySelectorAll('.winners div')].every(e => getComputedStyle(e).borderTopColor === "
                     "getComputedStyle(document.querySelectorAll('g.curve')[e.dataset.winner].querySelector('path')).stroke)") == true);
      const Json at = b->value(
          "(m => { m.scrollIntoView({block: 'center'}); const r = m.getBoundingClientRect(); return [r.left + r.width / 2, r.top + "
          "r.height / "
          "2, m.querySelector('title').textContent]; })([...document.querySelectorAll('g.curve:not([display]) .mark')][0])");
      b->call("Input.dispatchMouseEvent", {{"type", "mouseMoved"}, {"x", at[0]}, {"y", at[1]}});
      b->settle();
      CHECK(b->value("document.querySelector('.reading').hidden") == false);
      CHECK(b->text(".reading").size() > 5);
      CHECK(b->value("document.querySelector('.reading').getBoundingClientRect().right <= innerWidth") == true);
    }
  }
  CHECK(b->complaints == std::vector<std::string>{});
}
