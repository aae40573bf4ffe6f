#pragma once

/// Pair queries to look at: both shapes, witness points, normal, and how far they must be scaled to touch.

#include <filesystem>
#include <string_view>

#include "tangere/io/recording/recording_data.hpp"

namespace tangere {

/// A frame a query (JSON lines, docs/query.md), a second apart, with the two bodies of the query in it and no others.
/// Throws InputError with file, line and field for a line that is wrong, and for a file without queries.
[[nodiscard]] Recording record_queries(std::string_view lines, const std::filesystem::path& file);

}  // namespace tangere
