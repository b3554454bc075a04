/// What a page shows of the machine, in a browser: how it opens, what is broken or twisted, three dimensions, two runs, the address.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/figures.hpp"
#include "tests/support/browser.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/json.hpp"

using namespace torus;
using support::Json;
using torus::support::Browser;
using torus::support::browser;
using torus::support::command;
using torus::support::Folder;
using torus::support::viewed;

namespace {

struct Window {
  int width, height;
  const char* scheme;
};
const std::vector<Window> windows{{1280, 800, "light"}, {1280, 800, "dark"}, {390, 844, "light"}, {390, 844, "dark"}};

/// Functions of the page for tests: the colour of a pixel of a picture, and a colour of the palette, as the canvas gives it.
void teach(Browser& b) {
  b.value(
      "window.pixel = (x, y, r = 0) => Array.from(pictures[r].canvas.getContext('2d').getImageData(Math.round(x), Math.round(y), 1, "
      "1).data.slice(0, 3)).join(); window.paint = text => { const g = document.createElement('canvas').getContext('2d'); g.fillStyle = "
      "text; g.fillRect(0, 0, 1, 1); return Array.from(g.getImageData(0, 0, 1, 1).data.slice(0, 3)).join(); }; "
      "window.near = (x, y, text) => { const want = paint(text).split(',').map(Number); for (const dx of [-1, 0, 1]) for (const dy of [-1, "
      "0, 1]) if (pixel(x + dx, y + dy).split(',').reduce((sum, c, i) => sum + Math.abs(c - want[i]), 0) < 60) return true; return false; "
      "}; "
      "window.node_near = (n, text) => near(picture.x(picture.layout.x[n]), picture.y(picture.layout.y[n]), text); "
      "window.node_paint = n => (s => paint(s < 0 ? palette().link : s === 0 ? palette().paper : css(T.colour(s))))(clock.share(n)); "
      "window.node_pixel = n => pixel(picture.x(picture.layout.x[n]), picture.y(picture.layout.y[n])); 0");
}

/// Opens a page anew in each window.
template <class F>
void in_each_window(const std::string& page, F&& f) {
  const auto b = browser();
  if (!b) return;
  for (const Window& window : windows) {
    CAPTURE(page, window.width, window.scheme);
    b->open(page, window.width, window.height, window.scheme);
    teach(*b);
    CHECK(b->value("document.documentElement.scrollWidth <= innerWidth") == true);
    f(*b);
    CHECK(b->complaints == std::vector<std::string>{});
  }
}

}  // namespace

TEST_CASE("a page opens with the verdict, the bound, the source, the idea and a large button that plays", "[browser]") {
  const Folder folder;
  in_each_window(viewed(folder, "broadcast --on 8x8 --algorithm flood --switching packet --segments 1"), [](Browser& b) {
    CHECK(b.text("#verdict").find("legal and complete") != std::string::npos);
    CHECK(b.text("#verdict").find("8 steps, the fewest that there can be") != std::string::npos);
    CHECK(b.text("#origin").starts_with("Source: "));
    CHECK(b.text("#idea").size() > 80);
    CHECK(b.text("#idea").starts_with("First: "));
    CHECK(b.text("#where").starts_with("step 0 "));
    // The grid takes the width or the height that there is.
    CHECK(b.value("Math.max(picture.width / $('stage').clientWidth, picture.height / (innerHeight - $('player').offsetHeight - "
                  "$('stage').getBoundingClientRect().top - 28)) > 0.9") == true);
    // A coordinate stands beside the last row and above the last column.
    const std::string inked =
        "(x, y) => { const d = $('torus0').getContext('2d').getImageData(x, y, 12, 12).data; for (let i = 0; i < d.length; i += 4) if (d[i "
        "+ 3] > 100) return true; return false; }";
    CHECK(b.value("(" + inked + ")(picture.left - 0.35 * picture.cell - 16, picture.y(7) - 6)") == true);
    CHECK(b.value("(" + inked + ")(picture.x(7) - 6, picture.top - 0.35 * picture.cell - 15)") == true);
    for (const char* key : {"dead", "slow", "twist", "stub", "tree"}) CHECK(b.value("$('" + std::string(key) + "_key').hidden") == true);
    // Directions are words.
    CHECK(b.value("Array.from(document.querySelectorAll('#maps figcaption'), e => e.textContent)") ==
          Json({"down", "up", "right", "left"}));
    CHECK(b.value("T.route_text(shape, picture.layout, [[0, -2], [1, 3]])") == "2 up, 3 right");
    b.value("$('big_play').scrollIntoView({block: 'center'}), 0");
    const Json at = b.value("(r => [r.left + r.width / 2, r.top + r.height / 2])($('big_play').getBoundingClientRect())");
    b.click(at[0], at[1]);
    CHECK(b.value("state.playing > 0 && $('big_play').hidden") == true);
    CHECK(b.text("#play") == "pause");
  });
}

TEST_CASE("the page of a run that broke off says what is missing", "[browser]") {
  const Folder folder;
  viewed(folder, "broadcast --on 4x4 --algorithm flood --switching packet");
  std::string text = support::text_of_file(folder.file("t.jsonl"));
  text.resize(text.rfind("{\"step\":2"));
  REQUIRE(command("view " + folder.write("half.jsonl", text) + " -o " + folder.file("half.html")).status == 0);
  in_each_window(folder.file("half.html"), [](Browser& b) {
    CHECK(b.value("document.querySelector('#verdict .bad').textContent.length > 10") == true);
    CHECK(b.text("#verdict").find("legal and complete") == std::string::npos);
  });
}

TEST_CASE("the page of an illegal trace opens at the step that breaks a rule, in red, with the judge's sentence", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  viewed(folder, "broadcast --on 4x4 --algorithm flood --switching packet --segments 1");
  const std::string text = support::text_of_file(folder.file("t.jsonl")), one = R"({"step":1,"src":1,"dst":2,"path":[[1,1]])";
  REQUIRE(text.find(one) != std::string::npos);
  const auto open = [&](const std::string& name, const std::string& trace, const std::string& sentence) {
    REQUIRE(command("view " + folder.write(name + ".jsonl", trace) + " -o " + folder.file(name + ".html")).status == 0);
    b->open(folder.file(name + ".html"));
    CHECK(b->text("#verdict .bad").find(sentence) != std::string::npos);
    CHECK(b->value("$('verdict').querySelector('code') === null") == true);
    CHECK(b->value("$('big_play').hidden") == true);
  };
  const std::string reds =
      "(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0;"
      " for (let i = 0; i < d.length; i += 4) n += d[i] === 200 && d[i + 1] === 16 && d[i + 2] === 46; return n; })($('torus0'))";
  // A message that takes two hops.
  std::string far = text;
  far.replace(far.find(one), one.size(), R"({"step":1,"src":1,"dst":3,"path":[[1,2]])");
  open("far", far, "step 1: message from node (0,1) to (0,3) by [[1,2]] takes 2 hops under packet switching");
  CHECK(b->value("[state.time, last_time > 2, by_step.step[1]]") == Json({2, true, 1}));
  CHECK(b->text("#where") == "step 1: 1 message breaks a rule at node (0,1)");
  CHECK(b->value("Array.from(messages.illegal, m => [messages.source[m], messages.destination[m]])") == Json::array({Json({1, 3})}));
  CHECK(b->value(reds) > 100);
  b->key("ArrowRight");
  CHECK(b->value(reds) == 0);
  CHECK(b->text("#where").starts_with("step 2 (3 of "));
  // Two messages on one channel.
  std::string twice = text;
  const auto end = twice.find('\n', twice.find(one));
  twice.insert(end + 1, twice.substr(twice.find(one), end + 1 - twice.find(one)));
  open("twice", twice, "step 1: channel (0,1) dimension 1 direction +1 carries two messages");
  CHECK(b->text("#where") == "step 1: 2 messages break a rule at node (0,1)");
  CHECK(b->value("loads_of_run(runs[0]).busiest.length > 0") == true);
  // A trace that breaks off is legal and incomplete: it opens at its end, with rings round the nodes that lack something.
  open("half", text.substr(0, text.find("{\"step\":2")), "after step 1: node (1,2) lacks block 0");
  CHECK(b->value("state.time === last_time") == true);
  CHECK(b->text("#where") == "after step 1: 5 nodes lack some of what they are to have");
  CHECK(b->value(reds) > 100);
  // So does one of a reduction, whose partials are followed otherwise.
  viewed(folder, "allreduce --on 4 --algorithm ring --bytes 64");
  const std::string sum = support::text_of_file(folder.file("t.jsonl"));
  open("sum", sum.substr(0, sum.find("{\"step\":2")), "lacks node (");
  CHECK(b->text("#where") == "after step 1: 4 nodes lack some of what they are to have");
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("a run of too many messages is a map: when each node first got data, and what channels carried", "[browser]") {
  const Folder folder;
  REQUIRE(
      command("run broadcast --on 64x64 --bytes 3KiB --algorithm flood --switching packet --segments 40 --view " + folder.file("p.html"))
          .status == 0);
  in_each_window(folder.file("p.html"), [](Browser& b) {
    CHECK(b.value("data.messages > 200000 && drawn && !whole && $('totals').hidden && !$('left').hidden") == true);
    CHECK(b.text("#notice").find("What follows is a map of the run") != std::string::npos);
    CHECK(b.value("state.time === last_time") == true);
    // The first segment comes in as many steps as hops; nobody sends to the source.
    const std::string hops = "(n => { const d = x => Math.min(x, 64 - x); return d(n >> 6) + d(n % 64); })";
    CHECK(b.value("data.map.first.every((step, n) => step === (n === 0 ? step : " + hops + "(n) - 1))") == true);
    CHECK(b.value("new Set(data.map.first).size") == 65 - (b.value("data.map.first[0]") == -1 ? 0 : 1));
    // Each message takes one hop: what all channels carried is what was sent.
    CHECK(b.value("data.map.load.reduce((a, c) => a + c, 0) === data.bytes") == true);
    CHECK(b.value("loads_of_run(runs[0]).busiest[0].bytes === Math.max(...data.map.load)") == true);
    CHECK(b.value("$('busiest').rows.length") == 8);
    CHECK(b.value("document.querySelectorAll('#maps canvas').length") == 4);
    CHECK(b.text("#share_none") + " to " + b.text("#share_all") == "first data in step 0 to 63");
    CHECK(b.text("#share_meaning").starts_with("The colour is the step in which the node first got data"));
    // The player shows who has heard by then: node 32 to the right is 32 hops away.
    CHECK(b.value("node_pixel(32) === node_paint(32) && node_paint(32) !== paint(palette().paper)") == true);
    b.value("go(31), 0");
    b.settle();
    CHECK(b.value("[clock.share(31) > 0, clock.share(32)]") == Json({true, 0}));
    CHECK(b.value("node_pixel(32) === paint(palette().paper) && node_pixel(20) === node_paint(20)") == true);
    b.value("choose(0, 32), 0");
    b.settle();
    CHECK(b.text("#node") == "First data: step 31.");
    const double ms = b.value(
        "(t => { for (let i = 1; i <= 20; ++i) { state.time = i; clock.go(i); draw_all(); } return (performance.now() - t) / 20; "
        "})(performance.now())");
    CAPTURE(ms);
    CHECK(ms < 200);  // some 10 ms on an idle host
  });
}

TEST_CASE("arrow keys take nodes on a picture that has the focus, and steps elsewhere", "[browser]") {
  const Folder folder;
  in_each_window(viewed(folder, "broadcast --on 4x6 --algorithm flood"), [](Browser& b) {
    const auto chosen = [&](const char* key) {
      b.key(key);
      return b.value("[state.node, state.time]");
    };
    b.value("$('torus0').focus(), 0");
    CHECK(chosen("ArrowRight") == Json({0, 1}));
    CHECK(chosen("ArrowRight") == Json({1, 1}));
    CHECK(chosen("ArrowDown") == Json({7, 1}));
    CHECK(b.text("#node_title") == "Node (1,1), rank 7");
    CHECK(chosen("ArrowUp") == Json({1, 1}));
    CHECK(chosen("ArrowUp") == Json({1, 1}));  // at the border it stays
    CHECK(chosen("ArrowLeft") == Json({0, 1}));
    CHECK(chosen("Escape") == Json({-1, 1}));
    CHECK(b.text("#node_title") == "Node");
    b.value("$('torus0').blur(), 0");
    CHECK(chosen("ArrowRight") == Json({-1, 2}));
  });
}

TEST_CASE("routes do not cut the nodes that they pass, and curves stay within the picture", "[browser]") {
  const Folder folder;
  in_each_window(viewed(folder, "broadcast --on 8x8 --algorithm wang-tseng --source 3,4"), [](Browser& b) {
    b.key("End");
    // In the last step many routes pass nodes that have the data. Within a node's frame there is nothing of the paper's colour.
    const std::string clean =
        "(n => { const s = Math.floor(0.56 * picture.cell) - 3, d = "
        "picture.canvas.getContext('2d').getImageData(Math.ceil(picture.x(picture.layout.x[n]) - "
        "s / 2), Math.ceil(picture.y(picture.layout.y[n]) - s / 2), s, s).data, p = paint(palette().paper); for (let i = 0; i < d.length; "
        "i += 4) if ([d[i], "
        "d[i + 1], d[i + 2]].join() === p) return false; return true; })";
    CHECK(b.value("clock.go(moments[state.time].times[0]), Array.from({length: 64}, (_, n) => n).filter(n => clock.share(n) > 0 && !" +
                  clean + "(n))") == Json::array());
  });
  in_each_window(viewed(folder, "broadcast --on 16c --algorithm flood"), [](Browser& b) {
    CHECK(b.value("picture.routed(1, -1).flatMap(m => T.route_lines(shape, picture.layout, messages.source[m], "
                  "messages.path(m)).flat()).every(([x, y]) => "
                  "picture.x(x) > 3 && picture.x(x) < picture.width - 3 && picture.y(y) > 3 && picture.y(y) < picture.height - 3)") ==
          true);
  });
}

TEST_CASE("on a twisted torus titles of slices stand between the names at the ends of links", "[browser]") {
  const Folder folder;
  in_each_window(viewed(folder, "broadcast --on 4x4x8t --algorithm flood"), [](Browser& b) {
    const std::string names =
        "picture.marks.filter(m => m.twist).map(m => picture.y(m.end[1]) + m.side[1] * Math.max(9, Math.min(13, picture.cell * 0.2)) * "
        "0.5)";
    const std::string titles = "Array.from({length: slices.panels}, (_, p) => picture.title_at(slices.corner(p)[1]) - 4)";
    CHECK(b.value("picture.cell < 28 || " + titles + ".every(t => " + names + ".every(n => Math.abs(t - n) > 10))") == true);
    CHECK(b.value(titles + ".every(t => picture.layout.y.every(y => Math.abs(picture.y(y) - t) > 0.28 * picture.cell + 4))") == true);
  });
}

TEST_CASE("dead nodes, dead links and slow links are drawn and in the legend", "[browser]") {
  const Folder folder;
  const std::string line = "broadcast --on 6x6 --algorithm flood --dead-node 3,3 --dead-link 1,1:+0;4,5:+1 --slow-link 2,2:+1:2";
  in_each_window(viewed(folder, line), [](Browser& b) {
    b.key("Home");
    // The middle of a cross. A link over the border has an end at both sides.
    CHECK(b.value("node_near(21, palette().dead)") == true);
    CHECK(b.value("picture.marks.filter(m => m.dead).length") == 3);
    CHECK(b.value("picture.marks.filter(m => m.dead).every(m => near(picture.x(m.at[0]), picture.y(m.at[1]), palette().dead))") == true);
    CHECK(b.value("picture.marks.filter(m => m.slow > 1).length") == 1);
    CHECK(b.value("(m => near(picture.x(m.at[0]), picture.y(m.at[1] + 0.07), palette().slow))(picture.marks.find(m => m.slow > "
                  "1))") == true);
    CHECK(b.value("$('dead_key').hidden || $('slow_key').hidden") == false);
    CHECK(b.text("#facts").find("1 dead node, 2 dead links, 1 slow link") != std::string::npos);
  });
}

TEST_CASE("where channels differ in speed the page has the model time of the report", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  for (const char* line :
       {"broadcast --on 4x4 --algorithm mst --bytes 64KiB --slow-link 0:+1:4", "broadcast --on 4x3 --bytes 64KiB --tc 1ns,2ns",
        "allreduce --on 2cx5m --bytes 4KiB --tc 3ns,1ns --slow-link 0:+0:2 --tg 1ns"}) {
    const std::string page = folder.file("page.html");
    CAPTURE(line);
    const Json report = support::parsed(support::good("run " + std::string(line) + " --json --view " + page).out);
    b->open(page);
    b->key("End");
    CHECK(b->value("model_times[last_time - 1]").get<double>() == Approx(report["model_time_s"].get<double>()).epsilon(1e-9));
    CHECK(b->text("#verdict").find("model time " + seconds_text(report["model_time_s"])) != std::string::npos);
  }
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("what is dead is seen in coloured cells, between slices and in a cube", "[browser]") {
  const Folder folder;
  in_each_window(viewed(folder, "broadcast --on 40x40 --algorithm flood --dead-node 20,20"), [](Browser& b) {
    CHECK(b.value("picture.filled") == true);
    CHECK(b.value("node_near(820, palette().dead)") == true);
  });
  in_each_window(viewed(folder, "broadcast --on 4x4x4 --algorithm flood --dead-link 1,1,1:+0 --dead-node 2,2,2"), [](Browser& b) {
    b.key("Home");
    CHECK(b.value("[21, 37].every((n, i) => near(picture.x(picture.layout.x[n] + (i ? -1 : 1) * 0.55 * Math.SQRT1_2), "
                  "picture.y(picture.layout.y[n] + (i ? 1 : -1) * 0.55 * Math.SQRT1_2), palette().dead))") == true);
    b.value("$('cube').click(), 0");
    b.settle();
    CHECK(b.value("picture.marks.some(m => m.dead && near(picture.x(m.at[0]), picture.y(m.at[1]), palette().dead))") == true);
    CHECK(b.value("node_near(42, palette().dead)") == true);
  });
}

TEST_CASE("the ends of twisted links have a colour of their own, and say where they go on", "[browser]") {
  const Folder folder;
  in_each_window(viewed(folder, "broadcast --on 4x8t --algorithm flood"), [](Browser& b) {
    b.key("Home");
    CHECK(b.value("$('twist_key').hidden") == false);
    const Json marks = b.value("picture.marks.filter(m => m.twist).map(m => m.twist)");
    CHECK(marks.size() == 16);  // above and below each of eight columns
    // Up from (0,0), by half of the long extent.
    CHECK(b.value("picture.marks.find(m => m.twist && m.at[0] === picture.layout.x[0] && m.side[1] < 0).twist") == "(3,4)");
    CHECK(b.value("picture.marks.filter(m => m.twist).every(m => near(picture.x(m.at[0]), picture.y(m.at[1]), palette().twist))") == true);
  });
}

TEST_CASE("groups play at once, each in its colour, and the legend says so", "[browser]") {
  const Folder folder;
  in_each_window(viewed(folder, "allreduce --on 8x8 --groups rows --algorithm ring --bytes 64"), [](Browser& b) {
    CHECK(b.text("#title") == "allreduce by ring on 8x8, in 8 groups");
    CHECK(b.text("#facts").starts_with("64 nodes, 8 groups of 8 nodes, "));
    CHECK(b.text("#groups_key") == "frames and data of groups: 0 1 2 3 4 5 6 and so on");
    CHECK(b.value("$('data_key').hidden && !$('groups_key').hidden") == true);
    // The rim of each node, to the left of its middle, has its group's colour: linked rows have different ones.
    const std::string rim =
        "(n, g) => near(picture.x(picture.layout.x[n] - 0.28) + 2, picture.y(picture.layout.y[n] - 0.2), palette().groups[g])";
    b.key("Home");
    CHECK(b.value("Array.from({length: 64}, (_, n) => (" + rim + ")(n, data.group_colours[n >> 3])).every(Boolean)") == true);
    CHECK(b.value("data.group_colours.every((c, g) => c !== data.group_colours[(g + 1) % 8])") == true);
    // All groups send in the step, and a route has its sender's colour: beside each node, to the right.
    b.key("ArrowRight");
    CHECK(b.value("new Set(picture.routed(state.time, -1).map(m => shape.group_of(messages.source[m]))).size") == 8);
    CHECK(b.value("Array.from({length: 8}, (_, g) => near(picture.x(2.4), picture.y(g + 0.14), palette().groups[data.group_colours[g]]) || "
                  "near(picture.x(2.4), picture.y(g - 0.14), palette().groups[data.group_colours[g]])).every(Boolean)") == true);
    // The colour of the middle is the share of the group's contributions, of which there are eight.
    CHECK(b.value("Array.from({length: 64}, (_, n) => n).filter(n => node_pixel(n) === node_paint(n)).length") == 64);
    CHECK(b.value("data.wanted[9]") == 8 * b.value("data.segments").get<int>());
    b.value("choose(0, 26), 0");
    b.settle();
    CHECK(b.text("#node_title") == "Node (3,2), group 3, rank 2");
    b.key("End");
    CHECK(b.value("Array.from({length: 64}, (_, n) => clock.share(n)).every(s => s === 1)") == true);
  });
}

TEST_CASE("a trace of groups is a page too, blocks are named in the group, and who is in none is told", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  viewed(folder, "scatter --on 4x4 --bytes 8 --root 1 --groups file:" + folder.write("groups", "5 0 7\n2 11 3\n"));
  REQUIRE(command("view " + folder.file("t.jsonl") + " -o " + folder.file("trace.html")).status == 0);
  b->open(folder.file("trace.html"));
  teach(*b);
  CHECK(b->text("#facts").find("2 groups of 3 nodes") != std::string::npos);
  CHECK(b->text("#facts").find("1 source a group") != std::string::npos);
  CHECK(b->value("[...sources].sort((a, b) => a - b)") == Json({0, 11}));
  // The node with rank 2 of group 1, by its place; a node of no group is grey, and asked for nothing.
  b->value("choose(0, 3), 0");
  b->key("End");
  CHECK(b->text("#node_title") == "Node (0,3), group 1, rank 2");
  CHECK(b->text("#node").find("from (2,3)") != std::string::npos);
  b->value("choose(0, 9), 0");
  b->settle();
  CHECK(b->text("#node_title") == "Node (2,1), in no group");
  CHECK(b->text("#node").starts_with("It is to hold no blocks."));
  CHECK(b->value("node_pixel(9) === paint(palette().link)") == true);
  CHECK(b->complaints == std::vector<std::string>{});
  // A pair's block has its two nodes' names.
  b->open(viewed(folder, "alltoall --on 4x4 --groups columns --bytes 8"));
  CHECK(b->value("T.blocks_text(data, shape, [[6, 1]], 2, 4)") == "(1,2) to (2,2)");
  CHECK(b->value("T.blocks_text(data, shape, [[4, 4]], 2, 4)") == "(1,2) to all");
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("two collectives in other groups play on one page, each with its colours", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  REQUIRE(command("run allgather --on 4x4 --groups rows --view " + folder.file("page.html") + " + allreduce --groups columns --bytes 64")
              .status == 0);
  b->open(folder.file("page.html"));
  teach(*b);
  CHECK(b->value("runs.map(run => run.shape.group_of(6))") == Json({1, 2}));
  for (const int run : {0, 1}) {
    const std::string at = "pictures[" + std::to_string(run) + "]";
    CHECK(b->value("Array.from({length: 16}, (_, n) => pixel(Math.ceil(" + at + ".x(" + at + ".layout.x[n] - 0.28)) + 2, " + at + ".y(" +
                   at + ".layout.y[n] - 0.2), " + std::to_string(run) + ") === paint(palette().groups[" + (run == 0 ? "n >> 2" : "n % 4") +
                   "])).filter(Boolean).length") >= 12);
  }
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("two collectives at once play by their common steps, whose times are those of the report", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  const std::string page = folder.file("page.html");
  // Columns carry little and wait for the rows.
  const auto [first, second] = GENERATE(
      std::pair("allreduce --on 8x8 --groups rows --bytes 64", " + allreduce --groups columns --algorithm rings --bytes 1MiB"),
      std::pair("allreduce --on 8x8 --groups rows --bytes 1MiB", " + allreduce --groups columns --algorithm rings --bytes 64 --offset 2"),
      std::pair("broadcast --on 8x8 --contention share --algorithm mst --bytes 3000",
                " + broadcast --algorithm mst --source 9 --offset 20"));
  CAPTURE(first, second);
  const support::Ended ended = command(std::string("run ") + first + " --json --view " + page + second);
  REQUIRE(ended.status == 0);
  const Json report = support::parsed(ended.out);
  b->open(page);
  CHECK(b->value("$('clock').hidden") == true);
  // Both are at the step of all that is shown, and the last one ends when all end.
  for (int time = 1; time <= b->value("last_time").get<int>(); ++time) {
    b->value("go(" + std::to_string(time) + "), 0");
    CHECK(b->value("runs.every((run, r) => !moments[state.time].busy[r] || run.by_step.step[moments[state.time].times[r] - 1] === "
                   "moments[state.time].at)") == true);
  }
  b->settle();
  CHECK(b->value("data.together.ends_s.length") == report["steps"]);
  CHECK(b->value("data.together.ends_s[data.together.ends_s.length - 1]").get<double>() ==
        Approx(report["model_time_s"].get<double>()).epsilon(1e-12));
  CHECK(b->text("#where").ends_with("; model time " + seconds_text(report["model_time_s"])));
  b->key("Home");
  for (const int run : {0, 1}) {
    const Json& each = report["collectives"][static_cast<std::size_t>(run)];
    const std::string beside = seconds_text(each["together_s"]), alone = seconds_text(each["model_time_s"]);
    const std::string takes =
        std::to_string(each["steps"].get<int>()) + " steps, " + beside + (alone == beside ? "" : " (alone " + alone + ")");
    const int offset = each["offset"];
    CHECK(b->text("#now" + std::to_string(run))
              .starts_with((offset > 0 ? "begins at step " + std::to_string(offset) + "; " : "") + takes + ";"));
    CHECK(b->text("#verdict").find(takes.substr(takes.find(", ") + 2)) != std::string::npos);
  }
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("in a busy step of three dimensions each node's colour is seen, in slices and in a cube that turns", "[browser]") {
  const Folder folder;
  in_each_window(viewed(folder, "total-exchange --on 4x4x4 --bytes 8"), [](Browser& b) {
    b.key("ArrowRight");
    const std::string seen = "Array.from({length: 64}, (_, n) => n).filter(n => node_pixel(n) === node_paint(n)).length";
    CHECK(b.value(seen) == 64);
    CHECK(b.value("$('stub_key').hidden") == false);
    // Each message between slices has stubs at both ends, and no line across the slices.
    CHECK(b.value("T.stubs_of(shape, picture.layout, 0, [[0, 2], [1, 1]], -1)") == Json::array({Json::array({0, 32, 0, 1})}));
    const std::string before = b.screenshot();
    b.value("$('cube').click(), 0");
    b.settle();
    CHECK(b.value("picture.layout.cube") == true);
    CHECK(b.screenshot() != before);
    // In a cube a node may stand before another: that of which no nearer one is near has its colour.
    CHECK(b.value("Array.from({length: 64}, (_, n) => n).every(n => { const l = picture.layout; return node_pixel(n) === node_paint(n) || "
                  "l.order.slice(l.order.indexOf(n) + 1).some(o => Math.hypot(l.x[o] - l.x[n], l.y[o] - l.y[n]) < 0.25); })") == true);
    const Json at = b.value("(r => [r.left + r.width / 2, r.top + r.height / 2])($('torus0').getBoundingClientRect())");
    const Json turn = b.value("state.cube");
    for (const auto& [type, dx] : {std::pair("mousePressed", 0), std::pair("mouseMoved", 30), std::pair("mouseReleased", 30)})
      b.call("Input.dispatchMouseEvent",
             {{"type", type}, {"x", at[0].get<double>() + dx}, {"y", at[1]}, {"button", "left"}, {"buttons", 1}, {"clickCount", 1}});
    b.settle();
    CHECK(b.value("state.cube") != turn);
    CHECK(b.value("state.node") == -1);  // no click
  });
}

TEST_CASE("routes are of all nodes, of one, of one dimension, or the tree so far", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  b->open(viewed(folder, "broadcast --on 4x4x4 --algorithm flood"));
  const auto routed = [&] { return b->value("picture.routed(state.time, state.node).length").get<int>(); };
  CHECK(routed() == b->value("messages.first[1]").get<int>());
  const auto set = [&](const std::string& id, const std::string& value) {
    b->value("$('" + id + "').value = '" + value + "', $('" + id + "').onchange(), 0");
    b->settle();
  };
  set("routes", "node");
  CHECK(routed() == 0);
  b->value("choose(0, 0), 0");
  CHECK(routed() == b->value("messages.sent_by(0).filter(m => messages.step[m] === 0).length").get<int>());
  set("routes", "none");
  CHECK(routed() == 0);
  set("routes", "all");
  const std::string all = b->screenshot();
  set("only", "2");
  CHECK(b->screenshot() != all);
  CHECK(b->value("T.route_lines(shape, slices, 0, [[2, 1], [1, 1]], 1).length") == 1);
  CHECK(b->value("T.route_lines(shape, slices, 0, [[0, 1]], 2).length") == 0);
  b->key("End");
  const std::string bare = b->screenshot();
  b->value("$('tree').click(), 0");
  b->settle();
  CHECK(b->screenshot() != bare);
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("two runs play on one clock, of steps or of model time", "[browser]") {
  const Folder folder;
  viewed(folder, "broadcast --on 8x8 --algorithm flood --switching packet");
  std::filesystem::rename(folder.file("t.jsonl"), folder.file("a.jsonl"));
  viewed(folder, "broadcast --on 8x8 --algorithm tsai-mckinley");
  REQUIRE(command("view " + folder.file("a.jsonl") + " " + folder.file("t.jsonl") + " -o " + folder.file("two.html")).status == 0);
  const Json report = support::parsed(command("run broadcast --on 8x8 --algorithm tsai-mckinley --steps --json").out);
  const auto bytes = [](const Json& number) { return grouped(number.get<std::uint64_t>()) + " B"; };
  in_each_window(folder.file("two.html"), [&](Browser& b) {
    // What the channels of each run carry: in all, and in a step.
    b.key("Home");
    CHECK(b.text("#now1").find("busiest channel " + bytes(report["channel_bytes_max"]) + ", ") != std::string::npos);
    b.key("ArrowRight");
    CHECK(b.text("#now1").ends_with("fullest channel " + bytes(report["step_table"][0]["channel_bytes"])));
    const int first = b.value("runs[0].last_time"), second = b.value("runs[1].last_time");
    REQUIRE(first != second);
    CHECK(b.value("last_time") == std::max(first, second));
    CHECK(b.text("#verdict").find("flood: ") != std::string::npos);
    CHECK(b.text("#verdict").find("tsai-mckinley: ") != std::string::npos);
    // Beside each other where there is room, and of one size.
    CHECK(b.value("($('torus0').getBoundingClientRect().top === $('torus1').getBoundingClientRect().top) === innerWidth > 900") == true);
    CHECK(b.value("pictures[0].cell === pictures[1].cell") == true);
    b.key("End");
    CHECK(b.text("#now0").starts_with(first < second ? "done after" : "step"));
    CHECK(b.text("#now1").starts_with(first < second ? "step" : "done after"));
    CHECK(b.value("runs.every(run => Array.from({length: 64}, (_, n) => run.clock.share(n)).every(s => s === 1))") == true);
    // By model time, each end of a step is a moment, and a step is drawn until its end.
    b.value("$('by_time').click(), 0");
    b.settle();
    CHECK(b.value("last_time") == b.value("new Set(runs.flatMap(run => run.model_times)).size"));
    CHECK(b.value("moments.slice(1).every(({at, times, busy}) => runs.every((run, r) => busy[r] ? at <= run.model_times[times[r] - 1] && "
                  "(times[r] === 1 || at > run.model_times[times[r] - 2]) : times[r] === run.last_time))") == true);
    b.key("Home");
    b.key("ArrowRight");
    CHECK(b.text("#where").find("of model time") != std::string::npos);
    // A node of the second run.
    b.value("$('torus1').scrollIntoView({block: 'center'}), 0");
    const Json at = b.value(
        "(r => [r.left + pictures[1].x(pictures[1].layout.x[9]), r.top + pictures[1].y(pictures[1].layout.y[9])])"
        "($('torus1').getBoundingClientRect())");
    b.click(at[0], at[1]);
    CHECK(b.value("[state.run, state.node]") == Json({1, 9}));
  });
}

TEST_CASE("the large button covers no caption", "[browser]") {
  const Folder folder;
  viewed(folder, "broadcast --on 4x4 --algorithm flood");
  REQUIRE(command("view " + folder.file("t.jsonl") + " " + folder.file("t.jsonl") + " -o " + folder.file("page.html")).status == 0);
  in_each_window(folder.file("page.html"), [](Browser& b) {
    CHECK(b.value("$('big_play').hidden") == false);
    CHECK(b.value("(p => Array.from(document.querySelectorAll('.run figcaption'), c => c.getBoundingClientRect()).every(c => "
                  "c.right <= p.left || p.right <= c.left || c.bottom <= p.top || p.bottom <= c.top))"
                  "($('big_play').getBoundingClientRect())") == true);
  });
}

TEST_CASE("a page of two runs says in which parts of machine and request they differ", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  const auto traced = [&](const std::string& name, const std::string& line) {
    REQUIRE(command("run " + line + " --trace " + folder.file(name)).status == 0);
    return folder.file(name);
  };
  const std::string plain = traced("a", "broadcast --on 8x8 --algorithm wang-tseng --bytes 4KiB");
  const auto differences = [&](const std::string& other) {
    REQUIRE(command("view " + plain + " " + other + " -o " + folder.file(other.substr(other.rfind('/') + 1) + ".html")).status == 0);
    b->open(folder.file(other.substr(other.rfind('/') + 1) + ".html"));
    CHECK(b->value("$('differences').hidden") == false);
    return b->text("#differences");
  };
  CHECK(differences(traced("b", "broadcast --on 8x8 --algorithm mst --ports 1 --ts 2us --bytes 4KiB")) ==
        "Machine: ports 4 and 1; T_s 1 us and 2 us. Request: the same.");
  CHECK(differences(traced("c", "broadcast --on 8x8 --algorithm mst --ports 4 --bytes 4KiB")) == "Machine: the same. Request: the same.");
  const std::string of_collectives =
      differences(traced("d", "allreduce --on 8x8 --groups rows --algorithm ring --switching wormhole --bytes 64"));
  CHECK(of_collectives.find("groups all nodes and rows") != std::string::npos);
  CHECK(of_collectives.find("sources") == std::string::npos);  // an all-reduce has none
  // What a text leaves out differs, too.
  CHECK(differences(traced("e", "broadcast --on 8x8 --algorithm mst --ports 4 --bytes 4KiB --source 9")) ==
        "Machine: the same. Request: sources (0,0) and (1,1).");
  CHECK(b->complaints == std::vector<std::string>{});
  b->open(viewed(folder, "broadcast --on 8x8"));
  CHECK(b->text("#facts").find("; 1 source, ") != std::string::npos);
  CHECK(b->value("$('differences').hidden") == true);
}

TEST_CASE("two runs in other groups are called by them, and so does the page say how they differ", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  const std::string page = folder.file("page.html");
  struct Case {
    std::string on, one, other, names, request;
  };
  const std::string file = "file:" + folder.write("groups", "0 1\n2 3\n"), turned = "file:" + folder.write("turned", "1 0\n2 3\n");
  for (const auto& [on, one, other, names, request] :
       {Case{"4x4", "rows", "columns", "rows: rings|columns: rings", "groups rows and columns"},
        Case{"2x4x3", "axis:1", "axis:0,2", "axis:1: rings|axis:0,2: rings", "groups axis:1 and axis:0,2"},
        Case{"4x4", "rows", "slice:2x2", "rows: rings|4 groups: rings", "groups rows and 4 groups"},
        Case{"2x4x3", "axis:2", "columns", "axis:2: rings|axis:0: rings", "groups axis:2 and axis:0"},
        Case{"4x4", "slice:2x2", "slice:1x4", "4 groups: rings|rows: rings", "groups 4 groups and rows"},
        Case{"4x4", "slice:2x2", "stride:2x2", "first: rings|second: rings", "other groups"},
        Case{"1x4", "rows", "columns", "all nodes: rings|4 groups: rings", "groups all nodes and 4 groups"},
        Case{"4x4", file, turned, "first: rings|second: rings", "other groups"}}) {
    CAPTURE(on, one, other);
    for (const auto& [name, groups] : {std::pair("a", one), std::pair("b", other)})
      REQUIRE(command("run allreduce --on " + on + " --groups " + groups + " --algorithm rings --contention share --bytes 4KiB --trace " +
                      folder.file(name))
                  .status == 0);
    REQUIRE(command("view " + folder.file("a") + " " + folder.file("b") + " -o " + page).status == 0);
    b->open(page);
    CHECK(b->text("#name0") + "|" + b->text("#name1") == names.substr(0, names.find('|')) + ":" + names.substr(names.find('|')) + ":");
    CHECK(b->text("#differences").find(" Request: " + request) != std::string::npos);
    CHECK(b->text("#verdict").starts_with(names.substr(0, names.find('|')) + ": "));
  }
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("the address says where one is, and goes there", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  b->open(viewed(folder, "broadcast --on 8x8 --algorithm flood --switching packet") + "#step=3&node=9");
  CHECK(b->value("[by_step.step[state.time - 1], state.node]") == Json({3, 9}));
  CHECK(b->text("#node_title").starts_with("Node (1,1)"));
  CHECK(b->value("$('big_play').hidden") == true);
  const auto address = [&] { return b->value("new Promise(done => setTimeout(() => done(location.hash), 250))"); };
  b->key("ArrowRight");
  CHECK(address() == "#step=4&node=9");
  b->key("Home");
  CHECK(address() == "#step=start&node=9");
  const auto go_to = [&](const std::string& hash) {  // and wait until the page has heard of it, as it listens before we do
    b->value("new Promise(done => { addEventListener('hashchange', () => done(0), {once: true}); location.hash = '" + hash + "' })");
    b->settle();
  };
  go_to("#step=2&node=63");
  CHECK(b->value("[by_step.step[state.time - 1], state.node]") == Json({2, 63}));
  // What there is not is left out.
  go_to("#step=9999&node=64");
  CHECK(b->value("[state.time, state.node]") == Json({b->value("last_time"), -1}));
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("full screen leaves the machine and the player", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  b->open(viewed(folder, "broadcast --on 8x8"));
  if (b->value("document.fullscreenEnabled") != true) return;
  const Json at = b->value("(r => [r.left + r.width / 2, r.top + r.height / 2])($('full').getBoundingClientRect())");
  b->click(at[0], at[1]);
  b->value("new Promise(done => setTimeout(() => done(0), 500))");
  CHECK(b->value("document.fullscreenElement === document.documentElement") == true);
  CHECK(b->value("document.querySelector('header').offsetHeight + $('right').offsetHeight") == 0);
  CHECK(b->text("#full") == "leave full screen");
  CHECK(b->complaints == std::vector<std::string>{});
}

TEST_CASE("a hypercube is called so, and large machines are coloured cells with routes on demand", "[browser]") {
  const auto b = browser();
  if (!b) return;
  const Folder folder;
  b->open(viewed(folder, "broadcast --on hypercube:6"));
  CHECK(b->text("#title").ends_with(" on a hypercube of 6 dimensions"));
  b->open(viewed(folder, "broadcast --on 33x33 --algorithm flood"));
  teach(*b);
  CHECK(b->value("picture.filled") == true);
  CHECK(b->value("picture.routed(1, -1).length") == 0);
  // A pixel near the corner of a cell has the node's colour: the cell is full of it.
  CHECK(b->value("pixel(picture.x(picture.layout.x[0] - 0.3), picture.y(picture.layout.y[0] - 0.3)) === node_paint(0)") == true);
  b->value("choose(0, 0), 0");
  CHECK(b->value("picture.routed(1, 0).length > 0") == true);
  CHECK(b->complaints == std::vector<std::string>{});
}
