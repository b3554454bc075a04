/// Which single failures a machine may have, and what the runs of an algorithm with them come to.
#include "tools/torus/single_failures.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include <torus/error.hpp>

#include "runtime/model/figures.hpp"
#include "tools/torus/fault_notation.hpp"

namespace torus::command {
namespace {

constexpr std::size_t most_failures = 100000;

/// Each living link once: by its channel upwards, in a complete dimension by that of its lower end.
std::vector<Link> links_of(const Topology& shape) {
  std::vector<Link> links;
  for (NodeId node = 0; node < shape.nodes(); ++node) {
    if (!shape.living(node)) continue;
    shape.each_link(node, [&](Dimension d, std::int32_t hop, NodeId to) {
      if (shape.wiring(d) == Wiring::complete ? node < to : hop > 0) links.push_back({node, d, hop});
    });
  }
  return links;
}

/// Whether the sources that were asked for need the node. Where they are a set, such as all, the dead are no part of it.
bool needed(const RunSpec& spec, const Request& request, NodeId node) {
  const bool named = has_root(spec.collective) || (spec.sources && spec.sources->find_first_of("0123456789") == 0);
  return named && std::find(request.sources.begin(), request.sources.end(), node) != request.sources.end();
}

}  // namespace

std::optional<Topology> shape_with(SingleFailure& failure, const Topology& shape) {
  try {
    return shape.with_faults(failure.faults);
  } catch (const InputError& error) {  // the shape and its other faults are known to be good
    failure.cut = error.what();
    return std::nullopt;
  }
}

FailureCases single_failures(const RunSpec& spec, bool links, bool nodes) {
  const Topology& shape = spec.shape;
  const double most = shape.nodes() * ((links ? shape.channel_slots() / 2.0 : 0) + (nodes ? 1 : 0));
  if (most > most_failures) {
    throw InputError(fmt::format("--every-single-{}: {} has about {} of them, and at most {} are run; choose a smaller --on",
                                 links ? "link" : "node", shape.text(), grouped(static_cast<std::uint64_t>(most)), grouped(most_failures)));
  }
  FailureCases cases{links, nodes, {}, {}};
  if (links) {
    for (const Link& link : links_of(shape)) {
      Faults faults = shape.faults();
      faults.dead_links.push_back(link);
      cases.failures.push_back({"--dead-link " + link_text(link, shape), std::move(faults)});
    }
  }
  if (!nodes) return cases;
  const Request request = make_request(spec);
  for (NodeId node = 0; node < shape.nodes(); ++node) {
    if (!shape.living(node)) continue;
    std::string name = fmt::format("--dead-node {}", node);
    if (needed(spec, request, node)) {
      cases.skipped.push_back(std::move(name));
      continue;
    }
    Faults faults = shape.faults();
    faults.dead_nodes.push_back(node);
    cases.failures.push_back({std::move(name), std::move(faults)});
  }
  return cases;
}

std::string_view name(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::completed: return "completed";
    case Outcome::refused: return "refused";
    case Outcome::failed: return "failed";
    case Outcome::cut: return "cut";
  }
  return "";
}

Survival survival_of(const FailureRuns& runs) {
  Survival survival;
  std::vector<std::size_t> by_time;
  std::vector<std::uint64_t> steps;
  for (std::size_t i = 0; i < runs.runs.size(); ++i) {
    if (!runs.runs[i]) {
      ++survival.missing;
      continue;
    }
    const FailureRun& run = *runs.runs[i];
    switch (run.outcome) {
      case Outcome::completed:
        ++survival.completed;
        by_time.push_back(i);
        steps.push_back(run.steps);
        break;
      case Outcome::refused:
        if (survival.refused++ == 0) survival.refusal = run.why;
        break;
      case Outcome::failed: ++survival.failed; break;
      case Outcome::cut: ++survival.cut; break;
    }
  }
  if (by_time.empty()) return survival;
  const auto slower = [&](std::size_t a, std::size_t b) { return runs.runs[a]->model_time_s > runs.runs[b]->model_time_s; };
  std::stable_sort(by_time.begin(), by_time.end(), slower);  // the first of the worst is the worst
  std::sort(steps.begin(), steps.end());
  survival.worst = by_time.front();
  survival.median = by_time[by_time.size() / 2];
  survival.median_steps = steps[(steps.size() - 1) / 2];
  survival.most_steps = steps.back();
  return survival;
}

const FailureRuns* best_survivor(const FailureContest& contest) {
  const FailureRuns* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const FailureRuns& entrant : contest.entrants) {
    const Survival survival = survival_of(entrant);
    if (!survival.all() || entrant.runs[*survival.worst]->model_time_s >= least) continue;
    least = entrant.runs[*survival.worst]->model_time_s;
    best = &entrant;
  }
  return best;
}

}  // namespace torus::command
