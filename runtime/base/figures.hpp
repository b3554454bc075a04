/// Figures and nodes as text for people; text from outside, made harmless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <torus/machine.hpp>
#include <torus/topology.hpp>

namespace torus {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);
/// "1 node", "1,234 nodes". The plural of `one` has an s more, or is `many`.
std::string counted(std::uint64_t count, std::string_view one, std::string_view many = {});
/// The shortest text that reads back as the same number: "2.5", "1e+308".
std::string number_text(double value);
/// "1.5 GiB".
std::string bytes_text(Bytes bytes);
std::string bytes_text(std::optional<Bytes> bytes);  ///< none: "unknown"
/// "12.3 us", "4.56 s".
std::string seconds_text(double seconds);
/// "12.3 GB/s"; "-" if the rate is not finite.
std::string rate_text(double per_second, std::string_view unit);
/// amount / seconds; 0 where no time has passed.
double per_second(double amount, double seconds) noexcept;
/// A node's coordinates: "(3,4)".
std::string node_text(const Topology& topology, NodeId node);

/// A text from a file or a user, for a terminal: each control character, line feeds included, is written as \u001b is. So are the bytes of
/// what is not UTF-8, which a terminal may take for a control character. Those of `keep` stay. JSON remains the same JSON.
std::string printable(std::string_view text, std::string_view keep = {});

}  // namespace torus
