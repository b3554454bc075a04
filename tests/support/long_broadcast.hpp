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

}  // namespace torus::support
