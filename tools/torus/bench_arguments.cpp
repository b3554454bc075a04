#include "tools/torus/bench_arguments.hpp"

#include <fmt/format.h>
#include <set>
#include <string_view>

#include "tools/torus/console.hpp"

namespace torus::command {

std::vector<std::pair<std::string, std::string>> BenchArguments::typed() const {
  std::vector<std::pair<std::string, std::string>> out = setting.typed();
  const std::pair<const char*, const std::optional<std::string>&> others[]{{"memory", setting.memory},
                                                                           {"plan-time", setting.plan_time},
                                                                           {"warmup", warm_up},
                                                                           {"repeat", repeat},
                                                                           {"seconds", seconds},
                                                                           {"against", against},
                                                                           {"pairs", pairs}};
  if (algorithms != "all") out.emplace_back("algorithms", algorithms);
  for (const auto& [name, value] : others) {
    if (value) out.emplace_back(name, *value);
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> BenchArguments::of_rows() const {
  std::vector<std::pair<std::string, std::string>> out = typed();
  const std::set<std::string_view> of_table{"bytes", "algorithms", "seconds", "against", "pairs"};
  std::erase_if(out, [&](const auto& option) { return of_table.contains(option.first); });
  return out;
}

std::string BenchArguments::command(Collective which) const {
  std::string text = fmt::format("{} bench {}", program(), name(which));
  for (const auto& [option, value] : typed()) {
    const std::string_view quote = value.find_first_of("; ") == std::string::npos ? "" : "'";
    text += fmt::format(" --{} {}{}{}", option, quote, value, quote);
  }
  return text;
}

}  // namespace torus::command
