#include <limits>
#include <stdexcept>

#include <torus/error.hpp>
#include <torus/judge.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

namespace {

TraceHeader header_for(const Machine& machine, const char* collective = "broadcast", std::vector<NodeId> sources = {0}) {
  return {machine, collective, std::move(sources), 1, 1, "by hand", 1};
}

Verdict judged(const TraceHeader& header, const std::vector<TraceMessage>& messages) {
  Judge judge(header);
  for (const TraceMessage& message : messages) {
    if (!judge.message(message)) break;
  }
  return judge.finish();
}

/// The first violation; empty if there is none.
std::string violation(const TraceHeader& header, const std::vector<TraceMessage>& messages) {
  const Verdict verdict = judged(header, messages);
  return verdict.violations.empty() ? "" : verdict.violations.front();
}

bool names(const std::string& text, std::initializer_list<const char*> parts) {
  return std::all_of(parts.begin(), parts.end(), [&](const char* part) { return text.find(part) != std::string::npos; });
}

const Machine ring4(Topology::parse("4"), 2, Switching::wormhole);
const std::vector<TraceMessage> ring4_broadcast{{0, 0, 1, {{0, 1}}, 1, {0}}, {0, 0, 3, {{0, -1}}, 1, {0}}, {1, 1, 2, {{0, 1}}, 1, {0}}};

}  // namespace

TEST_CASE("a legal and complete trace is found so, and counted", "[unit]") {
  const Verdict verdict = judged(header_for(ring4), ring4_broadcast);
  CHECK(verdict.ok);
  CHECK(verdict.violations.empty());
  CHECK(verdict.busy_steps == 2);
  CHECK(verdict.last_step == 1);
  CHECK(verdict.messages == 3);
  CHECK(verdict.hops == 3);
  CHECK(verdict.bytes == 3);
  CHECK(verdict.max_channel_load == 1);
  CHECK(verdict.channel_bytes == 2);
}

TEST_CASE("each missing message is an incomplete trace that names a node", "[unit]") {
  for (std::size_t i = 0; i < ring4_broadcast.size(); ++i) {
    auto messages = ring4_broadcast;
    messages.erase(messages.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK(!judged(header_for(ring4), messages).ok);
  }
  CHECK(names(violation(header_for(ring4), {ring4_broadcast[0], ring4_broadcast[1]}), {"node (2) lacks block 0"}));
  CHECK(judged(header_for(ring4), {}).missing_blocks == 3);
}

TEST_CASE("a block is held from the end of the step on, not before", "[unit]") {
  auto messages = ring4_broadcast;
  messages[2].step = 0;
  CHECK(names(violation(header_for(ring4), messages), {"step 0", "node (1)", "block 0", "does not hold"}));
}

TEST_CASE("a channel that two messages use is named, with both senders", "[unit]") {
  const Machine line(Topology::parse("mesh:4"), 2, Switching::wormhole);
  const std::vector<TraceMessage> messages{
      {0, 0, 2, {{0, 2}}, 1, {0}}, {0, 1, 2, {{0, 1}}, 1, {}}, {1, 2, 3, {{0, 1}}, 1, {0}}, {1, 2, 1, {{0, -1}}, 1, {0}}};
  CHECK(names(violation(header_for(line), messages), {"step 0", "channel (1) dimension 0 direction +1", "two messages", "(0)", "(1)"}));
  const Machine sharing(Topology::parse("mesh:4"), 2, Switching::wormhole, Contention::share);
  const Verdict shared = judged(header_for(sharing), messages);
  CHECK(shared.ok);
  CHECK(shared.max_channel_load == 2);
  CHECK(shared.max_channel_bytes == 2);
}

TEST_CASE("ports are counted on both sides", "[unit]") {
  const Machine one_port(Topology::parse("4"), 1, Switching::wormhole);
  CHECK(names(violation(header_for(one_port), ring4_broadcast), {"step 0", "node (0)", "sends more than 1"}));
  const std::vector<TraceMessage> into{
      {0, 0, 1, {{0, 1}}, 1, {0}}, {1, 0, 3, {{0, -1}}, 1, {0}}, {2, 1, 2, {{0, 1}}, 1, {0}}, {2, 3, 2, {{0, -1}}, 1, {0}}};
  CHECK(names(violation(header_for(one_port), into), {"step 2", "node (2)", "receives more than 1"}));
}

TEST_CASE("routes are judged by switching, shape and where they end", "[unit]") {
  const Topology torus = Topology::parse("4x4m");
  const auto first = [&](Switching switching, std::vector<Leg> path, NodeId from, NodeId to, std::vector<Dimension> routing = {}) {
    return violation(header_for(Machine(torus, 0, switching, Contention::forbid, std::move(routing)), "broadcast", {from}),
                     {{0, from, to, std::move(path), 1, {from}}});
  };
  const auto lacks = [](const std::string& text) { return names(text, {"lacks block"}); };
  CHECK(names(first(Switching::packet, {{0, 2}}, 0, 8), {"2 hops under packet"}));
  CHECK(lacks(first(Switching::packet, {{0, 1}}, 0, 4)));
  CHECK(names(first(Switching::wormhole, {{1, 1}, {0, 1}}, 0, 5), {"not dimension-ordered"}));
  CHECK(names(first(Switching::wormhole, {{0, 1}, {1, 1}, {0, 1}}, 0, 9), {"not dimension-ordered"}));
  CHECK(lacks(first(Switching::wormhole, {{1, 1}, {0, 1}}, 0, 5, {1, 0})));
  CHECK(lacks(first(Switching::circuit, {{0, 1}, {1, 1}, {0, 1}}, 0, 9)));
  CHECK(names(first(Switching::wormhole, {{1, 4}}, 0, 0), {"leaves the machine", "(0,3)"}));
  CHECK(names(first(Switching::wormhole, {{1, -1}}, 0, 3), {"leaves the machine"}));
  CHECK(names(first(Switching::wormhole, {{0, 1}}, 0, 5), {"ends at node (1,0)"}));
  CHECK(names(first(Switching::wormhole, {}, 0, 0), {"has no hop"}));
  CHECK(names(first(Switching::wormhole, {{0, 0}}, 0, 0), {"has no hop"}));
  CHECK(names(first(Switching::wormhole, {{0, 5}}, 0, 4), {"crosses channel (0,0) dimension 0 direction +1 twice"}));
  CHECK(names(first(Switching::wormhole, {{0, 2000000001}}, 0, 4), {"crosses", "twice"}));
  CHECK(lacks(first(Switching::circuit, {{0, 4}, {1, 1}}, 0, 1)));
}

TEST_CASE("a ring of two has two links, a ring of one none, a complete dimension one to each", "[unit]") {
  const Machine pair(Topology::parse("2"), 2, Switching::wormhole);
  CHECK(judged(header_for(pair, "total-exchange", {0, 1}),
               {{0, 0, 1, {{0, 1}}, 1, {1}}, {0, 0, 1, {{0, -1}}, 1, {}}, {0, 1, 0, {{0, 1}}, 1, {2}}})
            .ok);
  const Machine single(Topology::parse("1x2"), 2, Switching::wormhole);
  CHECK(names(violation(header_for(single), {{0, 0, 0, {{0, 1}}, 1, {0}}}), {"leaves the machine"}));
  const Machine complete(Topology::parse("5c"), 4, Switching::packet);
  CHECK(judged(header_for(complete),
               {{0, 0, 1, {{0, 1}}, 1, {0}}, {0, 0, 2, {{0, 2}}, 1, {0}}, {0, 0, 3, {{0, -2}}, 1, {0}}, {0, 0, 4, {{0, 4}}, 1, {0}}})
            .ok);
  CHECK(names(violation(header_for(complete), {{0, 0, 0, {{0, 0}}, 1, {0}}}), {"leaves the machine"}));
  CHECK(names(violation(header_for(complete), {{0, 0, 0, {{0, 5}}, 1, {0}}}), {"leaves the machine"}));
}

TEST_CASE("blocks that do not exist, too few bytes and steps that go back are violations", "[unit]") {
  CHECK(names(violation(header_for(ring4), {{0, 0, 1, {{0, 1}}, 1, {3}}}), {"block 3", "does not exist"}));
  CHECK(names(violation(header_for(ring4), {{0, 0, 1, {{0, 1}}, 0, {0}}}), {"0 bytes for 1 block of 1"}));
  CHECK(names(violation(header_for(ring4), {ring4_broadcast[2], ring4_broadcast[0]}), {"does not hold"}));
  auto messages = ring4_broadcast;
  messages.push_back({0, 2, 3, {{0, 1}}, 1, {}});  // legal, had it come in time
  CHECK(names(violation(header_for(ring4), messages), {"steps must ascend"}));
}

TEST_CASE("every collective has its own idea of what must arrive", "[unit]") {
  const Machine pair(Topology::parse("mesh:2"), 1, Switching::packet);
  const TraceMessage there{0, 0, 1, {{0, 1}}, 2, {}};
  const TraceMessage back{0, 1, 0, {{0, -1}}, 2, {}};
  const auto with = [](TraceMessage message, std::vector<std::uint64_t> blocks) {
    message.blocks = std::move(blocks);
    return message;
  };
  CHECK(judged(header_for(pair, "multinode-broadcast", {0, 1}), {with(there, {0}), with(back, {1})}).ok);
  CHECK(!judged(header_for(pair, "multinode-broadcast", {0, 1}), {with(there, {0})}).ok);
  CHECK(judged(header_for(pair, "multinode-broadcast", {}), {}).ok);
  CHECK(judged(header_for(pair, "allgather", {0, 1}), {with(there, {0}), with(back, {1})}).ok);
  CHECK(judged(header_for(pair, "total-exchange", {0, 1}), {with(there, {1}), with(back, {2})}).ok);
  CHECK(!judged(header_for(pair, "total-exchange", {0, 1}), {with(there, {0}), with(back, {2})}).ok);
  CHECK(judged(header_for(pair, "scatter", {1}), {with(back, {0})}).ok);
  CHECK(!judged(header_for(pair, "scatter", {1}), {with(back, {1})}).ok);
  CHECK(judged(header_for(pair, "gather", {1}), {with(there, {0})}).ok);
  CHECK(!judged(header_for(pair, "gather", {0}), {with(there, {0})}).ok);
  TraceHeader cut = header_for(pair, "broadcast", {1});
  cut.segments = 3;
  TraceMessage all = with(back, {3, 4, 5});
  all.bytes = 3;
  CHECK(judged(cut, {all}).ok);
  CHECK(!judged(cut, {with(back, {3, 4})}).ok);
}

TEST_CASE("scatter, gather and all-gather may be cut in segments: block id = node x segments + segment", "[unit]") {
  const Machine pair(Topology::parse("mesh:2"), 1, Switching::packet);
  const auto cut = [&](const char* collective, std::vector<NodeId> sources) {
    TraceHeader header = header_for(pair, collective, std::move(sources));
    header.segments = 2;
    return header;
  };
  const TraceMessage there{0, 0, 1, {{0, 1}}, 2, {2, 3}}, own{0, 0, 1, {{0, 1}}, 2, {0, 1}}, back{0, 1, 0, {{0, -1}}, 2, {2, 3}};
  CHECK(judged(cut("scatter", {0}), {there}).ok);
  CHECK_FALSE(judged(cut("scatter", {0}), {own}).ok);
  CHECK(violation(cut("scatter", {0}), {{0, 0, 1, {{0, 1}}, 2, {3}}}) == "after step 0: node (1) lacks block 2");
  CHECK(judged(cut("gather", {1}), {own}).ok);
  CHECK(violation(cut("gather", {1}), {{0, 0, 1, {{0, 1}}, 2, {0}}}) == "after step 0: node (1) lacks block 1");
  CHECK(judged(cut("allgather", {}), {own, back}).ok);
  CHECK(judged(cut("allgather", {}), {own}).missing_blocks == 2);
  CHECK(names(violation(cut("allgather", {}), {{0, 0, 1, {{0, 1}}, 2, {4}}}), {"block 4", "does not exist"}));
}

TEST_CASE("blocks of no bytes need not come, and count for nothing where they do", "[unit]") {
  const Machine pair(Topology::parse("mesh:2"), 1, Switching::packet);
  const auto sized = [&](const char* collective, std::vector<NodeId> sources, std::vector<Bytes> sizes) {
    TraceHeader header = header_for(pair, collective, std::move(sources));
    header.block_bytes = 0;
    header.segments = header.collective == "total-exchange" ? 1 : static_cast<std::uint32_t>(sizes.size() / 2);
    header.sizes = std::move(sizes);
    return header;
  };
  const auto there = [](std::vector<std::uint64_t> blocks) { return TraceMessage{0, 0, 1, {{0, 1}}, 9, std::move(blocks)}; };
  const auto back = [](std::vector<std::uint64_t> blocks) { return TraceMessage{0, 1, 0, {{0, -1}}, 9, std::move(blocks)}; };
  struct Example {
    TraceHeader header;
    std::vector<TraceMessage> full;   // without empty blocks
    std::vector<TraceMessage> lacks;  // the last of what is wanted, though an empty block comes in its place
  };
  for (const Example& e : {
           Example{sized("broadcast", {0}, {0, 9, 0, 9}), {there({1})}, {there({0})}},
           Example{sized("broadcast", {1}, {9, 9, 9, 0}), {back({2})}, {back({3})}},
           Example{sized("multinode-broadcast", {0, 1}, {9, 0, 0, 9}), {there({0}), back({3})}, {there({0}), back({2})}},
           Example{sized("allgather", {}, {9, 0, 0, 9}), {there({0}), back({3})}, {there({1}), back({3})}},
           Example{sized("scatter", {0}, {0, 9, 9, 0}), {there({2})}, {there({3})}},
           Example{sized("gather", {0}, {0, 9, 0, 9}), {back({3})}, {back({2})}},
           Example{sized("total-exchange", {}, {0, 0, 9, 0}), {back({2})}, {there({1})}},
       }) {
    CAPTURE(e.header.collective, e.header.sizes);
    const Verdict full = judged(e.header, e.full);
    CHECK(full.violations == std::vector<std::string>());
    CHECK(full.ok);
    const Verdict lacks = judged(e.header, e.lacks);
    CHECK(lacks.missing_blocks == 1);
    CHECK_FALSE(lacks.ok);
  }
  CHECK(judged(sized("allgather", {}, {0, 0}), {}).ok);
  CHECK(violation(sized("gather", {0}, {9, 9, 0, 9}), {}) == "without messages: node (0) lacks block 3");
}

TEST_CASE("a segment of no bytes needs no contributors, and one that does not exist is none", "[unit]") {
  const Machine pair(Topology::parse("mesh:2"), 1, Switching::packet);
  const auto sized = [&](const char* collective, std::vector<NodeId> sources) {
    TraceHeader header = header_for(pair, collective, std::move(sources));
    header.block_bytes = 0;
    header.segments = std::string_view(collective) == "reduce-scatter" ? 1 : 2;
    header.sizes = {9, 0};
    return header;
  };
  const auto to = [](NodeId node, std::vector<std::uint64_t> blocks) {
    return TraceMessage{0, 1 - node, node, {{0, node == 0 ? -1 : 1}}, 9, std::move(blocks), 1, true};
  };
  for (const TraceHeader& header : {sized("reduce-scatter", {}), sized("reduce", {0}), sized("allreduce", {})}) {
    CAPTURE(header.collective);
    std::vector<TraceMessage> messages{to(0, {0})};
    if (header.collective == "allreduce") messages.push_back({1, 0, 1, {{0, 1}}, 9, {0}});
    CHECK(judged(header, messages).violations == std::vector<std::string>());
    messages.front().blocks = {0, 1};
    CHECK(judged(header, messages).ok);
    messages.front().blocks = {1};
    CHECK(judged(header, messages).missing_blocks > 0);
    messages.front().blocks = {0, 3};  // would be register 1 of the segment of no bytes
    CHECK(names(violation(header, messages), {"sends block 3, which does not exist"}));
  }
}

TEST_CASE("one partial may be combined with two, and one with two that are equal", "[unit]") {
  TraceHeader header = header_for(Machine(Topology::parse("3"), 2, Switching::packet), "allreduce", {});
  const auto send = [](Step step, NodeId from, NodeId to, std::uint8_t registers) {
    return TraceMessage{step, from, to, {{0, (from + 1) % 3 == to ? 1 : -1}}, 1, {0}, registers};
  };
  std::vector<TraceMessage> messages;
  for (NodeId from = 0; from < 3; ++from) {
    for (NodeId to = 0; to < 3; ++to) {
      if (from != to) messages.push_back(send(0, from, to, 1));
    }
  }
  CHECK(judged(header, messages).ok);
  messages = {send(0, 0, 1, 1), send(0, 0, 2, 1), send(1, 1, 0, 0), send(2, 2, 0, 1)};
  CHECK(names(violation(header, messages), {"step 2", "block 0: node (0) would be counted twice"}));
}

TEST_CASE("with sizes a message has at least the bytes of its blocks", "[unit]") {
  TraceHeader header = header_for(Machine(Topology::parse("mesh:2"), 1, Switching::packet), "gather", {0});
  header.segments = 2;
  header.block_bytes = 0;
  header.sizes = {1, 1, 3, 5};
  const auto with = [](Bytes bytes) { return TraceMessage{0, 1, 0, {{0, -1}}, bytes, {2, 3}}; };
  CHECK(judged(header, {with(8)}).ok);
  CHECK(names(violation(header, {with(7)}), {"step 0", "has 7 bytes, and its blocks 8"}));
  header.sizes[3] = std::numeric_limits<Bytes>::max() - 2;
  CHECK(names(violation(header, {with(8)}), {"has 8 bytes, and its blocks 2^64 or more"}));
}

TEST_CASE("dead nodes want nothing, and nobody wants what they would have had", "[unit]") {
  // A line of four whose last node is dead: blocks keep their numbers.
  const Machine machine(Topology::parse("mesh:4").with_faults({.dead_nodes = {3}}), 2, Switching::packet);
  const auto send = [](Step step, NodeId from, std::int32_t hop, std::vector<std::uint64_t> blocks) {
    return TraceMessage{step, from, static_cast<NodeId>(static_cast<std::int32_t>(from) + hop), {{0, hop}}, 9, std::move(blocks)};
  };
  const std::vector<TraceMessage> all{send(0, 0, 1, {0}), send(0, 2, -1, {2}), send(1, 1, 1, {0, 1}), send(1, 1, -1, {1, 2})};
  for (const std::vector<NodeId>& sources : {std::vector<NodeId>{0, 1, 2}, std::vector<NodeId>{0, 1, 2, 3}}) {
    CHECK(judged(header_for(machine, "multinode-broadcast", sources), all).ok);
    CHECK(judged(header_for(machine, "allgather", sources), all).ok);
  }
  CHECK(judged(header_for(machine, "allgather", {}), {all[0], all[1], all[2]}).missing_blocks == 2);
  CHECK(judged(header_for(machine, "gather", {1}), {all[0], all[1]}).ok);
  CHECK(violation(header_for(machine, "gather", {1}), {all[0]}) == "after step 0: node (1) lacks block 2");
  CHECK(judged(header_for(machine, "scatter", {1}), {send(0, 1, 1, {2}), send(0, 1, -1, {0})}).ok);
  const std::vector<TraceMessage> exchange{send(0, 0, 1, {1, 2}), send(0, 2, -1, {8, 9}), send(1, 1, 1, {2, 6}), send(1, 1, -1, {4, 8})};
  CHECK(judged(header_for(machine, "total-exchange", {}), exchange).ok);
  CHECK(violation(header_for(machine, "total-exchange", {}), {exchange[0], exchange[1], exchange[2]}) ==
        "after step 1: node (0) lacks block 4 and 1 more");
}

TEST_CASE("sources that no run can have are refused by the judge, too", "[unit]") {
  const Machine machine(Topology::parse("4").with_faults({.dead_nodes = {3}}), 2, Switching::packet);
  for (const char* collective : {"broadcast", "scatter", "gather", "reduce"}) {
    CAPTURE(collective);
    CHECK_THROWS_WITH(Judge(header_for(machine, collective, {3})),
                      "trace: the 'sources' name node (3), which is dead; the root of a " + std::string(collective) + " must be alive");
    CHECK_THROWS_AS(Judge(header_for(machine, collective, {})), InputError);
    CHECK_THROWS_AS(Judge(header_for(machine, collective, {0, 1})), InputError);
    CHECK_THROWS_AS(Judge(header_for(machine, collective, {4})), InputError);
    CHECK_NOTHROW(Judge(header_for(machine, collective, {2})));
  }
  for (const char* collective : {"allgather", "total-exchange", "allreduce", "reduce-scatter", "scan", "barrier"}) {
    CAPTURE(collective);
    CHECK_THROWS_WITH(Judge(header_for(machine, collective, {0, 3})),
                      "trace: the 'sources' name 1 of 3 living nodes, and all take part in " + std::string(collective) +
                          "; name all, or leave the key out");
    CHECK_NOTHROW(Judge(header_for(machine, collective, {})));
    CHECK_NOTHROW(Judge(header_for(machine, collective, {0, 1, 2})));
  }
}

TEST_CASE("what replaces a partial in register 0 must have all of its contributors", "[unit]") {
  // Node 0 has given its own away into two sums; the sum that comes back lacks nothing only after step 1.
  const Machine ring(Topology::parse("3"), 2, Switching::packet);
  TraceHeader header = header_for(ring, "allreduce", {});
  header.block_bytes = 4;
  const TraceMessage to_1{0, 0, 1, {{0, 1}}, 4, {0}, 1}, lost{0, 2, 0, {{0, 1}}, 4, {0}}, to_2{1, 1, 2, {{0, 1}}, 4, {0}, 1},
      to_0{2, 2, 0, {{0, 1}}, 4, {0}}, back{2, 2, 1, {{0, -1}}, 4, {0}};
  CHECK(judged(header, {to_1, to_2, to_0, back}).ok);
  CHECK(violation(header, {to_1, lost, to_2, to_0, back}) ==
        "step 0: message from node (2) to (0): block 0: replaces a partial, and node (0)'s contribution with it");
}

TEST_CASE("a message of partials has each block once, also where contributors may count twice", "[unit]") {
  TraceHeader header = header_for(Machine(Topology::parse("mesh:2"), 1, Switching::packet), "reduce", {1});
  header.overlap = true;
  CHECK(judged(header, {{0, 0, 1, {{0, 1}}, 2, {0}, 1}}).ok);
  CHECK(names(violation(header, {{0, 0, 1, {{0, 1}}, 2, {0, 0}, 1}}), {"step 0", "has a block twice"}));
}

TEST_CASE("where one message replaces a block, no other may arrive for it", "[unit]") {
  // Node 1 has given its own to node 2 before; all would be there, if both arrived.
  const Machine line(Topology::parse("mesh:3"), 2, Switching::packet);
  const TraceMessage gives{0, 1, 2, {{0, 1}}, 1, {0}, 1, true};
  const auto back = [](NodeId from, std::uint8_t registers) {
    return TraceMessage{1, from, 1, {{0, from == 0 ? 1 : -1}}, 1, {0}, registers};
  };
  const TraceHeader header = header_for(line, "reduce", {1});
  CHECK(judged(header, {gives, back(0, 1), back(2, 1)}).ok);
  for (const auto& [first, second] : {std::pair(0, 1), std::pair(1, 0), std::pair(0, 0)}) {
    CAPTURE(first, second);
    CHECK(names(violation(header, {gives, back(0, static_cast<std::uint8_t>(first)), back(2, static_cast<std::uint8_t>(second))}),
                {"step 1", "block 0 is replaced at a node where more arrives for it"}));
  }
}

TEST_CASE("what nodes combine is counted by node, and what a dead owner would have had does not count", "[unit]") {
  const Machine line(Topology::parse("mesh:4"), 2, Switching::packet);
  TraceHeader header = header_for(line, "allreduce", {});
  header.segments = 2;
  const auto combine = [](Step step, NodeId from, std::int32_t hop, std::vector<std::uint64_t> blocks) {
    return TraceMessage{step, from, static_cast<NodeId>(static_cast<std::int32_t>(from) + hop), {{0, hop}}, 9, std::move(blocks), 1};
  };
  // Two nodes combine in step 0, one block and two; two combine two each in step 1.
  const Verdict verdict = judged(
      header, {combine(0, 0, 1, {0}), combine(0, 3, -1, {0, 1}), combine(1, 1, -1, {1}), combine(1, 2, 1, {0}), combine(1, 1, 1, {0, 1})});
  CHECK(verdict.combined_blocks == 3 + 4);
  CHECK(verdict.node_combined_blocks == 2 + 2);

  const Machine holes(Topology::parse("mesh:3").with_faults({.dead_nodes = {2}}), 2, Switching::packet);
  const Verdict dead =
      judged(header_for(holes, "reduce-scatter", {}), {{0, 0, 1, {{0, 1}}, 1, {1}, 1, true}, {0, 1, 0, {{0, -1}}, 1, {0}, 1, true}});
  CHECK(dead.ok);
  CHECK(dead.unasked_blocks == 0);  // both still have their own for node 2
}

TEST_CASE("after ten violations the judge has seen enough", "[unit]") {
  Judge judge(header_for(ring4));
  bool going = true;
  int read = 0;
  for (; going && read < 100; ++read) going = judge.message({0, 1, 2, {{0, 1}}, 1, {0}});
  const Verdict verdict = judge.finish();
  CHECK(read < 20);
  CHECK(verdict.stopped);
  CHECK(verdict.violations.size() == 10);
}

TEST_CASE("a machine that would not fit into memory is refused before anything is allocated", "[unit]") {
  const Machine huge(Topology::parse("32768x32768x2"), 0, Switching::wormhole);
  CHECK_THROWS_AS(Judge(header_for(huge)), InputError);
}

TEST_CASE("sums of bytes past 2^64 are a violation, and no small sums", "[unit]") {
  auto messages = ring4_broadcast;
  messages[0].bytes = messages[1].bytes = std::numeric_limits<Bytes>::max() / 2 + 1;
  CHECK(names(violation(header_for(ring4), messages), {"step 0", "2^64"}));
  const Machine sharing(Topology::parse("4"), 2, Switching::wormhole, Contention::share);
  for (TraceMessage& message : messages) message = {0, 0, 1, {{0, 1}}, std::numeric_limits<Bytes>::max(), {0}};
  const Verdict verdict = judged(header_for(sharing), messages);
  CHECK(names(verdict.violations.front(), {"step 0", "2^64"}));
  CHECK(verdict.bytes == std::numeric_limits<Bytes>::max());
  CHECK(verdict.max_channel_bytes == std::numeric_limits<Bytes>::max());
}

TEST_CASE("where channels are shared, a node has as many ports as the trace says, also more than channels", "[unit]") {
  const Machine sharing(Topology::parse("4"), 2, Switching::wormhole, Contention::share);
  TraceHeader header = header_for(sharing, "multinode-broadcast", {});
  header.ports = 3;
  const TraceMessage message{0, 0, 1, {{0, 1}}, 1, {}};
  CHECK(judged(header, {message, message, message}).ok);
  CHECK(names(violation(header, {message, message, message, message}), {"node (0)", "sends more than 3"}));
}

TEST_CASE("many blocks of many nodes take no time or memory that no message asks for", "[unit]") {
  const Machine large(Topology::parse("1000000"), 2, Switching::wormhole);
  TraceHeader header = header_for(large);
  header.segments = 100'000;
  const Verdict verdict =
      judged(header, {{0, 0, 1, {{0, 1}}, 2, {0, 1}}, {1, 1, 2, {{0, 1}}, 1, {0}}, {2, 0, 2, {{0, 2}}, 2, {0, 99'999}}});
  CHECK(verdict.missing_blocks == 999'999ULL * 100'000 - 4);
  CHECK(names(verdict.violations.front(), {"node (1) lacks block 2 and 99997 more", "999998 other nodes"}));
  header.sources.resize(1'000'000);
  for (NodeId node = 0; node < 1'000'000; ++node) header.sources[node] = node;
  header.segments = std::numeric_limits<std::int32_t>::max();
  CHECK_THROWS_AS(Judge(header), InputError);  // more pairs than there are numbers
  // The first block that a node lacks is found without a look at all those that are its own, or nobody's.
  const Machine three(Topology::parse("mesh:3").with_faults({.dead_nodes = {2}}), 2, Switching::wormhole);
  TraceHeader gathered = header_for(three, "gather", {0});
  gathered.segments = std::numeric_limits<std::int32_t>::max();
  CHECK(violation(gathered, {}) == "without messages: node (0) lacks block 2147483647 and 2147483646 more");
}

TEST_CASE("the judge lets its caller look at the clock during long work", "[unit]") {
  const Machine large(Topology::parse("mesh:3000000"), 2, Switching::wormhole);
  int looks = 0;
  Judge judge(header_for(large), [&] {
    if (++looks == 2) throw std::runtime_error("enough");
  });
  CHECK_THROWS_WITH(judge.message({0, 0, 2'999'999, {{0, 2'999'999}}, 1, {0}}), "enough");
}

TEST_CASE("a message has room for all its blocks, and a channel carries what crosses it in one step", "[unit]") {
  TraceHeader header = header_for(ring4, "multinode-broadcast", {0, 2});
  header.segments = 2;
  header.block_bytes = 4;
  CHECK(names(violation(header, {{0, 0, 1, {{0, 1}}, 7, {0, 1}}}), {"7 bytes for 2 blocks of 4"}));
  CHECK(names(violation(header, {{0, 0, 1, {{0, 1}}, 8, {0, 1}}}), {"lacks block"}));
  CHECK(names(violation(header, {{0, 1, 2, {{0, 1}}, 4, {2}}}), {"block 2", "does not exist"}));  // of node 1, which is no source
  const Verdict verdict = judged(header, {{0, 0, 1, {{0, 1}}, 5, {0}}, {1, 0, 1, {{0, 1}}, 7, {1}}, {2, 0, 1, {{0, 1}}, 6, {1}}});
  CHECK(verdict.max_channel_bytes == 7);
  CHECK(verdict.channel_bytes == 5 + 7 + 6);
}

TEST_CASE("a worm takes a dimension once, also not twice in a row", "[unit]") {
  CHECK(names(violation(header_for(ring4), {{0, 0, 2, {{0, 1}, {0, 1}}, 1, {0}}}), {"not dimension-ordered"}));
}

TEST_CASE("each group is judged by itself, by its own ranks", "[unit]") {
  const Machine square(Topology::parse("2x2"), 2, Switching::packet);
  TraceHeader header = header_for(square, "broadcast", {1});
  header.groups = {{0, 1}, {3, 2}};
  const TraceMessage first{0, 1, 0, {{1, -1}}, 1, {1}}, second{0, 2, 3, {{1, 1}}, 1, {1}};
  CHECK(judged(header, {first, second}).ok);
  const Verdict half = judged(header, {first});
  CHECK(half.missing_blocks == 1);
  CHECK(names(half.violations.front(), {"node (1,1), group 1 lacks block 1"}));
  CHECK(names(violation(header, {first, {0, 3, 2, {{1, -1}}, 1, {1}}}), {", group 1 sends block 1, which the node does not hold"}));
  CHECK(names(violation(header, {first, {0, 2, 0, {{0, -1}}, 1, {}}}),
              {"message from node (1,0) to (0,0)", "leaves its group 1 for group 0"}));
  // Channels and ports are those of all groups together.
  header.machine = Machine(Topology::parse("4"), 2, Switching::circuit);
  header.groups = {{0, 2}, {1, 3}};
  header.sources = {0};
  CHECK(names(violation(header, {{0, 0, 2, {{0, 2}}, 1, {0}}, {0, 1, 3, {{0, 2}}, 1, {0}}}), {"channel (1)", "carries two messages"}));
  header.groups = {{0, 2}};
  CHECK(judged(header, {{0, 0, 2, {{0, 2}}, 1, {0}}}).ok);
  CHECK(names(violation(header, {{0, 0, 1, {{0, 1}}, 1, {0}}}), {"leaves its group 0 for no group"}));
  CHECK(names(violation(header, {{0, 1, 0, {{0, -1}}, 1, {0}}}), {"from a node in no group"}));
}

TEST_CASE("groups of different sizes number their blocks by their own", "[unit]") {
  TraceHeader header = header_for(Machine(Topology::parse("5"), 2, Switching::circuit), "total-exchange", {});
  header.groups = {{4, 0, 1}, {3, 2}};
  std::vector<TraceMessage> messages;
  for (Step i = 0; i < 3; ++i) {
    for (Step j = 0; j < 3; ++j) {
      if (i == j) continue;
      const std::int32_t hops = (static_cast<std::int32_t>(j) - static_cast<std::int32_t>(i) + 3) % 3 == 1 ? 1 : -1;
      // Local 0, 1 and 2 are 4, 0 and 1: local 2 to 0 is two hops back.
      const std::int32_t way = i == 2 && j == 0 ? -2 : i == 0 && j == 2 ? 2 : hops;
      messages.push_back({3 * i + j, header.groups[0][i], header.groups[0][j], {{0, way}}, 1, {3 * i + j}});
    }
  }
  messages.push_back({20, 3, 2, {{0, -1}}, 1, {1}});
  messages.push_back({20, 2, 3, {{0, 1}}, 1, {2}});
  const Verdict verdict = judged(header, messages);
  CHECK(verdict.violations == std::vector<std::string>());
  CHECK(verdict.ok);
  messages.back().blocks = {5};
  CHECK(names(violation(header, messages), {"sends block 5, which does not exist"}));
}

TEST_CASE("contributors and news of a barrier stay in their group", "[unit]") {
  TraceHeader header = header_for(Machine(Topology::parse("4"), 2, Switching::packet), "allreduce", {});
  header.groups = {{0, 1}, {2, 3}};
  std::vector<TraceMessage> messages;
  for (const NodeId node : {0U, 1U, 2U, 3U}) messages.push_back({0, node, node ^ 1U, {{0, node % 2 == 0 ? 1 : -1}}, 1, {0}, 1});
  const Verdict sums = judged(header, messages);
  CHECK(sums.ok);
  CHECK(sums.combined_blocks == 4);
  CHECK(sums.node_combined_blocks == 1);
  messages.pop_back();
  CHECK(names(violation(header, messages), {"node (2), group 1 block 0 lacks node (3)"}));
  header.collective = "barrier";
  for (TraceMessage& m : messages) m = {m.step, m.source, m.destination, m.path, 0, {}};
  CHECK(names(violation(header, messages), {"node (2), group 1 has not heard of node (3)"}));
}
