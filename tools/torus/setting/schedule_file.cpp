#include "tools/torus/setting/schedule_file.hpp"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include <torus/error.hpp>

#include "algorithms/optimum/play.hpp"
#include "runtime/base/figures.hpp"
#include "tools/torus/setting/map.hpp"
#include "tools/torus/setting/nodes.hpp"
#include "tools/torus/setting/notation.hpp"

namespace torus::command {
namespace {

class FileAlgorithm : public PlanSource {
 public:
  FileAlgorithm(const RunSpec& spec, ForeignSchedule of)
      : path{*spec.schedule},
        map{spec.map},
        topology{spec.shape},
        file{std::move(of)},
        nodes{read_map(spec.map.value_or("row-major"), spec.shape)},
        name_{path.substr(path.find_last_of('/') + 1)},
        source_{torus::name(file.kind())} {
    algorithm.name = name_;
    algorithm.collective = spec.collective;
    algorithm.source = source_;
    algorithm.shapes = "as the file";
    algorithm.steps = "as the file";
    algorithm.native = file.native();
    algorithm.needs.lives_with_holes = algorithm.needs.takes_twists = true;
    algorithm.plan = Planner(*this);
  }

  Plan plan(const Machine& machine, const Request& request) const override {
    check_sources(request);
    const auto placed = std::make_shared<const ForeignSchedule::Placed>(placed_on(machine, request));
    Plan plan;
    plan.start = [placed](Node& self) { return follow(self, placed->schedule); };
    plan.segments = turns() ? 1 : file.segments();
    plan.registers = placed->registers;
    plan.table_bytes = placed->schedule.table_bytes();
    plan.copies = most_in_a_step(placed->schedule);
    plan.steps_estimate = plan.steps = placed->schedule.steps();
    plan.notes = {{"schedule", file.reading()}};
    if (turns()) plan.notes.emplace_back("played as", fmt::format("{}: it is of {}", name(algorithm.collective), name(file.collective())));
    return plan;
  }

  /// Whether it is played as another collective than its own.
  bool turns() const noexcept { return file.collective() != algorithm.collective; }
  ForeignSchedule::Placed placed_on(const Machine& machine, const Request& request) const {
    ForeignSchedule::Placed placed = file.on(machine, nodes);
    if (!turns()) return placed;
    const NodeId root = request.sources.empty() ? 0 : request.sources.front();
    try {
      return {optimum::turned(machine, placed.schedule, file.collective(), algorithm.collective, root), 1};
    } catch (const InputError& error) {
      throw InputError(fmt::format("schedule '{}': it is of {}: {}", path, name(file.collective()), error.what()));
    }
  }
  /// Whether the sources of a run are those of the file, or all.
  bool says_sources() const noexcept { return !turns() || facts_of(file.collective()).rooted(); }

  const std::string path;
  const std::optional<std::string> map;
  const Topology topology;
  const ForeignSchedule file;
  const std::vector<NodeId> nodes;
  Algorithm algorithm{.name = {}, .collective = Collective::broadcast};

 private:
  void check_sources(const Request& request) const {
    if (!facts_of(file.collective()).names_sources() || !says_sources()) return;
    std::vector<NodeId> sources;
    for (const NodeId rank : file.sources()) sources.push_back(nodes[rank]);
    std::sort(sources.begin(), sources.end());
    if (sources == request.sources) return;
    throw InputError(fmt::format("schedule '{}': its sources are nodes {}; ask for them with --source, --sources or --root", path,
                                 sources.size() > 8 ? fmt::format("{},..", fmt::join(sources.begin(), sources.begin() + 8, ","))
                                                    : fmt::format("{}", fmt::join(sources, ","))));
  }
  static std::uint64_t most_in_a_step(const Schedule& schedule) {
    std::vector<std::uint64_t> blocks(schedule.steps(), 0);
    for (const Schedule::Send& send : schedule.sends()) blocks[send.step] += send.blocks;
    return blocks.empty() ? 0 : *std::max_element(blocks.begin(), blocks.end());
  }

  const std::string name_, source_;
};

/// Planners that were given up may still use them.
std::deque<FileAlgorithm>& algorithms() {
  static auto* const all = new std::deque<FileAlgorithm>;
  return *all;
}
const FileAlgorithm* found(const Algorithm& algorithm) {
  for (const FileAlgorithm& each : algorithms()) {
    if (&each.algorithm == &algorithm) return &each;
  }
  return nullptr;
}

}  // namespace

const Algorithm& algorithm_of_file(const RunSpec& spec) {
  refuse_groups(spec.groups_text, "a schedule from a file");
  const auto known = std::find_if(algorithms().begin(), algorithms().end(), [&](const FileAlgorithm& each) {
    return each.path == *spec.schedule && each.map == spec.map && each.topology == spec.shape &&
           each.algorithm.collective == spec.collective;
  });
  if (known != algorithms().end()) return known->algorithm;
  ForeignSchedule file = ForeignSchedule::read(*spec.schedule);
  if (file.collective() != spec.collective && !optimum::turns(file.collective(), spec.collective))
    throw InputError(fmt::format("schedule '{}': it is of {}, not of {}; for instance torus run {}", *spec.schedule,
                                 name(file.collective()), name(spec.collective), name(file.collective())));
  if (file.ranks() != spec.shape.nodes())
    throw InputError(fmt::format("schedule '{}': it is for {}, and {} has {}; choose a shape of {}", *spec.schedule,
                                 counted(file.ranks(), "rank"), spec.shape.text(), counted(spec.shape.nodes(), "node"),
                                 counted(file.ranks(), "node")));
  return algorithms().emplace_back(spec, std::move(file)).algorithm;
}

bool plays_file(const Algorithm& algorithm) { return found(algorithm) != nullptr; }

Schedule schedule_of(const Setting& setting) {
  const FileAlgorithm& file = *found(*setting.algorithm);
  return file.placed_on(setting.machine, setting.request).schedule;
}

Setting scheduled_setting(const RunSpec& spec, bool runs) {
  const Algorithm& algorithm = algorithm_of_file(spec);
  const FileAlgorithm& file = *found(algorithm);
  RunSpec full = spec;
  const bool some = facts_of(spec.collective).from_sources() && file.file.sources().size() < file.file.ranks();
  if (!spec.sources && file.says_sources() && (facts_of(spec.collective).rooted() || some)) {
    std::vector<NodeId> nodes;
    for (const NodeId rank : file.file.sources()) nodes.push_back(file.nodes[rank]);
    full.sources = nodes.empty() ? "none" : fmt::format("{}", fmt::join(nodes, ";"));
  }
  Setting setting = open_setting(make_machine(full, algorithm.native), runs ? make_fitting_request(full) : make_request(full), full);
  setting.plan_limit_s = spec.plan_limit_s.value_or(plan_s_of_one);
  if (const auto why_not = plan_with(setting, algorithm)) throw InputError(*why_not);
  return setting;
}

std::string algorithm_options(const Algorithm& algorithm) {
  const FileAlgorithm* const file = found(algorithm);
  if (file == nullptr) return fmt::format(" --algorithm {}", algorithm.name);
  return fmt::format(" --schedule '{}'", file->path);
}

}  // namespace torus::command
