// SPDX-License-Identifier: Apache-2.0
//
// A program that does nothing: what is left is the start.
int main() {}
