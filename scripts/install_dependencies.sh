#!/usr/bin/env bash
# Installs the Debian packages that are missing for a task, and nothing if none is.
#
#   scripts/install_dependencies.sh [build] [viewer] [test] [bench] [oracles] [lint]        (default: build viewer test)

set -euo pipefail

# zlib1g-dev: Debian's assimp names libz.so on its link line and does not depend on it
build=(g++ make cmake ninja-build ccache libeigen3-dev libqhull-dev nlohmann-json3-dev libtinyxml2-dev libcli11-dev
  libboost-dev libassimp-dev zlib1g-dev python3-dev python3-venv)
test=(libgtest-dev python3 chromium)
bench=(libbenchmark-dev libfcl-dev libmujoco-dev)
oracles=(libfcl-dev libmujoco-dev libdart-dev libdart-utils-urdf-dev libdart-external-ikfast-dev libdart-external-odelcpsolver-dev
  libdart-external-convhull-3d-dev)
lint=(clang clang-format clang-tidy python3)

# what the tasks need
packages=()
wants_npm=0
for task in "${@:-build viewer test}"; do
  for name in $task; do
    case "$name" in
      build) packages+=("${build[@]}") ;;
      # from wherever it comes; npm is part of some packages of nodejs and excluded by them, so it is looked at last
      viewer) wants_npm=1; command -v node >/dev/null || packages+=(nodejs) ;;
      test) packages+=("${test[@]}") ;;
      bench) packages+=("${bench[@]}") ;;
      oracles) packages+=("${oracles[@]}") ;;
      lint) packages+=("${lint[@]}") ;;
      *) echo "install_dependencies.sh: unknown task '$name' (build, viewer, test, bench, oracles, lint)" >&2; exit 2 ;;
    esac
  done
done

# other systems bring their own packages; CMake says what it misses there
if ! command -v dpkg-query >/dev/null; then
  echo "not a Debian system: please provide the equivalents of ${packages[*]}" >&2
  exit 0
fi

missing=()
has_npm() { ((wants_npm == 0)) || command -v npm >/dev/null; }
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ "$status" == installed ]] || missing+=("$package")
done
((${#missing[@]} > 0)) || ! has_npm || exit 0

# root, sudo without a password, or the line to run by hand
if [[ $(id -u) == 0 ]]; then
  prefix=(env)
elif command -v sudo >/dev/null && sudo --non-interactive true 2>/dev/null; then
  prefix=(sudo --non-interactive env)
else
  echo "missing packages; please run:" >&2
  echo "  sudo apt-get update && sudo apt-get install --yes --no-install-recommends ${missing[*]}$(has_npm || echo " npm")" >&2
  exit 1
fi
install() {
  echo "installing $*"
  "${prefix[@]}" DEBIAN_FRONTEND=noninteractive apt-get install --quiet=2 --yes --no-install-recommends "$@"
}
"${prefix[@]}" apt-get update --quiet=2
((${#missing[@]} == 0)) || install "${missing[@]}"
has_npm || install npm
