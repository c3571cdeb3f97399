// SPDX-License-Identifier: Apache-2.0
// How anything in DAWN fails: an int and a sentence.
//
// A function that can fail returns 0 or a negative code through `return fail(ERR_X, "sentence")`. The sentence says what
// failed, where, and in which file or record. A thread-local keeps it until main prints it. Nothing in a library folder
// prints, and only main exits. BUG() aborts when the impossible happens, in release builds too.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ERROR(name, exit code of the program, what it stands for)
#define ERROR_LIST                                                                                                     \
    ERROR(USAGE, 2, "the command line is wrong")                                                                       \
    ERROR(INPUT, 1, "bytes from outside are not what they should be")                                                  \
    ERROR(MISSING, 1, "the named thing does not exist")                                                               \
    ERROR(IO, 1, "the system refused to read or write")                                                                \
    ERROR(MEMORY, 1, "not enough memory")                                                                              \
    ERROR(SHAPE, 1, "a graph does not fit together")                                                                   \
    ERROR(UNSUPPORTED, 1, "a device or build cannot do this")                                                         \
    ERROR(DEVICE, 1, "a device failed")                                                                                \
    ERROR(NETWORK, 1, "a server or the way to it failed")                                                              \
    ERROR(DATABASE, 1, "results.db failed")                                                                            \
    ERROR(TARGET, 3, "training ended below the target")                                                                \
    ERROR(DIFFERS, 3, "a replay came to other figures")                                                                \
    ERROR(INTERRUPTED, 130, "stopped by the user")

enum error_number {
    ERROR_NONE,
#define ERROR(name, code, text) ERROR_NUMBER_##name,
    ERROR_LIST
#undef ERROR
        ERROR_END
};
enum error {
#define ERROR(name, code, text) ERR_##name = -ERROR_NUMBER_##name,
    ERROR_LIST
#undef ERROR
};

#define MUST_CHECK __attribute__((warn_unused_result))

// Keeps the sentence (at most ERROR_TEXT_MAX bytes) for this thread and returns `code`.
enum { ERROR_TEXT_MAX = 1024 };
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
// As fail, and ends the sentence with the system's reason for `errno_value`.
int fail_errno(int code, int errno_value, const char *format, ...) __attribute__((format(printf, 3, 4)));
// Puts words before the sentence that is kept ("DAWN_KEY: " before the fault of its value) and returns `code`, which may
// differ from the code that the sentence came with.
int fail_prefix(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *error_text(void);     // the last sentence of this thread; "" if there is none
int error_exit_code(int code);    // what main returns for a code: 0 for 0

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        int try_rc_ = (call);                                                                                          \
        if (try_rc_ < 0) return try_rc_;                                                                               \
    } while (0)

// The program's name in sentences and helps. A main may change it before anything else.
extern const char *error_program;

__attribute__((noreturn)) void bug_at(const char *file, int line, const char *what);
#define BUG(what) bug_at(__FILE__, __LINE__, what)
// Ends the program with status 1 and a sentence, because the system has not so many bytes. Only arena.c calls it.
__attribute__((noreturn)) void error_no_memory(size_t bytes);
#define BUG_IF(condition)                                                                                              \
    do {                                                                                                               \
        if (condition) BUG(#condition);                                                                                \
    } while (0)
