/// Checked reads: what a program asks of a message or a node that is not there, and what programs say of messages that they did not expect.
#include "algorithms/common/received.hpp"

#include <exception>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/engine.hpp>
#include <torus/error.hpp>

#include "algorithms/multinode_broadcast/aggregate_distribute/exchange.hpp"
#include "algorithms/multinode_broadcast/aggregate_distribute/prefix.hpp"
#include "algorithms/multinode_broadcast/diagonal.hpp"
#include "algorithms/multinode_broadcast/hierarchical/windows.hpp"
#include "algorithms/multinode_broadcast/ring.hpp"
#include "algorithms/multinode_broadcast/source_names.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/collect.hpp"

using namespace torus;
using support::all_nodes;

namespace {

using Start = std::function<Program(Node&)>;
using Sends = std::function<void(Node&)>;

std::string text_thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

Program once(Node& self, const Sends& sends) {
  sends(self);
  co_await self.step();
}

/// What a run says in which one node does not follow the others' program, but sends something in step 0. Empty: it ended without an error.
std::string said(const Machine& machine, const Placement& placement, const Start& others, NodeId who, const Sends& sends) {
  RunOptions options;
  options.executor = ExecutorKind::serial;
  options.verify = false;
  Engine engine(machine, placement, options);
  return text_thrown_by([&] { engine.run([&](Node& self) { return self.rank() == who ? once(self, sends) : others(self); }); });
}

/// The same of a phase where every node has one message, of so many segments.
std::string said_in_phase(const Machine& machine, std::uint32_t segments, const Start& phase, NodeId who, const Sends& sends) {
  return said(machine, Placement::replicated(machine.topology, all_nodes(machine.topology.nodes()), 8, segments), phase, who, sends);
}

/// The same of an algorithm, of which node 0 is the root or a source and does not take part.
std::string said_by(Collective collective, const char* algorithm, const char* shape, const Sends& sends, Parameters parameters = {}) {
  const Algorithm& found = *find_algorithm(collective, algorithm);
  const Machine machine(Topology::parse(shape), 0, found.native.switching, found.native.contention);
  Request request;
  request.collective = collective;
  request.bytes = 8;
  request.sources = facts_of(collective).rooted() ? std::vector<NodeId>{0} : all_nodes(machine.topology.nodes());
  request.parameters = std::move(parameters);
  const Plan plan = found.plan(machine, request);
  return said(machine, placement_of(machine, request, plan), plan.start, 0, sends);
}

/// Sends the node's first blocks, so many of them, over one leg.
Sends sending(Leg leg, std::size_t blocks, std::vector<Word> header = {}) {
  return [=](Node& self) { self.send({leg}, self.blocks().first(blocks), header); };
}

bool ends_with(const std::string& text, const std::string& end) { return text.size() >= end.size() && text.ends_with(end); }

}  // namespace

TEST_CASE("a view gives what there is", "[unit]") {
  const std::vector<Word> words{5, 6, 7};
  const WordsView view(words.data(), words.size());
  CHECK(view.size() == 3);
  CHECK_FALSE(view.empty());
  CHECK(view[0] == 5);
  CHECK(view[2] == 7);
  CHECK(view.front() == 5);
  CHECK(view.back() == 7);
  CHECK(std::accumulate(view.begin(), view.end(), Word{0}) == 18);
  CHECK(view.first(2).back() == 6);
  CHECK(view.last(2).front() == 6);
  CHECK(view.first(0).empty());
  CHECK(view.last(3).size() == 3);
  CHECK(view.subspan(1, 1).front() == 6);
  CHECK(view.subspan(1).size() == 2);
  CHECK(view.subspan(3).empty());
  CHECK(view.subspan(3, 0).empty());
  const std::span<const Word> span = view;  // as an argument
  CHECK(span.data() == words.data());
  CHECK(span.size() == 3);
  CHECK(BlocksView().empty());
}

TEST_CASE("a view refuses what there is not, and says what it has", "[unit]") {
  const std::vector<BlockId> ids{5, 6, 7};
  const BlocksView view(ids.data(), ids.size()), none;
  const std::string more = " of 3: they are numbered from 0; ask size() first";
  CHECK(text_thrown_by([&] { static_cast<void>(view[3]); }) == "block 3" + more);
  CHECK(text_thrown_by([&] { static_cast<void>(view[~std::size_t{0}]); }) == "block 18446744073709551615" + more);
  CHECK(text_thrown_by([&] { static_cast<void>(view.first(4)); }) == "blocks 0 to 3" + more);
  CHECK(text_thrown_by([&] { static_cast<void>(view.last(4)); }) == "blocks 0 to 3" + more);
  CHECK(text_thrown_by([&] { static_cast<void>(view.subspan(2, 2)); }) == "blocks 2 to 3" + more);
  CHECK(text_thrown_by([&] { static_cast<void>(view.subspan(4)); }) == "blocks from 4 on" + more);
  CHECK(text_thrown_by([&] { static_cast<void>(view.subspan(4, 0)); }) == "blocks from 4 on" + more);
  CHECK(text_thrown_by([&] { static_cast<void>(view.subspan(1, ~std::size_t{0})); }).starts_with("blocks 1 to "));
  CHECK(text_thrown_by([&] { static_cast<void>(none.front()); }) == "block 0 of 0: there is none; ask empty() first");
  CHECK(text_thrown_by([&] { static_cast<void>(none.back()); }) == "block 0 of 0: there is none; ask empty() first");
  CHECK(text_thrown_by([] { static_cast<void>(WordsView()[1]); }) == "control word 1 of 0: there is none; ask empty() first");
  CHECK(text_thrown_by([] { static_cast<void>(LegsView()[1]); }) == "leg 1 of 0: there is none; ask empty() first");
}

TEST_CASE("what is not in a message or at a node is refused with step and node", "[unit]") {
  const Machine machine(Topology::parse("2x3"));
  const auto asking = [&](const std::function<void(Node&, const Message&)>& ask) {
    const auto others = [ask](Node& node) {
      return [](Node& self, const std::function<void(Node&, const Message&)>& question) -> Program {
        for (const Message& m : co_await self.arrival()) question(self, m);
      }(node, ask);
    };
    return said(machine, Placement::replicated(machine.topology, {0}, 8, 2), others, 0, sending({1, 1}, 2, {9}));
  };
  CHECK(asking([](Node&, const Message& m) { static_cast<void>(m.header()[0]); }).empty());
  CHECK(asking([](Node&, const Message& m) { static_cast<void>(m.header()[1]); }) ==
        "step 1, node (0,1): control word 1 of 1: they are numbered from 0; ask size() first");
  CHECK(asking([](Node&, const Message& m) { static_cast<void>(m.blocks().first(3)); }) ==
        "step 1, node (0,1): blocks 0 to 2 of 2: they are numbered from 0; ask size() first");
  CHECK(asking([](Node&, const Message& m) { static_cast<void>(m.route()[1]); }) ==
        "step 1, node (0,1): leg 1 of 1: they are numbered from 0; ask size() first");
  CHECK(asking([](Node& self, const Message&) { static_cast<void>(self.blocks()[2]); }) ==
        "step 1, node (0,1): block 2 of 2: they are numbered from 0; ask size() first");
  CHECK(asking([](Node&, const Message& m) { unexpected(m, "no"); }) ==
        "step 1, node (0,1): a message from node 0 of step 0 along dimension 1: no");
}

TEST_CASE("a value that a message brings is held to its bounds", "[unit]") {
  CHECK(bounded(3, 1, 3, "length") == 3);
  CHECK(bounded(1, 1, 3, "length") == 1);
  CHECK(bounded(0xffffffff, -2, 3, "distance") == -1);
  CHECK(text_thrown_by([] { bounded(4, 1, 3, "length"); }) == "a message brings the length 4: it must be 1 to 3 here");
  CHECK(text_thrown_by([] { bounded(0, 1, 3, "length"); }) == "a message brings the length 0: it must be 1 to 3 here");
  CHECK(text_thrown_by([] { bounded(0xffffffff, NodeId{0}, 3, "root"); }) ==
        "a message brings the root 4294967295: it must be 0 to 3 here");
  std::vector<int> table{1, 2};
  checked_at(table, 1) = 3;
  CHECK(table[1] == 3);
  CHECK(text_thrown_by([&] { checked_at(table, 2) = 0; }) == "a message brings the index 2: it must be 0 to 1 here");
  CHECK(text_thrown_by([&] { checked_at(table, -1) = 0; }) == "a message brings the index -1: it must be 0 to 1 here");
}

TEST_CASE("a row before the first is refused as one after the last is", "[unit]") {
  const RowTable<int> table({{1}, {2, 3}});
  CHECK(table.row(1).size() == 2);
  CHECK(text_thrown_by([&] { static_cast<void>(table.row(2)); }) == "row 2 of a table of 2: no message was to come here now");
  CHECK(text_thrown_by([&] { static_cast<void>(table.row(static_cast<std::size_t>(-1))); }).ends_with(": no message was to come here now"));
  CHECK_FALSE(text_thrown_by([] { static_cast<void>(RowTable<int>().row(0)); }).empty());
}

TEST_CASE("a broadcast refuses a message that lacks what its header must say", "[unit]") {
  const auto by = [](const char* algorithm, const char* shape, std::size_t blocks, const std::vector<Word>& header) {
    return said_by(Collective::broadcast, algorithm, shape, sending({0, 1}, blocks, header));
  };
  const std::string no_word = "control word 0 of 0: there is none; ask empty() first",
                    no_block = "block 0 of 0: there is none; ask empty() first";
  for (const char* algorithm : {"span", "wang-tseng", "dimension-wise"}) {
    CAPTURE(algorithm);
    CHECK(by(algorithm, "3x3", 1, {}) == "step 1, node (1,0): " + no_word);
  }
  CHECK(ends_with(by("wang-tseng", "3x3", 1, {0}), "control word 1 of 1: they are numbered from 0; ask size() first"));
  CHECK(ends_with(by("wang-tseng", "3x3", 1, {9, 1}), ": a message brings the source 9: it must be 0 to 8 here"));
  CHECK(ends_with(by("wang-tseng", "3x3", 1, {0, 4}), ": a message brings the length 4: it must be 1 to 3 here"));
  CHECK(ends_with(by("span", "3x3", 1, {4}), ": a message brings the length 4: it must be 1 to 3 here"));
  CHECK(ends_with(by("dimension-wise", "3x3", 1, {4, 1}), ": a message brings the length 4: it must be 1 to 3 here"));
  CHECK(ends_with(by("dimension-wise", "3x3", 1, {1, 0}),
                  ": a message brings the step in which the next dimension begins 0: it must be 1 to 2 here"));
  CHECK(ends_with(by("tsai-mckinley", "2x2x5", 1, {6}), ": a message brings the length 6: it must be 1 to 5 here"));
  CHECK(ends_with(by("squeeze-expand", "4x6", 1, {24}), ": a message brings the root 24: it must be 0 to 23 here"));
  for (const char* algorithm : {"flood", "edst-broadcast"}) {
    CAPTURE(algorithm);
    CHECK(by(algorithm, "3x3", 0, {}) == "step 1, node (1,0): " + no_block);
  }
  CHECK(by("tree-packing", "3x3", 0, {}) == "step 1, node (1,0): " + no_block);
}

TEST_CASE("an exchange or a scatter refuses a message of too few blocks, or of a strange leg", "[unit]") {
  const std::string no_block = "block 0 of 0: there is none; ask empty() first";
  CHECK(ends_with(said_by(Collective::scatter, "spread", "3x3", sending({0, 1}, 0)), no_block));
  CHECK(ends_with(said_by(Collective::gather, "spread", "3x3", sending({0, 1}, 0)), no_block));
  CHECK(ends_with(said_by(Collective::total_exchange, "a2", "3x3", sending({1, 1}, 0)), no_block));
  CHECK(ends_with(said_by(Collective::total_exchange, "a2", "3x3", [](Node&) {}),
                  ": arrival 0 of 0: nothing has arrived; ask empty() first"));
  CHECK(said_by(Collective::total_exchange, "rotating", "5x5", sending({0, 1}, 1)).starts_with("step 1, node (1,0): blocks 0 to "));
  CHECK(said_by(Collective::total_exchange, "sequential", "5x5", sending({1, 1}, 1)) ==
        "step 1, node (0,1): a message from node 0 of step 0 along dimension 1: no bundle of this stage goes by its leg");
}

TEST_CASE("the phases of a multi-node broadcast refuse messages that are not due", "[unit]") {
  using namespace torus::multinode_broadcast;
  using namespace torus::multinode_broadcast::aggregate_distribute;
  using namespace torus::multinode_broadcast::hierarchical;
  const Machine square(Topology::parse("4x4"));
  const std::string no_word = "control word 0 of 0: there is none; ask empty() first";

  const std::vector<Dimension> axes{0, 1};
  const std::vector<LineTree> trees(2, LineTree::line(3, 4));
  const auto counting = [&](Node& node) {
    return [](Node& self, const std::vector<Dimension>& along, const std::vector<LineTree>& with) -> Program {
      static_cast<void>(co_await count_everywhere(self, along, with, 1));
    }(node, axes, trees);
  };
  CHECK(said_in_phase(square, 1, counting, 0, sending({0, 1}, 0)) == "step 1, node (1,0): " + no_word);

  for (const Prefix kind : {Prefix::global5, Prefix::global3, Prefix::diag5, Prefix::diag3}) {
    CAPTURE(std::string(name(kind)));
    const PrefixTables tables(kind, 4, 2);
    const auto ranking = [&](Node& node) {
      return
          [](Node& self, const PrefixTables& known) -> Program { static_cast<void>(co_await rank_of_first(self, known, 1)); }(node, tables);
    };
    const std::string refusal = said_in_phase(square, 1, ranking, 0, [](Node& self) { self.send({{0, 1}, {1, 1}}, {}); });
    CHECK((ends_with(refusal, no_word) || ends_with(refusal, "leg 1 of 1: they are numbered from 0; ask size() first")));
  }

  const RingGather rings{"rings", {0}, {4}, 1, 1};
  const auto gathering = [&](Node& node) {
    return [](Node& self, const RingGather& known) -> Program {
      std::vector<Bundle> bundles{Bundle(self.blocks().begin(), self.blocks().end())};
      co_await ring_gather(self, known, true, bundles);
    }(node, rings);
  };
  CHECK(said_in_phase(square, 1, gathering, 0, sending({1, 1}, 1)) ==
        "step 1, node (0,1): a message from node 0 of step 0 along dimension 1: no part goes along this dimension in this phase");

  const Machine five(Topology::parse("5x5"));
  const ClassWindows windows(Stations(five.topology, 2));
  std::int32_t spare = 0;
  while (windows.stations().index(0, spare)) ++spare;
  const auto in_classes = [&](Node& node) {
    return [](Node& self, const ClassWindows& known) -> Program {
      const Station station(self, known.stations());
      std::vector<Bundle> parts(2);
      co_await gather_classes(self, known, station, 1, parts);
    }(node, windows);
  };
  CHECK(ends_with(said_in_phase(five, 1, in_classes, five.topology.rank(Coordinates{spare, 0}), sending({0, 1}, 1)),
                  " along dimension 0: none is due by this channel in this step"));

  const Machine three(Topology::parse("3x3"));
  const ExchangeRounds rounds(3, true);
  const auto exchanging = [&](Node& node) {
    return [](Node& self, const ExchangeRounds& known) -> Program {
      Bundle bundle(self.blocks().begin(), self.blocks().end());
      co_await exchange_on_diagonal(self, known, {self.coordinate(0) == self.coordinate(1), self.coordinate(0), 1}, bundle);
    }(node, rounds);
  };
  CHECK(said_in_phase(three, 1, exchanging, 0, [](Node& self) {
          self.send({{0, 1}, {1, 1}}, self.blocks(), {7U});
        }) == "step 1, node (1,1): blocks 0 to 6 of 1: they are numbered from 0; ask size() first");

  const TuneMoves moves(2, 5);
  const auto tuning = [&](std::uint32_t parts, std::size_t blocks, std::vector<Word> header) {
    const auto others = [&](Node& node) {
      return [](Node& self, const TuneMoves& known, std::uint32_t count) -> Program {
        Bundle bundle;
        co_await tune(self, known, 0, count, bundle);
      }(node, moves, parts);
    };
    return said_in_phase(square, 2, others, 0, [&](Node& self) { self.send({{0, 1}, {1, 1}}, self.blocks().first(blocks), header); });
  };
  CHECK(tuning(2, 2, {}).empty());
  CHECK(tuning(1, 2, {0, 1}).empty());
  CHECK(ends_with(tuning(2, 1, {}), ": it brings a part of a message"));
  CHECK(ends_with(tuning(1, 1, {0, 0}), ": it brings another number of distances than of messages"));
  CHECK(ends_with(tuning(1, 1, {99}), ": a message brings the distance left 99: it must be -2 to 2 here"));
}

TEST_CASE("names and counts of sources that a message brings are held to the nodes that there are", "[unit]") {
  for (const char* shape : {"3x3", "4x5"}) {  // by the plane, and by rings
    for (const char* algorithm : {"swaths", "joint-swath"}) {
      CAPTURE(shape, algorithm);
      const std::string refusal = said_by(Collective::multinode_broadcast, algorithm, shape, [](Node& self) {
        for (const Leg leg : {Leg{0, 1}, {0, -1}, {1, 1}, {1, -1}}) self.send({leg}, {}, {99U});
      });
      CHECK(refusal.find(": a message brings the ") != std::string::npos);
      CHECK(refusal.find(" 99: it must be 0 to ") != std::string::npos);
    }
  }
  Parameters pipelined;
  pipelined.set("variant", "pipelined");
  CHECK(said_by(Collective::multinode_broadcast, "edst", "3x3", sending({0, 1}, 0, {99}), pipelined)
            .find(": a message brings the number of sources ") != std::string::npos);
}
