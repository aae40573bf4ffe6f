#pragma once

/// Commands that read lines and write lines, so that they can sit in a pipe or be used interactively.

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "tangere/io/query.hpp"

namespace tangere::cli {

/// Answers every line of the file (`-`: standard input) on standard output; blank lines are skipped and counted. The
/// exit code: bad input if a line was bad or the file could not be read. `command` names the command in errors.
using AnswerLine = std::function<QueryAnswer(std::string_view line, std::size_t number)>;
[[nodiscard]] int answer_lines(const char* command, const std::string& file, const AnswerLine& answer);

}  // namespace tangere::cli
