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
      const std::string paper = b->value("getComputedStyle(document.body).backgroundColor");
      CHECK((paper == "rgb(255, 255, 255)") == (scheme == std::string("light")));
    }
  }
  const std::string shown = "[...document.querySelectorAll('g.curve')].filter(e => e.getAttribute('display') !== 'none').length";
  const std::string crossings =
      "[...document.querySelectorAll('g.crossing')].filter(e => e.getAttribute('display') !== 'none').map(e => e.dataset.pair)";
  const int all = b->value(shown);
  CHECK(all == b->value("2 * document.querySelectorAll('.switches input').length").get<int>());
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
  CHECK(b->complaints == std::vector<std::string>{});
}
