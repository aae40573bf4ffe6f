#pragma once

/// Bodies that look as if their file was not in metres and kilograms. Private to io.

#include <string>

#include "tangere/multibody/body.hpp"

namespace tangere::internal {

/// A sentence if a body is implausible in metres and kilograms; else empty. By factors of several tens
/// at least: units are wrong by a thousand or more, placeholders and simplified shapes by less.
[[nodiscard]] std::string unit_remark(const BodySpec& body);

}  // namespace tangere::internal
