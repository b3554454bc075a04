/// What was searched for lately: a comparison plans the same machine for every size of a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

namespace torus {

/// The values of the last few keys. Threads may share it; each value is immutable.
template <class Key, class Value>
class Remembered {
 public:
  /// The value of a key, made by make() if it is not remembered.
  template <class Make>
  std::shared_ptr<const Value> of(const Key& key, Make&& make) {
    constexpr std::size_t most = 4;
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(lately_.begin(), lately_.end(), [&](const auto& entry) { return entry.first == key; });
      if (found != lately_.end()) return found->second;
    }
    auto value = std::make_shared<const Value>(make());
    const std::lock_guard lock(mutex_);
    lately_.emplace_front(key, value);
    if (lately_.size() > most) lately_.pop_back();
    return value;
  }

 private:
  std::mutex mutex_;
  std::deque<std::pair<Key, std::shared_ptr<const Value>>> lately_;
};

}  // namespace torus
