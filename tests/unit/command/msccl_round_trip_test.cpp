// What torus export --to msccl writes of random traces of the catalogue is read again as what they were.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <torus/catalogue.hpp>
#include <torus/foreign_schedule.hpp>
#include <torus/judge.hpp>

#include "runtime/base/output_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/shapes.hpp"
#include "tools/torus/run/emulation.hpp"
#include "tools/torus/stress/draw.hpp"
#include "tools/torus/traces/formats.hpp"

using namespace torus;

namespace {

bool known_to_msccl(const command::Setting& setting) {
  if (setting.request.sizes) return false;
  switch (setting.request.collective) {
    case Collective::multinode_broadcast: return setting.request.sources.size() == setting.machine.topology.nodes();
    case Collective::broadcast:
    case Collective::total_exchange:
    case Collective::reduce:
    case Collective::allreduce:
    case Collective::reduce_scatter: return true;
    default: return false;
  }
}

/// Who sends which block to whom in which step; of a partial its segment.
using Sent = std::set<std::tuple<Step, NodeId, NodeId, std::uint64_t>>;

/// The judge's verdict on a schedule, of the run of a setting.
Verdict verdict_of(const ForeignSchedule::Placed& placed, const command::Setting& setting) {
  TraceHeader header = command::header_of(setting);
  header.registers = placed.registers;
  Judge judge(header);
  std::vector<const Schedule::Send*> sends;
  for (const Schedule::Send& send : placed.schedule.sends()) sends.push_back(&send);
  std::stable_sort(sends.begin(), sends.end(), [](const auto* a, const auto* b) { return a->step < b->step; });
  const Placement placement = placement_of(setting.machine, setting.request, setting.plan);
  const bool partials = facts_of(setting.request.collective).combines;
  for (const Schedule::Send* send : sends) {
    const auto route = placed.schedule.route(*send);
    const auto blocks = placed.schedule.blocks(*send);
    TraceMessage m;
    m.step = send->step;
    m.source = send->from;
    m.destination = send->to;
    m.path.assign(route.begin(), route.end());
    m.blocks.assign(blocks.begin(), blocks.end());
    for (const BlockId block : blocks) m.bytes += placement.bytes(block);
    m.registers = partials && (send->manner == Manner::combine || send->manner == Manner::share) ? send->registers : 0;
    m.releases = partials && (send->manner == Manner::combine || send->manner == Manner::give);
    if (!judge.message(m)) break;
  }
  return judge.finish();
}

}  // namespace

TEST_CASE("an exported MSCCL program is read as the trace that it was made of, step by step, and as legal", "[unit]") {
  CAPTURE(support::seed());
  command::Random random(support::seed());
  const support::Folder folder;
  const std::string path = folder.file("trace.jsonl"), program = folder.file("program.xml");
  int traces = 0, with_unused = 0;
  std::map<Collective, int> of_collective;
  while (traces < 200) {
    const Algorithm& algorithm = *catalogue()[random.below(catalogue().size())];
    const auto setting = command::draw_setting(
        random, algorithm, {.payload = Bytes{1} << 20U, .node_steps = 1e4, .exchange_blocks = 1024, .deliveries = 4096, .nodes = 24});
    if (!setting || setting->groups || !known_to_msccl(*setting) ||
        setting->machine.topology.living_nodes() < setting->machine.topology.nodes() || setting->machine.topology.nodes() < 2)
      continue;
    TraceWatcher trace(path);
    const Run run = command::emulate(*setting, {}, {{&trace}});
    CAPTURE(command::command_line(*setting));
    REQUIRE_FALSE(run.check.failure);
    trace.commit();
    {
      command::TraceSteps steps(path);
      OutputFile file(program);
      with_unused += export_msccl(steps, file).find("nobody uses") != std::string::npos;
      file.commit();
    }
    ++traces;
    ++of_collective[setting->request.collective];

    const bool partials = facts_of(setting->request.collective).combines;
    const std::uint64_t vector =
        setting->plan.segments *
        (setting->request.collective == Collective::reduce_scatter ? std::uint64_t{setting->machine.topology.nodes()} : std::uint64_t{1});
    TraceReader reader(path);
    Sent sent, read;
    TraceMessage m;
    while (reader.next(m)) {
      for (const std::uint64_t block : m.blocks) sent.emplace(m.step, m.source, m.destination, partials ? block % vector : block);
    }
    const ForeignSchedule file = ForeignSchedule::read(program);
    CHECK(file.collective() == setting->request.collective);
    const ForeignSchedule::Placed placed = file.on(setting->machine, row_major(setting->machine.topology));
    for (const Schedule::Send& send : placed.schedule.sends()) {
      for (const BlockId block : placed.schedule.blocks(send))
        read.emplace(send.step, send.from, send.to, partials ? block % vector : block);
    }
    // What nobody uses is not there.
    CHECK(std::includes(sent.begin(), sent.end(), read.begin(), read.end()));
    if (algorithm.name != "lattice") CHECK(sent == read);
    const Verdict verdict = verdict_of(placed, *setting);
    CAPTURE(verdict.violations);
    CHECK(verdict.ok);
  }
  CHECK(of_collective.size() == 6);
  CAPTURE(with_unused);
  CHECK(with_unused < traces / 10);
}
