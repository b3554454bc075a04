// Twisted tori in traces and among the machines that exist.
#include <string>

#include <torus/trace_reader.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"

using namespace torus;

TEST_CASE("legs of several hops go over the end of a short dimension and claim every channel", "[conformance]") {
  using support::command;
  const support::Folder folder;
  for (const std::string line : {"broadcast --on 4x8t --algorithm synthesized --source 5 --bytes 96",
                                 "broadcast --on 4x4x8t --algorithm synthesized --ports 1 --bytes 96"}) {
    CAPTURE(line);
    const support::Ended ended = command("run " + line + " --trace " + folder.file("t"));
    CHECK(ended.status == 0);
    CHECK(command("verify " + folder.file("t")).status == 0);
    const TraceHeader header = TraceReader(folder.file("t")).header();
    CHECK(header.machine.topology.twisted());
  }
  // Eight hops along a short dimension go once round, nine cross a channel twice; four end half round, at node 4.
  folder.write("twice",
               "{\"format\":\"torus-trace\",\"version\":1,\"shape\":[4,8],\"twist\":true,\"ports\":4,\"switching\":\"circuit\","
               "\"collective\":\"broadcast\",\"sources\":[0],\"segments\":1,\"block_bytes\":1}\n"
               "{\"step\":0,\"src\":0,\"dst\":8,\"path\":[[0,9]],\"bytes\":1,\"blocks\":[0]}\n"
               "{\"step\":1,\"src\":0,\"dst\":4,\"path\":[[0,4]],\"bytes\":1,\"blocks\":[0]}\n");
  const support::Ended twice = command("verify " + folder.file("twice"));
  CHECK(twice.status == 1);
  CHECK((twice.out + twice.err).find("twice") != std::string::npos);
  CHECK((twice.out + twice.err).find("ends at node") == std::string::npos);
}

TEST_CASE("a twisted machine is one of the presets that have it, and of no other", "[conformance]") {
  using support::command;
  CHECK(command("run broadcast --machine tpu-v4 --on 4x4x8t --bytes 1KiB").status == 0);
  const support::Ended other = command("run broadcast --machine gemini --on 4x4x8t --bytes 1KiB");
  CHECK(other.status == 2);
  CHECK(other.err.find("for instance 4x4x8\n") != std::string::npos);
}
