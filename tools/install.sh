#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# install.sh LIST...: installs the packages named in the lists that are missing. Does nothing, quickly,
# when all are there; then it needs neither root nor the network.
set -euo pipefail
missing=()
while read -r package; do
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  # What is named like its command may have come from elsewhere, as npm does with other builds of node.
  [[ $status == "install ok installed" ]] || command -v "$package" >/dev/null || missing+=("$package")
done < <(grep -hv '^#' "$@")
[[ ${#missing[@]} -gt 0 ]] || exit 0
echo "== installing from Debian: ${missing[*]}"
as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "install.sh: be root, or install sudo, to install packages" >&2; exit 1; }
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
