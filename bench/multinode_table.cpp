/// Prints algorithms/multinode_broadcast/results.md: every multi-node broadcast, emulated and verified, over sides, partitions and numbers
/// of sources; which is the cheapest for every ratio of start-up to transmission, and how far the paper's scheme is from it.
/// tools/update_pages updates the page with it.
///
/// Counts, not times: the output is the same on every host. Some 20 seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <torus/catalogue.hpp>
#include <torus/run.hpp>

namespace {

using namespace torus;

constexpr Bytes message_bytes = 240;  // divides evenly into all cuts used here

/// What a run costs: steps, and messages' worth of bytes on the fullest channels.
struct Cost {
  std::string name;
  double steps = 0;
  double messages = 0;
  double time(double rho) const { return steps * rho + messages; }  // in units of m T_c
};

struct Variant {
  const char* label;
  std::string_view algorithm;
  std::uint32_t h = 0;
  std::uint32_t chunk = 0;
  std::string_view dcn = {};
};

Cost cost_of(const Machine& machine, const std::vector<NodeId>& sources, const Variant& variant) {
  Request request;
  request.collective = Collective::multinode_broadcast;
  request.sources = sources;
  request.bytes = message_bytes;
  request.parameters.set("h", variant.h);
  request.parameters.set("chunk", variant.chunk);
  if (variant.algorithm == "edst" && variant.chunk == 0) request.parameters.set("variant", "synchronous");
  request.parameters.set("dcn", variant.dcn);
  const Algorithm& algorithm = *find_algorithm(Collective::multinode_broadcast, variant.algorithm);
  // For all rho at once; by default whether to balance follows from the bytes of one.
  if (std::string_view(variant.label).substr(0, 4) == "HIER") request.parameters.set("prefix", "split");
  const Run ran = run(algorithm, machine, request);
  if (ran.check.failure) {
    std::fprintf(stderr, "%s on %s: %s\n", variant.label, machine.topology.text().c_str(), ran.check.failure->c_str());
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): this program has one thread
  }
  std::string name = variant.label;
  if (variant.h > 0) name += "(" + std::to_string(variant.h) + ")";
  return {name, static_cast<double>(ran.result.steps),
          static_cast<double>(ran.result.channel_bytes_sum) / static_cast<double>(message_bytes)};
}

std::vector<NodeId> random_sources(NodeId nodes, NodeId count) {
  std::vector<NodeId> all(nodes);
  for (NodeId node = 0; node < nodes; ++node) all[node] = node;
  std::mt19937_64 random(nodes + count);
  for (NodeId i = 0; i < count; ++i) std::swap(all[i], all[i + random() % (nodes - i)]);
  all.resize(count);
  std::sort(all.begin(), all.end());
  return all;
}

std::vector<std::uint32_t> partitions(std::uint32_t n) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t h = 1; h <= n; ++h) {
    if (n % h == 0) found.push_back(h);
  }
  return found;
}

/// All costs of one machine and source set.
struct Case {
  NodeId n, s;
  std::vector<Cost> paper;  ///< aggregate-distribute, by h
  std::vector<Cost> others;
};

Case measure(NodeId n, NodeId s) {
  const Machine machine(Topology::parse(std::to_string(n) + "x" + std::to_string(n)));
  const std::vector<NodeId> sources = random_sources(n * n, s);
  Case c{n, s, {}, {}};
  for (const std::uint32_t h : partitions(n)) c.paper.push_back(cost_of(machine, sources, {"AD", "aggregate-distribute", h}));
  for (const Variant& v : {Variant{"EDST", "edst"}, Variant{"EDST/1", "edst", 0, 1}, Variant{"EDST/4", "edst", 0, 4},
                           Variant{"RING", "ring"}, Variant{"LOG", "log"}}) {
    c.others.push_back(cost_of(machine, sources, v));
  }
  for (const std::uint32_t h : partitions(n)) {
    if (h == 1 || h == n) continue;
    c.others.push_back(cost_of(machine, sources, {"HIER", "hierarchical", h, 0, "scatter"}));
    c.others.push_back(cost_of(machine, sources, {"HIERL", "hierarchical", h, 0, "broadcast"}));
  }
  return c;
}

const Cost& cheapest(const std::vector<Cost>& costs, double rho) {
  return *std::min_element(costs.begin(), costs.end(), [&](const Cost& a, const Cost& b) { return a.time(rho) < b.time(rho); });
}

const Cost& named(const Case& c, const char* name) {
  return *std::find_if(c.others.begin(), c.others.end(), [&](const Cost& cost) { return cost.name == name; });
}

std::string cell(const Cost& cost) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f/%.1f", cost.steps, cost.messages);
  return text;
}

/// Whether a variant takes no more steps and no more bytes than another, and less of one of them.
bool dominates(const Cost& a, const Cost& b) {
  return a.steps <= b.steps && a.messages <= b.messages && (a.steps < b.steps || a.messages < b.messages);
}

void print_costs(const std::vector<Case>& cases) {
  std::printf(
      "| n | s | AD, by h | EDST | EDST/1 | EDST/4 | RING | HIER, by h | HIERL, by h | LOG |\n|---|---|---|---|---|---|---|---|---|---|\n");
  const auto by_h = [](const std::vector<Cost>& costs, const std::string& prefix) {
    std::string text;
    const auto of_prefix = [&](const Cost& cost) { return cost.name.rfind(prefix + "(", 0) == 0; };
    for (const Cost& cost : costs) {
      const bool better =
          std::none_of(costs.begin(), costs.end(), [&](const Cost& other) { return of_prefix(other) && dominates(other, cost); });
      if (of_prefix(cost) && better)
        text += (text.empty() ? "" : ", ") + cost.name.substr(prefix.size() + 1, cost.name.size() - prefix.size() - 2) + ":" + cell(cost);
    }
    return text;
  };
  for (const Case& c : cases) {
    std::printf("| %u | %u | %s |", c.n, c.s, by_h(c.paper, "AD").c_str());
    for (const char* name : {"EDST", "EDST/1", "EDST/4", "RING"}) std::printf(" %s |", cell(named(c, name)).c_str());
    std::printf(" %s | %s | %s |\n", by_h(c.others, "HIER").c_str(), by_h(c.others, "HIERL").c_str(), cell(named(c, "LOG")).c_str());
  }
}

constexpr const char* introduction = R"(# What multi-node broadcasts cost

Generated by `tools/update_pages`. [What it costs](README.md#what-it-costs) says what follows.

All runs are verified: n x n tori, s random sources of m = 240 bytes each. Bytes include control words. The bound is s / 4 messages, (s-1) / 4
if all nodes are sources.

AD(h) is `aggregate-distribute`; EDST `edst --variant synchronous`, EDST/C `edst --chunk C`, the counting included; HIER(h) `hierarchical`, HIERL(h)
with `--dcn broadcast`; RING `ring`, LOG `log`.

)";

constexpr const char* costs_head = R"(## Steps / messages on the fullest channels

By h: `h:steps/messages`, without an h where another takes no more steps and bytes, and less of one.

)";

constexpr const char* winners_head = R"(
## Model time in units of m T_c, by rho = T_s / (m T_c)

Model time is steps T_s + bytes T_c; T_s = 1 us, T_c = 0.1 ns and m = 1000 bytes make rho = 10. A cell: the cheapest, its
time, and AD with the best h in times that.

)";

constexpr double ratios[] = {0.01, 0.1, 1, 10, 100};

void print_winners(const std::vector<Case>& cases) {
  std::printf("| n | s |");
  for (const double rho : ratios) std::printf(" %g |", rho);
  std::printf("\n|---|---|---|---|---|---|---|\n");
  for (const Case& c : cases) {
    std::printf("| %u | %u |", c.n, c.s);
    for (const double rho : ratios) {
      const Cost& best = cheapest(c.others, rho);
      const Cost& paper = cheapest(c.paper, rho);
      std::printf(" %s %.*f; x%.2f |", best.name.c_str(), best.time(rho) < 100 ? 1 : 0, best.time(rho), paper.time(rho) / best.time(rho));
    }
    std::printf("\n");
  }
}

}  // namespace

int main() {
  std::vector<Case> cases;
  for (const NodeId n : {10U, 16U, 25U, 30U}) {
    for (const NodeId s : {1U, n, n * n / 4, n * n}) cases.push_back(measure(n, s));
  }
  for (const NodeId s : {1U, 64U, 256U}) cases.push_back(measure(64, s));
  std::printf("%s%s", introduction, costs_head);
  print_costs(cases);
  std::printf("%s", winners_head);
  print_winners(cases);
}
