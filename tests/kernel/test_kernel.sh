#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# `make check-kernel` in short: ten million operations in all, half of them for each of Debian's two kernels.
set -e -u -o pipefail

OPERATIONS=5000000 bash tests/kernel/check
