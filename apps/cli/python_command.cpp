#include "apps/cli/python_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "apps/cli/commands.hpp"

namespace tangere::cli {
namespace {

/// Set on the way to Python, so that a package without sweeps does not come back here for ever.
constexpr const char* kOnTheWay = "TANGERE_COMMAND_IN_PYTHON";

bool belongs_to_python(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "sweep") return true;
  if (command != "experiment") return false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--engine" || argument.starts_with("--engine=")) return true;
  }
  return false;
}

}  // namespace

std::optional<int> run_python_command(int argc, char** argv) {
  if (!belongs_to_python(argc, argv)) return std::nullopt;
  const char* chosen = std::getenv("TANGERE_PYTHON");
  const char* python = chosen != nullptr && *chosen != '\0' ? chosen : "python3";
  if (std::getenv(kOnTheWay) == nullptr) {
    // the import is tried first: its failure is told here, with what to do
    static constexpr const char* kStart =
        "import sys\n"
        "try:\n"
        "    import tangere, tangere.sweep\n"
        "except ImportError as error:\n"
        "    print(f'tangere: sweeps are of the Python package, and {sys.executable} has none ({error}): '\n"
        "          'pip install tangere[sweep], or name another Python by TANGERE_PYTHON', file=sys.stderr)\n"
        "    sys.exit(2)\n"
        "from tangere.__main__ import main\n"
        "sys.exit(main())\n";
    std::vector<const char*> arguments{python, "-c", kStart};
    for (int i = 1; i < argc; ++i) arguments.push_back(argv[i]);
    arguments.push_back(nullptr);
    setenv(kOnTheWay, "1", 1);
    execvp(python, const_cast<char* const*>(arguments.data()));
  }
  std::fprintf(stderr,
               "tangere: sweeps are of the Python package, and %s cannot be started (%s): install Python 3 and "
               "tangere[sweep], or name a Python by TANGERE_PYTHON\n",
               python, std::strerror(errno));
  return kExitBadInput;
}

}  // namespace tangere::cli
