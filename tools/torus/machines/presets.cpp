#include "tools/torus/machines/presets.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

using Ends = PresetAxis::Ends;

constexpr Sourced no_start_up{Origin::assumed, "none published; the default T_s"};

/// The table. Speeds are bytes a second of one link in one direction.
const std::vector<Preset>& table() {
  static const std::vector<Preset> machines{
      {.name = "tpu-v4",
       .title = "Google TPU v4",
       .shape = "8x8x8",
       .rule = "3 dimensions, up to 16x16x16; rings where all extents are multiples of 4, twisted or not, else lines",
       .axes = {{1, 16, Ends::cubes}, {1, 16, Ends::cubes}, {1, 16, Ends::cubes}},
       .shapes = {Origin::published, "Google Cloud documentation, TPU v4; Austin et al., How to Scale Your Model, chapter TPUs, 2025"},
       .slices = {"2x2x1", "2x2x2", "2x2x4", "2x4x4"},
       .twists = true,
       .ports = 6,
       .bytes_per_s = {45e9},
       .speed = {Origin::published, "Austin et al., How to Scale Your Model, chapter TPUs, 2025: 4.5e10 B/s a link, one way"},
       .start_up = no_start_up},
      {.name = "tpu-v5p",
       .title = "Google TPU v5p",
       .shape = "8x8x8",
       .rule = "3 dimensions, up to 16x16x24; rings where all extents are multiples of 4, twisted or not, else lines",
       .axes = {{1, 16, Ends::cubes}, {1, 16, Ends::cubes}, {1, 24, Ends::cubes}},
       .shapes = {Origin::published, "Google Cloud documentation, TPU v5p, 2026"},
       .slices = {"2x2x1", "2x2x2", "2x2x4", "2x4x4"},
       .twists = true,
       .ports = 6,
       .bytes_per_s = {100e9},
       .speed = {Origin::derived, "Google Cloud documentation, TPU v5p, 2026: 1,200 GB/s a chip, over 6 links of 2 directions"},
       .start_up = no_start_up},
      {.name = "tpu7x",
       .title = "Google TPU7x, Ironwood",
       .shape = "8x8x8",
       .rule = "3 dimensions, up to 16x24x24; rings where all extents are multiples of 4, twisted or not, else lines",
       .axes = {{1, 16, Ends::cubes}, {1, 24, Ends::cubes}, {1, 24, Ends::cubes}},
       .shapes = {Origin::derived,
                  "Google Cloud documentation, TPU7x, 2026: 9,216 chips, as v5p; wraps and twists as in AI-Hypercomputer, "
                  "accelerator-microbenchmarks, 2026"},
       .slices = {"2x2x1", "2x2x2", "2x2x4", "2x4x4"},
       .devices = 2,
       .twists = true,
       .ports = 6,
       .bytes_per_s = {100e9},
       .speed = {Origin::published, "AI-Hypercomputer, accelerator-microbenchmarks, 2026: 100 GB/s a link, one way"},
       .start_up = no_start_up},
      {.name = "tpu-v5e",
       .title = "Google TPU v5e",
       .shape = "16x16",
       .rule = "2 dimensions, up to 16x16; rings at an extent of 16, else lines",
       .axes = {{1, 16, Ends::whole}, {1, 16, Ends::whole}},
       .shapes = {Origin::published, "Google Cloud documentation, TPU v5e, 2026; wraps: Austin et al., How to Scale Your Model, 2025"},
       .slices = {"1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16"},
       .ports = 4,
       .bytes_per_s = {50e9},
       .speed = {Origin::derived, "Google Cloud documentation, TPU v5e, 2026: 400 GB/s a chip, over 4 links of 2 directions"},
       .start_up = no_start_up},
      {.name = "v6e",
       .title = "Google TPU v6e, Trillium",
       .shape = "16x16",
       .rule = "2 dimensions, up to 16x16; rings at an extent of 16, else lines",
       .axes = {{1, 16, Ends::whole}, {1, 16, Ends::whole}},
       .shapes = {Origin::published,
                  "Google Cloud documentation, TPU v6e, 2026; wraps: AI-Hypercomputer, accelerator-microbenchmarks, 2026"},
       .slices = {"1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16"},
       .ports = 4,
       .bytes_per_s = {100e9},
       .speed = {Origin::derived, "Google Cloud documentation, TPU v6e, 2026: 800 GB/s a chip, over 4 links of 2 directions"},
       .start_up = no_start_up},
      {.name = "trn2",
       .title = "AWS Trainium2, one trn2 instance",
       .shape = "4x4",
       .rule = "4x4, rings",
       .axes = {{4, 4}, {4, 4}},
       .shapes = {Origin::published, "AWS Neuron documentation, Amazon EC2 Trn2 architecture, 2025"},
       .ports = 4,
       .bytes_per_s = {160e9},
       .speed = {Origin::derived,
                 "AWS Neuron documentation, Trainium2 architecture, 2025: 1.28 TB/s a device; split evenly over 4 links of 2 directions"},
       .start_up = no_start_up},
      {.name = "trn2-ultra",
       .title = "AWS Trainium2, an UltraServer of four instances",
       .shape = "4x4x4",
       .rule = "4x4x4, rings",
       .axes = {{4, 4}, {4, 4}, {4, 4}},
       .shapes = {Origin::published, "AWS Neuron documentation, Amazon EC2 Trn2 architecture, 2025"},
       .ports = 6,
       .bytes_per_s = {1.28e12 / 12},
       .speed = {Origin::derived,
                 "AWS Neuron documentation, Trainium2 architecture, 2025: 1.28 TB/s a device; split evenly over 6 links of 2 directions"},
       .start_up = no_start_up},
      {.name = "bgq",
       .title = "IBM Blue Gene/Q",
       .shape = "4x4x4x4x2",
       .rule = "5 dimensions: multiples of 4 up to 16, and the last of 2; rings",
       .axes = {{4, 16, Ends::ring, 4}, {4, 16, Ends::ring, 4}, {4, 16, Ends::ring, 4}, {4, 16, Ends::ring, 4}, {2, 2}},
       .shapes = {Origin::published, "IBM Redbook SG24-7948, Blue Gene/Q Application Development, chapter 2, 2013"},
       .ports = 10,
       .bytes_per_s = {1.8e9},
       .speed = {Origin::published,
                 "IBM Redbook SG24-7872, Blue Gene/Q Hardware Overview, chapter 2, 2013: 2 GB/s raw, 10 % of it packet overhead"},
       .start_up = no_start_up},
      {.name = "tofu-d",
       .title = "Fujitsu Tofu interconnect D, as in Fugaku",
       .shape = "6x6x6x2mx3x2m",
       .rule = "6 dimensions up to 24x23x24x2x3x2: x, y, z rings, a a line of 2, b a ring of 3, c a line of 2",
       .axes = {{1, 24}, {1, 23}, {1, 24}, {2, 2, Ends::line}, {3, 3}, {2, 2, Ends::line}},
       .shapes = {Origin::published, "Ajima et al., The Tofu Interconnect D, CLUSTER 2018"},
       .ports = 6,
       .bytes_per_s = {6.8e9},
       .speed = {Origin::published, "Ajima et al., The Tofu Interconnect D, CLUSTER 2018"},
       .start_up_s = 0.49e-6,
       .start_up = {Origin::published, "the same: 0.49 us a put"}},
      {.name = "gemini",
       .title = "Cray Gemini, as in the XE6",
       .shape = "8x8x8",
       .rule = "3 dimensions, up to 24x24x24, rings",
       .axes = {{1, 24}, {1, 24}, {1, 24}},
       .shapes = {Origin::derived, "Alverson, Roweth & Kaplan, The Gemini System Interconnect, HOTI 2010: a 3-D torus; the limit is ours"},
       .ports = 6,
       .bytes_per_s = {9.375e9, 4.6875e9, 9.375e9},
       .speed = {Origin::derived, "Alverson, Roweth & Kaplan, HOTI 2010: x and z have two links, y has one; 12 lanes of 3.125 Gb/s a link"},
       .start_up_s = 1.4e-6,
       .start_up = {Origin::published, "EuroBen, Overview of recent supercomputers, Cray XE6, 2010: 0.7 to 1.4 us; the upper end"}},
      {.name = "galaxy",
       .title = "Tenstorrent Galaxy",
       .shape = "8x4",
       .rule = "up to 8x4; each a ring or a line, up to 2 a line",
       .axes = {{1, 8, Ends::either}, {1, 4, Ends::either}},
       .shapes = {Origin::published, "Tenstorrent documentation and tt-metal issue 54626, 2026"},
       .ports = 4,
       .bytes_per_s = {100e9},
       .speed = {Origin::derived, "Tenstorrent documentation, Multi-card topologies, 2026: ports of 800 Gb/s"},
       .start_up = no_start_up}};
  return machines;
}

std::vector<DimensionShape> nearest(const Preset& preset, const Topology& topology) {
  std::vector<DimensionShape> shape;
  bool cubes = true;
  for (std::size_t d = 0; d < preset.axes.size(); ++d) {
    const PresetAxis& axis = preset.axes[d];
    std::int32_t n = static_cast<Dimension>(d) < topology.dimensions() ? topology.extent(static_cast<Dimension>(d)) : axis.min;
    n = std::clamp((n + axis.multiples_of - 1) / axis.multiples_of * axis.multiples_of, axis.min, axis.max);
    cubes = cubes && n % 4 == 0;
    shape.push_back({n, Wiring::ring});
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const auto dimension = static_cast<Dimension>(d);
    switch (preset.axes[d].ends) {
      case Ends::ring: break;
      case Ends::line: shape[d].wiring = Wiring::line; break;
      case Ends::whole: shape[d].wiring = shape[d].extent == preset.axes[d].max ? Wiring::ring : Wiring::line; break;
      case Ends::cubes: shape[d].wiring = cubes ? Wiring::ring : Wiring::line; break;
      case Ends::either:
        if (shape[d].extent <= 2 || (dimension < topology.dimensions() && topology.wiring(dimension) == Wiring::line))
          shape[d].wiring = Wiring::line;
        break;
    }
  }
  return shape;
}

bool of_cubes(const Preset& preset) { return preset.axes.front().ends == Ends::cubes; }

/// Whether a slice of these extents is rented; a machine that is not rented in slices has all shapes that its rule allows.
bool rented(const Preset& preset, const Topology& topology) {
  if (preset.slices.empty()) return true;
  bool cubes = of_cubes(preset);
  std::string extents;
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    cubes = cubes && topology.extent(d) % 4 == 0;
    extents += fmt::format("{}{}", d == 0 ? "" : "x", topology.extent(d));
  }
  return cubes || std::find(preset.slices.begin(), preset.slices.end(), extents) != preset.slices.end();
}

/// A shape that the machine has, near to one that it has not.
Topology instead_of(const Preset& preset, const Topology& topology) {
  Topology fitting(nearest(preset, topology));
  return rented(preset, fitting) ? fitting : as_rented(preset, Topology::parse(preset.slices[preset.slices.size() / 2]));
}

/// "v5p" of tpu-v5p, as its users say.
std::string_view without_maker(std::string_view name) { return name.starts_with("tpu-") ? name.substr(4) : name; }

std::string rule_text(const Preset& preset) {
  if (preset.slices.empty()) return std::string(preset.rule);
  return fmt::format("{}; rented are {}{}", preset.rule, fmt::join(preset.slices, ", "), of_cubes(preset) ? " and multiples of 4" : "");
}

}  // namespace

std::string_view name(Origin origin) noexcept {
  switch (origin) {
    case Origin::published: return "published";
    case Origin::derived: return "derived";
    case Origin::assumed: return "assumed";
  }
  return "";
}

CostModel Preset::cost() const {
  CostModel cost;
  cost.start_up_s = start_up_s;
  cost.byte_s = 1 / bytes_per_s.front();
  for (const double rate : bytes_per_s) {
    if (bytes_per_s.size() > 1) cost.dimension_byte_s.push_back(1 / rate);
  }
  return cost;
}

std::span<const Preset> presets() { return table(); }

const Preset& preset_called(std::string_view name) {
  if (name == "trn3")
    refuse("--machine", name,
           "an UltraServer of Trainium3 is no torus (AWS Neuron documentation, Trn3 architecture); for instance trn2-ultra");
  std::vector<std::string_view> names;
  for (const Preset& preset : table()) {
    if (without_maker(preset.name) == without_maker(name)) return preset;
    names.push_back(preset.name);
  }
  const std::string near = did_you_mean(name, names);
  refuse("--machine", name, fmt::format("it must be {}{}", fmt::join(names, ", "), near));
}

Topology as_rented(const Preset& preset, const Topology& topology) {
  bool plain = !preset.slices.empty() && !topology.twisted() && topology.dimensions() == static_cast<Dimension>(preset.axes.size());
  for (Dimension d = 0; plain && d < topology.dimensions(); ++d) plain = topology.wiring(d) == Wiring::ring;
  if (!plain || !rented(preset, topology)) return topology;
  Topology slice(nearest(preset, topology));
  for (Dimension d = 0; d < topology.dimensions(); ++d) {
    if (slice.extent(d) != topology.extent(d)) return topology;
  }
  return slice;
}

void check_shape(const Preset& preset, const Topology& topology) {
  const Topology fitting(nearest(preset, topology));
  // A line and a ring of one node are the same.
  const auto same = [&](Dimension d) {
    return topology.extent(d) == fitting.extent(d) && (topology.wiring(d) == fitting.wiring(d) || topology.extent(d) == 1);
  };
  bool fits = topology.dimensions() == fitting.dimensions() && (preset.twists || !topology.twisted());
  for (Dimension d = 0; fits && d < topology.dimensions(); ++d) fits = same(d);
  if (fits && rented(preset, topology)) return;
  refuse(preset.slices.empty() ? "--on" : "--on or --slice", topology.text(),
         fmt::format("{} has {}; for instance {}", preset.name, rule_text(preset), instead_of(preset, topology).text()));
}

std::string speed_text(const Preset& preset) {
  std::vector<std::string> rates;
  for (const double rate : preset.bytes_per_s) rates.push_back(fmt::format("{:.4g}", rate / 1e9));
  return fmt::format("{} GB/s", fmt::join(rates, ", "));
}

std::string text(const Sourced& figure) { return fmt::format("{}: {}", name(figure.origin), figure.source); }

}  // namespace torus::command
