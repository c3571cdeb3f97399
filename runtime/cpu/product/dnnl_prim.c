// SPDX-License-Identifier: Apache-2.0
// Primitives through oneDNN's C API, version 2 or 3 (dnnl_api.h): layouts and attributes make a primitive descriptor, which makes
// a primitive. Scratchpads are ours (dnnl_scratchpad_mode_user), so a running primitive allocates nothing. Describing a primitive
// costs 20 to 200 us; building it costs a few ms the first time and almost nothing later (oneDNN caches 1,024).
#include "runtime/cpu/product/dnnl_prim.h"

#include "runtime/cpu/product/dnnl_api.h"

#include <oneapi/dnnl/dnnl_debug.h>
#include <stdio.h>

static const char *status_text(dnnl_status_t status)
{
    switch (status) {
    case dnnl_out_of_memory: return "out of memory";
    case dnnl_invalid_arguments: return "invalid arguments";
    case dnnl_unimplemented: return "no kernel for it on this CPU";
    case dnnl_runtime_error: return "run-time error";
    case dnnl_not_required: return "not required";
    default: return "iterator ends";
    }
}

static int check_dnnl(dnnl_status_t status, const char *what)
{
    if (status == dnnl_success) return 0;
    int code = status == dnnl_unimplemented ? ERR_UNSUPPORTED : status == dnnl_out_of_memory ? ERR_MEMORY : ERR_DEVICE;
    return fail(code, "oneDNN, %s: %s", what, status_text(status));
}

static dnnl_data_type_t type_of(enum dtype t)
{
    switch (t) {
    case F32: return dnnl_f32;
    case BF16: return dnnl_bf16;
    case F16: return dnnl_f16;
    case U8: return dnnl_u8;
    case I32: return dnnl_s32;
    default: BUG("unknown element type");
    }
}

static int describe_array(const struct dnnl_array *a, api_layout *into)
{
    return check_dnnl(api_layout_strided(into, a->rank, a->dim, type_of(a->dtype), a->stride), "describing an array");
}

// ---- the library

int dnnl_prim_open(struct cpu_device *cpu)
{
    TRY(check_dnnl(dnnl_engine_create(&cpu->engine, dnnl_cpu, 0), "opening the CPU engine"));
    dnnl_status_t status = dnnl_stream_create(&cpu->stream, cpu->engine, dnnl_stream_default_flags);
    if (status == dnnl_success) return 0;
    dnnl_engine_destroy(cpu->engine);
    cpu->engine = NULL;
    return check_dnnl(status, "creating a stream");
}

void dnnl_prim_close(struct cpu_device *cpu)
{
    if (cpu->stream) dnnl_stream_destroy(cpu->stream);
    if (cpu->engine) dnnl_engine_destroy(cpu->engine);
    cpu->stream = NULL, cpu->engine = NULL;
}

void dnnl_prim_facts(char *library, size_t library_bytes, char *isa, size_t isa_bytes)
{
    const dnnl_version_t *v = dnnl_version();
    snprintf(library, library_bytes, "oneDNN %d.%d.%d", v->major, v->minor, v->patch);
    dnnl_cpu_isa_t level = dnnl_get_effective_cpu_isa();
    const char *name = dnnl_cpu_isa2str(level), *prefix = "cpu_isa_";
    if (!strncmp(name, prefix, strlen(prefix))) name += strlen(prefix);
    if (!level) name = "baseline";
    snprintf(isa, isa_bytes, "%s", name);
}

// Both versions number the instruction sets as sets of bits. No bits: a processor below SSE 4.1, or another architecture.
static bool has(dnnl_cpu_isa_t isa) { return (dnnl_get_effective_cpu_isa() & isa) == isa; }
bool dnnl_prim_has_avx512(void) { return has(dnnl_cpu_isa_avx512_core); }
bool dnnl_prim_multiplies_bf16(void) { return has(dnnl_cpu_isa_avx512_core_bf16); }

// ---- describing

// The caller provides the scratchpad; `act` and `sum` become post-operations.
static int make_attributes(float alpha, float sum, enum act act, dnnl_primitive_attr_t *into)
{
    dnnl_post_ops_t post = NULL;
    TRY(check_dnnl(dnnl_primitive_attr_create(into), "creating attributes"));
    dnnl_status_t s = dnnl_primitive_attr_set_scratchpad_mode(*into, dnnl_scratchpad_mode_user);
    if (s == dnnl_success) s = dnnl_post_ops_create(&post);
    if (s == dnnl_success) s = api_scale(*into, post, alpha, sum);
    if (s == dnnl_success && act != ACT_NONE) {
        static const dnnl_alg_kind_t kinds[ACT_KINDS] = {
            [ACT_RELU] = dnnl_eltwise_relu, [ACT_GELU] = dnnl_eltwise_gelu_erf, [ACT_SILU] = dnnl_eltwise_swish,
            [ACT_TANH] = dnnl_eltwise_tanh, [ACT_GELU_TANH] = dnnl_eltwise_gelu_tanh, [ACT_SIGMOID] = dnnl_eltwise_logistic};
        s = api_eltwise(post, kinds[act], act == ACT_SILU ? 1.0f : 0.0f);
    }
    if (s == dnnl_success) s = dnnl_primitive_attr_set_post_ops(*into, post);
    if (post) dnnl_post_ops_destroy(post);
    if (s != dnnl_success) dnnl_primitive_attr_destroy(*into);
    return check_dnnl(s, "setting attributes");
}

static int finish_prim(struct dnnl_prim *prim)
{
    api_layout pad = dnnl_primitive_desc_query_md(prim->desc, dnnl_query_scratchpad_md, 0);
    prim->scratch = pad ? dnnl_memory_desc_get_size(pad) : 0;
    return 0;
}

struct dnnl_array dnnl_prim_filters(const struct dnnl_conv *c, bool swap)
{
    int64_t g = c->groups, cg = c->c / g, kg = c->k / g, row = c->r * c->s;
    if (swap) {  // the bytes are [c][r][s][k]: outputs and inputs are exchanged
        BUG_IF(g != 1);
        return (struct dnnl_array){F32, 4, {c->k, c->c, c->r, c->s}, {1, row * c->k, c->s * c->k, c->k}};
    }
    if (g == 1) return (struct dnnl_array){F32, 4, {c->k, c->c, c->r, c->s}, {row * c->c, 1, c->s * c->c, c->c}};
    return (struct dnnl_array){F32, 5, {g, kg, cg, c->r, c->s}, {kg * row * cg, row * cg, 1, c->s * cg, cg}};
}

static struct dnnl_array image_array(enum dtype t, int64_t n, int64_t h, int64_t w, int64_t c)
{
    return (struct dnnl_array){t, 4, {n, c, h, w}, {h * w * c, 1, w * c, c}};
}

static int describe_conv_operands(const struct dnnl_conv *c, struct api_conv *into)
{
    struct dnnl_array ax = image_array(c->dtype, c->n, c->h, c->w, c->c), ay = image_array(c->dtype, c->n, c->p, c->q, c->k);
    struct dnnl_array aw = dnnl_prim_filters(c, false);
    TRY(describe_array(&ax, &into->x));
    TRY(describe_array(&ay, &into->y));
    dnnl_data_type_t type = type_of(c->dtype);
    TRY(check_dnnl(api_layout_tagged(&into->w, aw.rank, aw.dim, type, dnnl_format_tag_any), "describing filters"));
    dnnl_dims_t bias = {c->k};
    return c->bias ? check_dnnl(api_layout_tagged(&into->bias, 1, bias, dnnl_f32, dnnl_a), "describing a bias") : 0;
}

static void free_conv_operands(struct api_conv *c)
{
    api_layout_free(c->x);
    api_layout_free(c->w);
    api_layout_free(c->bias);
    api_layout_free(c->y);
}

// Gradients require the descriptor of the forward pass. The gradient of the filters is f32.
static int describe_gradient(struct cpu_device *cpu, struct dnnl_prim *prim, const struct dnnl_conv *c, struct api_conv *conv,
                             dnnl_primitive_attr_t attr)
{
    conv->pass = dnnl_forward_training;
    TRY(check_dnnl(api_conv_describe(&conv->forward, cpu->engine, conv, NULL), "a convolution"));
    dnnl_status_t s = dnnl_success;
    conv->pass = c->pass == DNNL_DGRAD ? dnnl_backward_data : dnnl_backward_weights;
    if (c->pass == DNNL_WGRAD) {
        struct dnnl_array aw = dnnl_prim_filters(c, false);
        api_layout_free(conv->w);
        conv->w = NULL;
        s = api_layout_tagged(&conv->w, aw.rank, aw.dim, dnnl_f32, dnnl_format_tag_any);
    }
    if (s == dnnl_success) s = api_conv_describe(&prim->desc, cpu->engine, conv, attr);
    dnnl_primitive_desc_destroy(conv->forward);
    return check_dnnl(s, "the gradient of a convolution");
}

static int describe_conv(struct cpu_device *cpu, struct dnnl_prim *prim, const struct dnnl_conv *c, dnnl_primitive_attr_t attr)
{
    struct api_conv conv = {.pass = dnnl_forward_inference,
                            .stride = {c->stride[0], c->stride[1]},
                            .before = {c->before[0], c->before[1]},
                            .after = {c->after[0], c->after[1]}};
    int rc = describe_conv_operands(c, &conv);
    if (rc == 0)
        rc = c->pass == DNNL_FORWARD ? check_dnnl(api_conv_describe(&prim->desc, cpu->engine, &conv, attr), "a convolution")
                                     : describe_gradient(cpu, prim, c, &conv, attr);
    free_conv_operands(&conv);
    return rc;
}

int dnnl_prim_conv(struct cpu_device *cpu, struct dnnl_prim *prim, const struct dnnl_conv *c)
{
    dnnl_primitive_attr_t attr;
    memset(prim, 0, sizeof *prim);
    TRY(make_attributes(1.0f, 0.0f, c->act, &attr));
    int rc = describe_conv(cpu, prim, c, attr);
    dnnl_primitive_attr_destroy(attr);
    return rc < 0 ? rc : finish_prim(prim);
}

int dnnl_prim_matmul(struct cpu_device *cpu, struct dnnl_prim *prim, const struct dnnl_array *a,
                     const struct dnnl_array *b, const struct dnnl_array *y, struct dnnl_adding adding)
{
    struct dnnl_array bias = {F32, y->rank, {1, 1, 1}, {1, 1, 1}};
    bias.dim[y->rank - 1] = y->dim[y->rank - 1];
    for (int i = 0; i < y->rank - 1; i++) bias.stride[i] = bias.dim[y->rank - 1];
    const struct dnnl_array *const array[4] = {a, b, y, &bias};
    api_layout layout[4] = {NULL};
    dnnl_primitive_attr_t attr;
    memset(prim, 0, sizeof *prim);
    int rc = make_attributes(adding.alpha, adding.beta, ACT_NONE, &attr);
    if (rc < 0) return rc;
    for (int i = 0; rc == 0 && i < 3 + adding.bias; i++) rc = describe_array(array[i], &layout[i]);
    if (rc == 0) rc = check_dnnl(api_matmul_describe(&prim->desc, cpu->engine, layout, attr), "a matmul");
    for (int i = 0; i < 4; i++) api_layout_free(layout[i]);
    dnnl_primitive_attr_destroy(attr);
    return rc < 0 ? rc : finish_prim(prim);
}

static int make_reorder(struct cpu_device *cpu, struct dnnl_prim *prim, api_layout from, api_layout to)
{
    dnnl_primitive_attr_t attr;
    memset(prim, 0, sizeof *prim);
    TRY(make_attributes(1.0f, 0.0f, ACT_NONE, &attr));
    dnnl_status_t s = dnnl_reorder_primitive_desc_create(&prim->desc, from, cpu->engine, to, cpu->engine, attr);
    dnnl_primitive_attr_destroy(attr);
    return s == dnnl_success ? finish_prim(prim) : check_dnnl(s, "a reorder");
}

static api_layout operand_desc(const struct dnnl_prim *prim, int arg)
{
    api_layout md = arg == DNNL_ARG_SCRATCHPAD ? dnnl_primitive_desc_query_md(prim->desc, dnnl_query_scratchpad_md, 0)
                                               : dnnl_primitive_desc_query_md(prim->desc, dnnl_query_exec_arg_md, arg);
    BUG_IF(!md);
    return md;
}

int dnnl_prim_copy(struct cpu_device *cpu, struct dnnl_prim *prim, const struct dnnl_array *from,
                   const struct dnnl_array *to)
{
    api_layout lf = NULL, lt = NULL;
    int rc = describe_array(from, &lf);
    if (rc == 0) rc = describe_array(to, &lt);
    if (rc == 0) rc = make_reorder(cpu, prim, lf, lt);
    api_layout_free(lf);
    api_layout_free(lt);
    return rc;
}

int dnnl_prim_pack(struct cpu_device *cpu, struct dnnl_prim *prim, const struct dnnl_array *plain,
                   const struct dnnl_prim *of, int arg)
{
    api_layout from = NULL;
    TRY(describe_array(plain, &from));
    int rc = make_reorder(cpu, prim, from, operand_desc(of, arg));
    api_layout_free(from);
    return rc;
}

int dnnl_prim_unpack(struct cpu_device *cpu, struct dnnl_prim *prim, const struct dnnl_prim *of, int arg,
                     const struct dnnl_array *plain)
{
    api_layout to = NULL;
    TRY(describe_array(plain, &to));
    int rc = make_reorder(cpu, prim, operand_desc(of, arg), to);
    api_layout_free(to);
    return rc;
}

// ---- running

size_t dnnl_prim_bytes(const struct dnnl_prim *prim, int arg) { return dnnl_memory_desc_get_size(operand_desc(prim, arg)); }

int dnnl_prim_build(struct dnnl_prim *prim)
{
    return check_dnnl(dnnl_primitive_create(&prim->primitive, prim->desc), "building a primitive");
}

int dnnl_prim_bind(struct cpu_device *cpu, struct dnnl_prim *prim, int arg, void *address)
{
    for (int i = 0; i < prim->args; i++)
        if (prim->id[i] == arg)
            return check_dnnl(dnnl_memory_set_data_handle(prim->memory[i], address), "moving an operand");
    BUG_IF(prim->args == PRIM_ARGS);
    TRY(check_dnnl(dnnl_memory_create(&prim->memory[prim->args], operand_desc(prim, arg), cpu->engine, address),
              "binding an operand"));
    prim->id[prim->args++] = arg;
    return 0;
}

int dnnl_prim_run(struct cpu_device *cpu, struct dnnl_prim *prim)
{
    dnnl_exec_arg_t arg[PRIM_ARGS];
    for (int i = 0; i < prim->args; i++) arg[i] = (dnnl_exec_arg_t){prim->id[i], prim->memory[i]};
    TRY(check_dnnl(dnnl_primitive_execute(prim->primitive, cpu->stream, prim->args, arg), "running a primitive"));
    return check_dnnl(dnnl_stream_wait(cpu->stream), "waiting for a primitive");
}

void dnnl_prim_end(struct dnnl_prim *prim)
{
    for (int i = 0; i < prim->args; i++) dnnl_memory_destroy(prim->memory[i]);
    if (prim->primitive) dnnl_primitive_destroy(prim->primitive);
    if (prim->desc) dnnl_primitive_desc_destroy(prim->desc);
    memset(prim, 0, sizeof *prim);
}
