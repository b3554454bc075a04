/// What figures share: text that is safe in XML and HTML, and the colours and marks that tell curves apart without sight of hues.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace torus::command::svg {

/// Text for an element or an attribute: no character of it is markup. Bytes that are not UTF-8, and control characters, which XML has no
/// way to write, are replaced.
std::string escaped(std::string_view text);

/// The rules that figures are drawn by, for a style element: light paper. Viewers of papers know no media queries; a page adds its own.
extern const std::string_view style;

/// A whole file: the body on paper of that size.
std::string document(double width, double height, std::string_view body);

constexpr std::size_t colours = 7;  ///< classes c0 to c6 of `style`; by Okabe and Ito, without the yellow, which white paper swallows
constexpr std::size_t shapes = 8;

/// A mark at a point. Its class says whether it is full or hollow.
std::string mark(std::size_t shape, double x, double y, std::string_view classes);

/// `<text>`; anchor is start, middle or end.
std::string text(double x, double y, std::string_view anchor, std::string_view words, std::string_view classes = "ink");

std::string line(double x0, double y0, double x1, double y1, std::string_view classes);

/// How wide a text is about, at the size of `style`.
double width_of(std::string_view words);

}  // namespace torus::command::svg
