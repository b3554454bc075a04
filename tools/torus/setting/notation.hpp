/// How people write what the command takes: sizes, numbers, lists, ranges.
/// The readers throw InputError of one line: the option and its value, the rule, a value that would do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <torus/machine.hpp>

namespace torus::command {

/// Throws InputError "--option 'text': rule".
[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view rule);

/// The parts of a text between separators; one more than there are of those.
std::vector<std::string_view> split(std::string_view text, char at);

/// A text that is a number and nothing else.
std::optional<std::uint64_t> whole_number(std::string_view text) noexcept;
/// "; a decimal has a point: 1.5us" for "1,5us"; empty for what does not look like a number with a comma.
std::string decimal_comma(std::string_view text);
std::optional<double> real_number(std::string_view text) noexcept;

/// `64`, `64B`, `4KiB` and `4K` (4096), `4KB` (4000), `1.5MiB`, `1e6`.
Bytes parse_bytes(std::string_view option, std::string_view text);
/// The shortest text that parse_bytes() reads back: 65536 is `64KiB`, 100 is `100`.
std::string bytes_option(Bytes bytes);
/// The same for a sentence: `64KiB`, `100 bytes`.
std::string bytes_words(Bytes bytes);

/// A whole number from min to max.
std::uint64_t parse_whole(std::string_view option, std::string_view text, std::uint64_t min, std::uint64_t max);
/// A number from min to max; the example is one that would do.
double parse_real(std::string_view option, std::string_view text, double min, double max, std::string_view example);
/// Model seconds, `1e-6` or `1us`: up to 1e6, so that no sum of them overflows.
double parse_seconds(std::string_view option, std::string_view text);
/// The seconds that a byte takes at a rate: `100Gb/s`, `12.5GB/s`, `1GiB/s`.
double parse_byte_time(std::string_view option, std::string_view text);
/// `0,1,2`: dimensions.
std::vector<Dimension> parse_routing(std::string_view text);

/// `; did you mean 'wang-tseng'?` if one of the words is near, else nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> words);

/// `64`, `64,4KiB`, `1KiB:16MiB` (both ends, and from the first on all of it times 4, 16, ..), `1KiB:16MiB:x2` (times 2, 4, ..),
/// `1KiB:16KiB:+1KiB` (plus 1 KiB, 2 KiB, ..), or any of them with commas between; ascending.
std::vector<Bytes> parse_sizes(std::string_view option, std::string_view text);

/// `8x8,4x4x4`, in the order given.
std::vector<Topology> parse_shapes(std::string_view text);

/// `1,4,all`, in the order given; 0 is all. What a shape has no room for is no mistake here.
std::vector<int> parse_port_counts(std::string_view text);
/// The counts that are different ones on a shape, in the order given; 0: all.
std::vector<int> ports_on(const Topology& shape, std::span<const int> counts);
/// A line on the counts for which nodes of a shape have too few channels; empty: there are none.
std::string ports_left_out(std::span<const Topology> shapes, std::span<const int> counts);

}  // namespace torus::command
