/// Times against sizes, as curves: what torus sweep, torus compare and torus bench measured and predicted, read from their tables (--csv).
///
/// The figures are drawn here, in SVG, and not by a library of charts in the page: the page stays under a tenth of such a library's size
/// and opens without any script running, it prints, and the figure in a paper (--svg) is the one in the page.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>

#include "runtime/base/output_file.hpp"

namespace torus::command {

/// What a table says of one algorithm at one size.
struct CurvePoint {
  Bytes bytes = 0;
  double model_time_s = 0;
  bool run = false;     ///< measured by a run; else predicted
  bool exact = true;    ///< of what is predicted: false is an upper limit or an estimate
  bool failed = false;  ///< the run failed: no curve has it
  std::optional<double> wall_s;
  std::string steps;
};

struct Curve {
  std::string algorithm;
  std::vector<CurvePoint> points;  ///< by ascending size, each once
};

/// The curves of one collective on one machine, which may be compared.
struct Chart {
  std::string collective, shape, machine;  ///< machine: all other that sets it apart
  std::vector<Curve> curves;               ///< in the order of the table
  std::map<Bytes, double> bound_s;         ///< of the model time, by size

  std::string title() const { return collective + " on " + shape; }
  std::vector<Bytes> sizes() const;
};

/// Which of the two times.
enum class TimeKind { model, wall };
/// None where the point has no such time, where it is 0, which no logarithm has, or where the run failed.
std::optional<double> time_of(const CurvePoint& point, TimeKind kind) noexcept;

/// Where one algorithm becomes faster than another. Between two sizes of the table it is interpolated, straight between logarithms.
struct Crossing {
  std::size_t before = 0, after = 0;  ///< the faster one for smaller sizes, and for larger ones: of the curves
  double bytes = 0, seconds = 0;
  std::vector<std::size_t> faster{};  ///< curves that are below it: while one of them is shown, it is no crossing of the fastest
};
constexpr std::size_t max_crossings = 2000;
/// The crossings of all pairs, by size. Above max_crossings, only those with the fewest curves below are kept.
std::vector<Crossing> crossings_of(const Chart& chart, TimeKind kind);

/// Collects the rows of a table.
class CurveTable {
 public:
  static constexpr std::size_t max_points = 20'000;
  static constexpr std::size_t max_charts = 100;

  /// The first line of the table. The functions throw InputError, whose text does not name the file.
  explicit CurveTable(std::string_view names);
  void row(std::string_view line);
  /// The charts in the order of the table; at least one.
  std::vector<Chart> finish();

 private:
  std::string_view cell(const std::vector<std::string>& cells, std::string_view column) const;
  std::optional<double> number(const std::vector<std::string>& cells, std::string_view column) const;

  std::map<std::string, std::size_t, std::less<>> columns_;
  std::size_t width_ = 0, points_ = 0;
  std::vector<Chart> charts_;
};

/// The charts of a file that torus sweep, compare or bench wrote with --csv.
std::vector<Chart> read_curves(const std::string& path);
/// The charts of such a file's text.
std::vector<Chart> curves_of(std::string_view csv);
/// Without the algorithms that are not named, or the shapes. Throws InputError if a name is in no chart.
std::vector<Chart> only(std::vector<Chart> charts, std::string_view option, const std::string& names);
std::vector<Chart> only_on(std::vector<Chart> charts, std::string_view option, const std::string& shapes);

/// A chart as the body of an SVG of figure_width(): panels of model time, of times the bound, and of wall time where there is one.
struct Figure {
  double width = 0, height = 0;
  std::string body;
};
Figure figure_of(const Chart& chart);
/// All charts as one SVG file, at most max_figure_charts.
constexpr std::size_t max_figure_charts = 12;
std::string curves_svg(const std::vector<Chart>& charts);
/// All charts as one page of HTML, with their tables.
std::string curves_page(const std::vector<Chart>& charts);

/// The files that are to show the curves: --html or --output, and --svg. Made before the work that they are to show, so that a bad name is
/// refused at once.
class CurveFiles {
 public:
  CurveFiles(const std::optional<std::string>& page, const std::optional<std::string>& svg);
  bool any() const noexcept { return page_.has_value() || svg_.has_value(); }
  /// Throws InputError if these are too many for a file.
  void check(std::size_t charts) const;
  /// The page is complete where the figure fails.
  void write(const std::vector<Chart>& charts);

 private:
  std::optional<OutputFile> page_, svg_;
};

}  // namespace torus::command
