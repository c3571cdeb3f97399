// SPDX-License-Identifier: Apache-2.0
// Fixtures for tests of the emulator: a small GPU, and actions that must end the process.
#pragma once

#include "test/unit/must.h"

#include "test/emulate/emulate_test.h"
#include "test/emulate/faulty/k_faulty.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define CUDA(call) assert_int_equal(call, cudaSuccess)
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
enum { COUNT = 256 * 40 };

struct gpu {
    cudaStream_t stream;
    float *x, *y;  // COUNT elements each, on the GPU
    float host[COUNT];
};

static inline void open_gpu(struct gpu *c)
{
    memset(c, 0, sizeof *c);
    CUDA(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc((void **)&c->x, sizeof c->host));
    CUDA(cudaMalloc((void **)&c->y, sizeof c->host));
    for (int i = 0; i < COUNT; i++) c->host[i] = (float)(i % 1000) * 0.37f - 100.0f;
    CUDA(cudaMemcpyAsync(c->x, c->host, sizeof c->host, cudaMemcpyHostToDevice, c->stream));
    CUDA(cudaMemsetAsync(c->y, 0, sizeof c->host, c->stream));
    CUDA(cudaStreamSynchronize(c->stream));
}

static inline void close_gpu(struct gpu *c)
{
    CUDA(cudaFree(c->x));
    CUDA(cudaFree(c->y));
    CUDA(cudaStreamDestroy(c->stream));
    assert_int_equal(emulate_memory_in_use(), 0);
}

static inline void fetch_y(struct gpu *c, float *into)
{
    CUDA(cudaMemcpyAsync(into, c->y, sizeof c->host, cudaMemcpyDeviceToHost, c->stream));
    CUDA(cudaStreamSynchronize(c->stream));
}

// ---- expected deaths, each in a child process

// Runs `act` in a child. It must end by a signal or a sanitizer after printing `text` and, unless NULL, `more`.
static inline void dies(void (*act)(void *), void *arg, const char *text, const char *more)
{
    char said[8192];
    size_t length = 0;
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        for (int s = 1; s < 32; s++) signal(s, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        act(arg);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; length < sizeof said - 1 && (n = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)n;
    said[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) fail_msg("the child did not die; expected: %s", text);
    if (!strstr(said, text)) fail_msg("expected: %s\ngot: %s", text, said);
    if (more && !strstr(said, more)) fail_msg("expected: %s\ngot: %s", more, said);
}
