#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Says which scripts black would change, and what flake8 finds in them (pyproject.toml, .flake8); changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mapfile -t scripts < <(find tests bench tools -name '*.py' | sort)
black --quiet --check --diff "${scripts[@]}"
flake8 "${scripts[@]}"
