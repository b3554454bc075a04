#include "tools/torus/export.hpp"

#include <fmt/format.h>

#include <torus/error.hpp>

namespace torus::command {

bool TraceSteps::next(std::vector<TraceMessage>& messages) {
  messages.clear();
  TraceMessage message;
  if (!begun_) {
    begun_ = true;
    if (reader_.next(message)) first_ = message;
  }
  if (!first_) return false;
  messages.push_back(std::move(*first_));
  first_.reset();
  while (reader_.next(message)) {
    const Step now = messages.front().step;
    if (message.step < now)
      throw InputError(fmt::format("{} line {}: step {} comes after step {}: steps must ascend; sort the messages by step", path_,
                                   reader_.line(), message.step, now));
    if (message.step > now) {
      first_ = std::move(message);
      break;
    }
    messages.push_back(message);
  }
  return true;
}

}  // namespace torus::command
