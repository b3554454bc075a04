#include "runtime/trace/trace_header.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/host.hpp"

namespace torus::detail {
namespace {

using Json = nlohmann::json;

bool rooted(const TraceHeader& header) {
  const std::string& c = header.collective;
  return c == "broadcast" || c == "scatter" || c == "gather" || c == "reduce";
}

/// Parses the header's JSON object. Errors are thrown by lines.refuse().
class HeaderParser {
 public:
  HeaderParser(const Lines& lines, std::string_view line) : lines_{lines} {
    // The parser keeps the last of two values, another program's the first perhaps.
    std::set<std::string> keys;
    std::string twice;
    const auto note = [&](int depth, Json::parse_event_t event, const Json& parsed) {
      if (depth == 1 && event == Json::parse_event_t::key && !keys.insert(parsed.get<std::string>()).second)
        twice = parsed.get<std::string>();
      return true;
    };
    json_ = Json::parse(line.begin(), line.end(), note, false);
    if (json_.is_discarded()) lines_.refuse("the header is no JSON; the first line must be {\"format\":\"torus-trace\",\"version\":1,..}");
    if (!json_.is_object())
      lines_.refuse("the header is no JSON object; the first line must be {\"format\":\"torus-trace\",\"version\":1,..}");
    if (!twice.empty()) lines_.refuse("the header has '" + twice.substr(0, 40) + "' twice; give each key once");
  }

  TraceHeader header() {
    if (word("format", "") != "torus-trace") lines_.refuse("the header's 'format' must be \"torus-trace\"");
    if (whole("version", 0, std::numeric_limits<std::uint64_t>::max()) != 1) lines_.refuse("the header's 'version' must be 1");
    refuse_unknown_keys();
    TraceHeader header{.machine = machine(), .collective = word("collective", "")};
    read_costs(header);
    header.ports =
        std::min<std::uint64_t>(whole("ports", 1, std::numeric_limits<std::uint64_t>::max()), std::numeric_limits<std::int32_t>::max());
    static constexpr std::string_view collectives[] = {
        "broadcast", "multinode-broadcast", "total-exchange", "scatter", "gather", "allgather",
        "reduce",    "allreduce",           "reduce-scatter", "scan",    "barrier"};
    if (std::find(std::begin(collectives), std::end(collectives), header.collective) == std::end(collectives)) {
      lines_.refuse("the header's 'collective' is '" + header.collective +
                    "'; it must be broadcast, multinode-broadcast, total-exchange, scatter, gather, allgather, reduce, allreduce, "
                    "reduce-scatter, scan or barrier");
    }
    read_groups(header);
    read_sources(header);
    header.segments =
        json_.contains("segments") ? static_cast<std::uint32_t>(whole("segments", 1, std::numeric_limits<std::int32_t>::max())) : 1;
    header.block_bytes = json_.contains("block_bytes") ? whole("block_bytes", 0, std::numeric_limits<std::uint64_t>::max()) : 0;
    header.algorithm = word("algorithm", "unknown");
    header.seed = json_.contains("seed") ? whole("seed", 0, std::numeric_limits<std::uint64_t>::max()) : 0;
    if (reduces(header)) read_reduction(header);
    read_sizes(header);
    refuse_useless_keys(header);
    return header;
  }

 private:
  /// Without the key all nodes are sources. Dead nodes are none, except a root, which is refused.
  void read_sources(TraceHeader& header) {
    const Topology& topology = header.machine.topology;
    const auto of_sizes = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    const auto sizes = std::minmax_element(header.groups.begin(), header.groups.end(), of_sizes);
    const bool grouped = !header.groups.empty();
    const auto least = grouped ? static_cast<NodeId>(sizes.first->size()) : topology.nodes();
    const auto most = grouped ? static_cast<NodeId>(sizes.second->size()) : topology.nodes();
    if (json_.contains("sources")) {
      for (const std::uint64_t source : list("sources", least - 1)) header.sources.push_back(static_cast<NodeId>(source));
      std::sort(header.sources.begin(), header.sources.end());
      if (std::adjacent_find(header.sources.begin(), header.sources.end()) != header.sources.end()) {
        lines_.refuse("the header's 'sources' name a node twice; name each once");
      }
      if (header.sources.empty() && header.collective != "multinode-broadcast")
        lines_.refuse("the header's 'sources' are empty, as they can be in a multinode-broadcast alone; name a root, or leave the key out");
    } else if (rooted(header)) {
      lines_.refuse("the header's 'sources' must name one root for a " + header.collective);
    } else {
      // Twice: the judge has a copy.
      if (const Bytes all = Bytes{topology.nodes()} * 2 * sizeof(NodeId); all > usable_memory()) {
        lines_.refuse("the header names no 'sources', so that all " + std::to_string(topology.nodes()) + " nodes are: listing them takes " +
                      bytes_text(all) + " of memory and " + bytes_text(available_memory()) + " are available; use a smaller machine");
      }
      header.sources.resize(most);
      std::iota(header.sources.begin(), header.sources.end(), 0);
    }
    if (const auto wrong = wrong_sources(header)) lines_.refuse("the header's 'sources' " + *wrong);
    if (!grouped) std::erase_if(header.sources, [&](NodeId source) { return !topology.living(source); });
  }

  void read_groups(TraceHeader& header) {
    if (!json_.contains("groups")) return;
    const NodeId nodes = header.machine.topology.nodes();
    const Json& groups = json_["groups"];
    const auto is_list = [](const Json& group) { return group.is_array() && !group.empty(); };
    if (!is_list(groups) || !std::all_of(groups.begin(), groups.end(), is_list))
      lines_.refuse("the header's 'groups' must be a list of lists of ranks, none of them empty");
    std::vector<bool> taken(nodes);
    for (const Json& group : groups) {
      std::vector<NodeId>& ranks = header.groups.emplace_back();
      for (const Json& rank : group) {
        if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= nodes)
          lines_.refuse("the header's 'groups' must hold whole numbers from 0 to " + std::to_string(nodes - 1));
        ranks.push_back(rank.get<NodeId>());
        if (taken[ranks.back()])
          lines_.refuse("the header's 'groups' name node " + std::to_string(ranks.back()) + " twice; a node is in one group at most");
        taken[ranks.back()] = true;
      }
    }
  }

  /// As many as the largest group has blocks.
  void read_sizes(TraceHeader& header) {
    if (!json_.contains("sizes")) return;
    std::uint64_t nodes = header.groups.empty() ? header.machine.topology.nodes() : 0;
    for (const std::vector<NodeId>& group : header.groups) nodes = std::max<std::uint64_t>(nodes, group.size());
    const std::string& c = header.collective;
    const bool whole_vector = c == "reduce" || c == "allreduce" || c == "scan";
    const std::uint64_t blocks = c == "barrier"          ? 0
                                 : c == "total-exchange" ? nodes * nodes
                                                         : (whole_vector ? 1 : nodes) * std::uint64_t{header.segments};
    if (blocks == 0 || !json_["sizes"].is_array() || json_["sizes"].size() != blocks)
      lines_.refuse("the header's 'sizes' must be a list of whole numbers, one for each of " + std::to_string(blocks) + " blocks");
    header.sizes = list("sizes", std::numeric_limits<std::uint64_t>::max());
  }

  /// A key that is not understood may change what must hold: to pass over it could give a wrong verdict.
  void refuse_unknown_keys() {
    static constexpr std::string_view known[] = {
        "format",  "version", "shape", "wrap", "twist",  "ports",     "switching",  "contention", "routing",     "collective",
        "sources", "groups",  "op",    "type", "values", "registers", "overlap",    "segments",   "block_bytes", "algorithm",
        "seed",    "sizes",   "ts_s",  "tc_s", "th_s",   "tg_s",      "dead_nodes", "dead_links", "slow_links"};
    for (const auto& [key, value] : json_.items()) {
      if (std::find(std::begin(known), std::end(known), key) == std::end(known))
        lines_.refuse("the header has '" + key.substr(0, 40) + "', which this version of torus does not know; leave it out");
    }
  }

  /// Keys that say nothing of this collective.
  void refuse_useless_keys(const TraceHeader& header) {
    const std::string& c = header.collective;
    const auto refuse = [&](const char* key, const char* of) {
      lines_.refuse(std::string("the header has '") + key + "', which is for " + of + "; leave it out");
    };
    if (header.segments > 1 && (c == "total-exchange" || c == "barrier")) refuse("segments", "messages that are cut into blocks");
    for (const char* key : {"op", "type", "values", "registers", "overlap"}) {
      if (!reduces(header) && json_.contains(key)) refuse(key, "reductions");
    }
  }

  /// The judge asks for contributors: it needs no operator, type or values to judge by. Their names are checked all the same.
  void read_reduction(TraceHeader& header) {
    if (json_.contains("registers")) header.registers = static_cast<std::uint32_t>(whole("registers", 1, 8));
    header.overlap = flag("overlap");
    Reduction reduction;
    try {
      reduction.op = parse_operator(word("op", "sum"));
      reduction.type = parse_element_type(word("type", "f32"));
      reduction.values = parse_values(word("values", "small"));
    } catch (const InputError& error) {
      if (std::string_view(error.what()).find(" line 1: ") != std::string_view::npos) throw;
      lines_.refuse(std::string("the header's ") + error.what());
    }
    const Operator op = reduction.op;
    if (header.overlap && (adds_up(op) || op == Operator::prod || op == Operator::exclusive_or)) {
      lines_.refuse("the header's 'overlap' is true, and op " + std::string(name(op)) +
                    " counts a contributor twice; it may be with min, max, and, or");
    }
    if (json_.contains("op") && json_.contains("type")) header.reduction = reduction;
  }
  /// False if the key is absent.
  bool flag(const char* key) {
    if (!json_.contains(key)) return false;
    if (!json_[key].is_boolean()) lines_.refuse(std::string("the header's '") + key + "' must be true or false");
    return json_[key].get<bool>();
  }

  Machine machine() {
    try {
      const std::vector<std::uint64_t> extents = list("shape", std::numeric_limits<std::int32_t>::max());
      std::vector<DimensionShape> shape;
      for (const std::uint64_t n : extents) shape.push_back({static_cast<std::int32_t>(n), Wiring::ring});
      if (json_.contains("wrap")) read_wrap(shape);
      const Topology topology = Topology(std::move(shape), flag("twist")).with_faults(read_faults());
      // More ports than channels are as good as all, where channels are not shared. The judge goes by TraceHeader::ports.
      const std::uint64_t ports = std::min<std::uint64_t>(whole("ports", 1, std::numeric_limits<std::uint64_t>::max()),
                                                          static_cast<std::uint64_t>(topology.max_ports()));
      std::vector<Dimension> routing;
      if (json_.contains("routing")) {
        for (const std::uint64_t d : list("routing", max_dimensions)) routing.push_back(static_cast<Dimension>(d));
      }
      CostModel cost;
      if (json_.contains("tc_s") && !json_["tc_s"].is_number()) cost.dimension_byte_s = read_speeds();
      return Machine(topology, static_cast<int>(ports), parse_switching(word("switching", "")),
                     parse_contention(word("contention", "forbid")), std::move(routing), std::move(cost));
    } catch (const InputError& error) {
      if (std::string_view(error.what()).find(" line 1: ") != std::string_view::npos) throw;
      lines_.refuse(std::string("the header describes no machine: ") + error.what());
    }
  }

  /// The header has all three of ts_s, tc_s and th_s, or none; a tc_s by dimension may stand alone.
  void read_costs(TraceHeader& header) {
    const bool one_speed = json_.contains("tc_s") && json_["tc_s"].is_number();
    header.costs_known = json_.contains("ts_s") && json_.contains("tc_s") && json_.contains("th_s");
    if (!header.costs_known && (json_.contains("ts_s") || one_speed || json_.contains("th_s")))
      lines_.refuse("the header has one of 'ts_s', 'tc_s' and 'th_s'; it must have all three or none");
    if (!header.costs_known && json_.contains("tg_s"))
      lines_.refuse("the header has 'tg_s' without 'ts_s', 'tc_s' and 'th_s'; it must have those three, too");
    if (!header.costs_known) return;
    CostModel& cost = header.machine.cost;
    cost.start_up_s = seconds("ts_s");
    if (one_speed) cost.byte_s = seconds("tc_s");
    cost.hop_s = seconds("th_s");
    if (json_.contains("tg_s")) cost.combine_s = seconds("tg_s");
  }
  double seconds(const char* key) {
    constexpr double max = 1e6;  // as the command takes them: no sum of them overflows
    if (!json_[key].is_number() || !(json_[key].get<double>() >= 0 && json_[key].get<double>() <= max))
      lines_.refuse(std::string("the header's '") + key + "' must be a number of seconds from 0 to 1e6, for instance 1e-06");
    return json_[key].get<double>();
  }

  void read_wrap(std::vector<DimensionShape>& shape) {
    const Json& wrap = json_["wrap"];
    if (!wrap.is_array() || wrap.size() != shape.size())
      lines_.refuse("the header's 'wrap' must be a list with an entry for each dimension");
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (wrap[d].is_boolean())
        shape[d].wiring = wrap[d].get<bool>() ? Wiring::ring : Wiring::line;
      else if (wrap[d] == "complete")
        shape[d].wiring = Wiring::complete;
      else
        lines_.refuse("the header's 'wrap' must hold true, false or \"complete\"");
    }
  }

  Faults read_faults() {
    Faults faults;
    if (json_.contains("dead_nodes")) {
      for (const std::uint64_t node : list("dead_nodes", std::numeric_limits<NodeId>::max()))
        faults.dead_nodes.push_back(static_cast<NodeId>(node));
    }
    for (const Json& entry : entries("dead_links", 3)) faults.dead_links.push_back(link(entry));
    for (const Json& entry : entries("slow_links", 4)) faults.slow_links.push_back({link(entry), entry[3].get<double>()});
    return faults;
  }
  /// Reads [[int,int,int], ..], or with length 4 [[int,int,int,real], ..]; empty if the key is absent.
  Json entries(const char* key, std::size_t length) {
    if (!json_.contains(key)) return Json::array();
    const auto fits = [length](const Json& entry) {
      if (!entry.is_array() || entry.size() != length) return false;
      for (std::size_t i = 0; i < 3; ++i) {
        if (!entry[i].is_number_integer() || entry[i].get<double>() < (i == 2 ? -1 : 0) || entry[i].get<double>() > 0x7fffffff)
          return false;
      }
      return length == 3 || entry[3].is_number();
    };
    if (!json_[key].is_array() || !std::all_of(json_[key].begin(), json_[key].end(), fits)) {
      lines_.refuse(std::string("the header's '") + key + "' must be a list of [node, dimension, direction" +
                    (length == 4 ? ", factor]" : "]"));
    }
    return json_[key];
  }
  static Link link(const Json& entry) { return {entry[0].get<NodeId>(), entry[1].get<Dimension>(), entry[2].get<std::int32_t>()}; }

  std::vector<double> read_speeds() {
    const Json& speeds = json_["tc_s"];
    std::vector<double> values;
    for (const Json& value : speeds) {
      if (value.is_number() && value.get<double>() >= 0 && value.get<double>() <= 1e6) values.push_back(value.get<double>());
    }
    if (!speeds.is_array() || values.size() != speeds.size())
      lines_.refuse("the header's 'tc_s' must be a list of seconds a byte from 0 to 1000000, one a dimension");
    return values;
  }

  std::string word(const char* key, const char* otherwise) {
    if (!json_.contains(key)) return otherwise;
    if (!json_[key].is_string()) lines_.refuse(std::string("the header's '") + key + "' must be a string");
    return json_[key].get<std::string>();
  }
  std::uint64_t whole(const char* key, std::uint64_t min, std::uint64_t max) {
    if (!json_.contains(key)) lines_.refuse(std::string("the header's '") + key + "' is missing; it must be a whole number");
    if (!json_[key].is_number_unsigned() || json_[key].get<std::uint64_t>() < min || json_[key].get<std::uint64_t>() > max) {
      lines_.refuse(std::string("the header's '") + key + "' must be a whole number from " + std::to_string(min) + " to " +
                    std::to_string(max));
    }
    return json_[key].get<std::uint64_t>();
  }
  std::vector<std::uint64_t> list(const char* key, std::uint64_t max) {
    const bool found = json_.contains(key) && json_[key].is_array();
    std::vector<std::uint64_t> values;
    if (found) {
      for (const Json& value : json_[key]) {
        if (value.is_number_unsigned() && value.get<std::uint64_t>() <= max) values.push_back(value.get<std::uint64_t>());
      }
    }
    if (!found || values.size() != json_[key].size()) {
      lines_.refuse(std::string("the header's '") + key + "' must be a list of whole numbers from 0 to " + std::to_string(max));
    }
    return values;
  }

  const Lines& lines_;
  Json json_;
};

/// What is wrong with the sources of a group, or of all nodes.
std::optional<std::string> wrong_in(const TraceHeader& header, std::optional<NodeId> group) {
  const Topology& topology = header.machine.topology;
  const auto nodes = group ? static_cast<NodeId>(header.groups[*group].size()) : topology.nodes();
  const auto rank_of = [&](NodeId local) { return group ? header.groups[*group][local] : local; };
  const std::string& c = header.collective;
  if (rooted(header)) {
    const NodeId root = header.sources.front();
    if (root >= nodes || topology.living(rank_of(root))) return std::nullopt;
    return "name node " + node_text(topology, rank_of(root)) + ", which is dead; the root of a " + c + " must be alive";
  }
  if (c == "multinode-broadcast" || header.sources.empty()) return std::nullopt;
  const auto living = std::count_if(header.sources.begin(), header.sources.end(),
                                    [&](NodeId source) { return source < nodes && topology.living(rank_of(source)); });
  NodeId all = topology.living_nodes();
  if (group)
    all = static_cast<NodeId>(
        std::count_if(header.groups[*group].begin(), header.groups[*group].end(), [&](NodeId rank) { return topology.living(rank); }));
  if (static_cast<NodeId>(living) >= all) return std::nullopt;
  return "name " + std::to_string(living) + " of " + std::to_string(all) + " living nodes, and all take part in " + c +
         "; name all, or leave the key out";
}

}  // namespace

std::optional<std::string> wrong_sources(const TraceHeader& header) {
  const Topology& topology = header.machine.topology;
  const std::string& c = header.collective;
  const std::vector<NodeId>& sources = header.sources;
  std::size_t most = header.groups.empty() ? topology.nodes() : 0;
  for (const std::vector<NodeId>& group : header.groups) most = std::max(most, group.size());
  for (const NodeId source : sources) {
    if (source >= most) return "name node " + std::to_string(source) + "; ranks go from 0 to " + std::to_string(most - 1);
  }
  if (rooted(header) && sources.size() != 1) return "must name one root for a " + c;
  if (header.groups.empty()) return wrong_in(header, std::nullopt);
  for (NodeId group = 0; group < header.groups.size(); ++group) {
    if (auto wrong = wrong_in(header, group)) return *wrong + ", in group " + std::to_string(group);
  }
  return std::nullopt;
}

bool reduces(const TraceHeader& header) noexcept {
  const std::string& c = header.collective;
  return c == "reduce" || c == "allreduce" || c == "reduce-scatter" || c == "scan";
}

std::string quoted(std::string_view text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

TraceHeader parse_trace_header(const Lines& lines, std::string_view line) { return HeaderParser(lines, line).header(); }

}  // namespace torus::detail
