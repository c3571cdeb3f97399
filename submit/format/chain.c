// SPDX-License-Identifier: Apache-2.0
// The hash chain over a run. Invariant: the chain hashes exactly the canonical JSON of the later statement, so a server
// recomputes it from the received bytes alone. Cost: one SHA-256 per point.
#include "submit/format/chain.h"

#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/canonical.h"

// Takes over the reference.
static int hash_words(struct chain *chain, const struct chain *before, json_t *value)
{
    char *bytes = NULL;
    size_t count = 0;
    int rc = value != NULL ? canonical_write(value, &bytes, &count) : fail(ERR_INPUT, "a fact of the run is not UTF-8");
    json_decref(value);
    TRY(rc);
    crypto_hash_sha256_state state;
    crypto_hash_sha256_init(&state);
    if (before != NULL) crypto_hash_sha256_update(&state, before->head, sizeof before->head);
    crypto_hash_sha256_update(&state, (const unsigned char *)bytes, count);
    struct chain next = {.version = chain->version};
    crypto_hash_sha256_final(&state, next.head);
    *chain = next;
    free(bytes);
    return 0;
}

// The value holds only our own integers and digests, so it cannot be refused.
static void hash_value(struct chain *chain, const struct chain *before, json_t *value)
{
    if (hash_words(chain, before, value) < 0) BUG("a point that has no canonical form");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static json_t *metric_list(const struct run_metric *metrics, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:I}", "name", metrics[i].name, "unit", metrics[i].unit,
                                              "lower_is_better", (int)metrics[i].lower_is_better, "items",
                                              (json_int_t)metrics[i].items));
    return list;
}

void chain_begin(struct chain *chain, const struct chain_root *root)
{
    size_t count = (size_t)root->data_count;
    const char **sorted = zalloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++) sorted[i] = root->data_digests[i];
    qsort(sorted, count, sizeof *sorted, by_text);  // the order of the list must not change the hash
    json_t *data = json_array();
    for (size_t i = 0; i < count; i++) json_array_append_new(data, json_string(sorted[i]));
    free(sorted);
    json_t *value = json_pack("{s:s, s:s, s:s, s:s, s:I, s:o}", "nonce", root->nonce, "task", root->task_digest, "binary",
                              root->binary_digest, "recipe", root->recipe_digest, "seed", (json_int_t)root->seed, "data", data);
    chain->version = root->version;
    if (root->version > 1) {
        json_object_set_new(value, "chain", json_integer(root->version));
        json_object_set_new(value, "metrics", metric_list(root->metrics, root->metric_count));
    }
    hash_value(chain, NULL, value);
}

// ---- version 3: members of the statement

// The name of an object's member is a path with a dot.
static const char *const root_names[] = {
    "batch", "data", "device", "evaluated_by", "files", "group", "hardware", "input_size", "metrics", "model.flops_per_sample",
    "model.name", "model.parameters", "nonce", "official", "precision", "price.date", "price.instance",
    "price.micro_usd_per_hour", "price.source", "recipe.digest", "recipe.name", "replay_of", "seed", "software", "started_ms",
    "stop_at_target", "synthetic", "target_micro", "task", "task_digest", "threads", "ticket", "views", "work", NULL};
static const char *const end_names[] = {"damaged", "ended_ms", "energy_uj", "model.weights_digest", "peak_memory_bytes",
                                        "reached.energy_uj", "resumed", "segments", "status", NULL};
static const char *const latency_names[] = {
    "data_digest", "device", "eligible", "hardware", "items", "k", "measured_ms", "model_mean_ns", "model_p50_ns",
    "model_p90_ns", "model_p99_ns", "precision", "price.date", "price.instance", "price.micro_usd_per_hour", "price.source",
    "synthetic", "threads", "views", "warmup_items", "weights_digest", "whole_mean_ns", "whole_p50_ns", "whole_p90_ns",
    "whole_p99_ns", NULL};

// Copies the named members under their whole names. A missing member is left out.
static json_t *members_of(const json_t *from, const char *const *names)
{
    json_t *to = json_object();
    for (; *names != NULL; names++) {
        const json_t *value = canonical_at(from, *names);
        if (value != NULL) json_object_set(to, *names, (json_t *)value);
    }
    return to;
}

int chain_version(const json_t *run)
{
    int64_t chain = canonical_int(run, "chain");
    return chain > 0 ? (int)chain : (int)canonical_int(run, "version");
}

int chain_bind(struct chain *chain, const json_t *run)
{
    chain->version = CHAIN_BOUND;
    return hash_words(chain, NULL, json_pack("{s:i, s:o}", "chain", CHAIN_BOUND, "run", members_of(run, root_names)));
}

int chain_end(const struct chain *chain, const json_t *run, char hex[DIGEST_HEX])
{
    struct chain end = *chain;
    TRY(hash_words(&end, chain, json_pack("{s:o}", "end", members_of(run, end_names))));
    chain_hex(&end, hex);
    return 0;
}

int chain_latency(const char *root, const json_t *latency, char hex[DIGEST_HEX])
{
    struct chain before, chain;
    if (!chain_from_hex(&before, CHAIN_BOUND, root)) return fail(ERR_INPUT, "the root of the run's chain is no digest");
    chain = before;
    TRY(hash_words(&chain, &before, json_pack("{s:o}", "latency", members_of(latency, latency_names))));
    chain_hex(&chain, hex);
    return 0;
}

// ---- points

static json_t *list_scores(const struct run_metric *metrics, int count, const int64_t *score)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        if (score[i] != RUN_SCORE_NONE)
            json_array_append_new(list, json_pack("{s:s, s:I}", "metric", metrics[i].name, "score", (json_int_t)score[i]));
    return list;
}

static void add_version_1(json_t *point, const struct chain_point *p)
{
    json_object_set_new(point, "epoch", json_integer(p->step));
    if (p->score[0] != RUN_SCORE_NONE) json_object_set_new(point, "k", json_integer(p->score[0]));
}

static void add_version_2(json_t *point, const struct chain_point *p)
{
    json_object_set_new(point, "step", json_integer(p->step));
    json_object_set_new(point, "epoch_micro", json_integer(p->epoch_micro));
    json_object_set_new(point, "stall_ns", json_integer(p->stall_ns));
    json_t *scores = list_scores(p->metrics, p->metric_count, p->score);
    if (json_array_size(scores) > 0) json_object_set(point, "scores", scores);
    json_decref(scores);
}

void chain_add(struct chain *chain, const struct chain_point *p)
{
    json_t *point = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "t_ns", (json_int_t)p->t_ns, "classic_ns",
                              (json_int_t)p->classic_ns, "warm_ns", (json_int_t)p->warm_ns, "warm_with_evaluation_ns",
                              (json_int_t)p->warm_with_evaluation_ns, "samples", (json_int_t)p->samples, "loss",
                              (json_int_t)p->loss_micro);
    (chain->version == 1 ? add_version_1 : add_version_2)(point, p);
    struct chain before = *chain;
    hash_value(chain, &before, point);
}

void chain_hex(const struct chain *chain, char hex[DIGEST_HEX])
{
    digest_hex(chain->head, hex);
}

bool chain_from_hex(struct chain *chain, int version, const char *hex)
{
    size_t got = 0;
    chain->version = version;
    if (strlen(hex) != DIGEST_HEX - 1) return false;
    return sodium_hex2bin(chain->head, sizeof chain->head, hex, DIGEST_HEX - 1, NULL, &got, NULL) == 0 &&
           got == sizeof chain->head;
}
