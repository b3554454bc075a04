/// What an algorithm requires of machine and request, as data: one checker reads it, and so do lists, sweeps and the stress.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>

namespace torus {

/// Why an algorithm does not apply. `text()` writes it as one line; a program with options of its own can name them instead.
struct Refusal {
  enum class About : std::uint8_t { shape, ports, switching, contention, routing, bytes, sizes, reduction, parameter, faults };
  /// A value to choose instead of what was given.
  struct Change {
    About about{};
    std::string value;
    std::string parameter = {};

    /// As Refusal::subject().
    std::string_view subject() const noexcept;
  };
  About about{};
  std::string value;                ///< what was given: "16x16m"
  std::string rule;                 ///< what it breaks: "rotating needs a torus"
  std::string fix = {};             ///< a value that would do; empty: none is known, or a parameter is to be left out
  std::string parameter = {};       ///< its name, if about is `parameter`
  std::vector<Change> beside = {};  ///< what else must be changed, for the fix to do

  /// "ports", "faults", "switching", .., or the parameter's name.
  std::string_view subject() const noexcept;
};
/// "ports 2: wang-tseng uses all channels at once; 4 would do", "shape 8x8x8: .. ; 10x10 with switching circuit would do".
std::string text(const Refusal& refusal);

/// A setting that only some algorithms read, declared by those that do.
struct Parameter {
  std::string_view name;                         ///< "segments"
  std::string_view meaning;                      ///< one line for people
  std::span<const std::string_view> words = {};  ///< the values it may have; empty: a whole number of 1 or more
  /// Whole numbers worth trying on a machine, for sweeps and random tests; none: small numbers.
  std::vector<std::uint32_t> (*values)(const Machine& machine) = nullptr;
};

/// Values of parameters, by name. One that is not set, 0 or empty leaves the choice to the algorithm.
class Parameters {
 public:
  void set(std::string_view name, std::string_view value);
  void set(std::string_view name, std::uint64_t value) { set(name, std::string_view(std::to_string(value))); }
  void clear(std::string_view name) { set(name, std::string_view()); }
  /// The value of a whole number; 0 if it is not set.
  std::uint32_t whole(std::string_view name) const;
  /// The value as text; empty if it is not set.
  std::string_view word(std::string_view name) const noexcept;
  bool empty() const noexcept { return values_.empty(); }
  auto begin() const noexcept { return values_.begin(); }  ///< pairs (name, value), by name
  auto end() const noexcept { return values_.end(); }
  friend bool operator==(const Parameters&, const Parameters&) = default;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// What an algorithm requires of the machine. Rules that no field states are a function of the algorithm's own (Algorithm::also_requires).
struct Requirements {
  enum class Shape : std::uint8_t {
    any,
    rings_and_lines,  ///< no complete dimension
    torus,            ///< rings only
    equal_torus       ///< rings of one extent
  };
  static constexpr int all_ports = std::numeric_limits<int>::max();

  Shape shape = Shape::any;
  Dimension dimensions = 0;                 ///< exactly so many; 0: any number
  bool powers_of_two = false;               ///< every extent is one
  std::int32_t multiples_of = 1;            ///< every extent above 1 is a multiple of this
  Switching switching = Switching::packet;  ///< at least: a circuit machine takes wormhole routes, both take packet routes
  bool one_dimension_a_route = false;       ///< packet switching does where no dimension has routes of several hops
  int ports = 1;                            ///< at least, or as many as the shape has
  bool shared_channels = false;             ///< several messages cross a channel in a step
  std::int32_t overlaps_from = 1;           ///< `switching` and `shared_channels` are required only where an extent reaches this
  bool lives_with_holes = false;            ///< dead links and nodes; slow links harm no algorithm
  bool takes_twists = false;                ///< twisted tori
  bool ascending_routing = false;           ///< wormhole routes take the dimensions in ascending order
};

/// Whether a machine allows what an algorithm made for `needed` does: packet routes are legal under wormhole, both under circuit switching.
constexpr bool allows(Switching machine, Switching needed) noexcept { return machine >= needed; }

/// The first requirement that a machine does not meet; none if it meets all. O(dimensions).
std::optional<Refusal> unmet(const Requirements& requirements, std::string_view algorithm, const Machine& machine);

/// The largest whole number whose power `exponent` is at most `value`, at least 1: the side of the largest cube of so many nodes.
std::uint64_t root_below(int exponent, std::uint64_t value) noexcept;

}  // namespace torus
