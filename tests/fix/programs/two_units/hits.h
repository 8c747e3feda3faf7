// SPDX-License-Identifier: Apache-2.0
#pragma once

extern int hits;
void serve();
