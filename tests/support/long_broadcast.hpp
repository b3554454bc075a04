/// Cases of the broadcasts that split a message into h pieces.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <random>
#include <vector>

#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

namespace torus::support {

inline Request request_with_h(NodeId root, Bytes bytes, std::uint32_t h) {
  Request request = broadcast_request(root, bytes);
  request.parameters.set("h", h);
  return request;
}

/// The values of h on a machine; runs a case.
using ValuesOf = std::vector<std::uint32_t> (*)(const Machine&);
using CheckCase = void (*)(const Machine&, NodeId root, Bytes bytes, std::uint32_t h);

/// Calls check(machine, root, bytes, h) on these shapes, for each h of values(machine), wormhole and circuit, in random orders of routing.
inline void each_h_on(std::initializer_list<const char*> shapes, int ports, ValuesOf values, CheckCase check) {
  std::mt19937_64 random(seed());
  for (const char* shape : shapes) {
    const Topology topology = Topology::parse(shape);
    std::vector<Dimension> routing(static_cast<std::size_t>(topology.dimensions()));
    for (std::size_t d = 0; d < routing.size(); ++d) routing[d] = static_cast<Dimension>(d);
    for (const std::uint32_t h : values(Machine(topology, ports))) {
      for (const Switching switching : {Switching::wormhole, Switching::circuit}) {
        std::shuffle(routing.begin(), routing.end(), random);
        const Machine machine(topology, ports, switching, Contention::forbid, routing);
        for (const Bytes bytes : {Bytes{0}, Bytes{1}, Bytes{7}, Bytes{random_below(random, 3000)}})
          check(machine, random_below(random, topology.nodes()), bytes, h);
      }
    }
  }
}

/// The same on 100 random tori, with an h, a root and a number of bytes at random. widest: of the extents in three dimensions and more.
inline void random_h_on_tori(std::uint32_t most_dimensions, std::uint32_t widest, int ports, ValuesOf values, CheckCase check) {
  std::mt19937_64 random(seed());
  for (int i = 0; i < 100; ++i) {
    std::vector<DimensionShape> extents(1 + random_below(random, most_dimensions));
    for (DimensionShape& d : extents)
      d = {static_cast<std::int32_t>(1 + random_below(random, extents.size() > 2 ? widest : 14)), Wiring::ring};
    const Machine machine{Topology(extents), ports};
    const std::vector<std::uint32_t> possible = values(machine);
    check(machine, random_below(random, machine.topology.nodes()), random_below(random, 500),
          possible[random_below(random, possible.size())]);
  }
}

}  // namespace torus::support
