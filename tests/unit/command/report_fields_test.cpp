// The figures of a report are said once: the page has them all, and each has a name of its own and a meaning.
#include "tools/torus/run/report_fields.hpp"

#include <set>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/generated.hpp"

using namespace torus;

TEST_CASE("the page on JSON shows the fields of a report", "[unit]") {
  support::check_generated(TORUS_SOURCE_DIR "/tools/json.md", "<!-- the fields of a report -->\n", "<!-- end of the fields -->\n",
                           "\n" + command::report_fields_page() + "\n");
}

TEST_CASE("every figure of a report has a name of its own, and a meaning", "[unit]") {
  std::set<std::string_view> keys;
  for (const command::ReportField& field : command::report_fields()) {
    CAPTURE(field.key);
    CHECK(keys.insert(field.key).second);
    CHECK(field.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos);
  }
  CHECK_FALSE(command::report_fields().back().meaning.empty());
}
