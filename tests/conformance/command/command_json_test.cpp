// Every view of the command as JSON, field by field: a change that is meant to change nothing changes no line of tests/transcripts/json.
#include "tests/support/catch.hpp"
#include "tests/support/transcript.hpp"

using namespace torus::support;

TEST_CASE("JSON has the fields and figures that it has always had", "[conformance]") { replay("json"); }
