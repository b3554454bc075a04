/// A table of regret for people, as JSON for programs, as CSV for spreadsheets.
#include <fmt/format.h>

#include "tools/torus/console.hpp"
#include "tools/torus/notation.hpp"
#include "tools/torus/regret.hpp"

namespace torus::command {
namespace {

using Json = nlohmann::ordered_json;

std::string names_text(const RegretCell& cell, std::string_view between) {
  std::string text;
  for (const Algorithm* algorithm : cell.algorithms) text += (text.empty() ? "" : std::string(between)) + std::string(algorithm->name);
  return text;
}

std::string ports_text(const RegretRow& row) {
  if (row.machine.ports == 1) return "one port";
  return row.all_ports() ? "all ports" : fmt::format("{} ports", row.machine.ports);
}

/// "64K": as --bytes reads it, and short.
std::string size_text(Bytes bytes) {
  std::string text = bytes_option(bytes);
  if (text.ends_with("iB")) text.resize(text.size() - 2);
  return text;
}

/// The cell that is farthest from its bound.
struct Worst {
  const RegretRow* row = nullptr;
  std::size_t size = 0;
  double ratio = 0;

  void raise(const RegretRow& other) {
    for (std::size_t i = 0; i < other.cells.size(); ++i) {
      const auto times = other.cells[i] ? other.cells[i]->times_the_bound() : std::nullopt;
      if (times && *times > ratio) *this = {&other, i, *times};
    }
  }
};

std::vector<std::string> line_of(const RegretRow& row) {
  std::vector<std::string> line{row.machine.topology.text()};
  for (const auto& cell : row.cells) {
    const auto times = cell ? cell->times_the_bound() : std::nullopt;
    line.push_back(times ? fmt::format("{}{:.2f}", cell->entry.exact || cell->entry.run ? "" : "<", *times) : "-");
  }
  Worst worst;
  worst.raise(row);
  line.push_back(worst.row != nullptr ? fmt::format("{:.2f}", worst.ratio) : "-");
  return line;
}

Json cell_json(const RegretCell& cell, Bytes bytes) {
  Json json{{"bytes", bytes},
            {"algorithms", Json::array()},
            {"steps", cell.entry.run ? cell.entry.run->steps : cell.entry.steps},
            {"exact", cell.entry.exact},
            {"model_time_s", cell.entry.model_time_s()},
            {"model_time_lower_bound_s", cell.bound_s},
            {"run", cell.entry.run.has_value()}};
  for (const Algorithm* algorithm : cell.algorithms) json["algorithms"].push_back(algorithm->name);
  if (const auto times = cell.times_the_bound()) json["times_the_bound"] = *times;
  return json;
}

}  // namespace

std::string to_table(const Regret& regret) {
  std::string text = fmt::format("{}: model time of the best algorithm, in times the lower bound\n", name(regret.collective));
  std::vector<std::vector<std::string>> table;
  std::string title;
  const auto flush = [&] {
    if (!table.empty()) text += fmt::format("\n{}\n{}", title, aligned(table));
    table.clear();
  };
  Worst worst;
  for (const RegretRow& row : regret.rows) {
    const std::string machine = fmt::format("{}, {}", name(row.machine.switching), ports_text(row));
    if (machine != title) flush();
    title = machine;
    if (table.empty()) {
      table.push_back({"shape"});
      for (const Bytes size : regret.sizes) table.back().push_back(size_text(size));
      table.back().push_back("worst");
    }
    table.push_back(line_of(row));
    worst.raise(row);
  }
  flush();
  if (worst.row != nullptr) {
    text += fmt::format("\nworst {:.2f}: {}, {}, {}, {}, by {}\n", worst.ratio, worst.row->machine.topology.text(),
                        name(worst.row->machine.switching), ports_text(*worst.row), bytes_option(regret.sizes[worst.size]),
                        names_text(*worst.row->cells[worst.size], ", "));
  }
  return text + (regret.run_sizes == 0 ? "predicted; nothing was run\n" : "sizes that were run: verified; the rest is predicted\n");
}

nlohmann::ordered_json to_json(const Regret& regret) {
  Json json{{"collective", name(regret.collective)}, {"bytes", regret.sizes}, {"rows", Json::array()}};
  for (const RegretRow& row : regret.rows) {
    Json line{{"shape", row.machine.topology.text()},
              {"nodes", row.machine.topology.nodes()},
              {"switching", name(row.machine.switching)},
              {"ports", row.machine.ports},
              {"all_ports", row.all_ports()},
              {"contention", name(row.machine.contention)},
              {"sizes", Json::array()}};
    Worst worst;
    worst.raise(row);
    if (worst.row != nullptr) line["worst"] = worst.ratio;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (row.cells[i]) line["sizes"].push_back(cell_json(*row.cells[i], regret.sizes[i]));
    }
    json["rows"].push_back(std::move(line));
  }
  if (regret.failure) json["failure"] = *regret.failure;
  return json;
}

std::string to_csv(const Regret& regret) {
  std::string text = csv_line({"collective", "shape", "nodes", "switching", "ports", "contention", "bytes", "algorithms", "steps", "exact",
                               "model_time_s", "model_time_lower_bound_s", "times_the_bound", "run"});
  for (const RegretRow& row : regret.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (!row.cells[i]) continue;
      const RegretCell& cell = *row.cells[i];
      const Json json = cell_json(cell, regret.sizes[i]);
      text += csv_line({std::string(name(regret.collective)), row.machine.topology.text(), std::to_string(row.machine.topology.nodes()),
                        std::string(name(row.machine.switching)), std::to_string(row.machine.ports),
                        std::string(name(row.machine.contention)), std::to_string(regret.sizes[i]), names_text(cell, " "),
                        json["steps"].dump(), json["exact"].dump(), json["model_time_s"].dump(), json["model_time_lower_bound_s"].dump(),
                        json.contains("times_the_bound") ? json["times_the_bound"].dump() : "", json["run"].dump()});
    }
  }
  return text;
}

}  // namespace torus::command
