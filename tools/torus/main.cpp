#include <torus/main.hpp>

int main(int argc, char** argv) { return torus::main(argc, argv); }
