// What torus export --to msccl writes of random traces of the catalogue is read again as what they were.
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include <torus/catalogue.hpp>
#include <torus/foreign_schedule.hpp>

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

/// (from, to, block), each as often as it is sent in different steps; of a partial its segment.
using Sent = std::multiset<std::tuple<NodeId, NodeId, std::uint64_t>>;

}  // namespace

TEST_CASE("an exported MSCCL program is read as the trace that it was made of", "[unit]") {
  CAPTURE(support::seed());
  command::Random random(support::seed());
  const support::Folder folder;
  const std::string path = folder.file("trace.jsonl"), program = folder.file("program.xml");
  int traces = 0, shorter = 0, refused = 0;
  std::map<Collective, int> of_collective;
  while (traces < 200) {
    const Algorithm& algorithm = *catalogue()[random.below(catalogue().size())];
    const auto setting = command::draw_setting(
        random, algorithm, {.payload = Bytes{1} << 20U, .node_steps = 1e4, .exchange_blocks = 1024, .deliveries = 4096, .nodes = 24});
    if (!setting || setting->groups || !known_to_msccl(*setting) || !setting->machine.topology.whole() ||
        setting->machine.topology.nodes() < 2)
      continue;
    command::EmulationOptions options;
    options.trace = path;
    const command::Emulation run = command::emulate(*setting, options);
    CAPTURE(command::command_line(*setting));
    REQUIRE_FALSE(run.failure);
    {
      command::TraceSteps steps(path);
      OutputFile file(program);
      export_msccl(steps, file);
      file.commit();
    }
    ++traces;
    ++of_collective[setting->request.collective];

    TraceReader reader(path);
    const bool partials = reduces(setting->request.collective);
    const std::uint64_t vector =
        setting->plan.segments *
        (setting->request.collective == Collective::reduce_scatter ? std::uint64_t{setting->machine.topology.nodes()} : std::uint64_t{1});
    std::set<std::tuple<Step, NodeId, NodeId, std::uint64_t>> once;
    TraceMessage m;
    Step steps = 0;
    while (reader.next(m)) {
      for (const std::uint64_t block : m.blocks) once.emplace(m.step, m.source, m.destination, partials ? block % vector : block);
      if (!m.blocks.empty()) steps = m.step + 1;
    }
    Sent sent, read;
    for (const auto& [step, from, to, block] : once) sent.emplace(from, to, block);

    const ForeignSchedule file = ForeignSchedule::read(program);
    CHECK(file.collective() == setting->request.collective);
    const Machine machine(setting->machine.topology, all_ports, Switching::circuit, Contention::share);
    try {
      const ForeignSchedule::Placed placed = file.on(machine, row_major(machine.topology));
      once.clear();
      for (const Schedule::Send& send : placed.schedule.sends()) {
        for (const BlockId block : placed.schedule.blocks(send))
          once.emplace(send.step, send.from, send.to, partials ? block % vector : block);
      }
      for (const auto& [step, from, to, block] : once) read.emplace(from, to, block);
      CHECK(sent == read);
      CHECK(placed.schedule.steps() <= steps);
      shorter += placed.schedule.steps() < steps;
    } catch (const InputError& error) {  // a message that its receiver makes nothing of, as some of `lattice`: no schedule can say that
      CAPTURE(error.what());
      ++refused;
      CHECK(std::string_view(error.what()).find("it receives a partial of chunk ") != std::string_view::npos);
      CHECK(setting->algorithm->name == "lattice");
    }
  }
  CHECK(of_collective.size() == 6);
  CAPTURE(shorter, refused);
  CHECK(shorter < traces / 2);
  CHECK(refused < traces / 20);
}
