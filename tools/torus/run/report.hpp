/// What a run did: as a table for people, as one JSON object for programs, as a line of CSV for spreadsheets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torus/message.hpp>
#include <torus/session.hpp>

#include "runtime/model/channel.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/setting/setting.hpp"
#include "tools/torus/view/contributors.hpp"

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

/// What is said of a fault beside what the run recorded.
struct StruckFault {
  std::string option = {};    ///< what --fault takes to inject it again
  std::string harmless = {};  ///< why it did no harm, where it did none
};

/// "snake: ranks 0, 1, .. are nodes (0,0) (0,1) ..; a hop of ranks is a hop of the machine".
std::string map_text(const Setting& setting);
/// One object, stable names; see tools/json.md.
Json to_json(const Setting& setting, const Run& run, const StruckFault& fault = {});
std::string to_table(const Setting& setting, const Run& run, const StruckFault& fault = {});
/// The scalar fields of the JSON object. The names are the same in the same order for every run: those that only some runs have come last,
/// and are null in the others.
Json to_row(const Setting& setting, const Run& run);
/// Two lines of CSV, each with its end.
struct CsvLines {
  std::string names, values;
};
/// The columns and cells of a row; null is an empty cell.
CsvLines to_csv(const Json& row);

/// Watches the messages of a run, and makes the table when it has ended. The run's own records have the sums of a step; this adds what only
/// the messages show: the fullest channel by name, and how many nodes have been informed. In a reduction all have data from the start;
/// there it counts the nodes that have had all contributors of all that they want, in a barrier those that have heard of all nodes.
class StepTable : public Watcher {
 public:
  void begin(const TraceHeader& header, const Engine& engine) override;
  /// Cost: the hops of the messages.
  void step(const StepSends& sends) override;

  /// The table, after an empty line. Steps beyond RunResult::max_step_records are counted under it.
  std::string text(const RunResult& result) const;
  /// The same as a list of objects, bytes as numbers, and times in seconds.
  Json json(const RunResult& result) const;

 private:
  struct Seen {
    Step step = 0;
    ChannelName fullest;
    std::uint64_t informed = 0;  ///< nodes that hold data after the step: sources, and receivers of blocks; or are complete
  };
  /// A step of the table.
  struct StepRow {
    const StepRecord& record;
    const Seen* seen;  ///< null where nothing was sent
    std::uint64_t informed;
    double model_time_s;  ///< of all steps up to this one
  };
  template <class F>
  void each_row(const RunResult& result, F&& f) const;
  void count(const Message& message);

  std::optional<Machine> machine_;  // from the beginning of the run on, as is the next
  std::optional<TraceGroups> groups_;
  std::optional<ContributorCounts> counts_;  // reductions and barriers, in place of informed_
  std::optional<std::string> too_large_;     // why there is no such count
  bool completes_ = false;                   // a reduction or a barrier
  std::vector<bool> informed_;
  std::uint64_t informed_count_ = 0;
  std::uint64_t informed_at_first_ = 0;
  std::vector<Seen> seen_;
  std::vector<std::pair<ChannelName, Bytes>> crossed_;  // scratch
  TraceMessage line_;                                   // scratch
};

}  // namespace torus::command
