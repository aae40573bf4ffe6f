/// `tangere query FILE|-`: pair queries, line by line.

#include "apps/cli/commands.hpp"
#include "apps/cli/line_reader.hpp"
#include "tangere/io/query.hpp"

namespace tangere::cli {

int run_query(const QueryArguments& arguments) {
  ScalingWorkspace workspace;
  return answer_lines("query", arguments.file, [&](std::string_view line, std::size_t number) {
    return answer_query_line(line, number, workspace);
  });
}

}  // namespace tangere::cli
