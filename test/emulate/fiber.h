// SPDX-License-Identifier: Apache-2.0
// Fibers: several stacks in one thread of the operating system, left and entered by a call. On x86-64 a switch is a
// dozen instructions; elsewhere ucontext does it, with a system call each time. AddressSanitizer is told of each switch.
#ifndef DAWN_FIBER_H
#define DAWN_FIBER_H

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
    void *top;  // where its registers lie while it is left
#else
    ucontext_t context;
#endif
    const void *stack;  // its lowest address
    size_t bytes;
    void *fake;  // AddressSanitizer's own
    struct fiber *next;
};

// A fiber with a stack of its own, which begins with main(), and main() with fiber_arrive(); main() never returns.
struct fiber *fiber_new(void (*main)(void));
void fiber_arrive(void);
// Leaves `from`, which is running (a zero struct for a thread's first stack), for `to`. Returns when `from` is entered again.
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
