/// A run as one HTML page that plays it in a browser: torus view, and torus run --view.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/collective.hpp>
#include <torus/judge.hpp>
#include <torus/message.hpp>
#include <torus/result.hpp>
#include <torus/trace_reader.hpp>

#include "tools/torus/cli/json.hpp"
#include "tools/torus/view/contributors.hpp"
#include "tools/torus/view/trace_groups.hpp"

namespace torus::command {

/// Collects the messages of a run and writes the page. The page needs no network. What it holds is bounded, so that a browser stays quick:
/// a run beyond a limit is shown by a map of the whole run and the sums of its steps, and the page says so; a machine beyond one by the
/// sums alone.
///
/// Nodes have a share of what they want: of the blocks that they are to hold; in reductions of the contributors of their segments, the most
/// so far; in a barrier of the nodes that they are to hear of. Each group wants its own.
class View {
 public:
  static constexpr std::uint64_t max_nodes = 65'536;
  static constexpr std::uint64_t max_messages = 200'000;
  static constexpr std::uint64_t max_hops = 20'000'000;         ///< of all messages
  static constexpr std::uint64_t max_map_hops = 1'000'000'000;  ///< beyond them there is no map either
  static constexpr std::uint64_t max_block_ranges = 1'000'000;  ///< beyond them messages say only how many blocks they have
  static constexpr std::uint64_t max_deliveries = 1ULL << 30;   ///< pairs of a node and a block that it is to hold: a bit each in memory
  static constexpr std::uint64_t max_channels = 1ULL << 24;     ///< beyond them there is no model time
  static constexpr std::size_t max_steps = 200'000;             ///< later ones count in the totals only

  explicit View(const TraceHeader& header);
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  /// The next message of a trace. Throws InputError if its step is before that of the last.
  void message(const TraceMessage& message);
  /// The messages of a step in any order, with its phase; so many steps later than they say.
  void step(std::span<const Message* const> messages, std::string_view phase = {}, Step offset = 0);
  /// Names the phases of the steps, and counts the steps without a message.
  void name_phases(const RunResult& result);

  /// The run is one of several at once. The numbers of its steps, which message() or step() was told, are of the steps of all.
  struct Together {
    Step begins = 0;                  ///< in this step of all
    std::uint64_t steps = 0;          ///< its own
    double alone_s = 0, span_s = 0;   ///< model time of the run alone, and among the others from its first step to its last
    std::vector<double> ends_s = {};  ///< by step of all: the model time at its end; empty: there are too many
  };
  void together(Together together);

  /// The run has failed: why, in the words of the terminal, and the command that repeats it. Messages that break a rule are shown as such,
  /// those that were not sent, too. To be called after name_phases(); no message may follow.
  void fail(std::string text, std::string command, const RunResult& result);

  struct FrameMessage {
    NodeId source = 0;
    std::vector<Leg> path;
    bool data = true;  ///< false: control alone
  };
  /// The machine after a step, and what the step sent.
  struct Frame {
    Step step = 0;
    std::string phase;          ///< empty: none
    std::vector<double> share;  ///< of what a node wants that it has (below); -1: it wants nothing
    std::vector<FrameMessage> messages;
  };
  /// Steps side by side as a figure; without a choice all that have messages. Throws InputError if a figure cannot show them.
  std::string svg(const std::optional<std::vector<Step>>& chosen);

  /// Why the page has no messages; none: it has all.
  const std::optional<std::string>& left_out() const noexcept { return left_out_; }
  /// What the page has, and what it leaves out: a line without its end.
  std::string summary() const;
  /// The page, as UTF-8: of this run, or of two on one clock. No message may follow.
  std::string page(View* other = nullptr);

 private:
  struct StepSum {
    Step step = 0;
    std::uint64_t messages = 0;
    std::uint64_t hops = 0;
    Bytes bytes = 0;
    Bytes fullest = 0;                ///< bytes on the fullest channel, unless messages are left out
    double channel_time_s = 0;        ///< the longest that a channel takes for its bytes, where channels differ in speed
    std::uint64_t longest_route = 0;  ///< hops
    Bytes combined = 0;               ///< max of a node; reductions only
  };

  struct Failure {
    std::string text;
    std::optional<std::string> command;      // that repeats it; none: it is of a trace
    std::vector<std::size_t> messages = {};  // that break a rule
    std::vector<NodeId> nodes = {};          // where one is broken, or which lack something
    std::uint64_t violations = 0;            // of a run: in the step that it did not carry out; of messages and nodes the first are known
    std::size_t step = 0;                    // of those with messages, from 1: where it failed; 0: before them
    bool illegal = true;                     // false: something is missing
  };

  void count_wanted();
  void count_channels();
  std::uint64_t wanted(NodeId node) const noexcept;
  std::optional<std::uint64_t> wanted_index(NodeId node, std::uint64_t block) const noexcept;
  void hold_first_blocks();
  bool hold(NodeId node, std::uint64_t block);
  void keep(const TraceMessage& message);
  std::size_t refused(const ViolatingMessage& message);
  void settle();
  void load_channels(const TraceMessage& message);
  std::int32_t phase_number(std::string_view phase);
  void leave_out_messages(std::string why);
  Frame frame_of(Step step) const;
  std::vector<Leg> path_of(std::size_t message, std::size_t& leg) const;
  bool blames(const std::string& sentence, const TraceMessage& message) const;
  Failure objection(const std::string& sentence) const;
  void judged(const std::function<void()>& f);
  void append_map(std::string& json) const;
  std::optional<Failure> failure();
  void append_groups(std::string& json) const;
  std::string data();

  const TraceHeader header_;
  const TraceGroups groups_;
  const CollectiveFacts& facts_;
  std::uint64_t blocks_wanted_ = 0;          // by a node of the largest group, if it wants any, as if no node were dead
  std::vector<std::uint64_t> wanted_;        // by group: of them, those that are anywhere: of living nodes
  std::vector<bool> held_;                   // by node * blocks_wanted_ + index
  std::vector<std::uint64_t> held_first_;    // by node
  std::optional<ContributorCounts> counts_;  // reductions and barriers: in place of the blocks held
  std::size_t settled_ = 0;                  // messages whose effects are counted
  std::optional<std::string> left_out_;      // why there are no messages
  std::optional<Judge> judge_;               // none: messages are left out, or memory is too small
  std::optional<Failure> failure_;           // takes the place of the judge's verdict
  bool named_blocks_ = true;

  StepSum total_;
  std::uint64_t steps_ = 0;  // idle ones too
  std::optional<Together> together_;
  std::uint64_t busy_steps_ = 0;
  std::optional<Step> last_step_;
  std::vector<StepSum> sums_;
  std::vector<std::int32_t> phase_;  // by step of sums_; -1: none
  std::vector<std::string> phases_;

  // A column for each property of the messages. Paths are dimension, hops, dimension, hops, ..; blocks are first, count, first, count, ..
  std::vector<NodeId> source_, destination_;
  std::vector<Bytes> bytes_;
  std::vector<std::uint64_t> block_count_;
  std::vector<std::uint64_t> gained_;           // of what the destination wants and did not have
  std::vector<unsigned> registers_, releases_;  // reductions: as TraceMessage has them
  std::vector<std::uint32_t> legs_, ranges_;
  std::vector<std::int32_t> paths_;
  std::vector<std::uint64_t> blocks_;

  std::vector<std::size_t> slots_;       // by dimension: where its channels begin among those of a node; in the end, how many those are
  std::vector<Bytes> load_;              // of the step, by channel: node, dimension, direction; none: there are too many channels or hops
  std::vector<Bytes> run_load_;          // of the run
  std::vector<std::int64_t> first_;      // by node: the step with messages in which it first got data, from 0; -1: none
  std::vector<std::size_t> loaded_;      // the channels that are not 0 there
  std::vector<const Message*> ordered_;  // scratch
  TraceMessage line_;                    // scratch
};

}  // namespace torus::command
