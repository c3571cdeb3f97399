// SPDX-License-Identifier: Apache-2.0
// The sources, compiler and flags of this program, for the record of every run.
#pragma once

#include <stdbool.h>

const char *build_version(void);   // "0.1.0"
const char *build_commit(void);    // full hexadecimal name, or "" when built outside a git checkout
bool build_dirty(void);            // true if tracked files differed from that commit; false without git
const char *build_compiler(void);  // "gcc 12.2.0"
const char *build_flags(void);     // as the Makefile gave them
// NULL. In a program linked with an emulator of hardware (test/emulate): the emulated hardware ("a GPU"). Measurements of such
// a program mean nothing, so it signs nothing.
const char *build_emulates(void);
