// SPDX-License-Identifier: Apache-2.0
// The choice of an engine for a problem. A shipped or cached choice is held to the same rules as one from the list, so a file can
// make training slower but cannot change the results' precision.
#include "runtime/cuda/dnn/dnn_inside.h"

#include <stdio.h>
#include <stdlib.h>

enum { TIMED = 8 };  // engines that timing tries; the heuristics' order is seldom far off

#define NOTE(name) (1u << CUDNN_NUMERICAL_NOTE_##name)
#define BEHAVES(name) (1u << CUDNN_BEHAVIOR_NOTE_##name)

const char *dnn_objection(enum dtype type, bool tf32, unsigned notes, unsigned behaves)
{
    if (notes & NOTE(NONDETERMINISTIC)) return "it is not deterministic";
    if (notes & NOTE(REDUCED_PRECISION_REDUCTION)) return "it accumulates in 16 bits";
    if (notes & NOTE(DOWN_CONVERT_INPUTS)) return "it rounds its inputs";
    if (notes & (NOTE(FFT) | NOTE(WINOGRAD) | NOTE(WINOGRAD_TILE_4x4) | NOTE(WINOGRAD_TILE_6x6) | NOTE(WINOGRAD_TILE_13x13)))
        return "it computes an approximation";
    // Tensor cores take f32 as TF32: 10 bits of mantissa.
    if (type == F32 && !tf32 && notes & NOTE(TENSOR_CORE)) return "it multiplies f32 as TF32";
    if (behaves & BEHAVES(RUNTIME_COMPILATION)) return "it is compiled at run time, which takes seconds";
    if (behaves & BEHAVES(CUBLASLT_DEPENDENCY)) return "it loads cuBLASLt";
    if (behaves & (BEHAVES(REQUIRES_FILTER_INT8x32_REORDER) | BEHAVES(REQUIRES_BIAS_INT8x32_REORDER)))
        return "it needs reordered filters";
    return NULL;
}

void dnn_problem_text(const struct dnn_problem *p, bool tf32, char into[DNN_PROBLEM_TEXT])
{
    static const char *const pass[] = {"forward", "dgrad", "wgrad"};
    int n = snprintf(into, DNN_PROBLEM_TEXT,
                     "%s %s n%lld %lldx%lldx%lld * %lldx%lldx%lld -> %lldx%lld stride %lld,%lld before %lld,%lld after %lld,%lld",
                     pass[p->pass], p->type == F32 && tf32 ? "tf32" : dtype_name(p->type), (long long)p->n, (long long)p->h,
                     (long long)p->w, (long long)p->c, (long long)p->k, (long long)p->r, (long long)p->s, (long long)p->p,
                     (long long)p->q, (long long)p->stride[0], (long long)p->stride[1], (long long)p->before[0],
                     (long long)p->before[1], (long long)p->after[0], (long long)p->after[1]);
    BUG_IF(n < 0 || n >= DNN_PROBLEM_TEXT);  // 15 sizes that fit in memory fit here
}

// Builds an engine and checks it against the rules; the notes are read from the built engine.
static int build_engine(struct dnn *dnn, const struct dnn_problem *p, cudnnBackendDescriptor_t graph,
                 const struct dnn_choice *choice, struct dnn_engine *e)
{
    TRY(dnn_engine_new(dnn, graph, choice, e));
    const char *why = dnn_objection(p->type, dnn->settings.tf32, e->notes, e->behaves);
    if (!why && e->workspace > dnn->settings.workspace) why = "it needs too much scratch memory";
    if (!why) return 0;
    dnn_bag_empty(&e->bag);
    return fail(ERR_UNSUPPORTED, "engine %lld of cuDNN is rejected: %s", (long long)choice->engine, why);
}

struct search {
    struct dnn *dnn;
    const struct dnn_problem *problem;
    cudnnBackendDescriptor_t graph;
    struct dnn_scratch *scratch;  // NULL: take the first suitable one
    struct dnn_engine best;
    int built;
};

static void consider_choice(struct search *s, const struct dnn_choice *choice)
{
    struct dnn_engine e;
    if (build_engine(s->dnn, s->problem, s->graph, choice, &e) < 0) return;
    if (s->scratch && dnn_time(s->scratch, &e, &e.choice.ns) < 0) {
        dnn_bag_empty(&e.bag);
        return;
    }
    s->built++;
    if (s->best.plan && s->best.choice.ns <= e.choice.ns) {
        dnn_bag_empty(&e.bag);
        return;
    }
    if (s->best.plan) dnn_bag_empty(&s->best.bag);
    s->best = e;
}

static int consider_offers(struct search *s, cudnnBackendHeurMode_t mode)
{
    struct dnn_offer *offer;
    int count, most = s->scratch ? TIMED : 1;
    TRY(dnn_offers(s->dnn, s->graph, mode, &offer, &count));
    for (int i = 0; i < count && s->built < most; i++)
        if (!dnn_objection(s->problem->type, s->dnn->settings.tf32, offer[i].notes, offer[i].behaves))
            consider_choice(s, &offer[i].choice);
    free(offer);
    return 0;
}

static int search_engine(struct search *s)
{
    static const cudnnBackendHeurMode_t modes[] = {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK};
    int rc = 0;
    for (int i = 0; i < 2 && !s->best.plan; i++) {
        int looked = consider_offers(s, modes[i]);
        if (looked < 0) rc = looked;
    }
    if (s->best.plan) return 0;
    char text[DNN_PROBLEM_TEXT];
    dnn_problem_text(s->problem, s->dnn->settings.tf32, text);
    if (rc < 0 && rc != ERR_UNSUPPORTED) return rc;
    return fail(ERR_UNSUPPORTED, "cuDNN has no suitable engine for %s", text);
}

// Timed choices have their own names: the fastest engine is not determined by the GPU and the versions, so a run without timing
// must not use it.
static void cache_name(const struct dnn *dnn, const struct dnn_problem *p, bool timed, char into[DNN_PROBLEM_TEXT])
{
    static const char mark[] = "timed ";
    size_t skip = timed ? strlen(mark) : 0;
    char text[DNN_PROBLEM_TEXT];
    dnn_problem_text(p, dnn->settings.tf32, text);
    memcpy(into, mark, skip);
    BUG_IF(strlen(text) + skip >= DNN_PROBLEM_TEXT);
    memcpy(into + skip, text, strlen(text) + 1);
}

// True if the list has a choice for the problem and its engine can be built.
static bool is_known(struct dnn *dnn, const struct dnn_cache *list, const char *name, const struct dnn_problem *p,
                     cudnnBackendDescriptor_t graph, struct dnn_engine *e)
{
    const struct dnn_choice *known = dnn_cache_find(list, name);
    return known && (known->ns > 0) == dnn->settings.tune && build_engine(dnn, p, graph, known, e) == 0;
}

int dnn_choose(struct dnn *dnn, const struct dnn_problem *p, cudnnBackendDescriptor_t graph, struct dnn_engine *e,
               bool *remembered)
{
    char name[DNN_PROBLEM_TEXT];
    cache_name(dnn, p, dnn->settings.tune, name);
    *remembered = is_known(dnn, &dnn->shipped, name, p, graph, e) || is_known(dnn, &dnn->cache, name, p, graph, e);
    if (*remembered) return 0;
    struct search s = {.dnn = dnn, .problem = p, .graph = graph};
    bool timed = dnn->settings.tune && dnn->handle && dnn_scratch_new(dnn, p, &s.scratch) == 0;
    if (!timed) s.scratch = NULL;  // not enough memory, for example: use the order of the list
    int rc = search_engine(&s);
    dnn_scratch_free(s.scratch);
    TRY(rc);
    *e = s.best;
    cache_name(dnn, p, timed, name);
    dnn_cache_put(&dnn->cache, name, &e->choice);
    dnn->fresh = true;
    return 0;
}
