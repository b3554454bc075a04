/// What the fuzz targets share. A target is a function of some bytes: LLVMFuzzerTestOneInput(), as libFuzzer calls it. It ends the process
/// where the program is wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <torus/error.hpp>
#include <torus/topology.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace torus::fuzz {

[[noreturn]] inline void broken(const char* rule, std::string_view what) {
  std::fprintf(stderr, "broken: %s: %.*s\n", rule, static_cast<int>(what.size()), what.data());
  std::abort();
}

inline std::string_view text(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

/// Takes a line off a text, without its end.
inline std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Calls f. False if it refuses its input as promised: by an InputError that says something. No other exception is caught.
template <class F>
bool accepts(F&& f) {
  try {
    f();
    return true;
  } catch (const InputError& error) {
    const std::string_view says = error.what();
    if (says.size() < 20) broken("an error says what is wrong", says);
    if (std::any_of(says.begin(), says.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) broken("an error is one line", says);
    return false;
  }
}

/// Small enough for the work that grows with the machine, as reading its text does not.
inline bool small(const Topology& topology, std::uint64_t channels = 65536) {
  return topology.nodes() <= 4096 && topology.nodes() * (static_cast<std::uint64_t>(topology.channel_slots()) + 1) <= channels;
}

}  // namespace torus::fuzz
