/// The figures of a report of `torus run`, each said once: JSON, CSV and the page on both are walks over the same fields. A new figure is
/// one more of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/torus/run/report.hpp"

namespace torus::command {

/// A run, and what several of its figures follow from.
struct Reported {
  /// Setting and run must outlive it.
  Reported(const Setting& of, const Run& ran, StruckFault struck = {});

  const Setting& setting;  ///< of groups that differ, that of the slowest class; so are the four below
  const Run& run;
  StruckFault fault;
  const Machine& machine;  ///< of a group, where there are groups
  const Request& request;
  const Plan& plan;
  const RunResult& result;
  const Bounds& bounds;
  ShapeFacts facts;
  Repeats repeats;
  double run_s;          ///< the median of several
  const Setting& asked;  ///< of all classes of groups
};

/// A figure: a name, a value and what it means.
struct ReportField {
  enum class Runs { all, some };
  enum class Kind { scalar, nested };  ///< a scalar is a column of CSV: first those of all runs, then those of some

  std::string_view key;
  Runs runs = Runs::all;
  Kind kind = Kind::scalar;
  /// None: this run has no such figure. Null: there is one, but nothing predicts it.
  std::optional<Json> (*value)(const Reported&);
  std::string_view meaning;  ///< with units; empty: the next field's holds for this one too
};
std::span<const ReportField> report_fields();

/// The list of fields on the page tools/json.md: a line for each meaning.
std::string report_fields_page();

}  // namespace torus::command
