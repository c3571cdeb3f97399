// SPDX-License-Identifier: Apache-2.0
// The threads behind threads.h, and oneDNN's. A team runs the parts of one job at a time; the thread that starts a job takes
// part.
//
// A thread begins with the part of its own number, then takes parts that no thread has begun. So a job never waits for a
// thread that the system does not run, only for parts that were begun. Which thread runs a part changes no byte: a part is
// given its number, not the thread's. A thread that waits spins for a short time, then sleeps in the kernel.
//
// Cost of a job: one store that all wait for, one exchange a part, one decrement a part; a call into the kernel if a thread
// sleeps.
#pragma once

#include <stdbool.h>

// Runs run(context, part) for all parts below `parts` and returns when all have ended. There are as many threads, so parts may
// wait for each other. A part may call this for one part only. Each calling thread has a team of its own, which ends with that
// thread.
void pool_run(int parts, void (*run)(void *context, int part), void *context);

bool pool_inside(void);  // the caller is a part
int pool_part(void);     // its number; 0 outside
int pool_parts(void);    // how many its job has; 1 outside
void pool_barrier(void); // waits until all parts of the job are here
