#include "tools/torus/study/study.hpp"

#include <fmt/format.h>

#include <torus/error.hpp>

#include "tools/torus/cli/version.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

/// All that decides what the rows say, in one line. The memory limit is no part of it.
std::string origin_of(std::string_view of, const TypedOptions::Pairs& typed, const std::vector<const Algorithm*>& algorithms) {
  std::string text = fmt::format("unfinished table of torus {} {}", version, of);
  for (const auto& [name, value] : typed) text += fmt::format(" --{} {}", name, value);
  text += " --algorithms ";
  for (const Algorithm* algorithm : algorithms) text += fmt::format("{}{}", algorithm == algorithms.front() ? "" : ",", algorithm->name);
  return text;
}

}  // namespace

Study::Study(std::string_view of, const TypedOptions::Pairs& typed, const std::vector<const Algorithm*>& algorithms,
             const std::optional<std::string>& csv, bool log)
    : progress_{log} {
  if (!csv) return;
  csv_.emplace(*csv);
  if (!csv_->in_place()) kept_.emplace(*csv, origin_of(of, typed, algorithms));
  if (kept_) say_when_interrupted(goes_on());
}

Study::~Study() {
  say_when_interrupted("");
  if (kept_ && rows_ == 0) kept_->drop();
}

Json Study::next(const std::function<StudyRow()>& make) {
  const std::size_t number = next_++;
  StudyRow row;
  if (kept_ && kept_->has(number)) {
    const Json kept = Json::parse(kept_->row(number));
    row = {kept.at("row"), kept.at("failed").text().value_or("")};
    ++rows_;
    ++from_before_;
  } else {
    if (interrupted()) return {};
    row = make();
    if (row.values.is_null()) return {};
    ++rows_;
    if (kept_) kept_->add(number, Json{{"row", row.values}, {"failed", row.failed}}.dump_replacing());
  }
  if (!row.failed.empty() && failures_++ == 0) first_failure_ = std::move(row.failed);
  return std::move(row.values);
}

std::string Study::goes_on() const {
  return kept_ ? fmt::format("; what is done is in {}.part; the same command goes on from there", csv_->path()) : "";
}

void Study::finish(const std::function<std::string()>& csv) {
  if (!csv_) return;
  csv_->write(csv());
  csv_->commit();
  if (kept_) kept_->drop();
  kept_.reset();
  say_when_interrupted("");
}

std::vector<NamedFile> kept_beside(const std::optional<std::string>& csv) {
  return csv ? std::vector<NamedFile>{{"--csv", *csv + ".part", ".csv"}} : std::vector<NamedFile>{};
}

Json machine_json(const Machine& machine) {
  return {{"shape", machine.topology.text()},
          {"nodes", machine.topology.nodes()},
          {"ports", machine.ports},
          {"switching", name(machine.switching)},
          {"contention", name(machine.contention)}};
}

std::string csv_of(std::string_view columns, const Json& objects) {
  std::string text = fmt::format("{}\n", columns);
  const std::vector<std::string_view> names = split(columns, ',');
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const Json object = objects.at(i);
    std::vector<std::string> line;
    for (const std::string_view name : names) line.push_back(object.at(name).cell());
    text += csv_line(line);
  }
  return text;
}

std::uint64_t FromRow::whole_number_in(const Json& value) { return whole_number(value.cell()).value_or(0); }

}  // namespace torus::command
