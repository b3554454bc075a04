/// A trace as a schedule for LogGOPSim.
#include <algorithm>
#include <fmt/format.h>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/version.hpp"
#include "tools/torus/traces/formats.hpp"

namespace torus::command {
namespace {

/// A send or a receive of a rank. Its tag is the number of the message, so that no two can be mistaken for one another. Each port of the
/// node is a cpu and a nic: without them LogGOPSim sends a step's messages one after the other.
struct Operation {
  NodeId rank = 0;
  NodeId peer = 0;
  Bytes bytes = 0;
  std::uint32_t tag = 0;
  Step step = 0;
  std::uint32_t port = 0;  ///< the n-th send, or receive, of the rank in its step
  bool send = false;
};

/// The operations of one rank, in the order of their steps. Between two steps stands a calc of no time, which requires all of the step
/// before and is required by all of the next: as many lines as operations, not as their product.
void write_rank(OutputFile& file, NodeId rank, const Operation* begin, const Operation* end) {
  file.write(fmt::format("\nrank {} {{\n", rank));
  std::string text;
  std::size_t label = 0, first_of_step = 0, join = 0;  // labels from 1; join 0: none yet
  for (const Operation* o = begin; o != end; ++o) {
    if (o != begin && o->step != (o - 1)->step) {
      const std::size_t last = label;
      text += fmt::format("l{}: calc 0\n", ++label);
      for (std::size_t l = first_of_step; l <= last; ++l) text += fmt::format("l{} requires l{}\n", label, l);
      join = label;
    }
    text += fmt::format("l{}: {} {}b {} {} tag {} cpu {} nic {}\n", ++label, o->send ? "send" : "recv", o->bytes, o->send ? "to" : "from",
                        o->peer, o->tag, o->port, o->port);
    if (o == begin || o->step != (o - 1)->step) first_of_step = label;
    if (join > 0) text += fmt::format("l{} requires l{}\n", label, join);
  }
  file.write(text + "}\n");
}

}  // namespace

Note export_goal(TraceSteps& steps, OutputFile& file) {
  const TraceHeader& header = steps.header();
  const Topology& topology = header.machine.topology;
  if (topology.nodes() > max_goal_messages)
    throw InputError(fmt::format("the machine has {} nodes; a schedule has at most {} ranks; choose a smaller run",
                                 grouped(topology.nodes()), grouped(max_goal_messages)));
  std::vector<Operation> operations;
  std::vector<TraceMessage> messages;
  std::uint32_t tag = 0;
  std::vector<std::uint32_t> sent(topology.nodes(), 0), received(topology.nodes(), 0);  // in this step
  while (steps.next(messages)) {
    for (const TraceMessage& m : messages) sent[m.source] = received[m.destination] = 0;
    for (const TraceMessage& m : messages) {
      if (tag == max_goal_messages)
        throw InputError(fmt::format("the trace has more than {} messages, which a schedule holds at most; choose a smaller run",
                                     grouped(max_goal_messages)));
      operations.push_back({m.source, m.destination, m.bytes, tag, m.step, sent[m.source]++, true});
      operations.push_back({m.destination, m.source, m.bytes, tag, m.step, received[m.destination]++, false});
      ++tag;
    }
  }
  std::stable_sort(operations.begin(), operations.end(), [](const Operation& a, const Operation& b) { return a.rank < b.rank; });
  // The algorithm's name is left out: it may be anything, and a line's end in it would end the comment.
  file.write(fmt::format("// GOAL by torus {}: {} on {}; ranks are row-major, the last dimension fastest; tag: the number of the message\n",
                         version, header.collective, topology.text()));
  file.write(fmt::format("num_ranks {}\n", topology.nodes()));
  const Operation* at = operations.data();
  const Operation* const end = at + operations.size();
  for (NodeId rank = 0; rank < topology.nodes(); ++rank) {
    const Operation* const begin = at;
    while (at != end && at->rank == rank) ++at;
    write_rank(file, rank, begin, at);
  }
  return fmt::format("{}, {}", counted(topology.nodes(), "rank"), counted(tag, "message"));
}

}  // namespace torus::command
