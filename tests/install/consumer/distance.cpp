#include <iostream>

#include <torus/topology.hpp>

int main() { std::cout << torus::Topology::parse("31x33").diameter() << " hops\n"; }
