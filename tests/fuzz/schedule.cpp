// The readers of other programs' schedules: whatever a file holds, it is read or refused, and what is read stays within its machine.
#include <algorithm>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include <torus/foreign_schedule.hpp>

#include "tests/fuzz/target.hpp"

using namespace torus;

namespace {

/// A file in memory that the readers open by its name.
const std::string& file_with(const std::uint8_t* data, std::size_t size) {
  static const int descriptor = memfd_create("schedule", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (descriptor < 0 || ftruncate(descriptor, 0) != 0 || pwrite(descriptor, data, size, 0) != static_cast<ssize_t>(size))
    fuzz::broken("the system gives a file", path);
  return path;
}

/// False where a number may be large: buffers, ranks and machines of that size take memory and time.
bool small(std::string_view text) {
  std::size_t digits = 0;
  return std::none_of(text.begin(), text.end(), [&](char c) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    return digits > 3;
  });
}

void check(const ForeignSchedule& file, const Machine& machine) {
  const ForeignSchedule::Placed placed = file.on(machine, row_major(machine.topology));
  for (const Schedule::Send& send : placed.schedule.sends()) {
    if (send.from >= file.ranks() || send.to >= file.ranks()) fuzz::broken("messages go between the machine's nodes", "");
    if (placed.schedule.route(send).empty()) fuzz::broken("each message has a route", "");
    if (send.step >= placed.schedule.steps()) fuzz::broken("steps count all messages", "");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (!small(fuzz::text(data, size))) return -1;  // not for the corpus
  fuzz::accepts([&] {
    const ForeignSchedule file = ForeignSchedule::read(file_with(data, size));
    if (file.ranks() > 64) return;
    const Topology ring(std::vector<DimensionShape>{{static_cast<std::int32_t>(file.ranks()), Wiring::ring}});
    for (const Switching switching : {Switching::packet, Switching::circuit}) {
      fuzz::accepts([&] { check(file, Machine(ring, all_ports, switching, Contention::share)); });
    }
  });
  return 0;
}
