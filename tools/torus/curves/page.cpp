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

std::string table_of(const Chart& chart, TimeKind kind) {
  const std::vector<Bytes> sizes = chart.sizes();
  std::vector<double> best(sizes.size(), 1e300);
  bool any = false;
  for (const Curve& curve : chart.curves) {
    for (const CurvePoint& point : curve.points) {
      const auto time = time_of(point, kind);
      if (!time) continue;
      any = true;
      double& least = best[static_cast<std::size_t>(std::lower_bound(sizes.begin(), sizes.end(), point.bytes) - sizes.begin())];
      least = std::min(least, *time);
    }
  }
  if (!any) return "";
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

std::string switches_of(const Chart& chart) {
  std::string text = "<div class=\"switches\" hidden>show <button class=\"all\">all</button> <button class=\"none\">none</button>\n";
  for (const Curve& curve : chart.curves)
    text += fmt::format("<label><input type=\"checkbox\" checked> {}</label>\n", svg::escaped(curve.algorithm));
  return text + "</div>\n";
}

std::string section_of(const Chart& chart, std::size_t number) {
  const Figure figure = figure_of(chart);
  std::string text = fmt::format("<section class=\"chart\" id=\"chart{}\">\n<h1>{}</h1>\n<p class=\"soft\">{}</p>\n", number,
                                 svg::escaped(chart.title()), svg::escaped(chart.machine));
  text += switches_of(chart);
  text += fmt::format(
      "<div class=\"figure\"><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>"
      "</div>\n",
      figure.width, figure.height, svg::escaped("Times against sizes: " + chart.title() + "; the table below has the figures"),
      figure.body);
  text +=
      "<p class=\"soft\">Full marks: run, every byte verified. Hollow marks, and ~ in the table: predicted; &lt;: an upper limit or an "
      "estimate. Circles: from there on another algorithm is the fastest. * the fastest.</p>\n";
  for (const TimeKind kind : kinds) text += table_of(chart, kind);
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
