/// A schedule of another program in place of an algorithm: --schedule FILE. --map says which node is each of its ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torus/foreign_schedule.hpp>

#include "tools/torus/setting/setting.hpp"

namespace torus::command {

/// The algorithm that plays the file of a spec on the spec's nodes. It lasts as long as the program; the same file is read once. Throws
/// InputError: the file cannot be read, is of another collective, or its map does not name each node once.
const Algorithm& algorithm_of_file(const RunSpec& spec);
/// Whether an algorithm is a file's.
bool plays_file(const Algorithm& algorithm);
/// The schedule of a setting with such an algorithm, on the setting's machine.
Schedule schedule_of(const Setting& setting);

/// The setting of a spec that names a file. What is not said of the machine is what the kind of the file implies; the sources or the root
/// are those of the file. `runs` false: nobody needs the memory of a run. Throws InputError.
Setting scheduled_setting(const RunSpec& spec, bool runs = true);

/// " --algorithm ring", or " --schedule 'ring.xml'": what names the algorithm.
std::string algorithm_options(const Algorithm& algorithm);

}  // namespace torus::command
