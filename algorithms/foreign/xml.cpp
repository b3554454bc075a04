#include "algorithms/foreign/xml.hpp"

#include <algorithm>
#include <exception>
#include <expat.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <type_traits>

#include <torus/error.hpp>

namespace torus::foreign {
namespace {

struct Reading {
  XML_Parser parser;
  int most_depth;
  const std::function<void(int, std::string_view, const Attributes&)>& begin;
  int depth = 0;
  Attributes attributes = {};
  std::exception_ptr thrown = {};
  std::string refused = {};

  /// Expat is C: what is thrown waits until it has returned.
  template <class F>
  void guarded(F&& f) noexcept {
    if (thrown) return;
    try {
      f();
    } catch (...) {
      thrown = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }
};

void begin_element(void* data, const char* name, const char** pairs) {
  auto& reading = *static_cast<Reading*>(data);
  reading.guarded([&] {
    if (reading.depth >= reading.most_depth) {
      reading.refused = fmt::format("elements are nested more than {} deep", reading.most_depth);
      XML_StopParser(reading.parser, XML_FALSE);
      return;
    }
    reading.attributes.clear();
    for (const char** at = pairs; *at != nullptr; at += 2) reading.attributes.emplace_back(at[0], at[1]);
    reading.begin(reading.depth++, name, reading.attributes);
  });
}

void end_element(void* data, const char*) { --static_cast<Reading*>(data)->depth; }

void begin_document_type(void* data, const char*, const char*, const char*, int) {
  auto& reading = *static_cast<Reading*>(data);
  reading.guarded([&] {
    reading.refused = "it has a document type, whose entities are not read; leave out <!DOCTYPE ..>";
    XML_StopParser(reading.parser, XML_FALSE);
  });
}

}  // namespace

void read_xml(const File& file, int most_depth, const std::function<void(int, std::string_view, const Attributes&)>& begin) {
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(XML_ParserCreate(nullptr), &XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  Reading reading{parser.get(), most_depth, begin};
  XML_SetUserData(parser.get(), &reading);
  XML_SetElementHandler(parser.get(), begin_element, end_element);
  XML_SetStartDoctypeDeclHandler(parser.get(), begin_document_type);
  constexpr std::size_t chunk = std::size_t{1} << 20U;
  for (std::size_t at = 0;; at += chunk) {
    const std::size_t count = std::min(chunk, file.text.size() - at);
    const bool last = at + count == file.text.size();
    const XML_Status status = XML_Parse(parser.get(), file.text.data() + at, static_cast<int>(count), last);
    if (reading.thrown) std::rethrow_exception(reading.thrown);
    if (status != XML_STATUS_OK) {
      const std::string why =
          !reading.refused.empty() ? reading.refused : fmt::format("it is no XML: {}", XML_ErrorString(XML_GetErrorCode(parser.get())));
      file.refuse(fmt::format("line {}: {}", XML_GetCurrentLineNumber(parser.get()), why));
    }
    if (last) return;
  }
}

}  // namespace torus::foreign
