/// How figures and nodes are written for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <torus/topology.hpp>

namespace torus {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);
/// "12.3 us", "4.56 s".
std::string seconds_text(double seconds);
/// "12.3 GB/s".
std::string rate_text(double per_second, std::string_view unit);
/// An amount by the second; 0 where no time has passed.
double per_second(double amount, double seconds) noexcept;
/// A node's coordinates: "(3,4)".
std::string node_text(const Topology& topology, NodeId node);

}  // namespace torus
