#!/usr/bin/env bash
# Makes build/venv, an environment of Python with what the package needs to be built and tested, and nothing if it is
# there.
#
#   scripts/python_environment.sh [PACKAGE...]        more packages, for frameworks or peers

set -euo pipefail
cd "$(dirname "$0")/.."

packages=("nanobind >= 2.9, < 4" "numpy >= 1.24" pytest typing_extensions "$@")
environment=build/venv
made="$environment/made-with"

if [[ ! -x $environment/bin/python ]]; then
  mkdir -p build
  python3 -m venv "$environment"
fi
touch "$made"
missing=()
for package in "${packages[@]}"; do
  grep --quiet --line-regexp --fixed-strings "$package" "$made" || missing+=("$package")
done
((${#missing[@]} > 0)) || exit 0
echo "installing ${missing[*]}"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${missing[@]}" || {
  echo "pip cannot install ${missing[*]} (behind a proxy with a certificate of its own: export PIP_CERT=<file>)." >&2
  echo "Everything but the Python package works without it: make test PYTHON=OFF" >&2
  exit 1
}
printf '%s\n' "${missing[@]}" >> "$made"
