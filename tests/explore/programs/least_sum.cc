// SPDX-License-Identifier: Apache-2.0
//
// Needs four preemptions, each at the one right step of many: a search has to learn from what earlier runs have shown.
//
// EXPECT-FAILURE: assertion
// SWITCHES: 4
// FLAGS: -DROUNDS=10
// REPLAYS: 20
#include "../../../bench/search/programs/least_sum.cc"
