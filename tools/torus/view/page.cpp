/// The page of a run, and the data in it.
#include <fmt/format.h>
#include <string_view>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/view/facts.hpp"
#include "tools/torus/view/page_parts.hpp"
#include "tools/torus/view/playback.hpp"

namespace torus::command {
namespace {

/// What the page has in place of the data of the run, and of the one beside it.
constexpr std::string_view first_place = "TORUS_VIEW_DATA", other_place = "TORUS_VIEW_OTHER";

/// As numbers, not quoted; a list of a million entries is quick to write and to read.
template <class Numbers>
void append_list(std::string& json, std::string_view name, const Numbers& numbers) {
  fmt::format_to(std::back_inserter(json), "{}\"{}\":[", json.back() == '{' ? "" : ",", name);
  bool first = true;
  for (const auto number : numbers) {
    if (!first) json += ',';
    first = false;
    fmt::format_to(std::back_inserter(json), "{}", number);
  }
  json += ']';
}

/// Text for a script element: no name in it can end the element.
std::string harmless(const Json& json) {
  const std::string text = json.dump_replacing();
  std::string safe;
  for (const char c : text) {
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  }
  return safe;
}

}  // namespace

/// None where all is well, or where that is not known.
std::optional<View::Failure> View::failure() {
  if (failure_ || !judge_) return failure_;
  judged([&] {
    const Verdict verdict = judge_->finish();
    if (!verdict.ok) failure_ = objection(verdict.violations.front());
  });
  return failure_;
}

/// By node its rank in its group, and where there are several its group; -1: it is in none.
void View::append_groups(std::string& json) const {
  if (!groups_.said()) return;
  std::vector<std::int64_t> ranks, groups;
  for (NodeId node = 0; node < header_.machine.topology.nodes(); ++node) {
    const auto [group, rank] = groups_.place(node);
    const bool in_none = group == TraceGroups::none;
    ranks.push_back(in_none ? -1 : std::int64_t{rank});
    groups.push_back(in_none ? -1 : std::int64_t{group});
  }
  append_list(json, "ranks", ranks);
  if (groups_.mapped()) return;
  append_list(json, "groups", groups);
  append_list(json, "group_colours", groups_.colour());
}

/// The whole run on the machine: where its data came when, and what each channel carried.
void View::append_map(std::string& json) const {
  append_list(json, "sources", groups_.nodes_of(header_.sources));
  json += ",\"map\":{";
  append_list(json, "first", first_);
  append_list(json, "load", run_load_);
  json += '}';
}

std::string View::data() {
  const Machine& machine = header_.machine;
  const Topology& topology = machine.topology;
  Json head{{"format", "torus-view"},
            {"version", 1},
            {"collective", header_.collective},
            {"algorithm", header_.algorithm},
            {"segments", header_.segments},
            {"block_bytes", header_.block_bytes},
            {"seed", header_.seed},
            {"steps", steps_},
            {"busy_steps", busy_steps_},
            {"messages", total_.messages},
            {"hops", total_.hops},
            {"bytes", total_.bytes}};
  const bool exchanges = facts_.carries_bytes() && !facts_.combines && !header_.sources.empty();
  if (facts_.names_sources() || exchanges) head["source_count"] = header_.sources.size();
  head.update(page_facts(header_, groups_.nodes_of(header_.sources)));
  head["left_out"] = left_out_ ? Json(*left_out_) : Json();
  if (const auto failed = failure()) {
    head["verdict"] = {{"ok", false}, {"text", failed->text}};
    head["failure"] = {{"illegal", failed->illegal}, {"time", failed->step}, {"messages", failed->messages}, {"nodes", failed->nodes}};
    if (failed->command) head["failure"]["command"] = *failed->command;
    if (failed->command) head["failure"]["violations"] = failed->violations;
  } else if (judge_) {
    head["verdict"] = {{"ok", true}, {"text", "legal and complete"}};
  }
  head["phases"] = phases_;
  if (together_)
    head["together"] = {
        {"begins", together_->begins}, {"alone_s", together_->alone_s}, {"span_s", together_->span_s}, {"ends_s", together_->ends_s}};
  if (header_.costs_known)
    head["costs_s"] = {{"start_up", machine.cost.start_up_s}, {"byte", machine.cost.byte_s}, {"hop", machine.cost.hop_s}};
  if (header_.costs_known && machine.cost.combine_s > 0) head["costs_s"]["combine"] = machine.cost.combine_s;
  if (header_.reduction) head["reduction"] = fmt::format("{} of {}", name(header_.reduction->op), name(header_.reduction->type));
  std::string json = harmless(head);
  json.pop_back();

  json += ",\"by_step\":{";
  const auto column = [&](std::string_view name, auto StepSum::*member) {
    fmt::format_to(std::back_inserter(json), "{}\"{}\":[", json.back() == '{' ? "" : ",", name);
    for (const StepSum& sum : sums_) fmt::format_to(std::back_inserter(json), "{}{}", json.back() == '[' ? "" : ",", sum.*member);
    json += ']';
  };
  column("step", &StepSum::step);
  column("messages", &StepSum::messages);
  column("hops", &StepSum::hops);
  column("bytes", &StepSum::bytes);
  append_list(json, "phase", phase_);
  if (!load_.empty()) {
    column("fullest", &StepSum::fullest);
    if (!machine.cost.one_speed()) column("channel_time_s", &StepSum::channel_time_s);
    column("longest_route", &StepSum::longest_route);
    if (counts_) column("combined", &StepSum::combined);
  }
  json += '}';

  append_groups(json);
  if (left_out_ && !load_.empty()) append_map(json);
  if (!left_out_) {
    append_list(json, "sources", groups_.nodes_of(header_.sources));
    std::vector<std::uint64_t> wanted_by_node;
    for (NodeId node = 0; node < topology.nodes(); ++node) wanted_by_node.push_back(wanted(node));
    append_list(json, "wanted", wanted_by_node);
    append_list(json, "held_first", held_first_);
    json += ",\"each\":{";
    append_list(json, "source", source_);
    append_list(json, "destination", destination_);
    append_list(json, "bytes", bytes_);
    append_list(json, "block_count", block_count_);
    append_list(json, "gained", gained_);
    append_list(json, "legs", legs_);
    append_list(json, "paths", paths_);
    if (!registers_.empty()) {
      append_list(json, "registers", registers_);
      append_list(json, "releases", releases_);
    }
    if (named_blocks_) {
      append_list(json, "ranges", ranges_);
      append_list(json, "blocks", blocks_);
    }
    json += '}';
  }
  return json + "}";
}

std::string View::summary() const {
  return fmt::format(
      "{} in {}{}", counted(total_.messages, "message"), counted(busy_steps_, "step"),
      left_out_ ? (load_.empty() ? "; only the sums of the steps: " : "; a map of the run and the sums of the steps: ") + *left_out_ : "");
}

std::string View::page(View* other) {
  std::string page;
  for (const char* part : view_page_parts) page += part;
  // Back to front: data may contain a place.
  for (const auto& [place, view] : {std::pair(other_place, other), std::pair(first_place, this)}) {
    if (view != nullptr) view->settle();
    page.replace(page.find(place), place.size(), view != nullptr ? view->data() : "null");
  }
  return page;
}

}  // namespace torus::command
