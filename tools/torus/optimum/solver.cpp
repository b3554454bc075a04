#include "tools/torus/optimum/solver.hpp"

#include <torus/error.hpp>

#include "tools/torus/cli/console.hpp"

#ifdef TORUS_HAS_CADICAL
#include <array>
#include <cadical.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#endif

namespace torus::command {

#ifdef TORUS_HAS_CADICAL

namespace {

class Deadline : public CaDiCaL::Terminator {
 public:
  explicit Deadline(std::optional<double> seconds) : seconds_{seconds} {}
  bool terminate() override {
    return interrupted() || (seconds_ && std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() > *seconds_);
  }

 private:
  std::optional<double> seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string text_of(std::FILE* file) {
  std::string text;
  std::array<char, 1U << 16U> part{};
  std::rewind(file);
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), file)) text.append(part.data(), read);
  return text;
}

}  // namespace

bool has_solver() noexcept { return true; }

Solved solve(const optimum::Formula& formula, const SolverLimit& limit, bool with_proof) {
  const InterruptsAwaited awaited;
  Deadline deadline(limit.seconds);
  const std::unique_ptr<std::FILE, CloseFile> proof(with_proof ? std::tmpfile() : nullptr);
  if (with_proof && proof == nullptr) throw RunError("the proof: no temporary file can be made");
  Solved solved;
  {
    CaDiCaL::Solver solver;
    solver.set("quiet", 1);
    if (with_proof) {
      solver.set("binary", 0);
      solver.trace_proof(proof.get(), "proof");
    }
    solver.connect_terminator(&deadline);
    if (limit.conflicts) solver.limit("conflicts", *limit.conflicts);
    solver.reserve(formula.variables());
    for (const optimum::Clause& clause : formula.clauses()) {
      for (const optimum::Literal literal : clause) solver.add(literal);
      solver.add(0);
    }
    const int status = solver.solve();
    solver.disconnect_terminator();
    if (interrupted()) throw RunError("interrupted");
    if (status == 10) {
      solved.satisfiable = true;
      solved.values.assign(static_cast<std::size_t>(formula.variables()) + 1, false);
      for (int variable = 1; variable <= formula.variables(); ++variable)
        solved.values[static_cast<std::size_t>(variable)] = solver.val(variable) > 0;
    }
    if (status == 20) solved.satisfiable = false;
    if (with_proof) solver.close_proof_trace();
  }
  if (with_proof && solved.satisfiable == false) solved.proof = text_of(proof.get());
  return solved;
}

#else

bool has_solver() noexcept { return false; }

Solved solve(const optimum::Formula&, const SolverLimit&, bool) {
  throw InputError(
      "torus optimum: this program is built without CaDiCaL; install libcadical-dev, or run tools/setup optimum, and build again");
}

#endif

}  // namespace torus::command
