#include <cctype>
#include <fmt/format.h>

#include <torus/error.hpp>

#include "algorithms/foreign/content.hpp"
#include "runtime/base/lines.hpp"

namespace torus {
namespace {

constexpr detail::Lines::Kind schedule{"schedule", "a file that `torus run --trace` wrote, MSCCL XML, TE-CCL JSON or ForestColl trees",
                                       most_text};

/// XML begins with its first element, behind comments and declarations; a trace with its format, in its first line.
ForeignSchedule::Kind kind_of_text(const foreign::File& file) {
  using Kind = ForeignSchedule::Kind;
  const std::string_view text = file.text;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) file.refuse("the file is empty; it must be MSCCL XML, TE-CCL JSON, ForestColl trees or a trace");
  if (text[first] == '<') {
    for (std::size_t at = first; at != std::string_view::npos; at = text.find('<', at + 1)) {
      const std::string_view element = text.substr(at + 1);
      if (element.starts_with("!--")) at = text.find("-->", at);
      if (at == std::string_view::npos) break;
      if (element.starts_with('!') || element.starts_with('?')) continue;
      return element.starts_with("trees") ? Kind::forestcoll : Kind::msccl;
    }
    return Kind::msccl;
  }
  if (text[first] != '{') file.refuse("it is neither XML nor JSON; it must be MSCCL XML, TE-CCL JSON, ForestColl trees or a trace");
  return text.substr(0, text.find('\n')).find("torus-trace") != std::string_view::npos ? Kind::trace : Kind::teccl;
}

}  // namespace

namespace foreign {

void File::refuse(std::string_view why) const { throw InputError(fmt::format("schedule '{}': {}", path, why)); }

File read_file(const std::string& path) {
  File file{path, {}};
  detail::Lines lines(path, schedule);
  while (const auto line = lines.next()) {
    file.text += *line;
    file.text += '\n';
  }
  return file;
}

}  // namespace foreign

std::string_view name(ForeignSchedule::Kind kind) noexcept {
  switch (kind) {
    case ForeignSchedule::Kind::trace: return "trace";
    case ForeignSchedule::Kind::msccl: return "MSCCL XML";
    case ForeignSchedule::Kind::teccl: return "TE-CCL JSON";
    case ForeignSchedule::Kind::forestcoll: return "ForestColl trees";
  }
  return "";
}

ForeignSchedule::Kind ForeignSchedule::kind_of(const std::string& path) {
  if (path == "-") return Kind::trace;
  detail::Lines lines(path, schedule);
  foreign::File begin{path, {}};
  while (const auto line = lines.next()) {
    begin.text += line->substr(0, std::size_t{1} << 16U);
    begin.text += '\n';
    if (begin.text.size() > (std::size_t{1} << 16U)) break;
  }
  return kind_of_text(begin);
}

ForeignSchedule ForeignSchedule::read(const std::string& path) {
  if (kind_of(path) == Kind::trace) return ForeignSchedule(foreign::read_trace(path));
  const foreign::File file = foreign::read_file(path);
  switch (kind_of_text(file)) {
    case Kind::teccl: return ForeignSchedule(foreign::read_teccl(file));
    case Kind::forestcoll: return ForeignSchedule(foreign::read_forestcoll(file));
    default: return ForeignSchedule(foreign::read_msccl(file));
  }
}

ForeignSchedule::Kind ForeignSchedule::kind() const noexcept { return content_->kind; }
const std::string& ForeignSchedule::name() const noexcept { return content_->name; }
Collective ForeignSchedule::collective() const noexcept { return content_->collective; }
NodeId ForeignSchedule::ranks() const noexcept { return content_->ranks; }
const std::vector<NodeId>& ForeignSchedule::sources() const noexcept { return content_->sources; }
std::uint32_t ForeignSchedule::segments() const noexcept { return content_->segments; }
bool ForeignSchedule::uneven() const noexcept { return content_->uneven; }
NativeMachine ForeignSchedule::native() const noexcept { return content_->native; }

std::string ForeignSchedule::reading() const {
  switch (kind()) {
    case Kind::trace: return "a trace, message by message; control words are left out";
    case Kind::msccl:
      return "MSCCL XML in lock step: each message in the first step that its threadblock, dependencies and queue allow; bytes and "
             "legality "
             "are exact, model time is an upper estimate of the asynchronous program";
    case Kind::teccl: return "TE-CCL JSON: a flow is a hop, an epoch a step";
    case Kind::forestcoll:
      return "ForestColl trees in lock step: each node passes a chunk on in the step after it came; bytes and legality are exact, model "
             "time "
             "is an upper estimate of the pipeline";
  }
  return "";
}

ForeignSchedule::Placed ForeignSchedule::on(const Machine& machine, std::span<const NodeId> node_of_rank) const {
  TORUS_ASSERT(node_of_rank.size() == machine.topology.nodes());
  return foreign::placed(*content_, {machine, node_of_rank});
}

}  // namespace torus
