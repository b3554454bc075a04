/// Pages of runs in a browser, for tests that TORUS_PROGRAM is defined for.
#pragma once

#include <iostream>
#include <memory>
#include <string>

#include "tests/support/browser.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"

namespace torus::support {

/// None where there is no browser, which CTest reports as skipped.
inline std::unique_ptr<Browser> browser() {
  const std::string program = browser_program();
  if (!program.empty()) return std::make_unique<Browser>(program);
  std::cout << "not tried here: no headless browser; install chromium, or set TORUS_BROWSER\n";
  return nullptr;
}

/// The page of a run; its trace is t.jsonl beside it.
inline std::string viewed(const Folder& folder, const std::string& line, int status = 0) {
  const Ended ended = command("run " + line + " --trace " + folder.file("t.jsonl") + " --view " + folder.file("page.html"));
  CAPTURE(line, ended.err);
  REQUIRE(ended.status == status);
  return folder.file("page.html");
}

}  // namespace torus::support
