#include "bench/copies.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <torus/block.hpp>

#include "bench/host.hpp"

namespace torus::bench {
namespace {

#if defined(__SSE2__)
/// Both are 64-byte aligned, as long as places are multiples of 64 bytes.
void stream(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    const __m128i first = _mm_load_si128(source);
    const __m128i second = _mm_load_si128(source + 1);
    const __m128i third = _mm_load_si128(source + 2);
    const __m128i fourth = _mm_load_si128(source + 3);
    _mm_stream_si128(target, first);
    _mm_stream_si128(target + 1, second);
    _mm_stream_si128(target + 2, third);
    _mm_stream_si128(target + 3, fourth);
  }
}
void fence() noexcept { _mm_sfence(); }
#else
void stream(std::byte* to, const std::byte* from, std::size_t bytes) noexcept { std::memcpy(to, from, bytes); }
void fence() noexcept {}
#endif

}  // namespace

std::string_view name(Stores stores) noexcept { return stores == Stores::plain ? "plain" : "streaming"; }

Rounds tree_of_copies(NodeId places, unsigned children) {
  Rounds rounds;
  for (std::uint64_t filled = 1; filled < places;) {
    const std::uint64_t count = std::min(filled * children, places - filled);
    std::vector<Copy>& copies = rounds.emplace_back();
    for (std::uint64_t i = 0; i < count; ++i)
      copies.push_back({static_cast<std::uint32_t>(i / children), static_cast<std::uint32_t>(filled + i)});
    filled += count;
  }
  return rounds;
}

Copies::Copies(NodeId places, Bytes bytes, Rounds rounds, Executor& executor)
    : places_{places}, bytes_{static_cast<std::size_t>(bytes)}, rounds_{std::move(rounds)}, memory_{places_ * bytes_}, shares_{executor} {
  executor.run([&](unsigned worker) { memory_.populate(memory_.size(), worker, executor.workers()); });
}

double Copies::run(Stores stores) {
  fill_block({memory_.data(), bytes_}, 1, ++runs_);
  const double start = wall_s();
  for (const std::vector<Copy>& copies : rounds_) round(copies, stores);
  return wall_s() - start;
}

void Copies::round(const std::vector<Copy>& copies, Stores stores) {
  const auto copy = [&, this](std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t at = first; at < end; ++at) {
      const Copy& each = copies[at];
      const std::size_t bytes = each.bytes > 0 ? each.bytes : bytes_;
      if (stores == Stores::plain)
        std::memcpy(place(each.to) + each.first, place(each.from) + each.first, bytes);
      else
        stream(place(each.to) + each.first, place(each.from) + each.first, bytes);
    }
  };
  shares_.each(copies.size(), copy, fence);
}

bool Copies::complete() const {
  for (std::uint64_t i = 0; i < places_; ++i) {
    if (first_wrong_byte({memory_.data() + i * bytes_, bytes_}, 1, runs_)) return false;
  }
  return true;
}

}  // namespace torus::bench
