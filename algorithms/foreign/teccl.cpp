/// TE-CCL's JSON: of its keys "7-Flows", a list of "Chunk 0 from 3 traveled over 3->7 in epoch 0".
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <simdjson.h>
#include <tuple>

#include <torus/error.hpp>

#include "algorithms/foreign/content.hpp"

namespace torus::foreign {
namespace {

struct Flow {
  std::uint32_t chunk, origin, from, to, epoch;
};

/// "Chunk c from s traveled over a->b in epoch e".
std::optional<Flow> parse_flow(std::string_view text) {
  Flow flow{};
  const auto take = [&](std::string_view words, std::uint32_t& number) {
    if (!text.starts_with(words)) return false;
    text.remove_prefix(words.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
  };
  if (take("Chunk ", flow.chunk) && take(" from ", flow.origin) && take(" traveled over ", flow.from) && take("->", flow.to) &&
      take(" in epoch ", flow.epoch) && text.empty())
    return flow;
  return std::nullopt;
}

std::string text_of(const Flow& flow) {
  return fmt::format("Chunk {} from {} traveled over {}->{} in epoch {}", flow.chunk, flow.origin, flow.from, flow.to, flow.epoch);
}

class Teccl : public Content {
 public:
  explicit Teccl(const File& of) {
    kind = ForeignSchedule::Kind::teccl;
    file = of.path;
    name = "te-ccl";
    collective = Collective::multinode_broadcast;
    native = {.switching = Switching::packet};
    read(of);
    std::uint32_t most_rank = 0, most_chunk = 0;
    for (const Flow& flow : flows_) {
      most_rank = std::max({most_rank, flow.origin, flow.from, flow.to});
      most_chunk = std::max(most_chunk, flow.chunk);
    }
    constexpr std::uint64_t most_ranks = std::uint64_t{1} << 20U, most_blocks = std::uint64_t{1} << 31U;
    if (most_rank >= most_ranks || (std::uint64_t{most_rank} + 1) * (std::uint64_t{most_chunk} + 1) >= most_blocks)
      of.refuse(
          fmt::format("its flows name rank {} and chunk {}; there are at most 2^20 ranks and 2^31 chunks of all", most_rank, most_chunk));
    ranks = most_rank + 1;
    segments = most_chunk + 1;
    sources.resize(ranks);
    std::iota(sources.begin(), sources.end(), 0);
  }

  RankSends sends(const Place& place) const override {
    if (place.machine.switching == Switching::packet) check_links(place);
    RankSends out;
    for (const Flow& flow : flows_) {
      out.sends.push_back({.step = flow.epoch, .from = flow.from, .to = flow.to, .first_block = out.blocks.size(), .blocks = 1});
      out.blocks.push_back(flow.origin * segments + flow.chunk);
    }
    return out;
  }

 private:
  void read(const File& of) {
    simdjson::dom::parser parser;
    const simdjson::padded_string padded(of.text);
    simdjson::dom::object object;
    const simdjson::error_code error = parser.parse(padded).get_object().get(object);
    if (error != simdjson::SUCCESS)
      of.refuse(R"(it is no JSON object, as TE-CCL's schedules are, and no trace, whose first line has "format":"torus-trace")");
    bool found = false;
    for (const auto& [key, value] : object) {
      if (key != "7-Flows") continue;
      if (found) of.refuse("'7-Flows' stands there twice; give it once");
      found = true;
      simdjson::dom::array list;
      if (value.get_array().get(list) != simdjson::SUCCESS) of.refuse("'7-Flows' must be a list");
      for (const simdjson::dom::element each : list) add(of, each);
    }
    if (!found)
      of.refuse(
          R"(it has no key '7-Flows'; TE-CCL's schedules have the keys 1-Epoch_Duration to 8-Chunk paths, a trace "format":"torus-trace")");
    if (flows_.empty()) of.refuse("'7-Flows' is empty");
  }

  void add(const File& of, simdjson::dom::element each) {
    std::string_view text;
    const auto flow = each.get_string().get(text) == simdjson::SUCCESS ? parse_flow(text) : std::nullopt;
    if (!flow)
      of.refuse(fmt::format("flow {} of '7-Flows' is '{}'; it must be as 'Chunk 0 from 3 traveled over 3->7 in epoch 0'", flows_.size(),
                            text.substr(0, 60)));
    if (flow->epoch >= (1U << 24U)) of.refuse(fmt::format("flow {}, '{}': an epoch is below 2^24", flows_.size(), text_of(*flow)));
    if (flow->from == flow->to) of.refuse(fmt::format("flow {}, '{}': it goes nowhere", flows_.size(), text_of(*flow)));
    flows_.push_back(*flow);
  }

  /// A flow is one hop: the machine must have all links of the file.
  void check_links(const Place& place) const {
    const Topology& topology = place.machine.topology;
    const auto linked = [&](const Flow& flow) {
      return topology.distance(place.node_of_rank[flow.from], place.node_of_rank[flow.to]) == 1;
    };
    const Flow* wrong = nullptr;
    std::uint64_t count = 0;
    for (const Flow& flow : flows_) {
      if (linked(flow)) continue;
      ++count;
      const auto order = [](const Flow& f) { return std::tuple(f.epoch, f.from, f.to); };
      if (wrong == nullptr || order(flow) < order(*wrong)) wrong = &flow;
    }
    if (wrong == nullptr) return;
    const auto at = [&](NodeId rank) {
      std::string text;
      for (const std::int32_t x : topology.coordinates(place.node_of_rank[rank])) text += fmt::format("{}{}", text.empty() ? "" : ",", x);
      return "(" + text + ")";
    };
    throw InputError(fmt::format("schedule '{}': flow {}, '{}': message from {} to {}: {} has no such link, and none for {} of {} flows",
                                 file, wrong - flows_.data(), text_of(*wrong), at(wrong->from), at(wrong->to), topology.text(), count,
                                 flows_.size()));
  }

  std::vector<Flow> flows_;
};

}  // namespace

std::shared_ptr<const Content> read_teccl(const File& file) { return std::make_shared<Teccl>(file); }

}  // namespace torus::foreign
