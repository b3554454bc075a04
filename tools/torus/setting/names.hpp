/// What typed words name: collectives, algorithms, shapes. A word that names nothing, or something else, is answered with what may have
/// been meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <torus/catalogue.hpp>

namespace torus::command {

class TypedOptions;

/// "broadcast", or as MPI calls it: "bcast". Throws InputError if there is no such collective.
Collective parse_collective(std::string_view text);
/// Throws InputError too where MPI's name says that blocks have sizes, "alltoallv", and --sizes does not say which.
Collective parse_collective(std::string_view text, const TypedOptions& typed);

/// The algorithm of that name. Throws InputError that says what may have been meant.
const Algorithm& named_algorithm(std::string_view option, Collective collective, std::string_view wanted,
                                 std::span<const Algorithm* const> algorithms);

/// `all`, or names with commas between; in the order of the catalogue, which settles ties.
std::vector<const Algorithm*> parse_algorithms(std::string_view option, std::string_view text, Collective collective,
                                               std::span<const Algorithm* const> algorithms);

/// The algorithms of a collective, or those of a name; all where no word is given. Throws InputError "option 'word': rule", with what may
/// have been meant.
std::vector<const Algorithm*> algorithms_called(std::string_view option, const std::optional<std::string>& word, std::string_view rule);

/// A shape in our notation. Throws InputError, with --machine where it is the name of a machine.
Topology parse_shape(std::string_view text);

}  // namespace torus::command
