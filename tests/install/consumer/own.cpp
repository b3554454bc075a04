// The whole command with one algorithm more, which the first argument chooses: good; clash, with a name that is taken; option, with a
// parameter that is called like an option of the command.
#include <array>
#include <string_view>

#include <torus/main.hpp>

#include "ring_broadcast.hpp"

using namespace torus;

namespace {

Plan plan(const Machine&, const Request& request) {
  return {.start = [root = request.sources.front()](Node& self) { return ring_broadcast(self, root); }};
}

constexpr std::array parameters{Parameter{.name = "bytes", .meaning = "taken"}};

Algorithm own(std::string_view name) { return {.name = name, .collective = Collective::broadcast, .plan = plan}; }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 3;
  const std::string_view which = argv[1];
  Algorithm algorithm = own(which == "clash" ? "flood" : "probe");
  if (which == "option") algorithm.parameters = parameters;
  argv[1] = argv[0];
  return torus::main(argc - 1, argv + 1, {&algorithm});
}
