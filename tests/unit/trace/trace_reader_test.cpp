#include <zlib.h>

#include <torus/error.hpp>
#include <torus/trace_reader.hpp>

#include "runtime/base/lines.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"

using namespace torus;

namespace {

const std::string header =
    R"({"format":"torus-trace","version":1,"shape":[3,4],"wrap":[true,false],"ports":2,"switching":"packet","collective":"broadcast","sources":[0]})";

/// Reads all of it; the complaint, or nothing.
std::string complaint_about(const std::string& path) {
  try {
    TraceReader reader(path);
    TraceMessage message;
    while (reader.next(message)) {
    }
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string complaint_about_text(const std::string& text) {
  const support::Folder folder;
  return complaint_about(folder.write("t", text));
}

}  // namespace

TEST_CASE("a message is read whatever the order of its keys", "[unit]") {
  const support::Folder folder;
  TraceReader reader(
      folder.write("t", header + "\n" + R"({"blocks":[5,6],"bytes":7,"path":[[0,-1],[1,2]],"dst":8,"src":1,"step":3})" + "\r\n"));
  TraceMessage message;
  REQUIRE(reader.next(message));
  CHECK(message.step == 3);
  CHECK(message.source == 1);
  CHECK(message.destination == 8);
  CHECK(message.path == std::vector<Leg>{{0, -1}, {1, 2}});
  CHECK(message.bytes == 7);
  CHECK(message.blocks == std::vector<std::uint64_t>{5, 6});
  CHECK(reader.line() == 2);
  CHECK(!reader.next(message));
}

TEST_CASE("a line says nothing of the next, and its step is below 2^32 - 1", "[unit]") {
  const std::string reduction =
      R"({"format":"torus-trace","version":1,"shape":[4],"ports":2,"switching":"packet","collective":"allreduce"})";
  const auto line = [](const std::string& step, const std::string& more) {
    return R"({"step":)" + step + R"(,"src":0,"dst":1,"path":[[0,1]],"bytes":1,"blocks":[0])" + more + "}\n";
  };
  const support::Folder folder;
  TraceReader reader(
      folder.write("t", reduction + "\n" + line("0", R"(,"combine":[0,1],"release":true,"phase":"p")") + line("4294967294", "")));
  TraceMessage message;
  REQUIRE(reader.next(message));
  CHECK(message.registers == 3);
  CHECK(message.releases);
  CHECK(message.phase == "p");
  REQUIRE(reader.next(message));
  CHECK(message.step == 4294967294U);
  CHECK(message.registers == 0);
  CHECK_FALSE(message.releases);
  CHECK(message.phase.empty());
  CHECK(message.path.size() == 1);
  CHECK(message.blocks.size() == 1);
  CHECK(complaint_about_text(reduction + "\n" + line("4294967295", "")).ends_with("'step' is 4294967295; it must be 0 to 4294967294"));
}

TEST_CASE("a line may have spaces, escapes and long numbers, and nothing that JSON forbids", "[unit]") {
  const auto line = [](const std::string& from, const std::string& to) {
    std::string text = R"({"step":0,"src":0,"dst":1,"path":[[1,-1]],"bytes":1,"blocks":[0,1],"phase":"ab"})";
    return text.replace(text.find(from), from.size(), to);
  };
  const support::Folder folder;
  for (const std::string& good : {line("ab", "ab"), line("ab", "\\u0061b"), line("{", " {\t") + " ", line(":0,", " : 0\t, "),
                                  line("[[1,-1]]", "[ [ 1 , -1 ] ]"), line("[0,1]", "[ 0 , 1 ]"), line("}", "}\r")}) {
    CAPTURE(good);
    TraceReader reader(folder.write("t", header + "\n" + good));  // the last line may lack its line feed
    TraceMessage message;
    REQUIRE(reader.next(message));
    CHECK(message.path == std::vector<Leg>{{1, -1}});
    CHECK(message.blocks == std::vector<std::uint64_t>{0, 1});
    CHECK(message.phase == "ab");
  }
  TraceReader reader(folder.write("t", header + "\n" + line("\"bytes\":1", "\"bytes\":18446744073709551615") + "\n"));
  TraceMessage message;
  REQUIRE(reader.next(message));
  CHECK(message.bytes == 18446744073709551615U);
  for (const std::string& bad : {line(":0,", ":00,"),
                                 line(":0,", "0,"),
                                 line(":0,", ":,"),
                                 line("[1,-1]", "[1,- 1]"),
                                 line("[1,-1]", "[1,-01]"),
                                 line("[1,-1]", "[1,+1]"),
                                 line("[0,1]", "[0,1,]"),
                                 line("[0,1]", "[,0]"),
                                 line("[0,1]", "[0 1]"),
                                 line("[0,1]", "[0,01]"),
                                 line("\"}", "\",}"),
                                 line("ab", "a\tb"),
                                 line("ab", "a\xff"),
                                 line("ab\"", "ab"),
                                 line("{", ""),
                                 line("{", "{,"),
                                 line("\"bytes\":1", "\"bytes\":18446744073709551616"),
                                 line("\"ab\"", "ab"),
                                 line("}", "}}"),
                                 line(",\"src\"", " \"src\"")}) {
    CAPTURE(bad);
    CHECK(complaint_about_text(header + "\n" + bad + "\n").find(" line 2: ") != std::string::npos);
  }
}

TEST_CASE("a key of a message that is not known, or is for reductions alone, is refused by name", "[unit]") {
  const auto complaint = [](const std::string& more) {
    return complaint_about_text(header + "\n" + R"({"step":0,"src":0,"dst":1,"path":[[0,1]],"bytes":1,"blocks":[0])" + more + "}\n");
  };
  CHECK(complaint("").empty());
  CHECK(complaint(R"(,"phase":"p","combine":false,"release":false)").empty());
  for (const char* key : {"note", "Step", "groups"}) {
    for (const char* value : {"1", "null", R"({"path":[[9,9]],"x":[1,[2]]})", "[[]]"}) {
      CAPTURE(key, value);
      CHECK(
          complaint(std::string(",\"") + key + "\":" + value)
              .ends_with(" line 2: '" + std::string(key) +
                         "' is not known; a message has step, src, dst, path, bytes and blocks, and may have combine, release and phase"));
    }
  }
  CHECK(complaint(R"(,"combine":true)").ends_with(" line 2: 'combine' is for reductions, and this is a trace of a broadcast"));
  CHECK(complaint(R"(,"combine":[1])").ends_with(" line 2: 'combine' is for reductions, and this is a trace of a broadcast"));
  CHECK(complaint(R"(,"release":true)").ends_with(" line 2: 'release' is for reductions, and this is a trace of a broadcast"));
}

TEST_CASE("a register of a line is one of eight, and named once", "[unit]") {
  const auto complaint = [](const std::string& registers) {
    return complaint_about_text(
        R"({"format":"torus-trace","version":1,"shape":[4],"ports":2,"switching":"packet","collective":"allreduce"})"
        "\n"
        R"({"step":0,"src":0,"dst":1,"path":[[0,1]],"bytes":1,"blocks":[0],"combine":)" +
        registers + "}\n");
  };
  for (const char* right : {"true", "false", "[]", "[0]", "[7,0]", "[0,1,2,3,4,5,6,7]"}) CHECK(complaint(right).empty());
  for (const char* wrong : {"[0,0]", "[7,1,7]", "[8]", "[18446744073709551615]", "[[0]]", "1"}) {
    CAPTURE(wrong);
    CHECK(complaint(wrong).ends_with(" line 2: 'combine' must be true, or a list of registers, each once, 0 to 7"));
  }
}

TEST_CASE("a header may leave out what has a usual value", "[unit]") {
  const support::Folder folder;
  const TraceReader reader(folder.write(
      "t", R"({"format":"torus-trace","version":1,"shape":[3,4],"ports":99,"switching":"wormhole","collective":"total-exchange"})"));
  CHECK(reader.header().machine.topology == Topology::parse("3x4"));
  CHECK(reader.header().machine.ports == 4);  // a node has no more
  CHECK(reader.header().machine.contention == Contention::forbid);
  CHECK(reader.header().machine.routing == std::vector<Dimension>{0, 1});
  CHECK(reader.header().sources.size() == 12);
  CHECK(reader.header().segments == 1);
}

TEST_CASE("every malformed message is refused with its line", "[unit]") {
  const std::string good = R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})";
  REQUIRE(complaint_about_text(header + "\n" + good + "\n").empty());
  const std::vector<std::string> bad{
      "",
      "x",
      "null",
      "17",
      "\"text\"",
      "[]",
      "{}",
      "{",
      good.substr(0, 30),
      good + "x",
      good + good,
      R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1})",
      R"({"step":-1,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":0.5,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":1e3,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":99999999999,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":"0","src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":12,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":99999999999999999999,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":null,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":[0],"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":1,"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[1,1],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[[1,1]]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[2,1]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[-1,1]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,9999999999]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,-2147483648]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,0.5]],"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":{"a":1},"bytes":1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":-1,"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":[1],"blocks":[0]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":0})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[-1]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":["0"]})",
      R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[[0]]})",
      R"({"step":0,"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})",
      "{\"step\":0,\"src\":0,\"dst\":1,\"path\":[[1,1]],\"bytes\":1,\"blocks\":[0],\"\xff\":0}",
      std::string("{\"step\":0,\0}", 11),
      std::string(100000, '['),
  };
  for (const std::string& line : bad) {
    CAPTURE(line.substr(0, 120));
    const std::string complaint = complaint_about_text(header + "\n" + good + "\n" + line + "\n" + good + "\n");
    CAPTURE(complaint);
    CHECK(complaint.find(" line 3: ") != std::string::npos);
    CHECK(complaint.find('\n') == std::string::npos);
    CHECK(complaint.size() < 400);
  }
}

TEST_CASE("a byte 0 ends neither a line nor a trace", "[unit]") {
  const std::string good = R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})", zero(1, '\0');
  const auto complaint = [](const std::string& text) {
    const support::Folder folder;
    const std::string file = folder.write("t", text), complaint = complaint_about(file);
    return complaint.empty() ? complaint : complaint.substr(complaint.find(" line "));
  };
  const std::string says = ": it holds a byte of value 0, as no text does; name a file that `torus run --trace` wrote";
  REQUIRE(complaint(header + "\n" + good + "\n\n").empty());
  CHECK(complaint(header + zero + ",\"note\":1}\n" + good + "\n") == " line 1" + says);
  CHECK(complaint(header + "\n" + good + "\n" + good + zero + "what follows\n" + good + "\n") == " line 3" + says);
  CHECK(complaint(header + "\n" + good + zero) == " line 2" + says);
  CHECK(complaint(header + "\n" + good + "\n" + zero) == " line 3" + says);
  CHECK(complaint(header + "\n" + std::string(1U << 20U, ' ') + zero + "\n") == " line 2" + says);  // in another chunk of the file
}

TEST_CASE("a mark of UTF-8 may stand in front of a trace", "[unit]") {
  const std::string mark = "\xef\xbb\xbf";
  CHECK(complaint_about_text(mark + header + "\n").empty());
  CHECK(complaint_about_text(header + "\n" + mark + "\n").find(" line 2: ") != std::string::npos);
}

TEST_CASE("blank lines without end end", "[unit]") {
  CHECK(complaint_about_text(header + "\n" + std::string(1U << 20U, '\n')).empty());
  CHECK(complaint_about_text(header + "\n" + std::string((1U << 20U) + 2, '\n')).find("as are the 2^20 before it") != std::string::npos);
}

TEST_CASE("a text has at most the bytes of its kind, in lines and in all", "[unit]") {
  const support::Folder folder;
  const std::string text = folder.write("t", "one\ntwo\n");
  const auto complaint = [&](std::size_t most) -> std::string {
    try {
      detail::Lines lines(text, {"list", "a list", most});
      while (lines.next()) {
      }
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(complaint(8).empty());
  CHECK(complaint(7).ends_with(" line 3: the file has more than 7 B of text; choose a smaller list"));
  const auto why = [&](std::size_t most) {
    std::string why;
    try {
      why = "read: " + text_of_file(text, most, [](const std::string& no) { throw InputError(no); });
    } catch (const InputError& error) {
      why = error.what();
    }
    return why;
  };
  CHECK(why(8) == "read: one\ntwo\n");
  CHECK(why(7) == "has more than 7 B");
}

TEST_CASE("every malformed header is refused as line 1", "[unit]") {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = header;
    return text.replace(text.find(from), from.size(), to);
  };
  REQUIRE(complaint_about_text(header).empty());
  const std::vector<std::string> bad{
      "",
      "\n",
      "hello",
      "[]",
      "{}",
      with("torus-trace", "other"),
      with("\"version\":1", "\"version\":2"),
      with("\"version\":1", "\"version\":\"1\""),
      with("[3,4]", "[]"),
      with("[3,4]", "[0,4]"),
      with("[3,4]", "[-3,4]"),
      with("[3,4]", "\"3x4\""),
      with("[3,4]", "[3,4.5]"),
      with("[3,4]", "[3,4,5]"),
      with("[3,4]", "[99999,99999]"),
      with("[true,false]", "[true]"),
      with("[true,false]", "[true,\"yes\"]"),
      with("\"ports\":2", "\"ports\":0"),
      with("\"ports\":2", "\"ports\":-2"),
      with("\"ports\":2,", ""),
      with("\"packet\"", "\"train\""),
      with("\"switching\":\"packet\",", ""),
      with("\"broadcast\"", "\"reduction\""),
      with("\"broadcast\"", "7"),
      with("[0]", "[12]"),
      with("[0]", "[0,0]"),
      with("[0]", "0"),
      with("\"sources\":[0]", "\"sources\":[0],\"segments\":0"),
      with("\"sources\":[0]", "\"sources\":[0],\"routing\":[0,0]"),
      with("\"sources\":[0]", "\"sources\":[0],\"routing\":[0]"),
      with("\"sources\":[0]", "\"sources\":[0],\"contention\":\"maybe\""),
      with("\"sources\":[0]", "\"sources\":[0],\"block_bytes\":-1"),
      with("\"collective\":\"broadcast\",\"sources\":[0]", "\"collective\":\"scatter\",\"sources\":[0,1]"),
      with("[0]", "[]"),
      with("[0]", "[0,1]"),
      with(",\"sources\":[0]", ""),
  };
  for (const std::string& line : bad) {
    CAPTURE(line);
    const std::string complaint = complaint_about_text(line);
    CAPTURE(complaint);
    CHECK(complaint.find(" line 1: ") != std::string::npos);
    CHECK(complaint.find('\n') == std::string::npos);
  }
}

namespace {

/// The complaint about a header of this collective with these keys more; empty if it is read.
std::string complaint_about_header(const std::string& collective, const std::string& keys) {
  return complaint_about_text(R"({"format":"torus-trace","version":1,"shape":[4],"ports":2,"switching":"packet","collective":")" +
                              collective + "\"" + (keys.empty() ? "" : "," + keys) + "}\n");
}

TraceHeader header_read(const std::string& collective, const std::string& keys) {
  const support::Folder folder;
  return TraceReader(folder.write("t", R"({"format":"torus-trace","version":1,"shape":[4],"ports":2,"switching":"packet","collective":")" +
                                           collective + "\"," + keys + "}\n"))
      .header();
}

}  // namespace

TEST_CASE("sources are a living root, any nodes of a multi-node broadcast, or all that live", "[unit]") {
  for (const char* rooted : {"broadcast", "scatter", "gather", "reduce"}) {
    CAPTURE(rooted);
    CHECK(complaint_about_header(rooted, R"("sources":[1],"dead_nodes":[2])").empty());
    CHECK(complaint_about_header(rooted, R"("sources":[2],"dead_nodes":[2])")
              .ends_with(" line 1: the header's 'sources' name node (2), which is dead; the root of a " + std::string(rooted) +
                         " must be alive"));
    for (const char* wrong : {"", R"("sources":[])", R"("sources":[0,1])"})
      CHECK(complaint_about_header(rooted, wrong).find("'sources'") != std::string::npos);
  }
  for (const char* all : {"total-exchange", "allgather", "allreduce", "reduce-scatter", "scan", "barrier"}) {
    CAPTURE(all);
    CHECK(complaint_about_header(all, "").empty());
    CHECK(complaint_about_header(all, R"("sources":[0,1,2,3])").empty());
    CHECK(complaint_about_header(all, R"("sources":[0,1,3],"dead_nodes":[2])").empty());
    CHECK(complaint_about_header(all, R"("sources":[0])")
              .ends_with(" line 1: the header's 'sources' name 1 of 4 living nodes, and all take part in " + std::string(all) +
                         "; name all, or leave the key out"));
    CHECK(complaint_about_header(all, R"("sources":[])").find("the header's 'sources' are empty") != std::string::npos);
  }
  CHECK(header_read("multinode-broadcast", R"("sources":[])").sources.empty());
  CHECK(header_read("multinode-broadcast", R"("sources":[3,1,2],"dead_nodes":[2])").sources == std::vector<NodeId>{1, 3});
  CHECK(header_read("allgather", R"("dead_nodes":[2])").sources == std::vector<NodeId>{0, 1, 3});
}

TEST_CASE("each cost of a header is read into its own place", "[unit]") {
  const CostModel cost = header_read("allreduce", R"("ts_s":1e-6,"tc_s":2e-9,"th_s":3e-7,"tg_s":4e-10)").machine.cost;
  CHECK(cost.start_up_s == 1e-6);
  CHECK(cost.byte_s == 2e-9);
  CHECK(cost.hop_s == 3e-7);
  CHECK(cost.combine_s == 4e-10);
  CHECK(header_read("allreduce", R"("ts_s":1e-6,"tc_s":2e-9,"th_s":3e-7)").machine.cost.combine_s == 0);
}

TEST_CASE("keys of a header that are not known or say nothing of the collective are refused by name", "[unit]") {
  CHECK(header_read("allgather", R"("sizes":[1,2,0,4])").sizes == std::vector<Bytes>{1, 2, 0, 4});
  for (const char* wrong : {R"("sizes":[1,2,0])", R"("sizes":[1,2,0,-4])", R"("sizes":7)", R"("segments":2,"sizes":[1,2,0,4])"})
    CHECK(complaint_about_header("allgather", wrong).find(" line 1: the header's 'sizes' must be a list of whole numbers") !=
          std::string::npos);
  for (const char* collective : {"allreduce", "allgather", "barrier"}) {
    CHECK((complaint_about_header(collective, R"("sizes":[1,2,0])").find("'sizes'") != std::string::npos));
    CHECK(complaint_about_header(collective, R"("tg_s":1e-9)").find("'tg_s' without 'ts_s', 'tc_s' and 'th_s'") != std::string::npos);
  }
  CHECK(header_read("allreduce", R"("op":"max","type":"i32","registers":2,"overlap":true,"segments":2,"seed":3)").overlap);
  CHECK(
      complaint_about_header("allreduce", R"("note":1)").ends_with("has 'note', which this version of torus does not know; leave it out"));
  CHECK(complaint_about_header("barrier", R"("dead_node":[1])").find("the header has 'dead_node', which this") != std::string::npos);
  for (const char* key : {R"("op":"sum")", R"("type":"f32")", R"("values":"real")", R"("registers":2)", R"("overlap":false)"}) {
    CAPTURE(key);
    CHECK(complaint_about_header("allreduce", key).empty());
    const std::string word(key, std::string_view(key).find(':'));
    const std::string quoted = "'" + word.substr(1, word.size() - 2) + "'";
    CHECK(complaint_about_header("allgather", key).find("the header has " + quoted + ", which is for reductions; leave it out") !=
          std::string::npos);
  }
  CHECK(complaint_about_header("total-exchange", R"("segments":2)").find("the header has 'segments', which is for messages that") !=
        std::string::npos);
  CHECK(complaint_about_header("total-exchange", R"("segments":1)").empty());
  CHECK(header_read("reduce", R"("sources":[0],"op":"min","type":"bf16","values":"special")").reduction ==
        Reduction{Operator::min, ElementType::bf16, Values::special});
  CHECK(complaint_about_header("allreduce", R"("values":"odd")").find("values 'odd': it must be small, real, special") !=
        std::string::npos);
}

TEST_CASE("groups of a header are lists of different nodes, and its sources are then local", "[unit]") {
  const TraceHeader header = header_read("allgather", R"("groups":[[3,0],[1]])");
  CHECK(header.groups == std::vector<std::vector<NodeId>>{{3, 0}, {1}});
  CHECK(header.sources == std::vector<NodeId>{0, 1});
  CHECK(header_read("broadcast", R"("groups":[[3,0],[1,2]],"sources":[1])").sources == std::vector<NodeId>{1});
  const auto complaint = [](const char* keys) { return complaint_about_header("broadcast", keys); };
  for (const char* wrong : {R"("groups":[])", R"("groups":[[0],[]])", R"("groups":3)", R"("groups":[0,1])"})
    CHECK(complaint(wrong).find("'groups' must be a list of lists of ranks, none of them empty") != std::string::npos);
  for (const char* wrong : {R"("groups":[[4]])", R"("groups":[[0.5]])", R"("groups":[[-1]])", R"("groups":[["0"]])"})
    CHECK(complaint(wrong).find("'groups' must hold whole numbers from 0 to 3") != std::string::npos);
  CHECK(complaint(R"("groups":[[0,1],[1,2]])").find("'groups' name node 1 twice") != std::string::npos);
  CHECK(complaint(R"("groups":[[0,1],[2]],"sources":[1])").find("'sources' must be a list of whole numbers from 0 to 0") !=
        std::string::npos);
  CHECK(complaint(R"("groups":[[0,1],[2,3]],"sources":[1],"dead_nodes":[3])")
            .find("name node (3), which is dead; the root of a broadcast "
                  "must be alive, in group 1") != std::string::npos);
}

TEST_CASE("a compressed trace that is cut off or damaged is refused", "[unit]") {
  const support::Folder folder;
  std::string text = header + "\n";
  for (int i = 0; i < 20000; ++i)
    text += R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":)" + std::to_string(i * 7919 % 10007) + ",\"blocks\":[0]}\n";
  gzFile file = gzopen(folder.file("t.gz").c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  CHECK(complaint_about(folder.file("t.gz")).empty());
  const std::string whole = support::text_of_file(folder.file("t.gz"));
  CHECK(!complaint_about(folder.write("cut.gz", whole.substr(0, whole.size() / 2))).empty());
  CHECK(!complaint_about(folder.write("cut.gz", whole.substr(0, whole.size() - 4))).empty());
  std::string damaged = whole;
  for (std::size_t i = damaged.size() / 2; i < damaged.size() / 2 + 20; ++i) damaged[i] = static_cast<char>(damaged[i] ^ 0x55);
  CHECK(!complaint_about(folder.write("damaged.gz", damaged)).empty());
  for (const char* garbage : {"x", "garbage behind the end", "\x1f", "\x1f\x8b"}) {
    CAPTURE(garbage);
    CHECK(!complaint_about(folder.write("longer.gz", whole + garbage)).empty());
  }
}

TEST_CASE("a compressed trace may be several compressed files one behind the other", "[unit]") {
  const support::Folder folder;
  const std::string message = R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})";
  std::string all;
  for (const std::string& text : {header + "\n" + message.substr(0, 20), message.substr(20) + "\n", message + "\n"}) {
    gzFile file = gzopen(folder.file("part.gz").c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    all += support::text_of_file(folder.file("part.gz"));
  }
  TraceReader reader(folder.write("t.gz", all));
  TraceMessage read;
  CHECK(reader.next(read));
  CHECK(reader.next(read));
  CHECK(!reader.next(read));
}

TEST_CASE("a number below zero is refused, and minus nothing is nothing", "[unit]") {
  CHECK(complaint_about_text(header + "\n" + R"({"step":-0,"src":-0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[-0]})").empty());
  CHECK(complaint_about_text(header + "\n" + R"({"step":-7,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[0]})")
            .find("'step' is -7; it must not be negative") != std::string::npos);
}

TEST_CASE("a header of a shape that there cannot be says what is wrong with it", "[unit]") {
  std::string text = header;
  text.replace(text.find("[3,4]"), 5, "[0,4]");
  CHECK(complaint_about_text(text).find("the header describes no machine: an extent of 0: it must be at least 1") != std::string::npos);
}

TEST_CASE("a folder and a file that is not there are refused", "[unit]") {
  const support::Folder folder;
  CHECK(!complaint_about(folder.file("none")).empty());
  CHECK(!complaint_about(folder.file("")).empty());
}

TEST_CASE("a header that gives a key twice is refused, wherever in it", "[unit]") {
  for (const char* key : {"shape", "ports", "sources", "algorithm", "note"}) {
    CAPTURE(key);
    std::string text = header;
    text.insert(text.size() - 1, std::string(",\"note\":{\"shape\":[1]},\"algorithm\":\"a\",\"") + key + "\":[1]");
    CHECK(complaint_about_text(text).find(" line 1: the header has '" + std::string(key) + "' twice; give each key once") !=
          std::string::npos);
  }
}

TEST_CASE("a compressed file that grows as no trace does is refused before it fills the memory", "[unit]") {
  const support::Folder folder;
  gzFile file = gzopen(folder.file("t.gz").c_str(), "wb9");
  const std::string start = header + "\n" + R"({"step":0,"src":0,"dst":1,"path":[[1,1]],"bytes":1,"blocks":[)";
  gzwrite(file, start.data(), static_cast<unsigned>(start.size()));
  std::string blocks;
  for (int i = 0; i < 1 << 19; ++i) blocks += "0,";
  for (int i = 0; i < 96; ++i) gzwrite(file, blocks.data(), static_cast<unsigned>(blocks.size()));
  gzclose(file);
  const std::string complaint = complaint_about(folder.file("t.gz"));
  CAPTURE(complaint);
  CHECK(complaint.find(" line 2: ") != std::string::npos);
  const bool grows = complaint.find("holds more than 200 times its size") != std::string::npos;
  CHECK((grows || complaint.find("there is no memory to judge more") != std::string::npos));
}
