#include "tools/torus/cli/console.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <forward_list>
#include <string_view>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

#include <torus/error.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/output_file.hpp"

namespace torus::command {
namespace {

std::string& program_name() {
  static std::string name = "torus";
  return name;
}

/// Between lines of progress off a terminal.
constexpr std::chrono::seconds line_period{30};

std::atomic<bool> flag{false}, ending{false};
std::atomic<int> awaiting{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler may only touch what needs no lock");

/// The line that ends an interrupted process, where it is not the usual one.
std::atomic<const std::string*> last_words{nullptr};
static_assert(std::atomic<const std::string*>::is_always_lock_free);

/// How long work may go on after an interrupt that it looks at.
constexpr unsigned most_s_after_interrupt = 5;

void interrupt(int);

void handle(int signal) {
  struct sigaction action {};
  action.sa_handler = interrupt;
  action.sa_flags = SA_RESTART;
  for (const int each : {SIGINT, SIGTERM, SIGALRM}) sigaddset(&action.sa_mask, each);
  ::sigaction(signal, &action, nullptr);
}

void interrupt(int) {
  if (awaiting.load() > 0 && !flag.exchange(true)) {
    handle(SIGALRM);
    ::alarm(most_s_after_interrupt);
    return;
  }
  while (ending.exchange(true)) ::pause();  // another thread is about to end the process: some senders send twice
  // Most files have no name before they are complete; nothing is left of the others.
  OutputFile::remove_unfinished();
  const std::string* const more = last_words.load();
  const std::string_view line = more != nullptr ? std::string_view(*more) : "torus: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());  // an error cannot be reported any more
  ::_exit(1);
}

}  // namespace

const std::string& program() noexcept { return program_name(); }

void set_program(std::string started_as) { program_name() = std::move(started_as); }

void print(std::string_view raw) {
  const std::string shown = printable(raw, "\n\t");
  std::string_view text = shown;
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw RunError(std::string("standard output: writing it failed (") + std::generic_category().message(errno) + ")");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

Progress::Progress(bool lines)
    : terminal_{::isatty(STDERR_FILENO) == 1},
      lines_{lines && !terminal_},
      next_{Clock::now() + (lines_ ? line_period : std::chrono::seconds(1))} {}

bool Progress::due() { return (terminal_ || lines_) && Clock::now() >= next_; }

void Progress::show(std::string_view line) {
  const std::string shown = printable(line);
  line = shown;
  if (lines_) {
    std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
    next_ = Clock::now() + line_period;
    return;
  }
  winsize terminal{};  // a longer line would go on below, where clear() does not reach it
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0) line = line.substr(0, terminal.ws_col - 1U);
  std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(line.size()), line.data());
  std::fflush(stderr);
  shown_ = true;
  next_ = Clock::now() + std::chrono::milliseconds(100);
}

void Progress::clear() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

std::string csv_line(const std::vector<std::string>& values) {
  std::string line;
  for (const std::string& value : values) {
    if (&value != &values.front()) line += ',';
    if (value.find_first_of(",\"\n") == std::string::npos) {
      line += value;
      continue;
    }
    line += '"';
    for (const char c : value) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + "\n";
}

std::vector<std::string> csv_cells(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"')
      cells.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  if (quoted) throw InputError("a quote is not closed; each line is a row of comma-separated values");
  return cells;
}

void catch_interrupts() {
  handle(SIGINT);
  handle(SIGTERM);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

void say_when_interrupted(std::string_view words) {
  static std::forward_list<std::string> lines;  // none is destroyed: a signal handler may be reading it
  if (!words.empty()) lines.push_front(printable("torus: interrupted" + std::string(words)) + "\n");
  last_words = words.empty() ? nullptr : &lines.front();
}

const std::atomic<bool>& interrupted() noexcept { return flag; }

InterruptsAwaited::InterruptsAwaited() noexcept { awaiting.fetch_add(1); }
InterruptsAwaited::~InterruptsAwaited() {
  if (awaiting.fetch_sub(1) == 1 && flag.load()) ::alarm(0);
}

}  // namespace torus::command
