#pragma once

#include <torus/program.hpp>

/// The message of `root` goes once round a ring, hop by hop.
torus::Program ring_broadcast(torus::Node& self, torus::NodeId root);
