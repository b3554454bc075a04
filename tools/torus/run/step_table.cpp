#include <algorithm>
#include <fmt/format.h>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/table.hpp"
#include "tools/torus/run/report.hpp"

namespace torus::command {

void StepTable::begin(const TraceHeader& header, const Engine&) {
  machine_.emplace(header.machine);
  groups_.emplace(header);
  completes_ = ContributorCounts::follows(header.collective);
  if (completes_) {
    too_large_ = ContributorCounts::too_large(header);
    if (!too_large_) counts_.emplace(header);
    informed_count_ = informed_at_first_ = counts_ ? counts_->complete() : 0;
    return;
  }
  const Topology& topology = header.machine.topology;
  informed_.resize(topology.nodes());
  for (const NodeId source : groups_->nodes_of(header.sources)) informed_[source] = true;
  const bool everywhere = !facts_of(header.collective).names_sources();
  for (NodeId node = 0; everywhere && node < topology.nodes(); ++node)
    informed_[node] = topology.living(node) && groups_->place(node).group != TraceGroups::none;
  informed_count_ = informed_at_first_ = static_cast<std::uint64_t>(std::count(informed_.begin(), informed_.end(), true));
}

void StepTable::count(const Message& message) {
  if (counts_) {
    line_.assign(message);
    counts_->sent(line_);
  } else if (!completes_ && !message.blocks().empty() && !informed_[message.destination()]) {
    informed_[message.destination()] = true;
    ++informed_count_;
  }
}

void StepTable::step(const StepSends& sends) {
  const std::span<const Message* const> messages = sends.messages;
  if (messages.empty() || seen_.size() >= RunResult::max_step_records) return;
  for (const Message* m : messages) count(*m);
  if (counts_) {
    counts_->end_step();
    informed_count_ = counts_->complete();
  }
  Seen seen{messages.front()->step(), {}, informed_count_};
  Bytes most = 0;  // of equally full channels the first counts
  each_channel_load(machine_->topology, messages, crossed_, [&](const ChannelName& channel, Bytes bytes) {
    if (bytes > most || most == 0) seen.fullest = channel;
    most = std::max(most, bytes);
  });
  seen_.push_back(seen);
}

template <class F>
void StepTable::each_row(const RunResult& result, F&& f) const {
  auto seen = seen_.begin();
  std::uint64_t informed = informed_at_first_;
  double model_time_s = 0;
  for (std::size_t step = 0; step < result.step_records.size(); ++step) {
    const StepRecord& record = result.step_records[step];
    const bool busy = seen != seen_.end() && seen->step == step;
    if (busy) informed = seen->informed;
    model_time_s += machine_->cost.timed_steps(1, record.channel_time_s, record.longest_route, static_cast<double>(record.most_combined));
    f(step, StepRow{record, busy ? &*seen : nullptr, informed, model_time_s});
    if (busy) ++seen;
  }
}

std::string StepTable::text(const RunResult& result) const {
  Table table{
      {"step", "messages", "hops", "bytes", "fullest channel", "carries", completes_ ? "complete" : "informed", "model time", "phase"}};
  each_row(result, [&](std::size_t step, const StepRow& row) {
    const StepRecord& record = row.record;
    table.push_back({grouped(step), grouped(record.messages), grouped(record.hops), grouped(record.bytes),
                     row.seen != nullptr ? groups_->name(row.seen->fullest) : "-", grouped(record.most_bytes),
                     too_large_ ? "-" : grouped(row.informed), seconds_text(row.model_time_s),
                     record.phase != nullptr ? record.phase : "-"});
  });
  std::string text = "\n" + aligned(std::move(table), {.left_out = {2, 5}});
  if (result.steps > result.step_records.size())
    text += fmt::format("and {}: only the first {} are kept\n", counted(result.steps - result.step_records.size(), "more step"),
                        grouped(result.step_records.size()));
  if (too_large_) text += fmt::format("complete: not counted, since {}\n", *too_large_);
  return text;
}

Json StepTable::json(const RunResult& result) const {
  auto rows = Json::array();
  each_row(result, [&](std::size_t step, const StepRow& row) {
    const StepRecord& record = row.record;
    Json json{{"step", step},
              {"messages", record.messages},
              {"control_messages", record.control_messages},
              {"hops", record.hops},
              {"longest_route", record.longest_route},
              {"bytes", record.bytes},
              {"channel_bytes", record.most_bytes}};
    if (!too_large_) json[completes_ ? "complete" : "informed"] = row.informed;
    json["model_time_s"] = row.model_time_s;
    if (row.seen != nullptr)
      json["fullest_channel"] = {
          {"node", row.seen->fullest.from}, {"dimension", row.seen->fullest.dimension}, {"hop", row.seen->fullest.hop}};
    if (row.seen != nullptr && groups_->mapped()) json["fullest_channel"]["rank"] = groups_->place(row.seen->fullest.from).rank;
    if (record.phase != nullptr) json["phase"] = record.phase;
    rows.push_back(std::move(json));
  });
  return rows;
}

}  // namespace torus::command
