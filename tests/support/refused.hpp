/// What every wrong command line gets.
#pragma once

#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

namespace torus::support {

/// Nothing but one line on standard error that says more than "no", and status 2.
inline void check_refused(const std::string& line) {
  const Ended ended = command(line);
  CAPTURE(line, ended.err);
  CHECK(ended.status == 2);
  CHECK(ended.out.empty());
  CHECK(lines(ended.err) == 1);
  CHECK(ended.err.starts_with("torus: "));
  CHECK(ended.err.size() > 30);
  CHECK(ended.err.size() < 600);
}

}  // namespace torus::support
