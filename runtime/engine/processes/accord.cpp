#include "runtime/engine/processes/accord.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <torus/error.hpp>

#include "runtime/engine/rules/auditor.hpp"
#include "runtime/model/description.hpp"
#include "runtime/model/digest.hpp"

namespace torus::detail {
namespace {

std::uint64_t hash_of(const char* name) { return name == nullptr ? 0 : XXH3_64bits(name, std::strlen(name)) | 1U; }

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Reads what append() has written, and moves on.
template <class T>
T take(std::span<const std::byte>& from) {
  T value;
  std::memcpy(&value, from.data(), sizeof value);
  from = from.subspan(sizeof value);
  return value;
}

/// A list with its length before it.
template <class List>
void append_list(std::vector<std::byte>& to, const List& list) {
  append(to, std::uint64_t{list.size()});
  for (const auto& element : list) append(to, element);
}
template <class List>
List take_list(std::span<const std::byte>& from) {
  List list;
  for (auto left = take<std::uint64_t>(from); left > 0; --left) list.push_back(take<typename List::value_type>(from));
  return list;
}

}  // namespace

Accord::Accord(Processes& processes, Fabric& fabric, Ledger& ledger)
    : processes_{processes},
      fabric_{fabric},
      ledger_{ledger},
      border_(fabric.run()),
      received_(processes.count()),
      phases_{std::make_shared<std::deque<std::pair<std::uint64_t, std::string>>>()} {
  fabric_.run().border = &border_;
}

// ---- words between processes ----

/// Sends each process its box, and fills received_.
void Accord::exchange_boxes(std::span<Box> boxes, std::span<const std::uint64_t> incoming) {
  std::vector<std::span<const std::byte>> out(boxes.size());
  std::vector<std::span<std::byte>> in(boxes.size());
  for (std::size_t p = 0; p < boxes.size(); ++p) {
    received_[p].resize(incoming[p]);
    out[p] = boxes[p].bytes();
    in[p] = received_[p];
  }
  processes_.exchange(out, in);
}

namespace {

/// Options that the result depends on. The others may differ between processes: threads, memory, observers, the request to stop.
void describe(Description& to, const RunOptions& options) {
  const auto& [executor, threads, fewer_threads_do, seed, memory_limit, program_memory, verify, idle_steps, on_messages, on_phase, on_step,
               stop, processes, programs, fault, on_fault, keep_memory, watch] = options;
  to.add("options.seed", seed);
  to.add("options.verify", verify);
  to.add("options.idle_steps", idle_steps);
  to.add("options.fault", fault.has_value());
  const auto& [kind, step, node, channel, exact, fault_seed] = fault.value_or(Fault{});
  to.add("fault.kind", kind);
  to.add("fault.step", step);
  to.add("fault.node", node);
  to.add("fault.channel", channel);
  to.add("fault.exact", exact);
  to.add("fault.seed", fault_seed);
}

}  // namespace

void check_same(Processes& processes, const Machine& machine, const Members& members, const RunOptions& options) {
  // First what the rest follows from: what differs first is named.
  Description asked, made;
  describe(asked, machine);
  if (members.groups() != nullptr) describe(asked, *members.groups());
  describe(made, members.placement());
  describe(made, options);
  const std::string text = asked.text() + options.programs + made.text();
  const std::vector<std::uint64_t> hashes = exchange_each(processes, std::uint64_t{XXH3_64bits(text.data(), text.size())});
  const auto other = std::find_if(hashes.begin(), hashes.end(), [&](std::uint64_t hash) { return hash != hashes.front(); });
  if (other == hashes.end()) return;
  const auto process = static_cast<std::size_t>(other - hashes.begin());
  const std::vector<std::vector<std::byte>> texts = gather_bytes(processes, bytes_of(text));
  throw InputError("process " + std::to_string(process) +
                   " is about to run something else than process 0: " + difference(text_of(texts[process]), text_of(texts.front())) +
                   "; give all processes the same machine, blocks, options and programs");
}

void Accord::throw_failure(std::optional<Step> step) {
  std::exception_ptr mine;
  try {
    ledger_.throw_failure(step);
  } catch (...) {
    mine = std::current_exception();
  }
  throw_first(processes_, mine, ledger_.failed_node());
}

// ---- a step ----

void Accord::begin_run(bool observed, const std::function<Program(Node&)>& program) {
  border_.begin_run();
  struct About {
    std::uint64_t program;
    std::uint64_t observed;
  };
  const std::vector<About> all = exchange_each(processes_, About{hash_of(program.target_type().name()), observed ? 1U : 0U});
  observed_ = all.front().observed != 0;
  const auto other = std::find_if(all.begin(), all.end(), [&](const About& each) { return each.program != all.front().program; });
  if (other == all.end()) return;
  throw InputError("process " + std::to_string(other - all.begin()) +
                   " is about to run another program than process 0: give all processes the same programs");
}

bool Accord::end_step(StepCounts& counts, LocalCounts& local, bool stop, RunResult& result) {
  std::vector<Worker>& workers = fabric_.workers();
  Worker& w = workers.front();
  const bool far = border_.far(workers);
  std::span<Box> boxes;
  try {
    boxes = border_.pack(workers);
  } catch (...) {
    w.findings.fail(fabric_.own().begin(), std::current_exception());
    boxes = border_.nothing();
  }
  Summary mine{.counts = counts, .phase = hash_of(counts.record.phase), .far = far, .stop = stop};
  for (const Worker& each : fabric_.workers_of_step()) {
    const Findings& found = each.findings;
    mine.failed |= found.failure != nullptr;
    mine.suspect |= found.suspect;
    mine.suspect_receives |= found.suspect_receives;
    mine.copied |= found.copied;
    mine.bundled |= found.bundled;
  }
  mine.failed |= fabric_.out_of_memory();
  for (const Box& box : boxes) mine.counts.in_flight += box.bytes().size();
  rows_.assign(boxes.size(), mine);
  for (std::size_t p = 0; p < boxes.size(); ++p) rows_[p].follows = boxes[p].bytes().size();
  others_.resize(boxes.size());
  processes_.all_to_all(std::as_bytes(std::span(rows_)), std::as_writable_bytes(std::span(others_)));
  Summary all = others_.front();
  for (std::size_t p = 1; p < others_.size(); ++p) all.add(others_[p]);

  if (all.suspect_receives) {
    const std::vector<NodeId> lowest = exchange_each(processes_, ledger_.overloaded_receiver());
    report(ledger_.audit_receives(), *std::min_element(lowest.begin(), lowest.end()), result);
    return true;
  }
  if (all.failed) throw_failure(fabric_.now());
  bool suspect = all.suspect;
  local.payload = counts.record.payload_bytes;
  if (!suspect) {
    incoming_.clear();
    for (const Summary& each : others_) incoming_.push_back(each.follows);
    exchange_boxes(boxes, incoming_);
    try {
      for (const std::vector<std::byte>& box : received_) suspect |= !border_.unpack(box, w);
    } catch (...) {  // no memory: the run ends after the next step, before anything else is looked at
      w.findings.fail(0, std::current_exception());
    }
    if (all.far || (ledger_.measures_channels() && all.counts.record.messages > 0)) give_verdict(suspect);
  }
  if (suspect) {
    audit_together(result);
    return true;
  }
  local.active = counts.in_flight;
  for (Worker& each : workers) local.active += std::exchange(each.tally.activated, 0);
  w.findings.copied |= all.copied;
  w.findings.bundled |= all.bundled;
  stopped_ = all.stop;
  const char* const mine_named = counts.record.phase;
  counts = all.counts;
  counts.record.phase = all.phase == 0 ? nullptr : phase_of(all.phase, mine_named);
  if (all.phase != 0) result.phase_texts = phases_;
  return false;
}

const char* Accord::phase_of(std::uint64_t hash, const char* mine) {
  const auto cached = std::find_if(phases_->begin(), phases_->end(), [&](const auto& p) { return p.first == hash; });
  if (cached != phases_->end()) return cached->second.c_str();
  // All processes meet a new name in the same step.
  const auto first = std::find_if(others_.begin(), others_.end(), [](const Summary& s) { return s.phase != 0; }) - others_.begin();
  const bool names = static_cast<unsigned>(first) == processes_.self();
  const auto texts = gather_bytes(processes_, bytes_of(names ? std::string_view(mine) : std::string_view()));
  return phases_->emplace_back(hash, text_of(texts[static_cast<std::size_t>(first)])).second.c_str();
}

void Accord::give_verdict(bool& suspect) {
  const ChannelLoad here = ledger_.measures_channels() && !suspect ? ledger_.measure(fabric_.messages_of(fabric_.now())) : ChannelLoad{};
  load_ = {};
  for (const Verdict& each : exchange_each(processes_, Verdict{suspect, here.messages, here.bytes, here.time_s})) {
    suspect = suspect || each.suspect;
    load_.messages = std::max(load_.messages, each.messages);
    load_.bytes = std::max(load_.bytes, each.bytes);
    load_.time_s = std::max(load_.time_s, each.time_s);
  }
}

// ---- what was broken ----

void Accord::audit_together(RunResult& result) {
  std::vector<const Message*> messages = own_messages();
  exchange_sized(border_.pack_for_audit(messages));
  add_received(messages);
  report(ledger_.audit_step(messages), std::nullopt, result);
}

/// The messages that the slab's nodes have sent in this step.
std::vector<const Message*> Accord::own_messages() const {
  std::vector<const Message*> messages = fabric_.messages_of(fabric_.now());
  std::erase_if(messages, [this](const Message* m) { return !fabric_.own().owns(m->source()); });
  return messages;
}

/// Those of the boxes received, where they lie.
void Accord::add_received(std::vector<const Message*>& messages) const {
  for (const std::vector<std::byte>& box : received_) {
    Box::each(box, [&](Box::Kind, std::span<const std::byte> image, auto) { messages.push_back(&MessageArena::in_place(image)); });
  }
}

/// Exchanges boxes whose lengths the others do not know yet.
void Accord::exchange_sized(std::span<Box> boxes) {
  std::vector<std::uint64_t> sizes, incoming(boxes.size());
  for (const Box& box : boxes) sizes.push_back(box.bytes().size());
  processes_.all_to_all(std::as_bytes(std::span(sizes)), std::as_writable_bytes(std::span(incoming)));
  exchange_boxes(boxes, incoming);
}

void Accord::report(const Violations& found, std::optional<NodeId> overloaded, RunResult& result) {
  std::vector<std::byte> mine;
  append(mine, found.found());
  const std::vector<Violation> first = found.first();
  append(mine, std::uint64_t{first.size()});
  for (const Violation& v : first) {
    append(mine, v.kind);
    append(mine, v.step);
    append(mine, v.node);
    append_list(mine, v.text);
    append(mine, std::uint64_t{v.messages.size()});
    for (const auto& [source, route, blocks, first_block, bytes] : v.messages) {
      append(mine, source);
      append_list(mine, route);
      append(mine, blocks);
      append(mine, first_block);
      append(mine, bytes);
    }
  }
  std::uint64_t sum = 0;
  std::vector<Violation> all;
  for (const std::vector<std::byte>& bytes : gather_bytes(processes_, mine)) {
    std::span<const std::byte> at = bytes;
    sum += take<std::uint64_t>(at);
    for (auto left = take<std::uint64_t>(at); left > 0; --left) {
      Violation v;
      v.kind = take<ViolationKind>(at);
      v.step = take<Step>(at);
      v.node = take<NodeId>(at);
      v.text = take_list<std::string>(at);
      for (auto messages = take<std::uint64_t>(at); messages > 0; --messages) {
        ViolatingMessage m;
        m.source = take<NodeId>(at);
        m.route = take_list<std::vector<Leg>>(at);
        m.blocks = take<std::uint64_t>(at);
        m.first_block = take<BlockId>(at);
        m.bytes = take<Bytes>(at);
        v.messages.push_back(std::move(m));
      }
      all.push_back(std::move(v));
    }
  }
  std::sort(all.begin(), all.end(), reported_before);
  all.resize(std::min(all.size(), Violations::max_kept));
  ledger_.report_violations(std::move(all), sum, overloaded, result);
}

// ---- observation ----

std::span<const Message* const> Accord::all_messages() {
  observed_messages_ = own_messages();
  exchange_sized(border_.pack_for_first(observed_messages_));
  if (processes_.self() != 0) return {};
  add_received(observed_messages_);
  return observed_messages_;
}

// ---- at the end ----

void Accord::gather(Hang& hang, std::size_t most) {
  std::vector<std::byte> mine;
  append(mine, hang.nodes);
  for (const Hang::Waiting& w : hang.first) append(mine, w);
  hang.nodes = 0;
  hang.first.clear();
  for (const std::vector<std::byte>& bytes : gather_bytes(processes_, mine)) {
    std::span<const std::byte> at = bytes;
    hang.nodes += take<std::uint64_t>(at);
    while (!at.empty() && hang.first.size() < most) hang.first.push_back(take<Hang::Waiting>(at));
  }
}

void Accord::gather(Ledger::Totals& totals) {
  totals.use.used += border_.used();
  Ledger::Totals all;
  for (const Ledger::Totals& each : exchange_each(processes_, totals)) {
    all.duplicates += each.duplicates;
    all.use.add(each.use);
  }
  totals = all;
}

/// A slab's first mistake comes before those of later ones; but in a reduction all contributors are looked at before any byte.
void Accord::gather(std::optional<WrongDelivery>& wrong, bool reduces) {
  const std::vector<std::optional<WrongDelivery>> all = exchange_each(processes_, wrong);
  const auto first = [&](auto&& counts) { return std::find_if(all.begin(), all.end(), [&](const auto& w) { return w && counts(*w); }); };
  auto at = all.end();
  if (reduces)
    at = first([](const WrongDelivery& w) {
      using Kind = WrongDelivery::Kind;
      return w.kind != Kind::damaged && w.kind != Kind::not_a_rounding && w.kind != Kind::disagrees;
    });
  if (at == all.end()) at = first([](const WrongDelivery&) { return true; });
  wrong = at == all.end() ? std::nullopt : *at;
}

void Accord::gather(double& largest) {
  const std::vector<double> all = exchange_each(processes_, largest);
  largest = *std::max_element(all.begin(), all.end());
}

void Accord::gather(std::vector<std::uint64_t>& sums) {
  const auto mine = std::as_bytes(std::span(sums));
  std::vector<std::uint64_t> all(sums.size());
  for (const std::vector<std::byte>& bytes : gather_bytes(processes_, mine)) {
    std::span<const std::byte> at = bytes;
    for (std::uint64_t& sum : all) sum += take<std::uint64_t>(at);
  }
  sums = std::move(all);
}

}  // namespace torus::detail
