#pragma once

/// How much it matters that something of a file is not used. Private to io.

#include <string_view>

#include "tangere/io/robot_file.hpp"

namespace tangere::internal {

/// Rank of an attribute of an element, or of the element itself (no attribute).
[[nodiscard]] NoticeRank rank_of_unused(std::string_view element, std::string_view attribute);

}  // namespace tangere::internal
