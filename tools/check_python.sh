#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Says which scripts black would change, and what flake8 finds in them (pyproject.toml, .flake8); changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Not formatted yet: work on them is under way.
later='tools/check_includes'
mapfile -t scripts < <(find tests bench tools -name '*.py' | sort)
mapfile -t formatted < <(printf '%s\n' "${scripts[@]}" | grep -vE "^($later)\.py$")
black --quiet --check --diff "${formatted[@]}"
flake8 "${scripts[@]}"
