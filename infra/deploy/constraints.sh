#!/bin/sh
# Write constraints.txt: names, exact versions and hashes for every platform; no address of an index in it.
set -eu
python=${PYTHON:-python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if command -v uv >/dev/null 2>&1; then
    uv=uv
else
    "$python" -m venv "$scratch/uv"
    "$scratch/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv
    uv=$scratch/uv/bin/uv
fi

# The SDK comes from this repository, so it is named by its folder and left out of the result.
echo "$PWD/sdk[cli]" >"$scratch/sdk.in"
"$uv" pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
    --no-annotate --no-header --no-emit-index-url --no-emit-find-links \
    --no-emit-package signal-search --no-emit-package signal-search-sdk \
    --group dev --output-file "$scratch/constraints.txt" pyproject.toml "$scratch/sdk.in"
mv "$scratch/constraints.txt" constraints.txt
