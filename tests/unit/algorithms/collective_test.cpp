// What collectives are, as data: their names, and who has and wants what.
#include <algorithm>
#include <string>

#include <torus/algorithm.hpp>
#include <torus/error.hpp>

#include "tests/support/catch.hpp"

using namespace torus;

TEST_CASE("a collective is found by our name and by those of MPI, in any letters", "[unit]") {
  for (const CollectiveFacts& facts : collectives()) {
    CAPTURE(facts.name);
    CHECK(&facts_of(facts.collective) == &facts);
    CHECK(facts_of(facts.name).collective == facts.collective);
    if (facts.collective == Collective::reduce_scatter) continue;  // MPI's Reduce_scatter is of other blocks
    const std::string mpi = "MPI_" + std::string(facts.mpi);
    CHECK(find_collective(mpi) == facts.collective);
    if (facts.takes_sizes()) CHECK(find_collective(mpi + "v") == facts.collective);
  }
  CHECK(find_collective("Reduce_Scatter") == Collective::reduce_scatter);
  CHECK(find_collective("all-to-all") == Collective::total_exchange);
  for (const char* none : {"", "MPI_", "v", "alreduce", "broadcastv"}) {
    CAPTURE(none);
    CHECK_FALSE(find_collective(none));
    CHECK_THROWS_AS(facts_of(std::string_view(none)), InputError);
  }
}

TEST_CASE("what is said of a collective's blocks is where its placement puts them", "[unit]") {
  const Machine machine(Topology::parse("3x2"), all_ports, Switching::packet);
  for (const CollectiveFacts& facts : collectives()) {
    if (!facts.carries_bytes()) continue;
    Request request;
    request.collective = facts.collective;
    request.bytes = 8;
    constexpr NodeId nodes = 6, root = 4;
    if (facts.names_sources()) request.sources = facts.rooted() ? std::vector<NodeId>{root} : std::vector<NodeId>{1, 3};
    const Placement placement = placement_of(machine, request, Plan{});
    for (NodeId node = 0; node < nodes; ++node) {
      CAPTURE(facts.name, node);
      const bool source = std::find(request.sources.begin(), request.sources.end(), node) != request.sources.end();
      CHECK((placement.initial_count(node) > 0) == (source || facts.start == CollectiveFacts::Start::everywhere));
      CHECK((placement.wanted_count(node) > 0) == facts.wants(node, node, root));
      const bool for_owners = facts.takes_sizes() && !facts.replicates();
      for (NodeId owner = 0; for_owners && owner < nodes; ++owner) CHECK(placement.wants(node, owner) == facts.wants(node, owner, root));
    }
  }
}
