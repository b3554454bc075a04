/// Machines that exist, as data: shapes, wrap, ports, link speeds and start-up time, each figure with its source.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>

namespace torus::command {

/// Where a figure comes from. assumed: no source is known; it is the default of every machine.
enum class Origin : std::uint8_t { published, derived, assumed };
std::string_view name(Origin origin) noexcept;

/// Figures, and who says so, where and when.
struct Sourced {
  Origin origin = Origin::assumed;
  std::string_view source = {};
};

/// What a dimension of a machine may be.
struct PresetAxis {
  std::int32_t min = 1, max = 1;
  enum class Ends : std::uint8_t {
    ring,
    line,
    either,  ///< a ring or a line; up to an extent of 2 a line
    whole,   ///< a ring where it has its greatest extent; else a line
    cubes    ///< rings where every extent of the shape is a multiple of 4; else lines
  } ends = Ends::ring;
  std::int32_t multiples_of = 1;
};

struct Preset {
  std::string_view name, title;
  std::string_view shape;  ///< the default, in the command's notation
  std::string_view rule;   ///< of the shapes, in words
  std::vector<PresetAxis> axes;
  Sourced shapes;
  /// The slices that are rented, but those whose extents are all multiples of 4 of a machine of cubes; empty: it is not rented in slices.
  std::vector<std::string_view> slices = {};
  int devices = 1;      ///< of a chip, as programs count them
  bool twists = false;  ///< has twisted slices too
  int ports = 0;
  std::vector<double> bytes_per_s;  ///< of a channel: one for all, or one a dimension
  Sourced speed;
  double start_up_s = CostModel{}.start_up_s;
  Sourced start_up;

  /// T_s and T_c.
  CostModel cost() const;
};

std::span<const Preset> presets();
/// Throws InputError that says what may have been meant.
const Preset& preset_called(std::string_view name);
/// A slice named by its extents alone, with the wraps that it has where it is rented; any other shape as it is.
Topology as_rented(const Preset& preset, const Topology& topology);
/// Throws InputError if the machine has no such shape, with one that it has.
void check_shape(const Preset& preset, const Topology& topology);

/// "45 GB/s", "9.38, 4.69, 9.38 GB/s".
std::string speed_text(const Preset& preset);
/// "published: Google Cloud, ..": the origin of a figure.
std::string text(const Sourced& figure);

}  // namespace torus::command
