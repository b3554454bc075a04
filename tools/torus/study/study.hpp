/// What all commands share that make a table of many runs: rows that are kept until all are there, progress, failures, the table's file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/output_file.hpp"
#include "tools/torus/cli/console.hpp"
#include "tools/torus/cli/json.hpp"
#include "tools/torus/cli/options.hpp"
#include "tools/torus/setting/spec.hpp"
#include "tools/torus/study/attempt.hpp"
#include "tools/torus/study/unfinished_table.hpp"

namespace torus::command {

/// A row of a study.
struct StudyRow {
  Json values = {};         ///< null: there is none
  std::string failed = {};  ///< what failed, with the command that repeats it; empty: nothing
};

/// The rows of a command, one after the other, always in the same order. With a table to be written (--csv), each row is kept beside it at
/// once, and the same command, when it was interrupted or killed, goes on from there. Nothing is kept beside a device or a pipe.
class Study {
 public:
  /// `of`: "sweep broadcast"; `typed` and the algorithms: all else that decides what is in the rows. `log`: progress has lines where there
  /// is no terminal. Throws InputError where the table cannot be written, or rows of other options are kept beside it.
  Study(std::string_view of, const TypedOptions::Pairs& typed, const std::vector<const Algorithm*>& algorithms,
        const std::optional<std::string>& csv, bool log = false);

  /// Keeps no rows any longer if there are none.
  ~Study();
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  /// The next row: as it is kept, or made. Null: `make` had none, and is asked again when the command goes on; or it is interrupted.
  Json next(const std::function<StudyRow()>& make);

  std::size_t rows() const noexcept { return rows_; }                ///< that were kept or made
  std::size_t from_before() const noexcept { return from_before_; }  ///< that were kept
  std::size_t failures() const noexcept { return failures_; }
  const std::string& first_failure() const noexcept { return first_failure_; }
  Progress& progress() noexcept { return progress_; }
  /// A run that is shown as `what`, planned with what all of them share.
  Effort effort(std::string what) { return {.plans = &plans_, .progress = &progress_, .what = std::move(what)}; }

  /// Where an interrupted study goes on: "; what is done is in t.csv.part; the same command goes on from there". Empty: nothing is kept.
  std::string goes_on() const;
  /// Writes the table, if one was asked for, and keeps no rows any longer.
  void finish(const std::function<std::string()>& csv);

 private:
  std::optional<OutputFile> csv_;
  std::optional<UnfinishedTable> kept_;
  std::size_t next_ = 0, rows_ = 0, from_before_ = 0, failures_ = 0;
  std::string first_failure_;
  Progress progress_;
  PlanCache plans_;
};

/// For Command::more_files: where a study keeps its rows.
std::vector<NamedFile> kept_beside(const std::optional<std::string>& csv);

/// "shape", "nodes", "ports", "switching", "contention".
Json machine_json(const Machine& machine);

/// Objects as lines of CSV, with a line of names: `columns` are names of members, with commas between.
std::string csv_of(std::string_view columns, const Json& objects);

/// Write fields into a row, and read them from one: what is not there is 0, false or empty. A struct that is kept names its fields once, in
/// a template over the two.
struct ToRow {
  Json& row;

  template <class T>
  void operator()(std::string_view name, const T& value) const {
    row[name] = Json(value);
  }
  void operator()(std::string_view name, const std::optional<double>& value) const {
    if (value) row[name] = Json(*value);
  }
};
struct FromRow {
  const Json& row;

  void operator()(std::string_view name, bool& value) const { value = row.at(name) == Json(true); }
  void operator()(std::string_view name, double& value) const { value = row.at(name).number().value_or(0); }
  void operator()(std::string_view name, std::string& value) const { value = row.at(name).text().value_or(""); }
  void operator()(std::string_view name, std::optional<double>& value) const { value = row.at(name).number(); }
  template <std::unsigned_integral T>
  void operator()(std::string_view name, T& value) const {
    value = static_cast<T>(whole_number_in(row.at(name)));
  }

 private:
  static std::uint64_t whole_number_in(const Json& value);
};

}  // namespace torus::command
