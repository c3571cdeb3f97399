// SPDX-License-Identifier: Apache-2.0
// Plans of the real cuDNN without a GPU: an H200 described by its properties. Every convolution of airbench, at
// its resolutions and batches, in all types, cropped and not, gets the expected engine, which is deterministic and needs
// little scratch memory. Engines that must not be taken are offered by cuDNN and refused. The expected engines come from
// one version of cuDNN; with any other version only the rules are checked. Skipped if cuDNN is not installed.
#include "runtime/cuda/dnn/dnn_inside.h"
#include "test/unit/test.h"

// The libraries themselves leave memory behind, whose owner is unknown; our own is counted in test_cuda_conv.
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return 1; }

enum { EXPECTED_VERSION = DNN_SHIPPED_VERSION, LAYERS = 6 };

static const char h200[] =
    "{\"maxGridSize\":[2147483647,65535,65535],\"maxBlockSize\":[1024,1024,64],\"regsPerBlock\":65536,"
    "\"multiProcessorCount\":132,\"warpSize\":32,\"maxSharedMemoryPerBlock\":49152,"
    "\"maxSharedMemoryPerBlockOptin\":232448,\"reservedSharedMemoryPerBlock\":1024,\"maxRegistersPerSM\":65536,"
    "\"maxCtasPerSM\":32,\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":2048,\"pciDeviceId\":0,\"isTccDriver\":0,"
    "\"supportCoopLaunch\":1,\"totalGlobalMem\":150754820096,\"smClockRateKHz\":1980000,\"memClockRateKHz\":3201000,"
    "\"l2CacheSize\":62914560,\"cudaDeviceId\":0,\"deviceVer\":900,\"driverVer\":13000,\"deviceName\":\"NVIDIA H200\"}";

static struct dnn *open_described(struct dnn_settings settings)
{
    struct dnn_machine machine = {.gpu = "NVIDIA H200 (described)", .major = 9, .driver = 13000, .runtime = 13000,
                                  .described = h200};
    struct dnn *dnn;
    int rc = dnn_open(&machine, settings, &dnn);
    if (rc == ERR_MISSING) {
        print_message("%s\n", error_text());
        skip();
    }
    if (rc < 0) fail_msg("%s", error_text());
    return dnn;
}

static struct dnn_settings plain(void) { return (struct dnn_settings){.workspace = dnn_settings_default().workspace}; }

// Layer by layer: channels in and out, and by how many 2x2 pools the stem's 31x31 (of 32x32) is reduced.
static const int layers[LAYERS][3] = {{24, 64, 0}, {64, 64, 1}, {64, 256, 1}, {256, 256, 2}, {256, 256, 2}, {256, 256, 3}};

static struct dnn_problem problem_of(enum dnn_pass pass, enum dtype type, int layer, int64_t n, int resolution, int crop)
{
    int64_t side = (resolution - 1) >> layers[layer][2];
    return (struct dnn_problem){.pass = pass, .type = type, .n = n, .h = side, .w = side, .c = layers[layer][0],
                                .k = layers[layer][1], .r = 3, .s = 3, .p = side - crop, .q = side - crop,
                                .stride = {1, 1}, .before = {1, 1}, .after = {1 - crop, 1 - crop}};
}

// Runs each() over resolutions, batches, and rows that the pool behind drops or not.
static void each_shape(struct dnn *dnn, enum dnn_pass pass, enum dtype type, int layer,
                       void (*each)(struct dnn *, const struct dnn_problem *, const void *), const void *context)
{
    static const int resolution[] = {24, 28, 32};
    static const int64_t batch[] = {1536, 2000};
    for (int r = 0; r < 3; r++)
        for (int b = 0; b < 2; b++)
            for (int crop = 0; crop < 2; crop++) {
                struct dnn_problem p = problem_of(pass, type, layer, batch[b], resolution[r], crop);
                each(dnn, &p, context);
            }
}

static void held_to_rules(const struct dnn_plan *plan, enum dtype type)
{
    assert_null(dnn_objection(type, false, plan->notes, plan->behaves));
    assert_false(plan->notes & 1u << CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
    assert_false(plan->behaves & 1u << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
    assert_false(plan->remembered);
}

// ---- the choices that come with the program

static bool is_mapped(const char *library)
{
    char line[512];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) found = found || strstr(line, library);
    fclose(f);
    return found;
}

// Every convolution by cuDNN in a training or an evaluation of airbench at full width: the batches of its recipes and
// of evaluations. A pool behind the first convolution of a group drops an odd last row, which is then not computed.
static void each_record_problem(void (*each)(void *context, const struct dnn_problem *), void *context)
{
    static const struct {
        int64_t n;
        int resolution, passes;
    } use[] = {{1536, 24, 3}, {1536, 28, 3}, {1536, 32, 3}, {2000, 32, 3}, {1000, 32, 1}};
    for (enum dtype type = BF16; type <= F16; type++)
        for (size_t u = 0; u < sizeof use / sizeof *use; u++)
            for (int layer = 0, side = use[u].resolution - 1; layer < LAYERS; side = layer % 2 ? side : side / 2, layer++)
                for (int pass = DNN_FORWARD; pass < use[u].passes; pass++) {
                    int crop = layer % 2 ? 0 : side & 1;
                    struct dnn_problem p = {.pass = (enum dnn_pass)pass, .type = type, .n = use[u].n, .h = side, .w = side,
                                            .c = layers[layer][0], .k = layers[layer][1], .r = 3, .s = 3, .p = side - crop,
                                            .q = side - crop, .stride = {1, 1}, .before = {1, 1},
                                            .after = {1 - crop, 1 - crop}};
                    each(context, &p);
                }
}

static void plan_shipped(void *context, const struct dnn_problem *p)
{
    const struct dnn_plan *plan;
    char text[DNN_PROBLEM_TEXT];
    dnn_problem_text(p, false, text);
    if (dnn_plan(context, p, &plan) < 0) fail_msg("%s: %s", text, error_text());
    assert_null(dnn_objection(p->type, false, plan->notes, plan->behaves));
    if (dnn_version(context) == EXPECTED_VERSION && !plan->remembered) fail_msg("%s is not in choices.json", text);
}

static struct dnn_settings shipped(void)
{
    struct dnn_settings s = dnn_settings_default();
    s.cache = true;
    return s;
}

// Runs first: nothing unloads a library. cuBLASLt is larger than everything else that a training loads.
TEST(test_shipped_choices_load_no_cublas)
{
    struct dnn *dnn = open_described(shipped());
    each_record_problem(plan_shipped, dnn);
    if (dnn_version(dnn) == EXPECTED_VERSION) assert_false(is_mapped("libcublasLt"));
    dnn_close(dnn);
    const struct dnn_plan *plan;
    struct dnn_problem p = problem_of(DNN_FORWARD, F16, 1, 7, 32, 0);
    dnn = open_described(plain());
    assert_int_equal(dnn_plan(dnn, &p, &plan), 0);
    print_message("the heuristics load%s cuBLASLt\n", is_mapped("libcublasLt") ? "" : " no");
    dnn_close(dnn);
}

static void plan_asked(void *context, const struct dnn_problem *p)
{
    const struct dnn_plan *plan;
    if (dnn_plan(context, p, &plan) < 0) fail_msg("%s", error_text());
}

struct both {
    struct dnn *shipped, *asked;
};

static void same_choice(void *context, const struct dnn_problem *p)
{
    const struct both *both = context;
    char text[DNN_PROBLEM_TEXT];
    dnn_problem_text(p, false, text);
    plan_asked(both->asked, p);
    const struct dnn_choice *a = dnn_cache_find(&both->shipped->shipped, text), *b = dnn_cache_find(&both->asked->cache, text);
    if (!a || !b || memcmp(a, b, sizeof *a)) fail_msg("choices.json: %s is not what the heuristics choose", text);
}

// With DAWN_WRITE_CHOICES=FILE it writes the file instead, one line per choice.
static void write_choices(const char *path)
{
    struct dnn *dnn = open_described(plain());
    each_record_problem(plan_asked, dnn);
    char *json = dnn_cache_print(&dnn->cache, DNN_SHIPPED);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    for (const char *c = json; *c; c++) {
        fputc(*c, f);
        if (c[0] == '{' && c[1] == '"' && c > json) fputc('\n', f);
        if (c > json && c[-1] == ']' && c[0] == ',' && c[1] == '"') fputc('\n', f);
    }
    fputc('\n', f);
    fclose(f);
    free(json);
    dnn_close(dnn);
}

TEST(test_shipped_choices_are_those_of_the_heuristics)
{
    if (getenv("DAWN_WRITE_CHOICES")) write_choices(getenv("DAWN_WRITE_CHOICES"));
    struct both both = {open_described(shipped()), open_described(plain())};
    if (dnn_version(both.asked) == EXPECTED_VERSION) each_record_problem(same_choice, &both);
    dnn_close(both.shipped);
    dnn_close(both.asked);
}

struct expected {
    int64_t engine[3][LAYERS];  // pass, layer
};
static const struct expected sixteen_bits = {{
    {62, 62, 62, 62, 62, 62},
    {67, 67, 67, 67, 67, 67},
    {10, 65, 65, 65, 65, 65},
}};

static void check_16(struct dnn *dnn, const struct dnn_problem *p, const void *engine)
{
    const struct dnn_plan *plan;
    char text[DNN_PROBLEM_TEXT];
    dnn_problem_text(p, false, text);
    if (dnn_plan(dnn, p, &plan) < 0) fail_msg("%s: %s", text, error_text());
    held_to_rules(plan, p->type);
    if (plan->workspace > 4 << 20) fail_msg("%s: engine %lld needs %zu bytes", text, (long long)plan->engine, plan->workspace);
    if (dnn_version(dnn) == EXPECTED_VERSION && plan->engine != *(const int64_t *)engine)
        fail_msg("%s: engine %lld, not %lld", text, (long long)plan->engine, (long long)*(const int64_t *)engine);
}

TEST(test_record_network)
{
    struct dnn *dnn = open_described(plain());
    print_message("cuDNN %zu\n", dnn_version(dnn));
    for (enum dtype type = BF16; type <= F16; type++)
        for (int pass = DNN_FORWARD; pass <= DNN_WGRAD; pass++)
            for (int layer = 0; layer < LAYERS; layer++)
                each_shape(dnn, (enum dnn_pass)pass, type, layer, check_16, &sixteen_bits.engine[pass][layer]);
    dnn_close(dnn);
}

// Every convolution of ResNet-18 and ResNet-50 v1.5, the stem with its 3 channels padded to 8 (cuda_conv.c), gets an engine
// that obeys the rules, with scratch far below the activations.
struct residual {
    int side, c, k, r, stride;  // side: of the input at 224 pixels
};
static const struct residual residual_layers[] = {
    {224, 8, 64, 7, 2},    {56, 64, 64, 1, 1},    {56, 64, 64, 3, 1},    {56, 64, 256, 1, 1},    {56, 256, 64, 1, 1},
    {56, 64, 128, 3, 2},   {56, 64, 128, 1, 2},   {56, 256, 128, 1, 1},  {56, 128, 128, 3, 2},   {56, 256, 512, 1, 2},
    {28, 128, 128, 3, 1},  {28, 128, 512, 1, 1},  {28, 512, 128, 1, 1},  {28, 128, 256, 3, 2},   {28, 128, 256, 1, 2},
    {28, 512, 256, 1, 1},  {28, 256, 256, 3, 2},  {28, 512, 1024, 1, 2}, {14, 256, 256, 3, 1},   {14, 256, 1024, 1, 1},
    {14, 1024, 256, 1, 1}, {14, 256, 512, 3, 2},  {14, 256, 512, 1, 2},  {14, 1024, 512, 1, 1},  {14, 512, 512, 3, 2},
    {14, 1024, 2048, 1, 2}, {7, 512, 512, 3, 1},  {7, 512, 2048, 1, 1},  {7, 2048, 512, 1, 1},
};

static void check_residual(struct dnn *dnn, enum dnn_pass pass, enum dtype type, const struct residual *l, int64_t n)
{
    int64_t out = (l->side - 1) / l->stride + 1, pad = l->r / 2;
    struct dnn_problem p = {.pass = pass, .type = type, .n = n, .h = l->side, .w = l->side, .c = l->c, .k = l->k, .r = l->r,
                            .s = l->r, .p = out, .q = out, .stride = {l->stride, l->stride}, .before = {pad, pad},
                            .after = {pad, pad}};
    const struct dnn_plan *plan;
    char text[DNN_PROBLEM_TEXT];
    dnn_problem_text(&p, false, text);
    if (dnn_plan(dnn, &p, &plan) < 0) fail_msg("%s: %s", text, error_text());
    held_to_rules(plan, type);
    if (plan->workspace > 64 << 20) fail_msg("%s: engine %lld needs %zu bytes", text, (long long)plan->engine, plan->workspace);
}

TEST(test_residual_networks)
{
    struct dnn *dnn = open_described(plain());
    for (enum dtype type = BF16; type <= F16; type++)
        for (size_t i = 0; i < sizeof residual_layers / sizeof *residual_layers; i++)
            for (int pass = DNN_FORWARD; pass <= DNN_WGRAD; pass++)
                check_residual(dnn, (enum dnn_pass)pass, type, &residual_layers[i], 1024);
    dnn_close(dnn);
}

// f32 as such gets an engine too, though a slow one: only the rules are checked. None has tensor cores.
static void check_f32(struct dnn *dnn, const struct dnn_problem *p, const void *context)
{
    (void)context;
    const struct dnn_plan *plan;
    if (dnn_plan(dnn, p, &plan) < 0) fail_msg("%s", error_text());
    held_to_rules(plan, F32);
    assert_false(plan->notes & 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    assert_true(plan->workspace <= dnn_settings_default().workspace);
}

TEST(test_f32)
{
    struct dnn *dnn = open_described(plain());
    for (int pass = DNN_FORWARD; pass <= DNN_WGRAD; pass++)
        for (int layer = 0; layer < LAYERS; layer++) each_shape(dnn, (enum dnn_pass)pass, F32, layer, check_f32, NULL);
    dnn_close(dnn);
}

// The list for a filter gradient has engines that must not be taken; with the rules gone, or turned, they would be.
TEST(test_objections_matter)
{
    struct dnn *dnn = open_described(plain());
    struct dnn_problem p = problem_of(DNN_WGRAD, F32, 1, 1536, 32, 0);
    struct dnn_bag bag = {.f = &dnn->f};
    cudnnBackendDescriptor_t graph;
    struct dnn_offer *offer;
    int count, random = 0, tf32 = 0;
    assert_int_equal(dnn_graph(dnn, &bag, &p, &graph), 0);
    assert_int_equal(dnn_offers(dnn, graph, CUDNN_HEUR_MODE_A, &offer, &count), 0);
    for (int i = 0; i < count; i++) {
        random += offer[i].notes >> CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC & 1u;
        tf32 += offer[i].notes >> CUDNN_NUMERICAL_NOTE_TENSOR_CORE & 1u;
        if (offer[i].notes >> CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC & 1u)
            assert_non_null(dnn_objection(F32, true, offer[i].notes, offer[i].behaves));
    }
    assert_true(random > 0);
    assert_true(tf32 > 0);
    assert_true(offer[0].notes & 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE);  // the heuristics' first choice for f32 is TF32
    // A cached engine that is not deterministic is not used: the engine is chosen again.
    struct dnn_engine engine;
    bool remembered;
    char text[DNN_PROBLEM_TEXT];
    dnn_problem_text(&p, false, text);
    for (int i = 0; i < count; i++)
        if (offer[i].notes >> CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC & 1u) dnn_cache_put(&dnn->cache, text, &offer[i].choice);
    assert_int_equal(dnn_choose(dnn, &p, graph, &engine, &remembered), 0);
    assert_false(remembered);
    assert_false(engine.notes >> CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC & 1u);
    dnn_bag_empty(&engine.bag);
    free(offer);
    dnn_bag_empty(&bag);
    dnn_close(dnn);
}

TEST(test_tf32)
{
    struct dnn_settings settings = plain();
    settings.tf32 = true;
    struct dnn *dnn = open_described(settings);
    struct dnn_problem p = problem_of(DNN_FORWARD, F32, 1, 1536, 32, 0);
    const struct dnn_plan *plan;
    assert_int_equal(dnn_plan(dnn, &p, &plan), 0);
    assert_true(plan->notes & 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
    assert_false(plan->notes & 1u << CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
    dnn_close(dnn);
}

// The same engine with the same settings, whether it comes from the list or from its number and settings: cuDNN's own
// description of the two plans is the same text.
static char *describe(struct dnn *dnn, cudnnBackendDescriptor_t plan)
{
    int64_t count = 0;
    assert_int_equal(dnn->f.cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR, 0,
                                                     &count, NULL), CUDNN_STATUS_SUCCESS);
    char *text = calloc(1, (size_t)count + 1);
    assert_int_equal(dnn->f.cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                                                     count, &count, text), CUDNN_STATUS_SUCCESS);
    assert_true(count > 10);
    return text;
}

static void same_plans(struct dnn *dnn, const struct dnn_problem *p)
{
    enum { TRIED = 12 };
    struct dnn_bag bag = {.f = &dnn->f};
    cudnnBackendDescriptor_t graph, heuristics, config[TRIED], plan;
    cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    struct dnn_offer *offer;
    int count;
    assert_int_equal(dnn_graph(dnn, &bag, p, &graph), 0);
    assert_int_equal(dnn_offers(dnn, graph, mode, &offer, &count), 0);
    assert_int_equal(dnn_make(&bag, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "heuristics",
                              DNN_SETS(DNN_DESCRIPTOR(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph),
                                       {CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode},
                                       DNN_DESCRIPTOR(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, dnn->property)),
                              &heuristics), 0);
    for (int i = 0; i < TRIED; i++) (void)dnn->f.cudnnBackendCreateDescriptor(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, &config[i]);
    int64_t found;
    (void)dnn->f.cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, TRIED,
                                          &found, config);
    for (int i = 0; i < found && i < count; i++) {
        struct dnn_engine engine;
        assert_int_equal(dnn_engine_new(dnn, graph, &offer[i].choice, &engine), 0);
        assert_int_equal(dnn_make(&bag, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan",
                                  DNN_SETS(DNN_DESCRIPTOR(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config[i]),
                                           DNN_DESCRIPTOR(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, dnn->property)), &plan), 0);
        char *a = describe(dnn, plan), *b = describe(dnn, engine.plan);
        assert_string_equal(a, b);
        free(a);
        free(b);
        dnn_bag_empty(&engine.bag);
    }
    for (int i = 0; i < TRIED; i++) (void)dnn->f.cudnnBackendDestroyDescriptor(config[i]);
    free(offer);
    dnn_bag_empty(&bag);
}

TEST(test_choice_is_the_plan)
{
    struct dnn *dnn = open_described(plain());
    for (int pass = DNN_FORWARD; pass <= DNN_WGRAD; pass++)
        for (enum dtype type = F32; type <= F16; type++) {
            struct dnn_problem p = problem_of((enum dnn_pass)pass, type, 3, 1536, 32, 0);
            same_plans(dnn, &p);
        }
    dnn_close(dnn);
}

// A convolution that no engine takes is refused as unsupported, both times; so is a node that is not a convolution.
TEST(test_refused)
{
    struct dnn_settings settings = plain();
    settings.workspace = 0;
    struct dnn *dnn = open_described(settings);
    struct dnn_problem p = problem_of(DNN_WGRAD, F16, 0, 1536, 32, 0);
    const struct dnn_plan *plan;
    assert_int_equal(dnn_plan(dnn, &p, &plan), 0);  // the second engine of the list requires no scratch memory
    if (dnn_version(dnn) == EXPECTED_VERSION) assert_int_equal(plan->engine, 65);
    p.p = 77;  // sizes that do not fit
    for (int i = 0; i < 2; i++) {
        int rc = dnn_plan(dnn, &p, &plan);
        assert_true(rc == ERR_UNSUPPORTED || rc == ERR_DEVICE);
        assert_non_null(strstr(error_text(), "cuDNN"));
    }
    dnn_close(dnn);
}

// Addresses are not checked; nothing is executed, because there is no GPU.
TEST(test_bound)
{
    struct dnn *dnn = open_described(plain());
    struct dnn_problem p = problem_of(DNN_WGRAD, BF16, 0, 1536, 32, 0);
    const struct dnn_plan *plan;
    struct dnn_call *call;
    char *at = (char *)4096;
    assert_int_equal(dnn_plan(dnn, &p, &plan), 0);
    assert_true(plan->workspace > 0);
    assert_int_equal(dnn_bind(dnn, plan, at, at + 4096, at + 8192, at + 12288, &call), 0);
    dnn_call_free(call);
    assert_int_equal(dnn_bind(dnn, plan, at, at + 4096, at + 8192, NULL, &call), 0);
    dnn_call_free(call);
    dnn_close(dnn);
}
