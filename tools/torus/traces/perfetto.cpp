/// A trace as Perfetto's TrackEvents, in protocol buffers. Numbers of fields are those of perfetto/trace/track_event/*.proto.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "tools/torus/traces/formats.hpp"
#include "tools/torus/view/contributors.hpp"
#include "tools/torus/view/layout.hpp"

#ifdef TORUS_HAS_PROTOZERO
#include <map>
#include <protozero/pbf_writer.hpp>
#endif

namespace torus::command {

#ifndef TORUS_HAS_PROTOZERO

Note export_perfetto(TraceSteps&, OutputFile&) {
  throw InputError("--to perfetto: this torus was built without protozero; install libprotozero-dev and build it again, or use --to dot");
}

#else

namespace {

namespace trace_field {
constexpr protozero::pbf_tag_type packet = 1;
}
namespace packet_field {
constexpr protozero::pbf_tag_type timestamp = 8, sequence = 10, track_event = 11, sequence_flags = 13, track_descriptor = 60;
}
namespace track_field {
constexpr protozero::pbf_tag_type uuid = 1, name = 2, parent = 5, counter = 8;
}
namespace event_field {
constexpr protozero::pbf_tag_type type = 9, track = 11, name = 23, counter_value = 30;
}
enum EventType : std::int32_t { slice_begin = 1, slice_end = 2, instant = 3, counter_sample = 4 };

/// Tracks by number. Channels follow.
enum Track : std::uint64_t {
  run = 1,
  step_track,
  phase_track,
  message_count,
  byte_count,
  busy_channels,
  fullest_channel,
  channels,
  first_channel
};

class Writer {
 public:
  explicit Writer(OutputFile& file) : file_{file} {}

  void track(std::uint64_t number, std::string_view name, std::uint64_t parent, bool counter = false) {
    packet([&](protozero::pbf_writer& p) {
      if (begin_) p.add_uint32(packet_field::sequence_flags, 1);  // the state of the sequence begins here
      begin_ = false;
      protozero::pbf_writer t{p, packet_field::track_descriptor};
      t.add_uint64(track_field::uuid, number);
      t.add_string(track_field::name, name.data(), name.size());
      if (parent != 0) t.add_uint64(track_field::parent, parent);
      if (counter) t.add_message(track_field::counter, "", 0);
    });
  }
  void event(EventType type, std::uint64_t track, std::uint64_t time, std::string_view name = {}) {
    packet([&](protozero::pbf_writer& p) {
      p.add_uint64(packet_field::timestamp, time);
      protozero::pbf_writer e{p, packet_field::track_event};
      e.add_enum(event_field::type, type);
      e.add_uint64(event_field::track, track);
      if (!name.empty()) e.add_string(event_field::name, name.data(), name.size());
    });
  }
  void count(std::uint64_t track, std::uint64_t time, std::uint64_t value) {
    packet([&](protozero::pbf_writer& p) {
      p.add_uint64(packet_field::timestamp, time);
      protozero::pbf_writer e{p, packet_field::track_event};
      e.add_enum(event_field::type, counter_sample);
      e.add_uint64(event_field::track, track);
      e.add_int64(event_field::counter_value, static_cast<std::int64_t>(value));
    });
  }

 private:
  template <class F>
  void packet(F&& f) {
    buffer_.clear();
    {
      protozero::pbf_writer trace{buffer_};
      protozero::pbf_writer p{trace, trace_field::packet};
      p.add_uint32(packet_field::sequence, 1);
      f(p);
    }
    file_.write(buffer_);
  }

  OutputFile& file_;
  std::string buffer_;
  bool begin_ = true;
};

struct Load {
  Bytes bytes = 0;
  std::uint64_t messages = 0;
  const TraceMessage* first = nullptr;
};

/// Steps one after the other, in nanoseconds of model time: the end of the last is the model time of the run, apart from what combining
/// takes where partials are too many to follow.
class Exporter {
 public:
  Exporter(const TraceSteps& steps, OutputFile& file)
      : groups_{steps.groups()}, header_{steps.header()}, topology_{header_.machine.topology}, out_{file} {
    if (ContributorCounts::follows(header_.collective) && header_.machine.cost.combine_s > 0 && !ContributorCounts::too_large(header_))
      partials_.emplace(header_);
    out_.track(run, fmt::format("{} on {}", header_.collective, topology_.text()), 0);
    out_.track(step_track, "steps", run);
    out_.track(message_count, "messages", run, true);
    out_.track(byte_count, "bytes", run, true);
    out_.track(busy_channels, "busy channels", run, true);
    out_.track(fullest_channel, "bytes on the fullest channel", run, true);
    out_.track(channels, "channels", run);
  }

  void step(const std::vector<TraceMessage>& messages) {
    std::map<ChannelName, Load> loads;
    std::uint64_t longest = 0, bytes = 0;
    for (const TraceMessage& m : messages) {
      std::uint64_t hops = 0;
      each_hop(topology_, m.source, m.path, [&](NodeId from, Dimension d, std::int32_t hop, NodeId) {
        Load& load = loads[{from, d, hop}];
        load.bytes += m.bytes;
        if (load.messages++ == 0) load.first = &m;
        ++hops;
      });
      longest = std::max(longest, hops);
      bytes += m.bytes;
      if (partials_) partials_->sent(m);
    }
    Bytes fullest = 0;
    double slowest_s = 0;
    for (const auto& [channel, load] : loads) {
      fullest = std::max(fullest, load.bytes);
      slowest_s = std::max(slowest_s, seconds_of(channel, load));
    }
    if (partials_) partials_->end_step();

    const CostModel& cost = header_.machine.cost;
    const Step number = messages.front().step;
    seconds_ += static_cast<double>(number - next_) * cost.start_up_s;  // idle steps
    next_ = number + 1;
    const std::uint64_t begin = std::max(at(seconds_), end_);
    seconds_ +=
        cost.timed_steps(1, slowest_s, static_cast<double>(longest), partials_ ? static_cast<double>(partials_->most_combined()) : 0);
    end_ = std::max(at(seconds_), begin + 1);

    phase(messages.front().phase, begin);
    out_.event(slice_begin, step_track, begin, fmt::format("step {}", number));
    out_.event(slice_end, step_track, end_);
    counts(begin, messages.size(), bytes, loads.size(), fullest);
    draw(loads, number, begin);
    messages_ += messages.size();
  }

  Note finish() {
    phase("", end_);
    counts(end_, 0, 0, 0, 0);
    return fmt::format("{}, {} of channels, {} of model time{}{}", counted(messages_, "message"), counted(slices_, "slice"),
                       seconds_text(seconds_), header_.costs_known ? "" : " (T_s 1 us, T_c 0.1 ns a byte: the trace names none)",
                       full_ ? fmt::format("; no slices from step {} on: there are at most {}", *full_, grouped(max_perfetto_slices)) : "");
  }

 private:
  static std::uint64_t at(double seconds) { return static_cast<std::uint64_t>(std::llround(std::min(seconds * 1e9, 9e18))); }

  double seconds_of(const ChannelName& channel, const Load& load) const {
    return static_cast<double>(load.bytes) * header_.machine.byte_s(channel.from, channel.dimension, channel.hop);
  }

  void counts(std::uint64_t time, std::uint64_t messages, std::uint64_t bytes, std::uint64_t busy, Bytes fullest) {
    out_.count(message_count, time, messages);
    out_.count(byte_count, time, bytes);
    out_.count(busy_channels, time, busy);
    out_.count(fullest_channel, time, fullest);
  }

  void phase(const std::string& name, std::uint64_t time) {
    if (name == phase_) return;
    if (!phase_.empty()) out_.event(slice_end, phase_track, time);
    if (!name.empty() && !phases_) out_.track(phase_track, "phases", run);
    phases_ = phases_ || !name.empty();
    if (!name.empty()) out_.event(slice_begin, phase_track, time, name);
    phase_ = name;
  }

  /// All channels of a step or none: half of a step would mislead.
  void draw(const std::map<ChannelName, Load>& loads, Step number, std::uint64_t begin) {
    if (full_) return;
    if (slices_ + loads.size() > max_perfetto_slices) {
      full_ = number;
      out_.event(instant, step_track, begin, fmt::format("no slices of channels from here on: there are at most {}", max_perfetto_slices));
      return;
    }
    slices_ += loads.size();
    for (const auto& [channel, load] : loads) {
      const auto [track, fresh] = tracks_.try_emplace(channel, first_channel + tracks_.size());
      if (fresh) out_.track(track->second, groups_.name(channel), channels);
      const std::string what = load.messages == 1
                                   ? fmt::format("{} to {}", groups_.name(load.first->source), groups_.name(load.first->destination))
                                   : fmt::format("{} messages", load.messages);
      const double seconds = header_.machine.cost.timed_steps(1, seconds_of(channel, load), 0);
      const std::uint64_t end = std::clamp(begin + at(seconds), begin + 1, end_);
      out_.event(slice_begin, track->second, begin, fmt::format("{}, {}", what, counted(load.bytes, "byte")));
      out_.event(slice_end, track->second, end);
    }
  }

  const TraceGroups& groups_;
  const TraceHeader& header_;
  const Topology& topology_;
  Writer out_;
  std::optional<ContributorCounts> partials_;  // where combining takes time
  double seconds_ = 0;
  Step next_ = 0;
  std::uint64_t end_ = 0;  // of the last step
  std::string phase_;
  bool phases_ = false;
  std::map<ChannelName, std::uint64_t> tracks_;
  std::uint64_t slices_ = 0, messages_ = 0;
  std::optional<Step> full_;
};

}  // namespace

Note export_perfetto(TraceSteps& steps, OutputFile& file) {
  Exporter exporter(steps, file);
  std::vector<TraceMessage> messages;
  while (steps.next(messages)) exporter.step(messages);
  return exporter.finish();
}

#endif

}  // namespace torus::command
