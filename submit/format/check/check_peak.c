// SPDX-License-Identifier: Apache-2.0
// Bounds of stated hardware: a table of accelerators, and for processors a bound that no clock or core exceeds. The bounds are
// generous: a run above them is impossible, not merely unlikely. Workload: once per statement.
#include <string.h>

#include "submit/format/check/check_inside.h"
#include "submit/format/score/accelerator.h"

// The stated format bounds the arithmetic. Frameworks use the names loosely (mixed precision is called f16, and f32 convolutions
// run as TF32), so each name stands for the fastest format in use under it.
enum format { FORMAT_F32, FORMAT_F16, FORMAT_ANY };

static enum format format_of(const char *precision)
{
    static const char *const wide[] = {"f32", "fp32", "float32", "tf32", "f64", "fp64", "float64"};
    static const char *const half[] = {"f16", "fp16", "float16", "bf16", "bfloat16"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strcmp(precision, wide[i]) == 0) return FORMAT_F32;
    for (size_t i = 0; i < sizeof half / sizeof *half; i++)
        if (strcmp(precision, half[i]) == 0) return FORMAT_F16;
    return FORMAT_ANY;
}

// ---- accelerators

static double accelerator_peak(const char *gpu, enum format format)
{
    static const char *const formats[] = {"f32", "tf32", "f16", "bf16", "f8"};
    static const int known[] = {[FORMAT_F32] = 2, [FORMAT_F16] = 4, [FORMAT_ANY] = 5};
    const json_t *found = accelerator_find(gpu);
    int64_t best = 0;
    for (int i = 0; i < known[format]; i++)
        if (canonical_int(found, formats[i]) > best) best = canonical_int(found, formats[i]);
    return (double)best * 1e9;
}

// ---- processors

// Operations a clock and thread. Two hardware threads share a core's units, but each counts as if it had all of them. Two 512-bit
// units make 2 x 16 fused f32 operations; AMX a 16 x 16 x 64 byte tile in 16 clocks; Arm's widest are two 512-bit or four 128-bit
// units, and its bf16 matrix instructions do four times that.
static const struct {
    const char *flag;
    int f32, half;
} units[] = {
    {"amx_bf16", 64, 2048}, {"amx_int8", 64, 4096}, {"avx512_fp16", 64, 128}, {"avx512_bf16", 64, 128}, {"avx512f", 64, 64},
    {"avx2", 32, 32},       {"fma", 32, 32},        {"avx", 16, 16},          {"sse4_2", 8, 8},         {"sve", 64, 128},
    {"bf16", 64, 256},      {"asimd", 32, 64},
};

static bool in_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool has_words(const char *text, const char *words)
{
    size_t length = strlen(words);
    for (const char *at = text; (at = strcasestr(at, words)) != NULL; at++)
        if ((at == text || !in_word(at[-1])) && !in_word(at[length])) return true;
    return false;
}

static double processor_peak(const json_t *run, enum format format)
{
    const double hertz = 6e9;
    const char *flags = canonical_text(run, "hardware.cpu_flags");
    int64_t threads = canonical_int(run, "threads");
    if (threads == 0) threads = canonical_int(run, "hardware.cores_online");
    int widest = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        int here = format == FORMAT_F32 ? units[i].f32 : units[i].half;
        if (here > widest && has_words(flags, units[i].flag)) widest = here;
    }
    return (double)threads * widest * hertz;
}

double check_peak_of(const json_t *of)
{
    const char *gpu = canonical_text(of, "hardware.gpu"), *device = canonical_text(of, "device");
    enum format format = format_of(canonical_text(of, "precision"));
    double devices = (double)canonical_int(of, "hardware.devices");
    bool processor = strcmp(device, "cpu") == 0 || strcmp(device, "ref") == 0 || *gpu == 0;
    return devices * (processor ? processor_peak(of, format) : accelerator_peak(gpu, format));
}

double check_peak(const struct statement *s)
{
    return s->type == STATEMENT_RUN ? check_peak_of(s->json) : 0;
}

// The largest processors of 2026 draw 500 W, the largest GPUs 1,400 W. A statement names one machine; one that does not state its
// sockets has at most eight.
double check_power_of(const json_t *of)
{
    const double a_socket = 1000, a_gpu = 2500;
    double devices = (double)canonical_int(of, "hardware.devices"), sockets = (double)canonical_int(of, "hardware.sockets");
    bool gpu = strcmp(canonical_text(of, "device"), "cuda") == 0;
    return (sockets > 0 ? sockets : 8) * a_socket + (gpu ? devices * a_gpu : 0);
}
