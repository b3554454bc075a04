/// Charts as one page of HTML. What a table says is text there and nothing else: all of it goes through svg::escaped().
#include <algorithm>
#include <fmt/format.h>

#include "runtime/base/figures.hpp"
#include "tools/torus/curves/curves.hpp"
#include "tools/torus/curves/page_parts.hpp"
#include "tools/torus/setting/notation.hpp"
#include "tools/torus/view/svg.hpp"

namespace torus::command {
namespace {

constexpr TimeKind kinds[] = {TimeKind::model, TimeKind::wall};
constexpr double none = 1e300;  // seconds, of what has no time

const CurvePoint* point_at(const Curve& curve, Bytes size) {
  const auto at =
      std::lower_bound(curve.points.begin(), curve.points.end(), size, [](const CurvePoint& p, Bytes b) { return p.bytes < b; });
  return at != curve.points.end() && at->bytes == size ? &*at : nullptr;
}

/// A row of times; the fastest of each size in bold, with a star. `mark` is of the row.
std::string row_of(const Chart& chart, std::size_t c, TimeKind kind, const std::vector<Bytes>& sizes, const std::vector<double>& best) {
  const Curve& curve = chart.curves[c];
  std::string row = fmt::format("<tr data-curve=\"{}\"><td>{}</td>", c, svg::escaped(curve.algorithm));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const CurvePoint* point = point_at(curve, sizes[i]);
    const auto time = point != nullptr ? time_of(*point, kind) : std::nullopt;
    if (!time) {
      row += point == nullptr ? "<td>-</td>" : point->failed ? "<td>FAILED</td>" : "<td>0 s</td>";
      continue;
    }
    std::string text = (kind == TimeKind::wall || point->run ? "" : point->exact ? "~" : "&lt;") + seconds_text(*time);
    if (const auto bound = chart.bound_s.find(sizes[i]); kind == TimeKind::model && bound != chart.bound_s.end())
      text += fmt::format(" x{:.2f}", *time / bound->second);
    row += *time == best[i] ? fmt::format("<td><b>{} *</b></td>", text) : fmt::format("<td>{}</td>", text);
  }
  return row + "</tr>\n";
}

/// The least time of each size.
std::vector<double> best_of(const Chart& chart, const std::vector<Bytes>& sizes, TimeKind kind) {
  std::vector<double> best(sizes.size(), none);
  for (const Curve& curve : chart.curves) {
    for (const CurvePoint& point : curve.points) {
      const auto time = time_of(point, kind);
      if (!time) continue;
      double& least = best[static_cast<std::size_t>(std::lower_bound(sizes.begin(), sizes.end(), point.bytes) - sizes.begin())];
      least = std::min(least, *time);
    }
  }
  return best;
}

/// Another curve has a time wherever this one has, by either kind, and a smaller one; or the same ones, and stands before it.
bool dominated_by(const Chart& chart, std::size_t c, std::size_t other) {
  bool better = false;
  for (const CurvePoint& point : chart.curves[c].points) {
    const CurvePoint* rival = point_at(chart.curves[other], point.bytes);
    for (const TimeKind kind : kinds) {
      const auto own = time_of(point, kind), theirs = rival != nullptr ? time_of(*rival, kind) : std::nullopt;
      if (own && (!theirs || *theirs > *own)) return false;
      better = better || (own && *theirs < *own);
    }
  }
  return better || other < c;
}
bool dominated(const Chart& chart, std::size_t c) {
  for (std::size_t other = 0; other < chart.curves.size(); ++other) {
    if (other != c && dominated_by(chart, c, other)) return true;
  }
  return false;
}

/// A coloured bar: which algorithm is the fastest from which size to which, as wide as it has sizes.
std::string winners_of(const Chart& chart, TimeKind kind) {
  const std::vector<Bytes> sizes = chart.sizes();
  const std::vector<double> best = best_of(chart, sizes, kind);
  const auto winner_at = [&](std::size_t i) {
    std::size_t c = 0;
    for (; c < chart.curves.size(); ++c) {
      const CurvePoint* point = point_at(chart.curves[c], sizes[i]);
      if (point != nullptr && best[i] < none && time_of(*point, kind) == best[i] && !dominated(chart, c)) break;
    }
    return c;
  };
  std::string bar;
  for (std::size_t first = 0, last = 0; first < sizes.size(); first = last) {
    const std::size_t c = winner_at(first);
    for (last = first + 1; last < sizes.size() && winner_at(last) == c;) ++last;
    if (c == chart.curves.size()) continue;
    const std::string range = bytes_option(sizes[first]) + (last - first > 1 ? " .. " + bytes_option(sizes[last - 1]) : std::string());
    bar += fmt::format("<div class=\"w{}\" style=\"flex-grow:{}\" data-winner=\"{}\" title=\"{}: {}\"><b>{}</b> <span>{}</span></div>\n",
                       c % svg::colours, last - first, c, svg::escaped(chart.curves[c].algorithm), range,
                       svg::escaped(chart.curves[c].algorithm), range);
  }
  if (bar.empty()) return "";
  return fmt::format("<h2>The fastest, by size{}</h2>\n<div class=\"winners\">\n{}</div>\n",
                     kind == TimeKind::wall ? ", measured on the host" : "", bar);
}

std::string table_of(const Chart& chart, TimeKind kind) {
  const std::vector<Bytes> sizes = chart.sizes();
  const std::vector<double> best = best_of(chart, sizes, kind);
  if (std::all_of(best.begin(), best.end(), [](double time) { return time == none; })) return "";
  std::string table =
      fmt::format("<h2>{}</h2>\n<div class=\"scroll\"><table>\n<tr><th>algorithm</th>",
                  kind == TimeKind::model ? "Model time, and how many times the lower bound it is" : "Measured on the host");
  for (const Bytes size : sizes) table += fmt::format("<th>{}</th>", bytes_option(size));
  table += "</tr>\n";
  if (kind == TimeKind::model && !chart.bound_s.empty()) {
    table += "<tr><td>lower bound</td>";
    for (const Bytes size : sizes) {
      const auto bound = chart.bound_s.find(size);
      table += fmt::format("<td>{}</td>", bound == chart.bound_s.end() ? "-" : seconds_text(bound->second));
    }
    table += "</tr>\n";
  }
  for (std::size_t c = 0; c < chart.curves.size(); ++c) table += row_of(chart, c, kind, sizes, best);
  return table + "</table></div>\n";
}

/// Those that another algorithm beats at every size are off at first.
std::string switches_of(const Chart& chart) {
  std::string boxes;
  std::size_t off = 0;
  for (std::size_t c = 0; c < chart.curves.size(); ++c) {
    const bool beaten = dominated(chart, c);
    off += beaten ? 1U : 0U;
    boxes +=
        fmt::format("<label><input type=\"checkbox\"{}> {}</label>\n", beaten ? "" : " checked", svg::escaped(chart.curves[c].algorithm));
  }
  std::string text =
      "<div class=\"switches\" hidden>show <button class=\"best\">the best</button> <button class=\"all\">all</button> "
      "<button class=\"none\">none</button>\n" +
      boxes;
  if (off > 0) text += fmt::format("<span class=\"soft\">off at first: {} that another beats at every size</span>\n", off);
  return text + "</div>\n";
}

std::string section_of(const Chart& chart, std::size_t number) {
  const Figure figure = figure_of(chart);
  std::string text = fmt::format("<section class=\"chart\" id=\"chart{}\">\n<h1>{}</h1>\n<p class=\"soft\">{}</p>\n", number,
                                 svg::escaped(chart.title()), svg::escaped(chart.machine));
  for (const TimeKind kind : kinds) text += winners_of(chart, kind);
  text += switches_of(chart);
  for (const TimeKind kind : kinds) text += table_of(chart, kind);
  text += fmt::format(
      "<div class=\"figure\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>"
      "</div>\n",
      figure.width, figure.height, svg::escaped("Times against sizes: " + chart.title() + "; the table above has the figures"),
      figure.body);
  text +=
      "<p class=\"soft\">Full marks: run, every byte verified. Hollow marks, and ~ in the table: predicted; &lt;: an upper limit or an "
      "estimate. Circles: from there on another algorithm is the fastest. * the fastest.</p>\n";
  return text + "</section>\n";
}

void put(std::string& page, std::string_view place, const std::string& text) { page.replace(page.find(place), place.size(), text); }

}  // namespace

std::string curves_page(const std::vector<Chart>& charts) {
  std::string page, sections;
  for (const char* part : curves_page_parts) page += part;
  if (charts.size() > 1) {
    sections += "<nav aria-label=\"Charts\">\n";
    for (std::size_t i = 0; i < charts.size(); ++i)
      sections += fmt::format("<a href=\"#chart{}\">{}</a>\n", i, svg::escaped(charts[i].title() + ": " + charts[i].machine));
    sections += "</nav>\n";
  }
  for (std::size_t i = 0; i < charts.size(); ++i) sections += section_of(charts[i], i);
  // Fill placeholders back to front, since table text may contain one; the style is trusted.
  put(page, "TORUS_FIGURE_STYLE", std::string(svg::style));
  put(page, "TORUS_CHARTS", sections);
  put(page, "TORUS_TITLE", svg::escaped(charts.front().title()));
  return page;
}

}  // namespace torus::command
