// SPDX-License-Identifier: Apache-2.0
#include "test/emulate/fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef EMULATE_ASAN
#include <sanitizer/common_interface_defs.h>
enum { STACK = 1 << 19 };  // ASan's frames are several times larger
#else
enum { STACK = 1 << 17 };
#endif
enum { GUARD = 1 << 16 };  // a multiple of every page size

static struct fiber *entered_from;

#ifdef __x86_64__
extern "C" void fiber_exchange(void **top, void *to);
__asm__(".text\n"
        ".globl fiber_exchange\n"
        ".type fiber_exchange, @function\n"
        "fiber_exchange:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size fiber_exchange, . - fiber_exchange\n");
#endif

struct fiber *fiber_new(void (*main)(void))
{
    char *low = (char *)mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct fiber *f = (struct fiber *)calloc(1, sizeof *f);
    if (low == MAP_FAILED || !f || mprotect(low, GUARD, PROT_NONE) != 0) {
        fprintf(stderr, "emulator: no memory for the stack of a thread\n");
        abort();
    }
    f->stack = low + GUARD;
    f->bytes = STACK;
#ifdef __x86_64__
    void **top = (void **)(low + GUARD + STACK);
    *--top = NULL;          // main's return address; the stack then looks as after a call
    *--top = (void *)main;  // fiber_exchange returns here
    top -= 6;               // the registers that it restores, all zero
    f->top = top;
#else
    getcontext(&f->context);
    f->context.uc_stack.ss_sp = low + GUARD;
    f->context.uc_stack.ss_size = STACK;
    makecontext(&f->context, main, 0);
#endif
    return f;
}

void fiber_arrive(void)
{
#ifdef EMULATE_ASAN
    __sanitizer_finish_switch_fiber(NULL, &entered_from->stack, &entered_from->bytes);
#endif
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
    entered_from = from;
#ifdef EMULATE_ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->stack, to->bytes);
#endif
#ifdef __x86_64__
    fiber_exchange(&from->top, to->top);
#else
    swapcontext(&from->context, &to->context);
#endif
#ifdef EMULATE_ASAN
    __sanitizer_finish_switch_fiber(from->fake, &entered_from->stack, &entered_from->bytes);
#endif
}
