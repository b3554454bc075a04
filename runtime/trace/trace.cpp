#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <torus/trace.hpp>
#include <torus/trace_reader.hpp>

#include "runtime/base/output_file.hpp"
#include "runtime/trace/trace_header.hpp"

namespace torus {
namespace {

template <class Integer>
void append(std::string& line, Integer value) {
  char digits[24];
  line.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

template <class Integers>
void append_list(std::string& line, const Integers& values) {
  line += '[';
  bool first = true;
  for (const auto value : values) {
    if (!first) line += ',';
    first = false;
    append(line, value);
  }
  line += ']';
}

void append(std::string& line, const Link& link) {
  fmt::format_to(std::back_inserter(line), "{},{},{}", link.node, link.dimension, link.hop);
}

/// Keys for what is wrong with the machine, and none where nothing is.
void append_faults(std::string& line, const Faults& faults) {
  if (!faults.dead_nodes.empty()) {
    line += ",\"dead_nodes\":";
    append_list(line, faults.dead_nodes);
  }
  if (!faults.dead_links.empty()) {
    line += ",\"dead_links\":";
    for (const Link& link : faults.dead_links) {
      line += &link == faults.dead_links.data() ? "[[" : ",[";
      append(line, link);
      line += ']';
    }
    line += ']';
  }
  if (!faults.slow_links.empty()) {
    line += ",\"slow_links\":";
    for (const SlowLink& slow : faults.slow_links) {
      line += &slow == faults.slow_links.data() ? "[[" : ",[";
      append(line, slow.link);
      fmt::format_to(std::back_inserter(line), ",{}]", slow.factor);
    }
    line += ']';
  }
}

/// A line without the phase.
template <class Blocks>
void append_message(std::string& line, Step step, NodeId source, NodeId destination, RouteView route, Bytes bytes, const Blocks& blocks,
                    unsigned registers, bool releases) {
  line += "{\"step\":";
  append(line, step);
  line += ",\"src\":";
  append(line, source);
  line += ",\"dst\":";
  append(line, destination);
  line += ",\"path\":[";
  bool first = true;
  for (const Leg& leg : route) {
    line += first ? "[" : ",[";
    first = false;
    append(line, leg.dimension);
    line += ',';
    append(line, leg.hops);
    line += ']';
  }
  line += "],\"bytes\":";
  append(line, bytes);
  line += ",\"blocks\":";
  append_list(line, blocks);
  if (registers == 1) {
    line += ",\"combine\":true";
  } else if (registers != 0) {
    line += ",\"combine\":";
    std::vector<unsigned> numbers;
    for (unsigned r = 0; r < 8; ++r) {
      if ((registers >> r & 1U) != 0) numbers.push_back(r);
    }
    append_list(line, numbers);
  }
  if (releases) line += ",\"release\":true";
  line += "}\n";
}

}  // namespace

std::string to_json_line(const TraceHeader& header) {
  const Topology& topology = header.machine.topology;
  std::string line = "{\"format\":\"torus-trace\",\"version\":1,\"shape\":[";
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (d > 0) line += ',';
    append(line, topology.extent(d));
  }
  line += "],\"wrap\":[";
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (d > 0) line += ',';
    switch (topology.wiring(d)) {
      case Wiring::ring: line += "true"; break;
      case Wiring::line: line += "false"; break;
      case Wiring::complete: line += "\"complete\""; break;
    }
  }
  line += ']';
  if (topology.twisted()) line += ",\"twist\":true";
  fmt::format_to(std::back_inserter(line), ",\"ports\":{},\"switching\":\"{}\",\"contention\":\"{}\",\"routing\":", header.machine.ports,
                 name(header.machine.switching), name(header.machine.contention));
  append_list(line, header.machine.routing);
  line += ",\"collective\":";
  line += detail::quoted(header.collective);
  if (!header.sources.empty() || header.collective == "multinode-broadcast") {
    line += ",\"sources\":";
    append_list(line, header.sources);
  }
  if (!header.groups.empty()) {
    line += ",\"groups\":";
    for (const std::vector<NodeId>& group : header.groups) {
      line += &group == header.groups.data() ? '[' : ',';
      append_list(line, group);
    }
    line += ']';
  }
  fmt::format_to(std::back_inserter(line), ",\"segments\":{},\"block_bytes\":{},\"algorithm\":", header.segments, header.block_bytes);
  line += detail::quoted(header.algorithm);
  fmt::format_to(std::back_inserter(line), ",\"seed\":{}", header.seed);
  if (header.reduction)
    fmt::format_to(std::back_inserter(line), ",\"op\":\"{}\",\"type\":\"{}\"", name(header.reduction->op), name(header.reduction->type));
  if (header.reduction && header.reduction->values != Values::small)
    fmt::format_to(std::back_inserter(line), ",\"values\":\"{}\"", name(header.reduction->values));
  if (header.registers > 1) fmt::format_to(std::back_inserter(line), ",\"registers\":{}", header.registers);
  if (!header.sizes.empty()) {
    line += ",\"sizes\":";
    append_list(line, header.sizes);
  }
  if (header.overlap) line += ",\"overlap\":true";
  const CostModel& cost = header.machine.cost;
  if (header.costs_known) fmt::format_to(std::back_inserter(line), ",\"ts_s\":{}", cost.start_up_s);
  if (!cost.one_speed())
    fmt::format_to(std::back_inserter(line), ",\"tc_s\":[{}]", fmt::join(cost.dimension_byte_s, ","));
  else if (header.costs_known)
    fmt::format_to(std::back_inserter(line), ",\"tc_s\":{}", cost.byte_s);
  if (header.costs_known) fmt::format_to(std::back_inserter(line), ",\"th_s\":{}", cost.hop_s);
  if (header.costs_known && cost.combine_s > 0) fmt::format_to(std::back_inserter(line), ",\"tg_s\":{}", cost.combine_s);
  append_faults(line, topology.faults());
  line += '}';
  return line;
}

std::string to_json_line(const TraceMessage& message) {
  std::string line;
  append_message(line, message.step, message.source, message.destination, message.path, message.bytes, message.blocks, message.registers,
                 message.releases);
  line.pop_back();
  return line;
}

TraceWriter::TraceWriter(TraceWriter&&) noexcept = default;
TraceWriter::~TraceWriter() = default;

TraceWriter::TraceWriter(std::string path, const TraceHeader& header) : file_{std::make_unique<OutputFile>(std::move(path))} {
  file_->write(to_json_line(header));
  file_->write("\n");
}

void TraceWriter::name_phase(std::string_view phase) { phase_ = phase; }

void TraceWriter::write_step(std::span<const Message* const> messages) {
  ordered_.assign(messages.begin(), messages.end());
  std::sort(ordered_.begin(), ordered_.end(), trace_order);
  for (const Message* message : ordered_) {
    line_.clear();
    append_message(line_, message->step(), message->source(), message->destination(), message->route(), message->bytes(), message->blocks(),
                   message->registers(), message->releases());
    if (!phase_.empty()) {  // the first line of a step speaks for all of them
      line_.resize(line_.size() - 2);
      line_ += ",\"phase\":";
      line_ += detail::quoted(phase_);
      line_ += "}\n";
      phase_.clear();
    }
    file_->write(line_);
  }
  phase_.clear();
}

void TraceWriter::commit() { file_->commit(); }

}  // namespace torus
