/// torus list: every algorithm, what it needs and what it promises.
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "tools/torus/console.hpp"
#include "tools/torus/spec.hpp"
#include "tools/torus/subcommands.hpp"

namespace torus::command {
namespace {

struct ListArguments {
  std::optional<std::string> collective;
  bool json = false;
};

/// Three lines: as columns of a table the longest formulas would leave no room for the rest.
std::string in_words(const Algorithm& algorithm) {
  return fmt::format("  {:<24}{}{}; ports: {}; shapes: {}\n{:26}steps: {}\n{:26}source: {}\n", algorithm.name,
                     name(algorithm.native.switching), algorithm.native.contention == Contention::share ? ", channels shared" : "",
                     ports_text(algorithm), algorithm.shapes, "", algorithm.steps, "", algorithm.source);
}

int list(const ListArguments& arguments) {
  if (arguments.collective) static_cast<void>(parse_collective(*arguments.collective));  // refuses what is no collective
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  std::optional<Collective> last;
  for (const Algorithm* algorithm : catalogue()) {
    if (arguments.collective && name(algorithm->collective) != *arguments.collective) continue;
    if (last != algorithm->collective) text += fmt::format("{}{}\n", last ? "\n" : "", name(algorithm->collective));
    last = algorithm->collective;
    text += in_words(*algorithm);
    json.push_back({{"collective", name(algorithm->collective)},
                    {"algorithm", algorithm->name},
                    {"switching", name(algorithm->native.switching)},
                    {"contention", name(algorithm->native.contention)},
                    {"ports", ports_text(*algorithm)},
                    {"shapes", algorithm->shapes},
                    {"steps", algorithm->steps},
                    {"source", algorithm->source}});
  }
  print(arguments.json ? json.dump() + "\n" : text);
  return 0;
}

}  // namespace

Subcommand add_list(CLI::App& torus) {
  const auto arguments = std::make_shared<ListArguments>();
  CLI::App* app = torus.add_subcommand("list", "Every algorithm: the machine it needs, the shapes it covers, its steps, its source");
  app->add_option("collective", arguments->collective, "only those of broadcast, multinode-broadcast or total-exchange");
  app->add_flag("--json", arguments->json, "print a JSON list");
  return {app, [arguments] { return list(*arguments); }};
}

}  // namespace torus::command
