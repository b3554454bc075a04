/// Results of searches that several plans share: a comparison plans one machine for every size of a message.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace torus {

/// The caller of plan() owns it and decides how long it lives. There is no other memory between two plans: a plan with a cache, whatever
/// that holds, is the plan without one. A copy shares the results, which are immutable. Not for two threads at the same time.
class PlanCache {
 public:
  /// What `search` returns for these arguments; it is called if the cache does not hold that.
  ///
  /// `search` is a function, not an object that could carry more than it is given. So the arguments, which are all compared, are all that
  /// its result depends on. They are values: a pointer would compare as an address.
  template <auto search, class... Arguments>
  auto of(const Arguments&... arguments) {
    using Result = std::decay_t<decltype(search(arguments...))>;
    static_assert(std::is_pointer_v<decltype(search)>, "a function");
    static_assert(!(std::is_pointer_v<Arguments> || ...), "values");
    using Entry = Found<search, Result, Arguments...>;
    std::size_t same_search = 0, oldest = 0;
    for (std::size_t i = entries_.size(); i-- > 0;) {
      const auto* entry = dynamic_cast<const Entry*>(entries_[i].get());
      if (entry == nullptr) continue;
      if (entry->arguments == std::tie(arguments...)) return std::shared_ptr<const Result>(entries_[i], &entry->result);
      ++same_search;
      oldest = i;
    }
    auto made = std::make_shared<const Entry>(std::tuple(arguments...), search(arguments...));
    if (same_search >= most_of_a_search) entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(oldest));
    entries_.push_back(made);
    return std::shared_ptr<const Result>(made, &made->result);
  }

 private:
  static constexpr std::size_t most_of_a_search = 4;  ///< results may be tables of megabytes

  struct AnyFound {
    virtual ~AnyFound() = default;
  };
  template <auto search, class Result, class... Arguments>
  struct Found : AnyFound {
    Found(std::tuple<Arguments...> asked, Result found) : arguments{std::move(asked)}, result{std::move(found)} {}
    const std::tuple<Arguments...> arguments;
    const Result result;
  };

  std::vector<std::shared_ptr<const AnyFound>> entries_;  ///< the latest last
};

}  // namespace torus
