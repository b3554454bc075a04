/// What a run did: as a table for people, as one JSON object for programs, as a line of CSV for spreadsheets.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <torus/bounds.hpp>

#include "tools/torus/emulation.hpp"
#include "tools/torus/setting.hpp"

namespace torus::command {

/// What the steps of one phase came to.
struct PhaseSum {
  std::string name;
  std::uint64_t steps = 0;
  std::uint64_t control_steps = 0;  ///< steps that carried control messages alone
  std::uint64_t messages = 0;
  Bytes bytes = 0;
  Bytes channel_bytes = 0;  ///< sum over the steps of the most bytes on a channel
  double model_time_s = 0;
};

/// Phases in the order in which they first come; unnamed steps are "-". Empty if no step was named.
std::vector<PhaseSum> phases_of(const RunResult& result);

/// Median, min and max of repeated run times.
struct Repeats {
  std::size_t runs = 0;
  double median_s = 0, min_s = 0, max_s = 0;
};
Repeats repeats_of(std::vector<double> run_s);

/// One object, stable names; see tools/json.md.
nlohmann::ordered_json to_json(const Setting& setting, const Emulation& emulation);
std::string to_table(const Setting& setting, const Emulation& emulation);
/// Two lines of CSV, each with its end.
struct CsvLines {
  std::string names, values;
};
/// The scalar fields of the JSON object. The names are the same in the same order for every run: those that only some runs have come last,
/// empty where there are none.
CsvLines to_csv(const Setting& setting, const Emulation& emulation);

}  // namespace torus::command
