// Machines that exist: each preset is a machine, says where its figures are from, and refuses shapes that it cannot have.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <torus/error.hpp>

#include "tests/support/catch.hpp"
#include "tools/torus/setting/spec.hpp"

using namespace torus;
using namespace torus::command;

namespace {

Machine machine_of(TypedOptions options) { return make_machine(parse_spec(Collective::broadcast, options), NativeMachine{}); }
TypedOptions named(const char* machine, std::optional<std::string> on = {}) {
  TypedOptions options;
  options["machine"] = machine;
  options["on"] = std::move(on);
  return options;
}

}  // namespace

TEST_CASE("each preset is a machine of its own default shape, and names its sources", "[unit]") {
  for (const Preset& preset : presets()) {
    CAPTURE(preset.name);
    const Machine machine = machine_of(named(std::string(preset.name).c_str()));
    CHECK(machine.topology == Topology::parse(preset.shape));
    CHECK(machine.ports == std::min<int>(preset.ports, machine.topology.max_ports()));
    CHECK((preset.bytes_per_s.size() == 1 || preset.bytes_per_s.size() == preset.axes.size()));
    CHECK(machine.cost.start_up_s == preset.start_up_s);
    for (const Sourced& figure : {preset.shapes, preset.speed, preset.start_up}) {
      CHECK(figure.source.size() > 10);
      if (figure.origin == Origin::assumed) CHECK(figure.source.find("none published") == 0);
    }
    CHECK((preset.start_up.origin != Origin::assumed || preset.start_up_s == CostModel{}.start_up_s));
  }
}

TEST_CASE("the figures of presets are those of their sources", "[unit]") {
  struct Figures {
    std::string_view name;
    int ports;
    double start_up_us;
    std::vector<double> gigabytes_per_s;  // of a link, one way
  };
  // Written down from the sources a second time.
  const std::vector<Figures> figures{{"tpu-v4", 6, 1, {45}},
                                     {"tpu-v5p", 6, 1, {1200.0 / 12}},
                                     {"tpu7x", 6, 1, {100}},
                                     {"tpu-v5e", 4, 1, {400.0 / 8}},
                                     {"v6e", 4, 1, {800.0 / 8}},
                                     {"trn2", 4, 1, {1280.0 / 8}},
                                     {"trn2-ultra", 6, 1, {1280.0 / 12}},
                                     {"bgq", 10, 1, {2 * 0.9}},
                                     {"tofu-d", 6, 0.49, {6.8}},
                                     {"gemini", 6, 1.4, {2 * 12 * 3.125 / 8, 12 * 3.125 / 8, 2 * 12 * 3.125 / 8}},
                                     {"galaxy", 4, 1, {800.0 / 8}}};
  REQUIRE(figures.size() == presets().size());
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const Preset& preset = presets()[i];
    CAPTURE(figures[i].name);
    CHECK(preset.name == figures[i].name);
    CHECK(preset.ports == figures[i].ports);
    CHECK(1e6 * preset.start_up_s == Approx(figures[i].start_up_us));
    REQUIRE(preset.bytes_per_s.size() == figures[i].gigabytes_per_s.size());
    for (std::size_t d = 0; d < preset.bytes_per_s.size(); ++d) CHECK(preset.bytes_per_s[d] == Approx(1e9 * figures[i].gigabytes_per_s[d]));
  }
}

TEST_CASE("a preset takes the shapes that its machine can have, and suggests one for the others", "[unit]") {
  for (const auto& [machine, shape] : {std::pair{"tpu-v4", "4x4x8"},
                                       {"tpu-v4", "mesh:2x2x4"},
                                       {"tpu-v5p", "16x16x24"},
                                       {"trn2", "4x4"},
                                       {"bgq", "8x4x4x4x2"},
                                       {"tofu-d", "24x23x24x2mx3x2m"},
                                       {"galaxy", "8x4m"},
                                       {"galaxy", "4x2m"}}) {
    CAPTURE(machine, shape);
    CHECK_NOTHROW(machine_of(named(machine, shape)));
  }
  for (const auto& [machine, shape, instead] : {std::tuple{"tpu-v4", "3x2x4", "mesh:2x2x4"},
                                                {"tpu-v4", "4x4x32", "4x4x16"},
                                                {"tpu-v5p", "mesh:8x8x8", "8x8x8"},
                                                {"tpu-v5p", "8x8", "mesh:2x2x4"},
                                                {"tpu7x", "2x2x8", "mesh:2x2x4"},
                                                {"tpu7x", "24x24x24", "16x24x24"},
                                                {"v6e", "8x4", "mesh:4x8"},
                                                {"v6e", "4x4x4", "mesh:4x4"},
                                                {"tpu-v5p", "16x24x24", "16x16x24"},
                                                {"trn2", "4x8", "4x4"},
                                                {"bgq", "3x4x4x4x2", "4x4x4x4x2"},
                                                {"tofu-d", "6x6x6x2x3x2", "6x6x6x2mx3x2m"},
                                                {"gemini", "8x8x8c", "8x8x8"},
                                                {"galaxy", "4x2", "4x2m"}}) {
    CAPTURE(machine, shape);
    try {
      machine_of(named(machine, shape));
      FAIL("not refused");
    } catch (const InputError& error) {
      const std::string text = error.what();
      CAPTURE(text);
      CHECK(text.starts_with(preset_called(machine).slices.empty() ? "--on '" : "--on or --slice '"));
      CHECK(text.ends_with(std::string("; for instance ") + instead));
      CHECK_NOTHROW(machine_of(named(machine, instead)));
    }
  }
}

TEST_CASE("a slice has the wraps that it has where it is rented", "[unit]") {
  for (const auto& [machine, slice, shape] : {std::tuple{"tpu-v4", "2x2x4", "mesh:2x2x4"},
                                              {"tpu-v5p", "2x4x4", "mesh:2x4x4"},
                                              {"tpu-v5p", "4x4x8t", "4x4x8t"},
                                              {"tpu7x", "2x2x1", "mesh:2x2x1"},
                                              {"tpu7x", "4x4x4", "4x4x4"},
                                              {"tpu7x", "16x24x24", "16x24x24"},
                                              {"v5p", "2x4x4", "mesh:2x4x4"},
                                              {"v5e", "16x16", "16x16"},
                                              {"tpu-v6e", "2x4", "mesh:2x4"},
                                              {"v6e", "2x4", "mesh:2x4"},
                                              {"v6e", "8x16", "8mx16"},
                                              {"v6e", "16x16", "16x16"}}) {
    CAPTURE(machine, slice);
    CHECK(machine_of(named(machine, slice)).topology == Topology::parse(shape));
  }
  for (const Preset& preset : presets()) {
    for (const std::string_view slice : preset.slices) {
      CAPTURE(preset.name, slice);
      CHECK_NOTHROW(machine_of(named(std::string(preset.name).c_str(), std::string(slice))));
    }
  }
  CHECK_THROWS_WITH(machine_of(named("trn3")),
                    "--machine 'trn3': an UltraServer of Trainium3 is no torus (AWS Neuron documentation, Trn3 "
                    "architecture); for instance trn2-ultra");
}

TEST_CASE("options that are typed override those of the preset", "[unit]") {
  TypedOptions options = named("gemini");
  CHECK(machine_of(options).cost.byte_s_of(1) == 2 * machine_of(options).cost.byte_s_of(0));
  options["tc"] = "1ns";
  options["ports"] = "2";
  options["ts"] = "5us";
  const Machine machine = machine_of(options);
  CHECK(machine.cost.one_speed());
  CHECK(machine.cost.byte_s == 1e-9);
  CHECK(machine.cost.start_up_s == 5e-6);
  CHECK(machine.ports == 2);
  options["tc"] = "1ns,2ns,3ns";
  CHECK(machine_of(options).cost.dimension_byte_s == std::vector<double>{1e-9, 2e-9, 3e-9});
  options["tc"] = "1ns,2ns";
  CHECK_THROWS_AS(machine_of(options), InputError);
  CHECK_THROWS_AS(machine_of(named("cray")), InputError);
}
