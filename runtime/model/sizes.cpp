#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include <torus/error.hpp>
#include <torus/sizes.hpp>

#include "runtime/base/figures.hpp"
#include "runtime/base/input_file.hpp"
#include "runtime/base/words.hpp"

namespace torus {
namespace {

constexpr const char* size_examples = "for instance zipf:1, uniform:0:4096, zeros:0.5 or a file of whole numbers";
/// What a size, and the sum of all, may reach: figures have room for it.
constexpr double most_bytes_of_all = 0x1p63;

[[noreturn]] void refuse_sizes(std::string_view text, const std::string& why) {
  throw InputError("sizes '" + printable(text.substr(0, 80)) + "': " + why);
}

double size_number(std::string_view text, std::string_view word, double largest) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size() || !(value >= 0 && value <= largest))
    refuse_sizes(text, "'" + printable(word.substr(0, 20)) + "' is no number from 0 to " + number_text(largest) + "; " + size_examples);
  return value;
}

Bytes whole_size(std::string_view word, const std::string& place, std::string_view text) {
  Bytes value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc{} && end == word.data() + word.size() && value <= Bytes{1} << 62U) return value;
  refuse_sizes(text, place + "'" + printable(word.substr(0, 20)) + "' is no whole number of bytes from 0 to 2^62");
}

std::vector<Bytes> sizes_in(std::string_view file) {
  std::istringstream in(text_of_file(std::string(file), most_text, [&](const std::string& why) {
    refuse_sizes(file, "there is no such rule, and the file " + why + "; " + size_examples);
  }));
  std::vector<Bytes> sizes;
  double sum = 0;
  std::string line;
  for (std::uint64_t number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word; sum += static_cast<double>(sizes.back()))
      sizes.push_back(whole_size(word, "line " + std::to_string(number) + ": ", file));
  }
  if (sum >= most_bytes_of_all) refuse_sizes(file, "the sizes sum up to 2^63 bytes or more; sums are counted below that");
  return sizes;
}

/// A number in [0, 1) for each of them.
double fraction_of(std::uint64_t seed, std::uint64_t number) noexcept {
  return static_cast<double>(detail::mixed(detail::mixed(seed + detail::mixed_step) + detail::mixed_step * (number + 1)) >> 11U) * 0x1p-53;
}

/// So many whole units that their mean over all numbers is `units`.
Bytes dithered(double units, double fraction) noexcept {
  const double below = std::floor(units);
  return static_cast<Bytes>(below) + (fraction < units - below ? 1U : 0U);
}

/// What Sizes keep of a rule: also how many units a node's blocks have in the mean, where pairs ask for it again and again.
struct KeptRule : SizeRule {
  explicit KeptRule(const SizeRule& rule) : SizeRule{rule} {}

  std::vector<double> units = {};  // by destination, of zipf
};

/// The share of a place in that of the first one, where places count from 0.
double share_of_place(std::uint64_t place, double exponent) noexcept { return std::pow(static_cast<double>(place + 1), -exponent); }

/// The fewest units that hold these bytes.
Bytes units_above(Bytes bytes, Bytes unit) noexcept { return bytes / unit + (bytes % unit > 0 ? 1U : 0U); }

}  // namespace

SizeRule SizeRule::parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  SizeRule rule{.text = std::string(text)};
  if (colon != std::string_view::npos && kind == "zipf") {
    rule.kind = Kind::zipf;
    rule.exponent = size_number(text, rest, 16);
  } else if (colon != std::string_view::npos && kind == "zeros") {
    rule.kind = Kind::zeros;
    rule.share = size_number(text, rest, 1);
  } else if (colon != std::string_view::npos && kind == "uniform") {
    const std::size_t second = rest.find(':');
    if (second == std::string_view::npos) refuse_sizes(text, "it needs two sizes, the least and the most; for instance uniform:0:4096");
    rule.from = whole_size(rest.substr(0, second), "", text);
    rule.to = whole_size(rest.substr(second + 1), "", text);
    if (rule.from > rule.to) refuse_sizes(text, "the first size is larger than the second; for instance uniform:0:4096");
  } else {
    rule.kind = Kind::table;
    rule.listed = std::make_shared<const std::vector<Bytes>>(sizes_in(text));
  }
  return rule;
}

SizeRule SizeRule::even_of_sources() {
  SizeRule rule;
  rule.kind = Kind::zeros;
  rule.of_sources = true;
  return rule;
}

Bytes SizeRule::mean(Bytes unit) const noexcept {
  if (kind == Kind::uniform) {
    const Bytes least = units_above(from, unit), most = std::max(to / unit, least);
    return (least + (most - least + 1) / 2) * unit;
  }
  if (kind != Kind::table || listed->empty()) return 0;
  Bytes sum = 0;  // below 2^63
  for (const Bytes size : *listed) sum += size;
  return units_above((sum + listed->size() - 1) / listed->size(), unit) * unit;
}

Sizes::Sizes(const SizeRule& rule, NodeId nodes, bool pairs, Bytes mean, Bytes unit, std::span<const NodeId> sources)
    : rule_{std::make_shared<const KeptRule>(rule)}, nodes_{nodes}, count_{pairs ? std::uint64_t{nodes} * nodes : nodes}, unit_{unit} {
  const double units = static_cast<double>(mean) / static_cast<double>(unit);
  switch (rule.kind) {
    case SizeRule::Kind::uniform:
      longest_ = rule.to / unit * unit;
      if (longest_ < rule.from)
        refuse_sizes(rule.text, "no whole number of elements of " + std::to_string(unit) + " bytes has from " + std::to_string(rule.from) +
                                    " to " + std::to_string(rule.to) + " bytes; for instance uniform:" + std::to_string(longest_) + ":" +
                                    std::to_string(units_above(rule.to, unit) * unit));
      break;
    case SizeRule::Kind::zeros: usual_ = rule.share < 1 ? units / (1 - rule.share) : 0; break;
    case SizeRule::Kind::zipf: {
      double shares = 0;
      for (NodeId r = nodes; r > 0; --r) shares += std::pow(r, -rule.exponent);
      usual_ = units * nodes / shares;
      while (std::uint64_t{1} << (2 * half_bits_) < nodes) ++half_bits_;
      if (!pairs) break;
      KeptRule kept(rule);
      for (NodeId node = 0; node < nodes; ++node) kept.units.push_back(usual_ * share_of_place(place(node), rule.exponent));
      rule_ = std::make_shared<const KeptRule>(std::move(kept));
      break;
    }
    case SizeRule::Kind::table:
      if (rule.listed->size() != count_)
        refuse_sizes(rule.text, "it has " + counted(rule.listed->size(), "size") + ", and " + counted(nodes, "node needs", "nodes need") +
                                    " " + std::to_string(count_) + (pairs ? ": a row of sizes for each origin" : ": one for each node"));
      for (const Bytes size : *rule.listed) {
        if (size % unit != 0)
          refuse_sizes(rule.text, counted(size, "byte is", "bytes are") + " no whole number of elements of " + std::to_string(unit));
        longest_ = std::max(longest_, size);
      }
      break;
  }
  if (std::ceil(usual_) * static_cast<double>(unit) >= most_bytes_of_all)
    refuse_sizes(rule.text, "the largest has 2^63 bytes or more; choose a smaller mean");
  if (!rule.fixed()) longest_ = static_cast<Bytes>(std::ceil(usual_)) * unit;
  if (!rule.of_sources) return;
  TORUS_ASSERT(pairs);
  std::vector<bool> is_source(nodes);
  for (const NodeId source : sources) is_source[source] = true;
  is_source_ = std::make_shared<const std::vector<bool>>(std::move(is_source));
  if (sources.empty()) longest_ = 0;
}

/// The place of a node in a random order: a Feistel network permutes the numbers below 4^half_bits, and those from `nodes` on are passed
/// over.
std::uint64_t Sizes::place(NodeId node) const noexcept {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t x = node;
  do {
    std::uint64_t left = x >> half_bits_, right = x & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = detail::mixed(rule_->seed + detail::mixed_step * (4 * right + round + 1)) & mask;
      left = std::exchange(right, left ^ mixed);
    }
    x = left << half_bits_ | right;
  } while (x >= nodes_);
  return x;
}

Bytes Sizes::operator()(std::uint64_t number) const noexcept {
  const SizeRule& rule = *rule_;
  if (is_source_ && !is_source(static_cast<NodeId>(number / nodes_))) return 0;
  switch (rule.kind) {
    case SizeRule::Kind::table: return (*rule.listed)[number];
    case SizeRule::Kind::uniform: {
      const Bytes least = units_above(rule.from, unit_), most = longest_ / unit_;
      const auto more = static_cast<Bytes>(fraction_of(rule.seed, number) * static_cast<double>(most - least + 1));
      return std::min(least + more, most) * unit_;
    }
    case SizeRule::Kind::zeros:
      if (fraction_of(rule.seed, number) < rule.share) return 0;
      return dithered(usual_, fraction_of(~rule.seed, number)) * unit_;
    case SizeRule::Kind::zipf: break;
  }
  const auto node = static_cast<NodeId>(number % nodes_);
  const std::vector<double>& kept = static_cast<const KeptRule&>(rule).units;
  return dithered(kept.empty() ? usual_ * share_of_place(place(node), rule.exponent) : kept[node], fraction_of(rule.seed, number)) * unit_;
}

}  // namespace torus
