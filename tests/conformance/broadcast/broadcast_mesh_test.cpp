/// The one-port wormhole broadcasts of Barnett, Payne, van de Geijn & Watts over their whole range: legal, complete, in exactly the steps
/// and the model time of their formulas, which stand here a second time, written from the paper.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include <torus/catalogue.hpp>

#include "algorithms/common/integers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/emulate.hpp"
#include "tests/support/shapes.hpp"

using namespace torus;

namespace {

enum class Links : std::uint8_t { mesh, torus, mixed };
constexpr Links all_links[]{Links::mesh, Links::torus, Links::mixed};

Topology shape_of(const std::vector<std::int32_t>& extents, Links links) {
  std::vector<DimensionShape> shape;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    const bool line = links == Links::mesh || (links == Links::mixed && d % 2 == 0);
    shape.push_back({extents[d], line ? Wiring::line : Wiring::ring});
  }
  return Topology(std::move(shape));
}

Machine one_port(Topology topology, std::vector<Dimension> routing = {}, Contention contention = Contention::forbid, CostModel cost = {}) {
  return Machine(std::move(topology), 1, Switching::wormhole, contention, std::move(routing), cost);
}

Request broadcast_of(NodeId root, Bytes bytes, std::uint32_t segments = 0) {
  Request request = support::broadcast_request(root, bytes);
  request.parameters.set("segments", segments);
  return request;
}

Request scatter_collect_of(const char* variant, NodeId root, Bytes bytes) {
  Request request = support::broadcast_request(root, bytes);
  request.parameters.set("variant", variant);
  return request;
}

/// Runs an algorithm that must apply, and checks everything but the formula itself.
support::Emulation check(const char* name, const Machine& machine, const Request& request) {
  const Algorithm* algorithm = find_algorithm(Collective::broadcast, name);
  REQUIRE(algorithm != nullptr);
  INFO(name << " on " << machine.topology.text() << ", root " << request.sources.front() << ", " << request.bytes << " bytes in "
            << request.parameters.whole("segments") << " segments, routing from dimension " << machine.routing.front());
  REQUIRE(why_not(*algorithm, machine, request) == "");
  support::Emulation run = support::emulate(*algorithm, machine, request);
  REQUIRE(support::complaint(run) == "");
  REQUIRE(run.plan.steps_exact);
  REQUIRE(run.result.control_bytes == 0);
  return run;
}

/// The first, the last, the middle and one more root; all of small machines.
std::vector<NodeId> roots_of(const Topology& topology) {
  const NodeId p = topology.nodes();
  std::vector<NodeId> roots;
  if (p <= 20) {
    for (NodeId root = 0; root < p; ++root) roots.push_back(root);
  } else {
    roots = {0, p - 1, p / 2 + static_cast<NodeId>(topology.extent(1)) / 2, p * 7U / 19U};
  }
  return roots;
}

/// Every r x c up to `most`, mesh, torus and mixed, both routings, a sample of roots.
template <class F>
void every_mesh(std::int32_t most, F&& f) {
  support::Share share(4, 4);
  for (std::int32_t r = 1; r <= most; ++r) {
    for (std::int32_t c = 1; c <= most; ++c) {
      if (!share.takes_turn()) continue;
      for (const Links links : all_links) {
        for (const std::vector<Dimension>& routing : {std::vector<Dimension>{0, 1}, std::vector<Dimension>{1, 0}}) {
          const Topology topology = shape_of({r, c}, links);
          for (const NodeId root : roots_of(topology)) {
            f(topology, routing, root, static_cast<std::uint64_t>(r), static_cast<std::uint64_t>(c));
          }
        }
      }
    }
  }
}

std::uint64_t ceil_log2(std::uint64_t n) { return ceil_log(2, n); }

}  // namespace

TEST_CASE("rs-bcast takes ceil(log2 p) steps on every mesh and torus, whichever dimension is routed first", "[conformance]") {
  every_mesh(13, [](const Topology& topology, const std::vector<Dimension>& routing, NodeId root, std::uint64_t r, std::uint64_t c) {
    const support::Emulation run = check("rs-bcast", one_port(topology, routing), broadcast_of(root, 24));
    REQUIRE(run.result.steps == ceil_log2(r * c));
    REQUIRE(run.result.channel_bytes_sum == ceil_log2(r * c) * 24);
  });
}

TEST_CASE("separate-dimensions takes ceil(log2 r) + ceil(log2 c) steps", "[conformance]") {
  every_mesh(13, [](const Topology& topology, const std::vector<Dimension>& routing, NodeId root, std::uint64_t r, std::uint64_t c) {
    const support::Emulation run = check("separate-dimensions", one_port(topology, routing), broadcast_of(root, 24));
    REQUIRE(run.result.steps == ceil_log2(r) + ceil_log2(c));
    REQUIRE(run.result.channel_bytes_sum == (ceil_log2(r) + ceil_log2(c)) * 24);
  });
}

TEST_CASE("recursive splitting and separate dimensions hold for any number of dimensions and any routing", "[conformance]") {
  for (const std::vector<std::int32_t>& extents : {std::vector<std::int32_t>{2, 3, 2},
                                                   {3, 3, 3},
                                                   {4, 3, 5},
                                                   {1, 5, 2},
                                                   {5, 1, 4},
                                                   {2, 2, 2, 2},
                                                   {3, 2, 4, 2},
                                                   {2, 3, 2, 3, 2},
                                                   {7, 5, 3},
                                                   {17}}) {
    for (const Links links : all_links) {
      const Topology topology = shape_of(extents, links);
      std::vector<Dimension> routing(extents.size());
      for (std::size_t d = 0; d < routing.size(); ++d) routing[d] = static_cast<Dimension>(d);
      std::uint64_t separate = 0;
      for (const std::int32_t extent : extents) separate += ceil_log2(static_cast<std::uint64_t>(extent));
      std::size_t order = 0;
      do {
        const Machine machine = one_port(topology, routing);
        // All roots for the first orders, afterwards a few: five dimensions have 120 orders.
        for (NodeId root = 0; root < topology.nodes(); root += order < 2 ? 1 : topology.nodes() / 3 + 1) {
          REQUIRE(check("rs-bcast", machine, broadcast_of(root, 8)).result.steps == ceil_log2(topology.nodes()));
          if (order < 2) REQUIRE(check("separate-dimensions", machine, broadcast_of(root, 8)).result.steps == separate);
        }
        ++order;
      } while (std::next_permutation(routing.begin(), routing.end()));
    }
  }
}

TEST_CASE("mst takes log2 p steps without a conflict, and mst-naive as many with (r-1) + (c-1) messages on its busiest channels",
          "[conformance]") {
  for (const std::vector<std::int32_t>& extents : {std::vector<std::int32_t>{1, 1},
                                                   {1, 2},
                                                   {2, 1},
                                                   {2, 2},
                                                   {4, 2},
                                                   {4, 4},
                                                   {2, 16},
                                                   {8, 8},
                                                   {16, 4},
                                                   {32, 1},
                                                   {4, 2, 8},
                                                   {2, 2, 2, 2, 2},
                                                   {16},
                                                   {4, 1, 4}}) {
    for (const Links links : all_links) {
      const Topology topology = shape_of(extents, links);
      std::vector<Dimension> descending(extents.size());
      for (std::size_t d = 0; d < extents.size(); ++d) descending[d] = static_cast<Dimension>(extents.size() - 1 - d);
      std::uint64_t naive = 0;
      for (const std::int32_t extent : extents) naive += static_cast<std::uint64_t>(extent) - 1;
      const auto log_p = static_cast<std::uint64_t>(std::llround(std::log2(topology.nodes())));
      for (const std::vector<Dimension>& routing : {std::vector<Dimension>{}, descending}) {
        for (NodeId root = 0; root < topology.nodes(); ++root) {
          const support::Emulation mst = check("mst", one_port(topology, routing), broadcast_of(root, 10));
          REQUIRE(mst.result.steps == log_p);
          REQUIRE(mst.result.channel_bytes_sum == log_p * 10);
          const support::Emulation run = check("mst-naive", one_port(topology, routing, Contention::share), broadcast_of(root, 10));
          REQUIRE(run.result.steps == log_p);
          REQUIRE(run.result.channel_bytes_sum == naive * 10);
        }
      }
    }
  }
}

TEST_CASE("mst-naive as a linear array takes ceil(log2 p) steps on any sides, and shares channels where rs-bcast does not",
          "[conformance]") {
  std::uint64_t shared = 0;
  for (const std::vector<std::int32_t>& extents :
       {std::vector<std::int32_t>{1}, {2}, {7}, {1, 5}, {3, 3}, {6, 7}, {5, 9}, {11, 2}, {3, 5, 7}, {2, 3, 2, 3}, {4, 4}, {8, 2, 4}}) {
    for (const Links links : all_links) {
      const Topology topology = shape_of(extents, links);
      std::vector<Dimension> descending(extents.size());
      for (std::size_t d = 0; d < extents.size(); ++d) descending[d] = static_cast<Dimension>(extents.size() - 1 - d);
      const std::uint64_t steps = ceil_log2(topology.nodes());
      for (const std::vector<Dimension>& routing : {std::vector<Dimension>{}, descending}) {
        for (NodeId root = 0; root < topology.nodes(); ++root) {
          Request request = broadcast_of(root, 10);
          request.parameters.set("variant", "linear-array");
          const support::Emulation run = check("mst-naive", one_port(topology, routing, Contention::share), request);
          REQUIRE(run.result.steps == steps);
          REQUIRE(run.result.channel_bytes_sum >= steps * 10);
          shared += run.result.channel_bytes_sum / 10 - steps;
          // Halves of powers of two are those of mst: nothing is shared.
          if (std::has_single_bit(topology.nodes())) REQUIRE(run.result.channel_bytes_sum == steps * 10);
          REQUIRE(check("rs-bcast", one_port(topology, routing), broadcast_of(root, 10)).result.channel_bytes_sum == steps * 10);
        }
      }
    }
  }
  CHECK(shared > 0);
  // Without a name: as bits where the sides are powers of two.
  const auto variant_on = [](const char* shape) {
    const Machine machine = one_port(Topology::parse(shape), {}, Contention::share);
    return support::broadcast("mst-naive").plan(machine, broadcast_of(0, 10)).notes.front().second;
  };
  CHECK(variant_on("mesh:8x4") == "low-bits");
  CHECK(variant_on("mesh:6x7") == "linear-array");
  Request bits = broadcast_of(0, 10);
  bits.parameters.set("variant", "low-bits");
  CHECK(why_not(support::broadcast("mst-naive"), one_port(Topology::parse("mesh:6x7"), {}, Contention::share), bits)
            .find("needs extents that are powers of two; 8x8 would do") != std::string::npos);
}

TEST_CASE("edf takes the exact steps of its formula, at most K + r + c, and pays for no idle step", "[conformance]") {
  every_mesh(13, [](const Topology& topology, const std::vector<Dimension>& routing, NodeId root, std::uint64_t r, std::uint64_t c) {
    for (const std::uint32_t k : {1U, 2U, 3U, 8U, 13U}) {
      const support::Emulation run = check("edf", one_port(topology, routing), broadcast_of(root, Bytes{k} * 4, k));
      const std::uint64_t p = r * c;
      if (r == 1 || c == 1) {
        REQUIRE(run.result.steps == (p == 1 ? 0 : k + p - 2));
        continue;
      }
      const auto last = [](std::uint64_t s, std::uint64_t rows, std::uint64_t columns) {
        return s + rows + columns - (columns % 2 == 0 ? 0U : rows == 2 ? 2U : 1U);
      };
      const std::uint64_t even = k % 2 == 0 ? k - 2U : k - 1U;
      const std::uint64_t e1 = last(even, r, c);
      const std::uint64_t e2 = k == 1 ? 0 : last(k % 2 == 0 ? k - 1U : k - 2U, c, r);
      REQUIRE(run.result.steps == 1 + std::max(e1, e2));
      REQUIRE(run.result.steps <= k + r + c);
      REQUIRE(run.result.channel_bytes_sum == run.result.busy_steps * 4);
    }
  });
}

TEST_CASE("pipeline takes K + p - 2 steps round the ring of all nodes, in any number of dimensions", "[conformance]") {
  every_mesh(9, [](const Topology& topology, const std::vector<Dimension>& routing, NodeId root, std::uint64_t r, std::uint64_t c) {
    for (const std::uint32_t k : {1U, 4U}) {
      const support::Emulation run = check("pipeline", one_port(topology, routing), broadcast_of(root, Bytes{k} * 4, k));
      REQUIRE(run.result.steps == (r * c == 1 ? 0 : k + r * c - 2));
      REQUIRE(run.result.channel_bytes_sum == run.result.steps * 4);
    }
  });
  for (const std::vector<std::int32_t>& extents : {std::vector<std::int32_t>{2, 3, 4}, {3, 2, 2, 3}, {5, 1, 4}}) {
    for (const Links links : all_links) {
      const Topology topology = shape_of(extents, links);
      std::vector<Dimension> routing(extents.size());
      for (std::size_t d = 0; d < routing.size(); ++d) routing[d] = static_cast<Dimension>(d);
      do {
        for (const NodeId root : {0U, topology.nodes() / 2, topology.nodes() - 1}) {
          const support::Emulation run =
              check("pipeline", one_port(topology, routing), broadcast_of(root, 40, topology.nodes()));  // the ring is full
          REQUIRE(run.result.steps == 2 * topology.nodes() - 2);
        }
      } while (std::next_permutation(routing.begin(), routing.end()));
    }
  }
}

TEST_CASE("scatter-collect takes its steps and moves 2 (p-1)/p n bytes over the busiest channels", "[conformance]") {
  every_mesh(11, [](const Topology& topology, const std::vector<Dimension>& routing, NodeId root, std::uint64_t r, std::uint64_t c) {
    const std::uint64_t p = r * c;
    if (p > 12 && (root == 0 || topology.wiring(0) != topology.wiring(1))) return;  // the sample of this quadratic one
    const support::Emulation one = check("scatter-collect", one_port(topology, routing), scatter_collect_of("1d", root, 3 * p));
    REQUIRE(one.result.steps == ceil_log2(p) + p - 1);
    REQUIRE(one.result.channel_bytes_sum == 2 * (p - 1) * 3);
    const support::Emulation two = check("scatter-collect", one_port(topology, routing), scatter_collect_of("2d", root, 3 * p));
    REQUIRE(two.result.steps == ceil_log2(r) + ceil_log2(c) + r + c - 2);
    REQUIRE(two.result.channel_bytes_sum == 2 * (p - 1) * 3);
  });
}

TEST_CASE("scatter-collect holds for any number of dimensions", "[conformance]") {
  for (const std::vector<std::int32_t>& extents :
       {std::vector<std::int32_t>{2, 3, 2}, {3, 3, 3}, {4, 3, 5}, {1, 5, 2}, {2, 2, 3, 2}, {11}}) {
    for (const Links links : all_links) {
      const Topology topology = shape_of(extents, links);
      const NodeId p = topology.nodes();
      std::uint64_t steps = 0;
      for (const std::int32_t n : extents) steps += ceil_log2(static_cast<std::uint64_t>(n)) + static_cast<std::uint64_t>(n) - 1;
      std::vector<Dimension> routing(extents.size());
      for (std::size_t d = 0; d < routing.size(); ++d) routing[d] = static_cast<Dimension>(d);
      do {
        for (const NodeId root : {0U, p / 2, p - 1}) {
          const support::Emulation one =
              check("scatter-collect", one_port(topology, routing), scatter_collect_of("1d", root, 2 * Bytes{p}));
          REQUIRE(one.result.steps == ceil_log2(p) + p - 1);
          REQUIRE(one.result.channel_bytes_sum == 4 * (Bytes{p} - 1));
          const support::Emulation many =
              check("scatter-collect", one_port(topology, routing), scatter_collect_of("2d", root, 2 * Bytes{p}));
          REQUIRE(many.result.steps == steps);
          REQUIRE(many.result.channel_bytes_sum == 4 * (Bytes{p} - 1));
        }
      } while (std::next_permutation(routing.begin(), routing.end()));
    }
  }
}

TEST_CASE("messages that do not divide are predicted to the byte", "[conformance]") {
  for (const std::vector<std::int32_t>& extents : {std::vector<std::int32_t>{3, 4}, {5, 5}, {2, 7}, {4, 4}, {1, 6}, {2, 3, 4}}) {
    const Topology topology = shape_of(extents, Links::mesh);
    for (const Bytes bytes : {0U, 1U, 5U, 23U, 101U, 257U}) {
      for (const NodeId root : {0U, topology.nodes() / 2 + 1, topology.nodes() - 1}) {
        const Machine machine = one_port(topology);
        check("scatter-collect", machine, scatter_collect_of("1d", root, bytes));
        check("scatter-collect", machine, scatter_collect_of("2d", root, bytes));
        for (const std::uint32_t k : {1U, 2U, 3U, 7U, 10U}) {
          check("pipeline", machine, broadcast_of(root, bytes, k));
          if (extents.size() == 2) check("edf", machine, broadcast_of(root, bytes, k));
        }
      }
    }
  }
}

TEST_CASE("the model time is that of the paper's cost formulas for any alpha, beta and n", "[conformance]") {
  // Powers of two, so that sums of start-ups and bytes are exact in binary floating point, and a few that are not, to rounding.
  for (const auto& [alpha, beta, exact] :
       {std::tuple{1.0, 0.25, true}, {0x1p-20, 0x1p-30, true}, {64.0, 1.0, true}, {1e-6, 1e-10, false}, {3.7e-5, 2.1e-9, false}}) {
    for (const Bytes n : {Bytes{64}, Bytes{1024}, Bytes{1} << 16U}) {
      for (const auto& [r, c] : {std::pair{4, 8}, {8, 8}, {16, 2}, {2, 2}}) {
        const CostModel cost{alpha, beta, 0.0};
        const auto same = [is_exact = exact](double got, double wanted) {
          return is_exact ? got == wanted : std::abs(got / wanted - 1) < 1e-12;
        };
        const auto model_time_s = [&, rows = r, columns = c](const char* name, Contention contention, std::uint32_t segments) {
          const Machine machine = one_port(shape_of({rows, columns}, Links::mesh), {}, contention, cost);
          const bool is_variant = *name >= '0' && *name <= '9';
          const support::Emulation run = is_variant ? check("scatter-collect", machine, scatter_collect_of(name, 3, n))
                                                    : check(name, machine, broadcast_of(3, n, segments));
          const double planned = run.plan.model_time_s(cost);
          CHECK(same(planned, run.result.model_time_s));
          return run.result.model_time_s;
        };
        const double p = r * c;
        const double log_p = std::log2(p);
        const auto bytes = static_cast<double>(n);
        CAPTURE(alpha, beta, n, r, c);
        CHECK(same(model_time_s("mst-naive", Contention::share, 0), log_p * alpha + (r + c - 2) * bytes * beta));
        CHECK(same(model_time_s("mst", Contention::forbid, 0), log_p * (alpha + bytes * beta)));
        CHECK(same(model_time_s("separate-dimensions", Contention::forbid, 0), log_p * (alpha + bytes * beta)));
        CHECK(same(model_time_s("rs-bcast", Contention::forbid, 0), log_p * (alpha + bytes * beta)));
        // With both sides even a fence of 16 segments is busy in each of its K + r + c steps.
        if (r > 2 && c > 2) CHECK(same(model_time_s("edf", Contention::forbid, 16), (16 + r + c) * (alpha + bytes / 16 * beta)));
        CHECK(same(model_time_s("1d", Contention::forbid, 0), (log_p + p - 1) * alpha + 2 * (p - 1) / p * bytes * beta));
        CHECK(same(model_time_s("2d", Contention::forbid, 0), (log_p + r + c - 2) * alpha + 2 * (p - 1) / p * bytes * beta));
        CHECK(same(model_time_s("pipeline", Contention::forbid, 16), (16 + p - 2) * (alpha + bytes / 16 * beta)));
      }
    }
  }
}

TEST_CASE("where the request leaves the segments open, edf and pipeline cut the message at the optimum of the model", "[conformance]") {
  const Bytes n = 4096;
  for (const auto& [alpha, beta] : {std::pair{1.0, 1.0}, {256.0, 1.0}, {1e6, 1.0}, {1.0, 0x1p-12}}) {
    const Machine machine = one_port(shape_of({4, 6}, Links::mesh), {}, Contention::forbid, {alpha, beta, 0.0});
    const auto close_to = [](std::uint32_t k, double wanted) { return std::abs(static_cast<double>(k) - wanted) < 2; };
    const auto bytes = static_cast<double>(n);
    const auto clip = [&](double k) { return std::clamp(k, 1.0, bytes); };
    CHECK(close_to(check("edf", machine, broadcast_of(5, n)).plan.segments, clip(std::sqrt(10 * bytes * beta / alpha))));
    CHECK(close_to(check("pipeline", machine, broadcast_of(5, n)).plan.segments, clip(std::sqrt(22 * bytes * beta / alpha))));
  }
}

TEST_CASE("edf needs no more than packet switching on a torus with both sides even", "[conformance]") {
  for (const auto& [r, c] : {std::pair{2, 2}, {4, 6}, {8, 2}, {10, 4}}) {
    const Machine machine(shape_of({r, c}, Links::torus), 1, Switching::packet);
    for (const std::uint32_t k : {1U, 2U, 9U}) {
      REQUIRE(check("edf", machine, broadcast_of(1, 36, k)).result.steps == k + static_cast<std::uint64_t>(r + c));
    }
  }
}

TEST_CASE("mst and separate-dimensions need no more than packet switching where no extent is above 2", "[conformance]") {
  for (const char* text : {"1", "2", "2m", "2x2", "2x1x2m", "2^5", "hypercube:5"}) {
    const Topology topology = Topology::parse(text);
    for (std::int32_t ports = 1; ports <= std::max(1, topology.max_ports()); ++ports) {
      const Machine machine(topology, ports, Switching::packet);
      for (NodeId root = 0; root < topology.nodes(); ++root) {
        for (const char* name : {"mst", "separate-dimensions"}) {
          REQUIRE(check(name, machine, broadcast_of(root, 5)).result.steps == ceil_log(2, topology.nodes()));
        }
      }
    }
  }
}

TEST_CASE("the mesh broadcasts accept more ports and freer switching and take the same steps", "[conformance]") {
  const Topology topology = shape_of({4, 8}, Links::torus);
  const Machine machine(topology, 0, Switching::circuit, Contention::share);
  for (const char* name : {"mst", "mst-naive", "rs-bcast", "separate-dimensions", "edf", "pipeline", "scatter-collect"}) {
    const support::Emulation wide = check(name, machine, broadcast_of(9, 640));
    const support::Emulation narrow = check(name, one_port(topology, {}, Contention::share), broadcast_of(9, 640));
    CHECK(wide.result.steps == narrow.result.steps);
    CHECK(wide.result.trace_digest == narrow.result.trace_digest);
  }
}
