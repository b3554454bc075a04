/// Strip: swath for one port. One part of the message, all messages in the + direction of a ring, spread by doubling.
///
/// With a and b two dimensions next to each other in cyclic order, and places counted from the source:
///   scatter   along b: piece i of h goes to column i
///   columns   along a: column i spreads its piece over the rows of class i (lines/deal.hpp)
///   rows      along all dimensions but a, b first: every node of a row gets the piece of its class
///   gather    along a: every node takes the pieces that it lacks from the - side, a hop a step
/// With more pieces than that, whole dimensions are scattered before and gathered after: see swath.cpp. a is the dimension that makes the
/// least model time.
/// Machine  wormhole with any routing order, one port, any torus. All routes are straight.
/// Steps    R = L2(h) + L2(rows of a class, and the source's) + sum of L2(n_d) but n_a + (w-1), L2(x) = ceil(log_2 x), w the longest way
///          between two rows of a class.
/// Bytes    about (h-1 + the steps of columns and rows + w-1)/h m on the fullest channel, for m bytes; the plan's are exact. Near 2 m for
///          large h: the source sends the message once, and each node takes it once.
/// Header   none. Nodes know the source, as in any broadcast call.   Memory  O(1) a node beside its blocks.
/// Source   this project.

#include <array>
#include <optional>
#include <vector>

#include <torus/algorithm.hpp>

#include "algorithms/broadcast/swath/swath.hpp"
#include "algorithms/entries.hpp"

namespace torus::broadcast::strip {
namespace {

constexpr std::string_view strip_steps =
    "L2(h) + L2(rows of a class, and one) + sum of L2(n_d) but n_a + (w-1), w the most rows from one of a class to the next, "
    "L2 = ceil(log2); whole dimensions: L2(n_d) + n_d-1 each, and this for the rest";

std::vector<std::uint32_t> values(const Machine& machine) { return swath_values(machine, Ways::forward); }

std::optional<Refusal> also_requires(const Machine& machine, const Request& request) {
  return swath_also_requires(machine, request, Ways::forward, "strip");
}

Plan plan(const Machine& machine, const Request& request) { return swath_plan(machine, request, Ways::forward, strip_steps); }

constexpr std::array parameters{Parameter{"h", "pieces that the message is split into", {}, values}};

constexpr std::array terms{Term{"h", "pieces that the message is split into"}, Term{"w", "most rows from one of a class to the next"}};

const Algorithm strip{
    .name = "strip",
    .collective = Collective::broadcast,
    .source = "ours: scatter, spread over classes of rows, gather, with one port",
    .shapes = "torus of any dimension, any sides; h up to the shorter of two rings, and more by whole dimensions",
    .steps = strip_steps,
    .idea =
        {.first =
             "The message is cut into pieces, and the source scatters them along its ring, in halves, each piece to a column of its own.",
         .then = "Each column spreads its piece over the rows of one class, and these rows spread it along themselves; in the end the "
                 "pieces that a node lacks come to it from behind, a hop a step.",
         .good = "It is swath for one port: everything moves forwards, and with many pieces the source sends the message about once and "
                 "each node takes it about once."},
    .terms = terms,
    .native = {.ports = 1},
    .needs = {.shape = Requirements::Shape::torus, .switching = Switching::wormhole},
    .parameters = parameters,
    .also_requires = also_requires,
    .plan = plan,
};

}  // namespace

extern const Entries entries{strip};

}  // namespace torus::broadcast::strip
