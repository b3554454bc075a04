/// ForestColl's trees: <trees><tree root index nchunks height><send src dst path/>..</tree>..</trees>. Each tree spreads nchunks of its
/// root's chunks to all ranks.
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <unordered_set>

#include <torus/error.hpp>

#include "algorithms/foreign/content.hpp"
#include "algorithms/foreign/xml.hpp"

namespace torus::foreign {
namespace {

struct TreeSend {
  NodeId from, to;
  std::vector<NodeId> between;  ///< ranks on the way
};
struct Tree {
  NodeId root = 0;
  std::uint32_t chunks = 1;
  std::vector<TreeSend> sends;
};

class Trees : public Content {
 public:
  explicit Trees(const File& of) {
    kind = ForeignSchedule::Kind::forestcoll;
    file = of.path;
    name = "forestcoll";
    collective = Collective::multinode_broadcast;
    native = {.switching = Switching::circuit, .contention = Contention::share};
    read_xml(of, 8, [&](int depth, std::string_view element, const Attributes& attributes) {
      if (depth == 0 && element != "trees") of.refuse(fmt::format("its first element is <{}>; it must be <trees>", element.substr(0, 40)));
      if (depth == 1 && element == "tree") {
        trees_.push_back({whole(of, attributes, "root"), whole(of, attributes, "nchunks", 1), {}});
        if (trees_.back().chunks < 1) of.refuse(fmt::format("tree {}: nchunks is 0; it must be 1 or more", trees_.size() - 1));
      } else if (depth == 2 && element == "send" && !trees_.empty()) {
        TreeSend send{whole(of, attributes, "src"), whole(of, attributes, "dst"), {}};
        send.between = way(of, attributes, send);
        trees_.back().sends.push_back(std::move(send));
      }
    });
    if (trees_.empty()) of.refuse("it has no <tree>");
    number(of);
  }

  RankSends sends(const Place& place) const override {
    RankSends out;
    std::vector<std::uint32_t> given(ranks, 0);  // chunks of a root so far
    for (std::size_t t = 0; t < trees_.size(); ++t) add(place, t, given[trees_[t].root], out);
    return out;
  }

 private:
  static constexpr std::uint32_t most = std::uint32_t{1} << 20U;

  std::uint32_t whole(const File& of, const Attributes& attributes, std::string_view key,
                      std::optional<std::uint32_t> otherwise = {}) const {
    for (const auto& [name_of, value] : attributes) {
      if (name_of != key) continue;
      std::uint32_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error != std::errc{} || end != value.data() + value.size() || number >= most)
        of.refuse(fmt::format("{}: {} is '{}'; it must be a whole number below 2^20", place_text(), key, value.substr(0, 40)));
      return number;
    }
    if (!otherwise) of.refuse(fmt::format("{}: '{}' is missing", place_text(), key));
    return *otherwise;
  }
  std::string place_text() const {
    if (trees_.empty()) return "tree 0";
    return fmt::format("tree {} (root {}), send {}", trees_.size() - 1, trees_.back().root, trees_.back().sends.size());
  }

  /// The ranks that a path names between its ends; none where it names switches.
  std::vector<NodeId> way(const File& of, const Attributes& attributes, const TreeSend& send) const {
    const auto at = std::find_if(attributes.begin(), attributes.end(), [](const auto& pair) { return pair.first == "path"; });
    if (at == attributes.end()) return {};
    std::vector<NodeId> nodes;
    std::string_view text = at->second;
    while (true) {
      const std::size_t next = text.find_first_not_of(" ,;[]()->");
      if (next == std::string_view::npos) break;
      text.remove_prefix(next);
      NodeId node = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node);
      if (error != std::errc{} || node >= most) return {};
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
      nodes.push_back(node);
      if (nodes.size() > most) of.refuse(place_text() + ": its path is too long");
    }
    if (nodes.empty()) return {};
    if (nodes.size() < 2 || nodes.front() != send.from || nodes.back() != send.to)
      of.refuse(fmt::format("{}: its path '{}' does not lead from {} to {}", place_text(), at->second.substr(0, 60), send.from, send.to));
    return {nodes.begin() + 1, nodes.end() - 1};
  }

  /// Ranks, and the chunks of each, of which all have as many.
  void number(const File& of) {
    std::uint32_t highest = 0;
    for (const Tree& tree : trees_) {
      highest = std::max(highest, tree.root);
      for (const TreeSend& send : tree.sends) highest = std::max({highest, send.from, send.to});
    }
    ranks = highest + 1;
    std::vector<std::uint64_t> chunks(ranks, 0);
    std::uint64_t sent = 0;
    for (const Tree& tree : trees_) {
      chunks[tree.root] += tree.chunks;
      sent += tree.sends.size() * tree.chunks;
    }
    if (sent > (std::uint64_t{1} << 26U)) of.refuse(fmt::format("its sends carry {} chunks; at most 2^26 are read", sent));
    for (NodeId rank = 0; rank < ranks; ++rank) {
      if (chunks[rank] == chunks[0]) continue;
      of.refuse(fmt::format("its trees spread {} chunks of rank {} and {} of rank 0; all have as many in an all-gather", chunks[rank], rank,
                            chunks[0]));
    }
    if (chunks[0] * ranks >= (std::uint64_t{1} << 31U)) of.refuse("ranks times chunks must be below 2^31");
    segments = static_cast<std::uint32_t>(chunks[0]);
    sources.resize(ranks);
    std::iota(sources.begin(), sources.end(), 0);
  }

  [[noreturn]] void refuse(std::size_t tree, std::string_view why) const {
    throw InputError(fmt::format("schedule '{}': tree {} (root {}): {}", file, tree, trees_[tree].root, why));
  }

  /// From the root on: a node sends a chunk on in the step after it has come.
  void add(const Place& place, std::size_t t, std::uint32_t& given, RankSends& out) const {
    const Tree& tree = trees_[t];
    std::vector<const TreeSend*> by_sender;
    for (const TreeSend& send : tree.sends) by_sender.push_back(&send);
    std::stable_sort(by_sender.begin(), by_sender.end(), [](const TreeSend* a, const TreeSend* b) { return a->from < b->from; });
    std::unordered_set<NodeId> reached{tree.root};
    std::vector<std::pair<NodeId, Step>> next{{tree.root, 0}};
    std::size_t sent = 0;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const auto [node, step] = next[i];
      const auto first =
          std::lower_bound(by_sender.begin(), by_sender.end(), node, [](const TreeSend* a, NodeId b) { return a->from < b; });
      for (auto send = first; send != by_sender.end() && (*send)->from == node; ++send) {
        if (!reached.insert((*send)->to).second) refuse(t, fmt::format("rank {} gets it twice, from {} too", (*send)->to, node));
        ++sent;
        next.emplace_back((*send)->to, step + append(place, **send, step, tree, given, out));
      }
    }
    if (sent < tree.sends.size()) {
      const auto waits =
          std::find_if(tree.sends.begin(), tree.sends.end(), [&](const TreeSend& send) { return !reached.contains(send.from); });
      refuse(t, fmt::format("rank {} sends to {} what never reaches it", waits->from, waits->to));
    }
    given += tree.chunks;
  }

  /// A message, and the steps that it takes.
  Step append(const Place& place, const TreeSend& send, Step step, const Tree& tree, std::uint32_t given, RankSends& out) const {
    std::vector<NodeId> stops = send.between;
    stops.push_back(send.to);
    for (const NodeId stop : stops) {
      if (stop >= ranks) throw InputError(fmt::format("schedule '{}': a path names rank {}, and there are {}", file, stop, ranks));
    }
    RankSends::RankMessage message{
        .step = step, .from = send.from, .to = send.to, .first_leg = out.legs.size(), .first_block = out.blocks.size()};
    message.blocks = tree.chunks;
    for (std::uint32_t c = 0; c < tree.chunks; ++c) out.blocks.push_back(tree.root * segments + given + c);
    NodeId at = send.from;
    if (place.machine.switching == Switching::packet) {
      Step steps = 0;
      for (const NodeId stop : stops) {
        RankSends::RankMessage part = message;
        part.step = step + steps;
        part.from = at;
        part.to = stop;
        steps += place.steps(at, stop);
        if (at != stop) out.sends.push_back(part);
        at = stop;
      }
      return steps;
    }
    for (const NodeId stop : stops) {
      const Route legs = shortest_route(place.machine.topology, place.node_of_rank[at], place.node_of_rank[stop], place.machine.routing);
      out.legs.insert(out.legs.end(), legs.begin(), legs.end());
      at = stop;
    }
    message.legs = static_cast<std::uint32_t>(out.legs.size() - message.first_leg);
    out.sends.push_back(message);
    return 1;
  }

  std::vector<Tree> trees_;
};

}  // namespace

std::shared_ptr<const Content> read_forestcoll(const File& file) { return std::make_shared<Trees>(file); }

}  // namespace torus::foreign
