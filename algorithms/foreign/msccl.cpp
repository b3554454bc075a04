/// MSCCL's XML: <algo><gpu><tb><step/>..</tb>..</gpu>..</algo>.
#include "algorithms/foreign/msccl.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include <torus/error.hpp>

#include "algorithms/foreign/xml.hpp"

namespace torus::foreign {
namespace {

constexpr std::int64_t most_gpus = std::int64_t{1} << 16U, most_chunks = std::int64_t{1} << 24U, most_steps_of_a_block = 256,
                       most_steps = std::int64_t{1} << 24U;

struct TypeName {
  std::string_view name;
  MscclStep::Type type;
};
constexpr TypeName types[] = {{"s", MscclStep::Type::s},     {"r", MscclStep::Type::r},       {"cpy", MscclStep::Type::cpy},
                              {"re", MscclStep::Type::re},   {"rcs", MscclStep::Type::rcs},   {"rrc", MscclStep::Type::rrc},
                              {"rrs", MscclStep::Type::rrs}, {"rrcs", MscclStep::Type::rrcs}, {"nop", MscclStep::Type::nop}};

struct CollectiveName {
  std::string_view name;
  Collective collective;
};
constexpr CollectiveName collective_names[] = {
    {"allgather", Collective::multinode_broadcast}, {"all_gather", Collective::multinode_broadcast},
    {"allreduce", Collective::allreduce},           {"all_reduce", Collective::allreduce},
    {"reduce_scatter", Collective::reduce_scatter}, {"reducescatter", Collective::reduce_scatter},
    {"alltoall", Collective::total_exchange},       {"all_to_all", Collective::total_exchange},
    {"broadcast", Collective::broadcast},           {"reduce", Collective::reduce}};

class Reader {
 public:
  explicit Reader(const File& file) : file_{file} { program_.file = file.path; }

  MscclProgram read() {
    read_xml(file_, 16, [this](int depth, std::string_view element, const Attributes& attributes) {
      attributes_ = &attributes;
      if (depth == 0) {
        if (element != "algo") file_.refuse(fmt::format("its first element is <{}>; it must be <algo> or <trees>", element.substr(0, 40)));
        algo();
      } else if (depth == 1) {
        in_gpu_ = in_block_ = false;
        if (element == "gpu") gpu();
      } else if (depth == 2) {
        in_block_ = false;
        if (element == "tb" && in_gpu_) threadblock();
      } else if (depth == 3 && element == "step" && in_block_) {
        step();
      }
    });
    in_order();
    check_buffers();
    return std::move(program_);
  }

 private:
  std::string place() const {
    if (!in_gpu_) return "algo";
    if (!in_block_) return fmt::format("gpu {}", gpu_);
    const Threadblock& block = program_.blocks.back();
    return block.steps == 0 ? fmt::format("gpu {}, threadblock {}", gpu_, block.id)
                            : fmt::format("gpu {}, threadblock {}, step {}", gpu_, block.id, block.steps - 1);
  }
  [[noreturn]] void refuse(std::string_view why) const { file_.refuse(fmt::format("{}: {}", place(), why)); }

  std::optional<std::string_view> find(std::string_view key) const {
    for (const auto& [name, value] : *attributes_) {
      if (name == key) return value;
    }
    return std::nullopt;
  }
  std::string_view word(std::string_view key) const {
    const auto value = find(key);
    if (!value) refuse(fmt::format("'{}' is missing", key));
    return *value;
  }
  std::int32_t whole(std::string_view key, std::int64_t min, std::int64_t max, std::optional<std::int32_t> otherwise = {}) const {
    const auto value = find(key);
    if (!value && otherwise) return *otherwise;
    const std::string_view text = word(key);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < min || number > max)
      refuse(fmt::format("{} is '{}'; it must be a whole number from {} to {}", key, text.substr(0, 40), min, max));
    return static_cast<std::int32_t>(number);
  }

  void algo() {
    const std::string_view collective = word("coll");
    const auto known = std::find_if(std::begin(collective_names), std::end(collective_names),
                                    [&](const CollectiveName& each) { return each.name == collective; });
    if (known == std::end(collective_names))
      refuse(fmt::format("coll is '{}'; it must be allgather, allreduce, reduce_scatter, alltoall, broadcast or reduce",
                         collective.substr(0, 40)));
    program_.collective = known->collective;
    program_.gpus = static_cast<NodeId>(whole("ngpus", 1, most_gpus));
    program_.root = static_cast<NodeId>(whole("root", 0, std::int64_t{program_.gpus} - 1, 0));
    program_.in_place = whole("inplace", 0, 1, 0) == 1;
    program_.name = find("name").value_or("msccl");
    program_.shape = find("shape").value_or("");
    whole("nchunksperloop", 1, std::numeric_limits<std::int32_t>::max());
    program_.buffers.resize(program_.gpus);
    seen_.resize(program_.gpus);
  }

  void gpu() {
    gpu_ = static_cast<std::uint32_t>(whole("id", 0, std::int64_t{program_.gpus} - 1));
    in_gpu_ = true;
    if (seen_[gpu_]) refuse("it stands there twice");
    seen_[gpu_] = true;
    program_.buffers[gpu_] = {static_cast<std::uint32_t>(whole("i_chunks", 0, most_chunks)),
                              static_cast<std::uint32_t>(whole("o_chunks", 0, most_chunks)),
                              static_cast<std::uint32_t>(whole("s_chunks", 0, most_chunks, 0))};
    for (const std::uint32_t chunks : program_.buffers[gpu_]) cells_ += chunks;
    if (cells_ > most_chunks) refuse("the buffers up to here have more than 2^24 chunks");
  }

  void threadblock() {
    Threadblock block{.gpu = gpu_, .first_step = static_cast<std::uint32_t>(program_.steps.size())};
    block.id = static_cast<std::uint32_t>(whole("id", 0, std::numeric_limits<std::int32_t>::max()));
    program_.blocks.push_back(block);
    in_block_ = true;
    Threadblock& made = program_.blocks.back();
    made.send = whole("send", -1, std::int64_t{program_.gpus} - 1, -1);
    made.receive = whole("recv", -1, std::int64_t{program_.gpus} - 1, -1);
    made.channel = whole("chan", 0, std::numeric_limits<std::int32_t>::max(), 0);
    for (const std::int32_t peer : {made.send, made.receive}) {
      if (peer == static_cast<std::int32_t>(gpu_)) refuse("its peer is its own gpu");
    }
  }

  void step() {
    Threadblock& block = program_.blocks.back();
    if (++block.steps > most_steps_of_a_block) refuse("a threadblock has at most 256 steps");
    const std::int32_t number = whole("s", 0, most_steps_of_a_block - 1);
    if (number != static_cast<std::int32_t>(block.steps) - 1)
      refuse(fmt::format("s is '{}'; the steps of a threadblock count from 0", number));
    MscclStep made{.block = static_cast<std::uint32_t>(program_.blocks.size() - 1)};
    const std::string_view type = word("type");
    const auto known = std::find_if(std::begin(types), std::end(types), [&](const TypeName& each) { return each.name == type; });
    if (known == std::end(types))
      refuse(fmt::format("type is '{}'; it must be s, r, cpy, re, rcs, rrc, rrs, rrcs or nop", type.substr(0, 40)));
    made.type = known->type;
    if (made.type != MscclStep::Type::nop) {
      made.source_buffer = buffer("srcbuf");
      made.target_buffer = buffer("dstbuf");
      made.source = whole("srcoff", -1, most_chunks);
      made.target = whole("dstoff", -1, most_chunks);
      made.count = whole("cnt", 1, most_chunks);
    }
    if (made.sends() && block.send < 0) refuse(fmt::format("type {} sends, and the threadblock has no peer to send to", type));
    if (made.sends()) {
      made.not_before = static_cast<Step>(whole("at", 0, most_steps - 1, 0));
      if (const auto text = find("route")) made.route = route(*text);
    }
    if (made.receives() && block.receive < 0)
      refuse(fmt::format("type {} receives, and the threadblock has no peer to receive from", type));
    const std::int32_t depends = whole("depid", -1, std::numeric_limits<std::int32_t>::max(), -1);
    const std::int32_t on_step = whole("deps", -1, most_steps_of_a_block - 1, -1);
    if ((depends < 0) != (on_step < 0)) refuse("one of depid and deps is -1, the other is not");
    if (depends >= 0)
      waits_.push_back(
          {static_cast<std::uint32_t>(program_.steps.size()), static_cast<std::uint32_t>(depends), static_cast<std::uint32_t>(on_step)});
    program_.steps.push_back(made);
  }
  char buffer(std::string_view key) const {
    const std::string_view text = word(key);
    if (text != "i" && text != "o" && text != "s") refuse(fmt::format("{} is '{}'; it must be i, o or s", key, text.substr(0, 40)));
    return text.front();
  }

  /// "0+2 1-1": hops in dimensions.
  std::uint32_t route(std::string_view text) {
    const auto [known, fresh] = routes_.try_emplace(std::string(text), static_cast<std::uint32_t>(program_.routes.size()));
    if (!fresh) return known->second;
    const auto wrong = [&] { refuse(fmt::format("route is '{}'; it must be as '0+2 1-1', hops in dimensions", text.substr(0, 40))); };
    std::vector<Leg>& legs = program_.routes.emplace_back();
    for (const char *at = text.data(), *const end = at + text.size();;) {
      Leg leg{};
      const auto [sign, of_dimension] = std::from_chars(at, end, leg.dimension);
      if (of_dimension != std::errc{} || sign == end || (*sign != '+' && *sign != '-')) wrong();
      const auto [next, of_hops] = std::from_chars(sign + (*sign == '+' ? 1 : 0), end, leg.hops);
      if (of_hops != std::errc{} || leg.dimension < 0 || leg.hops == 0 || (next != end && *next != ' ')) wrong();
      legs.push_back(leg);
      if (legs.size() > max_dimensions * 2) wrong();
      if (next == end) return known->second;
      at = next + 1;
    }
  }

  /// Threadblocks by gpu and id, steps likewise; dependencies become steps.
  void in_order() {
    for (NodeId gpu = 0; gpu < program_.gpus; ++gpu) {
      if (!seen_[gpu]) file_.refuse(fmt::format("gpu {} is missing: ngpus is {}", gpu, program_.gpus));
    }
    std::vector<std::uint32_t> order(program_.blocks.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](std::uint32_t at) { return std::pair(program_.blocks[at].gpu, program_.blocks[at].id); };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    std::vector<Threadblock> blocks;
    std::vector<MscclStep> steps;
    std::vector<std::uint32_t> moved(program_.steps.size());
    for (const std::uint32_t at : order) {
      Threadblock block = program_.blocks[at];
      if (!blocks.empty() && blocks.back().gpu == block.gpu && blocks.back().id == block.id)
        file_.refuse(fmt::format("gpu {}, threadblock {}: it stands there twice", block.gpu, block.id));
      const std::uint32_t first = std::exchange(block.first_step, static_cast<std::uint32_t>(steps.size()));
      for (std::uint32_t s = 0; s < block.steps; ++s) {
        moved[first + s] = static_cast<std::uint32_t>(steps.size());
        steps.push_back(program_.steps[first + s]);
        steps.back().block = static_cast<std::uint32_t>(blocks.size());
      }
      blocks.push_back(block);
    }
    program_.blocks = std::move(blocks);
    program_.steps = std::move(steps);
    for (const Wait& wait : waits_) {
      const std::uint32_t step = moved[wait.step];
      const std::uint32_t gpu = program_.blocks[program_.steps[step].block].gpu;
      const auto at = std::lower_bound(program_.blocks.begin(), program_.blocks.end(), std::pair(gpu, wait.block),
                                       [](const Threadblock& b, const auto& k) { return std::pair(b.gpu, b.id) < k; });
      if (at == program_.blocks.end() || at->gpu != gpu || at->id != wait.block)
        program_.refuse(step, fmt::format("it waits for threadblock {}, which the gpu does not have", wait.block));
      if (wait.on >= at->steps)
        program_.refuse(step, fmt::format("it waits for step {} of threadblock {}, which has {}", wait.on, wait.block, at->steps));
      program_.steps[step].waits_for = at->first_step + wait.on;
    }
  }

  /// Chunks of a rank's block or of the vector, of which all gpus must have as many; and what each step touches is there.
  void check_buffers() {
    const NodeId gpus = program_.gpus;
    std::uint32_t chunks = 0;
    for (NodeId gpu = 0; gpu < gpus; ++gpu) {
      const auto [in, out, scratch] = program_.buffers[gpu];
      std::uint32_t own = 0;
      switch (program_.collective) {
        case Collective::multinode_broadcast: own = out > 0 ? divided(gpu, "o_chunks", out) : in; break;
        case Collective::reduce_scatter: own = in > 0 ? divided(gpu, "i_chunks", in) : out; break;
        case Collective::total_exchange: own = divided(gpu, "i_chunks", std::max(in, out)); break;
        default: own = std::max(in, out);
      }
      if (own == 0) file_.refuse(fmt::format("gpu {}: its buffers have no chunk", gpu));
      if (gpu == 0) chunks = own;
      if (own != chunks)
        file_.refuse(fmt::format("gpu {}: its buffers have {} chunks, those of gpu 0 have {}; all must have as many", gpu, own, chunks));
    }
    if (program_.collective == Collective::total_exchange && chunks != 1)
      file_.refuse(fmt::format("an alltoall with {} chunks for each pair of gpus: one is read; write it with i_chunks {}", chunks, gpus));
    if (std::uint64_t{chunks} * gpus >= (std::uint64_t{1} << 31U)) file_.refuse("gpus times chunks must be below 2^31");
    program_.chunks = chunks;
  }
  std::uint32_t divided(NodeId gpu, std::string_view key, std::uint32_t chunks) const {
    if (chunks % program_.gpus != 0)
      file_.refuse(fmt::format("gpu {}: {} is {}; it must be a multiple of the {} gpus", gpu, key, chunks, program_.gpus));
    return chunks / program_.gpus;
  }

  struct Wait {
    std::uint32_t step, block, on;
  };

  const File& file_;
  const Attributes* attributes_ = nullptr;
  MscclProgram program_;
  std::vector<bool> seen_;
  std::vector<Wait> waits_;
  std::map<std::string, std::uint32_t> routes_;
  std::int64_t cells_ = 0;
  std::uint32_t gpu_ = 0;
  bool in_gpu_ = false, in_block_ = false;
};

class Msccl : public Content {
 public:
  explicit Msccl(const File& of) : program_{Reader(of).read()} {
    kind = ForeignSchedule::Kind::msccl;
    file = of.path;
    name = program_.name;
    collective = program_.collective;
    ranks = program_.gpus;
    native = {.switching = Switching::wormhole, .contention = Contention::share};
    const bool each = collective == Collective::total_exchange;
    segments = each ? 1 : program_.chunks;
    if (facts_of(collective).rooted()) {
      sources = {program_.root};
    } else {
      sources.resize(ranks);
      std::iota(sources.begin(), sources.end(), 0);
    }
  }

  RankSends sends(const Place& place) const override { return in_lock_step(program_, place); }

 private:
  MscclProgram program_;
};

}  // namespace

std::string MscclProgram::place(std::uint32_t step) const {
  const Threadblock& block = blocks[steps[step].block];
  return fmt::format("gpu {}, threadblock {}, step {}", block.gpu, block.id, step - block.first_step);
}

void MscclProgram::refuse(std::uint32_t step, std::string_view why) const {
  throw InputError(fmt::format("schedule '{}': {}: {}", file, place(step), why));
}

std::shared_ptr<const Content> read_msccl(const File& file) { return std::make_shared<Msccl>(file); }

}  // namespace torus::foreign
