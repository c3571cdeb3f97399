// SPDX-License-Identifier: Apache-2.0
// Convolutions of the CUDA device on both implementations: every case by cuDNN where it can, and every case by DAWN's kernels;
// the choice of engines; the engine cache and damaged files; timing. With the emulator, a stand-in replaces the real cuDNN (its
// engines: test/emulate/lib/libcudnn.so.9.c); it must find wrong addresses.
#include "test/unit/test.h"
#include "test/unit/fixture_cases.h"
#include "test/unit/fixture_folder.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "runtime/common/base/file.h"
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/dnn/dnn_inside.h"

enum { EMULATED = 90099 };  // the version of the emulated cuDNN

// ---- every case, both implementations

static bool convolves(enum op op) { return op == OP_CONV || op == OP_CONV_DGRAD || op == OP_CONV_WGRAD; }

// A 16-bit result of cuDNN is rounded once more before the bias or the activation: one rounding of the sum's size.
static void hold_rounded_twice(struct device *device, struct device *ref, const struct op_case *row, enum dtype type)
{
    struct case_options o = {.type = type}, absolute = {.type = type, .absolute = true};
    struct case_live *got, *want, *size;
    struct case_worst worst;
    int rc = open_and_run(device, row, &o, &got);
    if (rc == 0) rc = open_and_run(ref, row, &o, &want);
    if (rc == 0) rc = open_and_run(ref, row, &absolute, &size);
    double more = (type == F16 ? 0x1p-10 : 0x1p-7) * 0x1p24;
    if (rc == 0) rc = case_compare(got, want, size, case_slack(row) + more, &worst);
    if (rc < 0) return say(row, type, "cuDNN, then an activation");
    if (worst.ratio > 1.0) complain(row, type, "cuDNN, then an activation", &worst);
    case_close(got);
    case_close(want);
    case_close(size);
}

static int hold_convolutions(const char *who)
{
    struct device *device, *ref;
    int held = 0;
    failures = 0;
    setenv("DAWN_CUDA_CONV", who, 1);
    assert_int_equal(device_open("cuda", 1, &device), 0);
    assert_int_equal(device_open("ref", 1, &ref), 0);
    for (const struct op_case *row = next_wanted(NULL); row; row = next_wanted(row)) {
        if (!convolves(row->op) || row->flags & (CASE_LARGE | CASE_SLOW | CASE_PATTERN | CASE_CHOSEN)) continue;
        bool fused = row->p[11] != ACT_NONE || row->p[12];
        for (enum dtype type = F32; type <= F16; type++, held++) {
            if (fused && type != F32) hold_rounded_twice(device, ref, row, type);
            else assert_true(hold(device, ref, row, (struct case_options){.type = type}, who));
        }
    }
    device_close(device);
    device_close(ref);
    unsetenv("DAWN_CUDA_CONV");
    assert_int_equal(failures, 0);
    return held;
}

TEST(test_by_cudnn)
{
    assert_true(hold_convolutions("cudnn") > 100 || getenv("DAWN_CASE"));
}

TEST(test_by_own_kernels)
{
    assert_true(hold_convolutions("own") > 100 || getenv("DAWN_CASE"));
}

// ---- engines

static struct cuda_device *open_gpu(void)
{
    struct device *device;
    if (device_open("cuda", 1, &device) < 0) fail_msg("%s", error_text());
    return (struct cuda_device *)device;
}

static struct dnn_settings settings;  // set by each test
static char driver[32];

static struct dnn_settings without_file(void)
{
    struct dnn_settings s = dnn_settings_default();
    s.cache = false;
    return s;
}

static struct dnn *open_dnn(const struct cuda_device *cuda, const char *gpu)
{
    struct dnn_machine machine = {.major = cuda->major, .minor = cuda->minor, .stream = cuda->stream};
    struct dnn *dnn;
    snprintf(machine.gpu, sizeof machine.gpu, "%s", gpu);
    memcpy(machine.driver_text, driver, sizeof driver);
    if (dnn_open(&machine, settings, &dnn) < 0) fail_msg("%s", error_text());
    return dnn;
}

static const struct dnn_problem small = {.pass = DNN_FORWARD, .type = F16, .n = 4, .h = 6, .w = 6, .c = 16, .k = 24, .r = 3,
                                         .s = 3, .p = 6, .q = 6, .stride = {1, 1}, .before = {1, 1}, .after = {1, 1}};

static const struct dnn_plan *plan_of(struct dnn *dnn, struct dnn_problem problem)
{
    const struct dnn_plan *plan;
    if (dnn_plan(dnn, &problem, &plan) < 0) fail_msg("%s", error_text());
    assert_null(dnn_objection(problem.type, dnn->settings.tf32, plan->notes, plan->behaves));
    return plan;
}

TEST(test_engines)
{
    struct cuda_device *cuda = open_gpu();
    struct dnn *dnn = open_dnn(cuda, "engines");
    struct dnn_problem f32 = small;
    f32.type = F32;
    const struct dnn_plan *a = plan_of(dnn, small), *b = plan_of(dnn, f32);
    assert_ptr_equal(plan_of(dnn, small), a);
    if (dnn_version(dnn) == EMULATED) {
        assert_int_equal(a->engine, 62);  // those before it are rejected
        assert_int_equal(b->engine, 62);
        assert_int_equal(a->workspace, 4160);
    }
    dnn_close(dnn);
    settings.tf32 = true;
    dnn = open_dnn(cuda, "engines");
    b = plan_of(dnn, f32);
    if (dnn_version(dnn) == EMULATED) assert_int_equal(b->engine, 66);  // which has tensor cores
    dnn_close(dnn);
    settings.tf32 = false;
    device_close(&cuda->base);
}

// An engine that waits for its stream cannot be captured: DAWN's kernels take over everything that it was chosen for.
TEST(test_not_captured)
{
    struct device *device;
    assert_int_equal(device_open("cuda", 1, &device), 0);
    struct dnn *dnn = open_dnn((struct cuda_device *)device, "waits");
    void *library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_NOLOAD);
    int64_t *waiting = library ? dlsym(library, "dnn_waiting") : NULL, none = waiting ? *waiting : 0;
    device_close(device);
    if (waiting) *waiting = 62;  // which takes everything that is not f32 with TF32
    if (waiting) assert_true(hold_convolutions("cudnn") > 100 || getenv("DAWN_CASE"));
    if (waiting) *waiting = none;
    dnn_close(dnn);
    if (library) dlclose(library);
}

// ---- the engine cache

SETUP(fresh_folder)
{
    if (enter(state) < 0) return -1;
    setenv("XDG_CACHE_HOME", folder, 1);
    settings.cache = true;
    return 0;
}

SETUP(remove_folder)
{
    settings = without_file();
    return leave(state);
}

// Plans and binds the small problem on a GPU of that name; returns true if the engine was remembered.
static bool plan_once(struct cuda_device *cuda, const char *gpu, int64_t *engine, char **path)
{
    struct dnn *dnn = open_dnn(cuda, gpu);
    const struct dnn_plan *plan = plan_of(dnn, small);
    struct dnn_call *call;
    void *memory;
    assert_int_equal(cudaMalloc(&memory, plan->workspace + (1 << 20)), cudaSuccess);
    char *at = memory;
    assert_int_equal(dnn_bind(dnn, plan, at, at + 16384, at + 32768, at + 65536, &call), 0);
    dnn_call_free(call);
    assert_ptr_equal(plan_of(dnn, small), plan);  // it can be captured, so it was not dropped
    assert_int_equal(cudaStreamSynchronize(cuda->stream), cudaSuccess);
    assert_int_equal(cudaFree(memory), cudaSuccess);
    bool remembered = plan->remembered;
    *engine = plan->engine;
    if (path) *path = dnn->path ? strdup(dnn->path) : NULL;
    dnn_close(dnn);
    return remembered;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

// Writes the file again, with the only choice replaced.
static void write_choice(const char *path, const char *whole, const char *choice)
{
    const char *from = strstr(whole, "[62,0,[[2,5]]]");
    char text[1024];
    assert_non_null(from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(from - whole), whole, choice, from + strlen("[62,0,[[2,5]]]"));
    write_text(path, text);
}

TEST_WITH(test_remembered, fresh_folder, remove_folder)
{
    struct cuda_device *cuda = open_gpu();
    int64_t first, engine;
    char *path, *bytes;
    size_t count;
    assert_false(plan_once(cuda, "a GPU", &first, &path));
    assert_true(plan_once(cuda, "a GPU", &engine, NULL));
    assert_int_equal(engine, first);
    assert_false(plan_once(cuda, "another GPU", &engine, NULL));
    assert_int_equal(file_read(path, 1 << 20, &bytes, &count), 0);
    for (size_t i = 0; i < count; i += 7) {  // truncated: choose again and rewrite the file
        char *cut = strndup(bytes, i);
        write_text(path, cut);
        free(cut);
        assert_false(plan_once(cuda, "a GPU", &engine, NULL));
        assert_int_equal(engine, first);
        assert_true(plan_once(cuda, "a GPU", &engine, NULL));
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);  // a folder in place of the file
    assert_false(plan_once(cuda, "a GPU", &engine, NULL));
    assert_false(plan_once(cuda, "a GPU", &engine, NULL));
    assert_int_equal(rmdir(path), 0);
    settings.cache = false;
    assert_false(plan_once(cuda, "a GPU", &engine, NULL));
    assert_false(file_exists(path));
    free(bytes);
    free(path);
    device_close(&cuda->base);
}

// A file whose choices are well-formed but wrong: unknown engines, engines that must not be used, settings that an engine does
// not have. The numbers are of the emulated cuDNN's engines.
TEST_WITH(test_wrong_choices, fresh_folder, remove_folder)
{
    struct cuda_device *cuda = open_gpu();
    int64_t first, engine;
    char *path, *bytes;
    size_t count;
    assert_false(plan_once(cuda, "a GPU", &first, &path));
    assert_int_equal(file_read(path, 1 << 20, &bytes, &count), 0);
    bool emulated = strstr(bytes, "cuDNN 90099") != NULL;
    static const char *const wrong[] = {"[99,0,[]]", "[20,0,[]]", "[47,0,[]]", "[11,0,[]]", "[41,0,[]]", "[62,0,[[2,9]]]",
                                        "[62,0,[[3,1]]]"};
    for (size_t i = 0; emulated && i < sizeof wrong / sizeof *wrong; i++) {
        write_choice(path, bytes, wrong[i]);
        assert_false(plan_once(cuda, "a GPU", &engine, NULL));
        assert_int_equal(engine, first);
        assert_true(plan_once(cuda, "a GPU", &engine, NULL));
    }
    if (emulated) {
        write_choice(path, bytes, "[65,0,[]]");  // a valid one is used, although it is not the first
        assert_true(plan_once(cuda, "a GPU", &engine, NULL));
        assert_int_equal(engine, 65);
    }
    free(bytes);
    free(path);
    device_close(&cuda->base);
}

// Only runs with timing use timed choices; other runs keep theirs, in any order of the two.
TEST_WITH(test_timed, fresh_folder, remove_folder)
{
    struct cuda_device *cuda = open_gpu();
    int64_t first, timed, engine;
    char *path, *bytes;
    size_t count;
    assert_false(plan_once(cuda, "a timed GPU", &first, &path));
    settings.tune = true;
    assert_false(plan_once(cuda, "a timed GPU", &timed, NULL));  // known, but not timed
    assert_true(plan_once(cuda, "a timed GPU", &engine, NULL));
    assert_int_equal(engine, timed);
    struct dnn *dnn = open_dnn(cuda, "a timed GPU");
    assert_true(plan_of(dnn, small)->ns > 0);
    dnn_close(dnn);
    settings.tune = false;
    assert_true(plan_once(cuda, "a timed GPU", &engine, NULL));
    assert_int_equal(engine, first);
    assert_int_equal(unlink(path), 0);
    settings.tune = true;
    assert_false(plan_once(cuda, "a timed GPU", &timed, NULL));  // timed before anything else
    settings.tune = false;
    assert_false(plan_once(cuda, "a timed GPU", &engine, NULL));
    assert_int_equal(engine, first);
    dnn = open_dnn(cuda, "a timed GPU");
    assert_int_equal(plan_of(dnn, small)->ns, 0);
    dnn_close(dnn);
    assert_int_equal(file_read(path, 1 << 20, &bytes, &count), 0);
    if (strstr(bytes, "[62,0,[[2,5]]]")) {  // a time without the prefix, as earlier versions stored it
        write_choice(path, bytes, "[65,9,[]]");
        assert_false(plan_once(cuda, "a timed GPU", &engine, NULL));
        assert_int_equal(engine, first);
    }
    free(bytes);
    free(path);
    device_close(&cuda->base);
}

TEST_WITH(test_of_a_driver, fresh_folder, remove_folder)
{
    struct cuda_device *cuda = open_gpu();
    int64_t engine;
    snprintf(driver, sizeof driver, "580.95.05");
    assert_false(plan_once(cuda, "a GPU", &engine, NULL));
    assert_true(plan_once(cuda, "a GPU", &engine, NULL));
    snprintf(driver, sizeof driver, "580.105.08");  // the same version of CUDA
    assert_false(plan_once(cuda, "a GPU", &engine, NULL));
    driver[0] = '\0';
    device_close(&cuda->base);
}

// ---- the emulated cuDNN

// The message with which `it` ends a child process; "" if it does not.
static const char *death_message(void (*it)(struct cuda_device *, struct dnn *, void *memory), struct cuda_device *cuda,
                        struct dnn *dnn, void *memory)
{
    static char said[4096];
    size_t length = 0;
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        for (int s = 1; s < 32; s++) (void)signal(s, SIG_DFL);  // cmocka would catch it
        dup2(ends[1], STDERR_FILENO);
        it(cuda, dnn, memory);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t n; length < sizeof said - 1 && (n = read(ends[0], said + length, sizeof said - 1 - length)) > 0;)
        length += (size_t)n;
    said[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) || said[0] ? said : "";
}

static void run_bound(struct dnn *dnn, const void *x, const void *w, const void *y, void *work)
{
    struct dnn_call *call;
    if (dnn_bind(dnn, plan_of(dnn, small), x, w, y, work, &call) < 0 || dnn_run(call) < 0) _exit(2);
}

static void runs_well(struct cuda_device *cuda, struct dnn *dnn, void *memory)
{
    (void)cuda;
    char *at = memory;
    run_bound(dnn, at, at + 16384, at + 32768, at + 65536);
}
static void run_misaligned(struct cuda_device *cuda, struct dnn *dnn, void *memory)
{
    (void)cuda;
    char *at = memory;
    run_bound(dnn, at + 2, at + 16384, at + 32768, at + 65536);
}
static void run_outside(struct cuda_device *cuda, struct dnn *dnn, void *memory)
{
    (void)cuda;
    char *at = memory;
    run_bound(dnn, at, at + 16384, at + (1 << 20) - 64, at + 65536);
}
static void run_without_scratch(struct cuda_device *cuda, struct dnn *dnn, void *memory)
{
    (void)cuda;
    char *at = memory;
    run_bound(dnn, at, at + 16384, at + 32768, NULL);
}
static void run_wrong_engine(struct cuda_device *cuda, struct dnn *dnn, void *memory)
{
    (void)cuda;
    struct dnn_bag bag = {.f = &dnn->f};
    struct dnn_engine engine;
    cudnnBackendDescriptor_t graph, pack;
    char *at = memory;
    if (dnn_graph(dnn, &bag, &small, &graph) < 0 || dnn_pack(&bag, at, at + 16384, at + 32768, at + 65536, &pack) < 0) return;
    if (dnn_engine_new(dnn, graph, &(struct dnn_choice){.engine = 20}, &engine) < 0) return;
    (void)!dnn_execute(dnn, engine.plan, pack);
}

TEST(test_wrong_addresses_are_found)
{
    struct cuda_device *cuda = open_gpu();
    struct dnn *dnn = open_dnn(cuda, "strict");
    if (dnn_version(dnn) == EMULATED) {
        void *memory;
        assert_int_equal(cudaMalloc(&memory, 1 << 20), cudaSuccess);
        (void)plan_of(dnn, small);
        assert_string_equal(death_message(runs_well, cuda, dnn, memory), "");
        assert_non_null(strstr(death_message(run_misaligned, cuda, dnn, memory), "is not aligned to 16 bytes"));
        assert_non_null(strstr(death_message(run_outside, cuda, dnn, memory), "y of a convolution"));
        assert_non_null(strstr(death_message(run_without_scratch, cuda, dnn, memory), "scratch memory of a convolution"));
        assert_non_null(strstr(death_message(run_wrong_engine, cuda, dnn, memory), "engine 20 must not be executed"));
        assert_int_equal(cudaFree(memory), cudaSuccess);
    }
    dnn_close(dnn);
    device_close(&cuda->base);
}

SETUP(leave_files_alone)
{
    settings = without_file();  // unless a test has its own folder
    return setenv("DAWN_CUDA_CACHE", "off", 1);
}

TEST_GROUP(leave_files_alone, NULL)
