// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/program.hpp"

/// The message of `root` goes once round a ring, hop by hop.
torus::Program ring_broadcast(torus::Node& self, torus::NodeId root);
