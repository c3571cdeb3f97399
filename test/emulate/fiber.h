// SPDX-License-Identifier: Apache-2.0
// Fibers: several stacks in one thread of the operating system; a call switches between them. A switch takes a dozen
// instructions on x86-64; elsewhere it uses ucontext, with a system call each time. AddressSanitizer is notified of each
// switch.
#pragma once

#include <stddef.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define EMULATE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATE_ASAN 1
#endif
#endif

struct fiber {
#ifdef __x86_64__
    void *top;  // where its registers are stored while it is suspended
#else
    ucontext_t context;
#endif
    const void *stack;  // its lowest address
    size_t bytes;
    void *fake;  // AddressSanitizer's fake stack
    struct fiber *next;
};

// Creates a fiber with its own stack. It starts with main(), and main() must first call fiber_arrive(); main() never returns.
struct fiber *fiber_new(void (*main)(void));
void fiber_arrive(void);
// Switches from `from`, which is running (a zero struct for a thread's first stack), to `to`. Returns when `from` is resumed.
void fiber_switch(struct fiber *from, struct fiber *to);
