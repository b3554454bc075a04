/// A headless Chromium, driven through its debugging pipe: no driver and no port. For tests that look at pages as a reader does, and that
/// TORUS_PROGRAM is defined for.
#pragma once

#include <array>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <memory>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/command_line.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/json.hpp"

namespace torus::support {

/// TORUS_BROWSER, or a Chromium of the distribution on the PATH; empty: there is none.
inline std::string browser_program() {
  if (const char* named = std::getenv("TORUS_BROWSER"); named != nullptr) return named;
  const char* path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "chrome-headless-shell"}) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (::access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
    }
  }
  return "";
}

class Browser {
 public:
  explicit Browser(const std::string& program) {
    int down[2], up[2];
    if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const std::string profile = "--user-data-dir=" + folder_.file("profile"), log = folder_.file("log");
    const std::array<const char*, 9> arguments{program.c_str(),  "--headless",    "--remote-debugging-pipe",
                                               "--no-sandbox",   "--disable-gpu", "--disable-dev-shm-usage",
                                               "--no-first-run", profile.c_str(), nullptr};
    child_ = ::fork();
    if (child_ == 0) {
      ::setpgid(0, 0);
      const int errors = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(errors, 1);
      ::dup2(errors, 2);
      // Chromium reads from 3 and writes to 4. The pipes may lie there: they move up first.
      const int in = ::fcntl(down[0], F_DUPFD, 10), out = ::fcntl(up[1], F_DUPFD, 10);
      ::dup2(in, 3);
      ::dup2(out, 4);
      ::close(in);
      ::close(out);
      ::execv(program.c_str(), const_cast<char* const*>(arguments.data()));
      ::_exit(127);
    }
    ::close(down[0]);
    ::close(up[1]);
    to_ = down[1];
    from_ = up[0];
    const Json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}})["sessionId"];
    for (const char* domain : {"Page", "Runtime", "Log", "Network"}) call(std::string(domain) + ".enable");
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser() {
    ::close(to_);
    ::close(from_);
    ::kill(-child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }

  /// What the console said, and what the page asked for beside itself.
  std::vector<std::string> complaints;

  Json call(const std::string& method, Json parameters = Json::object()) {
    const int id = ++last_id_;
    Json message{{"id", id}, {"method", method}, {"params", std::move(parameters)}};
    if (!session_.empty()) message["sessionId"] = session_;
    const std::string text = message.dump() + '\0';
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = ::write(to_, text.data() + at, text.size() - at);
      if (written <= 0) throw std::runtime_error("the browser has gone");
      at += static_cast<std::size_t>(written);
    }
    while (true) {
      const Json answer = next();
      if (answer.value("id", 0) != id) continue;
      if (answer.contains("error")) throw std::runtime_error(method + ": " + answer["error"].dump());
      return answer["result"];
    }
  }

  /// Opens a file, which may have a fragment, in a window of that size, and waits until it is loaded. It must be another file than before.
  void open(const std::string& path, int width = 1280, int height = 800, const std::string& scheme = "light") {
    call("Emulation.setDeviceMetricsOverride", {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
    call("Emulation.setEmulatedMedia", {{"features", {{{"name", "prefers-color-scheme"}, {"value", scheme}}}}});
    const std::string url = "file://" + path;
    url_ = url.substr(0, url.find('#'));
    loaded_ = false;
    call("Page.navigate", {{"url", url}});
    while (!loaded_) next();
    settle();
  }

  /// The value of an expression in the page. A promise is awaited.
  Json value(const std::string& expression) {
    const Json answer = call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
    if (answer.contains("exceptionDetails")) throw std::runtime_error(expression + ": " + answer["exceptionDetails"].dump());
    return answer["result"].value("value", Json());
  }
  std::string text(const std::string& selector) { return value("document.querySelector('" + selector + "').textContent"); }

  /// Waits until what is to be drawn is drawn.
  void settle() { value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"); }

  void key(const std::string& name) {
    Json event{{"type", "keyDown"}, {"key", name}, {"code", name == " " ? "Space" : name}};
    if (name == " ") event["text"] = " ";
    call("Input.dispatchKeyEvent", event);
    call("Input.dispatchKeyEvent", {{"type", "keyUp"}, {"key", name}});
    settle();
  }
  void click(double x, double y) {
    for (const char* type : {"mousePressed", "mouseReleased"})
      call("Input.dispatchMouseEvent", {{"type", type}, {"x", x}, {"y", y}, {"button", "left"}, {"buttons", 1}, {"clickCount", 1}});
    settle();
  }
  /// The picture as PNG in base64: enough to tell two apart.
  std::string screenshot() { return call("Page.captureScreenshot", {{"format", "png"}, {"optimizeForSpeed", true}})["data"]; }

 private:
  /// The next message; notes what it complains of.
  Json next() {
    std::size_t end;
    while ((end = buffer_.find('\0')) == std::string::npos) {
      pollfd ready{from_, POLLIN, 0};
      if (::poll(&ready, 1, 60'000) <= 0) throw std::runtime_error("the browser is silent: " + text_of_file(folder_.file("log")));
      std::array<char, 65536> part;
      const ssize_t got = ::read(from_, part.data(), part.size());
      if (got <= 0) throw std::runtime_error("the browser has gone: " + text_of_file(folder_.file("log")));
      buffer_.append(part.data(), static_cast<std::size_t>(got));
    }
    const Json message = parsed(buffer_.substr(0, end));
    buffer_.erase(0, end + 1);
    const std::string method = message.value("method", "");
    if (method == "Page.loadEventFired") loaded_ = true;
    if (method == "Runtime.consoleAPICalled" || method == "Runtime.exceptionThrown" || method == "Log.entryAdded")
      complaints.push_back(message["params"].dump());
    if (method == "Network.requestWillBeSent") {
      const std::string url = message["params"]["request"]["url"];
      if (url.substr(0, url.find('#')) != url_) complaints.push_back("request: " + url);
    }
    return message;
  }

  Folder folder_;
  pid_t child_ = -1;
  int to_ = -1, from_ = -1, last_id_ = 0;
  std::string session_, buffer_, url_;
  bool loaded_ = false;
};

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
