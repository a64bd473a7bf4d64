#!/bin/sh
# Build a virtual environment from constraints.txt: exact versions, checked by their hashes. Usage: install.sh FOLDER
set -eu
venv=$1
python=${PYTHON:-python3}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
    echo "Python 3.11 or later is needed; $python is not. Name another one: make PYTHON=python3.12 ..." >&2
    exit 1
}

if command -v uv >/dev/null 2>&1; then
    [ -x "$venv/bin/python" ] || uv venv --quiet --seed --python "$python" "$venv"
    install() { uv pip install --quiet --python "$venv/bin/python" "$@"; }
else
    [ -x "$venv/bin/pip" ] || "$python" -m venv "$venv" || {
        echo "Python's venv module is needed (Debian, Ubuntu: apt install python3-venv)." >&2
        exit 1
    }
    install() { "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; }
fi

echo "building $venv from constraints.txt ..." >&2
install --require-hashes --no-deps -r constraints.txt
# The build back end stands in constraints.txt too, so nothing unpinned is fetched here.
install --no-deps --no-build-isolation -e ./sdk -e .
