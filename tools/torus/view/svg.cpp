#include "tools/torus/view/svg.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace torus::command::svg {
namespace {

/// Bytes of the UTF-8 character with which a text begins; 0 if it begins with none.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80; };
  return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(bytes), continues) ? bytes : 0;
}

/// The same text with U+FFFD for what is not UTF-8.
std::string utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    valid += bytes > 0 ? text.substr(0, bytes) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return valid;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : utf8(text)) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      case '\'': safe += "&#39;"; break;
      default: safe += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return safe;
}

const std::string_view style =
    "svg text{font:13px system-ui,'Segoe UI','DejaVu Sans',sans-serif}"
    "svg .paper{fill:#fff}svg .ink{fill:#1b1f24}svg .soft{fill:#5c6570}svg .title{font-size:15px;font-weight:600}"
    "svg .axis{stroke:#5c6570;fill:none}svg .grid{stroke:#c9d0d8;stroke-width:.8}svg .fine{stroke:#e6eaee;stroke-width:.8}"
    "svg .bound{stroke:#1b1f24;stroke-width:3;fill:none}svg .leader{stroke-width:.8;stroke-dasharray:1 3}"
    "svg .curve path{fill:none;stroke-width:1.8}svg .d1{stroke-dasharray:7 3}svg .d2{stroke-dasharray:2 3}"
    "svg .mark{stroke-width:1.5}svg .hollow{fill:#fff}"
    "svg .cross{fill:none;stroke:#1b1f24;stroke-width:1.6}svg .drop{stroke:#1b1f24;stroke-width:.8;stroke-dasharray:3 3}"
    "svg .c0{stroke:#0072b2}svg .c1{stroke:#d55e00}svg .c2{stroke:#009e73}svg .c3{stroke:#b8528f}svg .c4{stroke:#c98500}"
    "svg .c5{stroke:#3a9bd0}svg .c6{stroke:#555}"
    "svg .full.c0{fill:#0072b2}svg .full.c1{fill:#d55e00}svg .full.c2{fill:#009e73}svg .full.c3{fill:#b8528f}svg .full.c4{fill:#c98500}"
    "svg .full.c5{fill:#3a9bd0}svg .full.c6{fill:#555}"
    "svg .link{stroke:#c3cad2;fill:none}svg .frame{stroke:#5c6570}svg .source{stroke:#1b1f24;stroke-width:2.4}"
    "svg .route{stroke:#c04a00;stroke-width:2;fill:none;stroke-linejoin:round}svg .control{stroke:#345f99;stroke-dasharray:3 3}"
    "svg .under{stroke:#fff;stroke-width:4.5;fill:none;stroke-linejoin:round}svg .head{fill:#c04a00}svg .control_head{fill:#345f99}";

std::string document(double width, double height, std::string_view body) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n"
      "<style>{2}</style>\n<rect class=\"paper\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n{3}</svg>\n",
      width, height, style, body);
}

std::string mark(std::size_t shape, double x, double y, std::string_view classes) {
  constexpr double r = 4;
  const auto polygon = [&](std::string_view steps) {
    return fmt::format("<path class=\"mark {}\" d=\"M{:.1f} {:.1f}{}z\"/>", classes, x, y, steps);
  };
  switch (shape % shapes) {
    case 0: return fmt::format("<circle class=\"mark {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", classes, x, y, r);
    case 1: return polygon("m-3.6-3.6h7.2v7.2h-7.2");
    case 2: return polygon("m0-4.8l4.6 8h-9.2");
    case 3: return polygon("m0-5l5 5l-5 5l-5-5");
    case 4: return polygon("m0 4.8l4.6-8h-9.2");
    case 5: return polygon("m-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3");
    case 6: return polygon("m-5.2-2.2h10.4v4.4h-10.4");
    default: return polygon("m-2.2-5.2h4.4v10.4h-4.4");
  }
}

std::string text(double x, double y, std::string_view anchor, std::string_view words, std::string_view classes) {
  return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", classes, x, y, anchor, escaped(words));
}

std::string line(double x0, double y0, double x1, double y1, std::string_view classes) {
  return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", classes, x0, y0, x1, y1);
}

double width_of(std::string_view words) { return 7.2 * static_cast<double>(words.size()); }

}  // namespace torus::command::svg
