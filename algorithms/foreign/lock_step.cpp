/// An MSCCL program in lock step: its messages as those of ranks.
#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <tuple>
#include <utility>

#include <torus/error.hpp>

#include "algorithms/foreign/program_data.hpp"

namespace torus::foreign {
namespace {

class LockStep {
 public:
  LockStep(const MscclProgram& program, const Content::Place& place) : program_{program}, order_(program, place), data_(program, order_) {}

  RankSends run() {
    if (!facts_of(program_.collective).combines) return copies();
    constexpr int most_delays = 200;
    for (int delays = 0;; ++delays) {
      const auto found = partials(delays == most_delays);
      if (found) return *found;
      order_.order();
    }
  }

 private:
  const MscclStep& step(std::uint32_t at) const { return program_.steps[at]; }
  const Threadblock& block_of(std::uint32_t at) const { return program_.blocks[step(at).block]; }
  const std::vector<MscclMessage>& messages() const { return order_.messages(); }

  bool wants(NodeId gpu, BlockId segment) const {
    return facts_of(program_.collective).wants(gpu, static_cast<NodeId>(segment / program_.chunks), program_.root);
  }

  /// Messages of one step and way between the same gpus are one, whatever their channels: these are threads of a program, not wires.
  struct Group {
    Step step;
    NodeId from, to;
    std::uint8_t registers;
    bool releases;
    std::uint32_t route;
    BlockId id;
    auto key() const { return std::tuple(step, from, to, route, registers, releases); }
  };

  RankSends grouped(std::vector<Group> groups, std::uint32_t registers) const {
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.key() < b.key(); });
    RankSends out;
    out.registers = registers;
    for (std::size_t i = 0; i < groups.size();) {
      const Group& first = groups[i];
      RankSends::RankMessage send{.step = first.step, .from = first.from, .to = first.to, .first_block = out.blocks.size()};
      send.registers = first.registers;
      send.releases = first.releases;
      if (first.route != no_step) {
        const std::vector<Leg>& legs = program_.routes[first.route];
        send.first_leg = out.legs.size();
        send.legs = static_cast<std::uint32_t>(legs.size());
        out.legs.insert(out.legs.end(), legs.begin(), legs.end());
      }
      for (; i < groups.size() && groups[i].key() == first.key(); ++i) out.blocks.push_back(groups[i].id);
      const auto begin = out.blocks.begin() + static_cast<std::ptrdiff_t>(send.first_block);
      std::sort(begin, out.blocks.end());
      out.blocks.erase(std::unique(begin, out.blocks.end()), out.blocks.end());
      send.blocks = static_cast<std::uint32_t>(out.blocks.size() - send.first_block);
      out.sends.push_back(send);
    }
    return out;
  }

  template <class F>
  void each_content(F&& f) const {
    for (std::uint32_t m = 0; m < messages().size(); ++m) {
      const auto count = static_cast<std::size_t>(step(messages()[m].send).count);
      for (std::size_t k = 0; k < count; ++k) f(m, data_.first_content(m) + k);
    }
  }

  RankSends copies() const {
    std::vector<Group> groups;
    groups.reserve(data_.contents().size());
    each_content([&](std::uint32_t m, std::size_t content) {
      const Threadblock& block = block_of(messages()[m].send);
      groups.push_back({messages()[m].step, block.gpu, static_cast<NodeId>(block.send), 0, false, order_.route_of(messages()[m]),
                        data_.contents()[content].id});
    });
    return grouped(std::move(groups), 1);
  }

  /// Registers for all partials. None if messages had to be delayed: a node that still needs what it holds lets others wait.
  std::optional<RankSends> partials(bool last_try) {
    struct Event {
      NodeId gpu;
      BlockId segment;
      Step step;
      std::uint32_t content;
      bool arrives;
    };
    std::vector<std::uint32_t> message_of(data_.contents().size());
    std::vector<Event> events;
    events.reserve(2 * data_.contents().size());
    each_content([&](std::uint32_t m, std::size_t content) {
      const Threadblock& block = block_of(messages()[m].send);
      const Step now = messages()[m].step;
      message_of[content] = m;
      events.push_back({block.gpu, data_.contents()[content].id, now, static_cast<std::uint32_t>(content), false});
      events.push_back({static_cast<NodeId>(block.send), data_.contents()[content].id, now + 1, static_cast<std::uint32_t>(content), true});
    });
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return std::tie(a.gpu, a.segment, a.step, a.content) < std::tie(b.gpu, b.segment, b.step, b.content);
    });
    std::vector<std::uint8_t> sender(data_.contents().size(), 0), receiver(data_.contents().size(), 0);
    std::vector<bool> releases(data_.contents().size(), false), replaces(data_.contents().size(), false);
    std::uint32_t registers = 1;
    bool delayed = false;
    std::vector<Need> needs;
    std::vector<Arrival> arrivals;
    for (std::size_t i = 0; i < events.size();) {
      const Event first = events[i];
      needs.clear();
      arrivals.clear();
      for (; i < events.size() && events[i].gpu == first.gpu && events[i].segment == first.segment; ++i) {
        const Event& e = events[i];
        const ContributorSet& what = data_.contents()[e.content].from;
        if (e.arrives)
          arrivals.push_back({e.step, what, e.content, 0});
        else
          needs.push_back({e.step, what, e.content, 0, false});
      }
      const bool wanted = wants(first.gpu, first.segment);
      if (wanted) needs.push_back({Need::at_end, data_.all(), no_step, 0, false});
      RegisterPlan plan(data_.own(first.gpu), wanted);
      if (const std::string why = plan.find(needs, arrivals); !why.empty()) {
        bool more = false;
        for (const std::uint32_t content : plan.early) {
          if (plan.not_before > 0 && order_.delay(message_of[content], plan.not_before - 1)) more = true;
        }
        if (!more || last_try) {
          const std::string what = fmt::format("chunk {} at gpu {}: {}", first.segment, first.gpu, why);
          if (plan.failed == no_step) throw InputError(fmt::format("schedule '{}': {}", program_.file, what));
          program_.refuse(messages()[message_of[plan.failed]].send, what);
        }
        delayed = true;
        continue;
      }
      registers = std::max(registers, plan.registers);
      for (const Need& need : needs) {
        if (need.item == no_step) continue;
        sender[need.item] = need.reg;
        releases[need.item] = need.releases;
      }
      for (const Arrival& arrival : arrivals) {
        receiver[arrival.item] = arrival.registers;
        replaces[arrival.item] = arrival.replaces;
      }
    }
    if (delayed) return std::nullopt;

    const BlockId segments = program_.collective == Collective::reduce_scatter ? program_.chunks * program_.gpus : program_.chunks;
    std::vector<Group> groups;
    groups.reserve(data_.contents().size());
    each_content([&](std::uint32_t m, std::size_t content) {
      const Threadblock& block = block_of(messages()[m].send);
      if (receiver[content] == 0)
        program_.refuse(messages()[m].receive,
                        fmt::format("it receives a partial of chunk {} that gpu {} never uses", data_.contents()[content].id, block.send));
      const std::uint8_t into = replaces[content] && sender[content] == 0 ? std::uint8_t{0} : receiver[content];
      groups.push_back({messages()[m].step, block.gpu, static_cast<NodeId>(block.send), into, releases[content],
                        order_.route_of(messages()[m]), sender[content] * segments + data_.contents()[content].id});
    });
    return grouped(std::move(groups), registers);
  }

  const MscclProgram& program_;
  StepOrder order_;
  ProgramData data_;
};

}  // namespace

RankSends in_lock_step(const MscclProgram& program, const Content::Place& place) { return LockStep(program, place).run(); }

}  // namespace torus::foreign
