/// The whole `torus` command with algorithms of your own in its list: run, compare, sweep, bench, stress, trace, view and all else. Link
/// torus::command.
///
///     const torus::Algorithm mine{.name = "mine", .collective = torus::Collective::broadcast, .plan = plan_mine};
///     TORUS_MAIN(mine)
///
/// is a program that is used like `torus`. It prints, it exits, and it handles signals: it is a program's only main.
#pragma once

#include <initializer_list>

#include <torus/algorithm.hpp>

namespace torus {

/// Runs the command with the algorithms of this project and those. Returns the exit status: 0 done and verified, 1 a run or a check failed,
/// 2 wrong usage, or a name of `own` that is not one or is taken. To be called once.
int main(int argc, char** argv, std::initializer_list<const Algorithm*> own = {});

/// The same with the algorithms themselves. They must outlive the call.
template <class... Own>
int main_with(int argc, char** argv, const Own&... own) {
  return main(argc, argv, {&own...});
}

}  // namespace torus

/// The main function of a program that is the command with these algorithms.
#define TORUS_MAIN(...) \
  int main(int argc, char** argv) { return ::torus::main_with(argc, argv __VA_OPT__(, ) __VA_ARGS__); }
