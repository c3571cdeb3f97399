// SPDX-License-Identifier: Apache-2.0
// The hash chain over a run. Invariant: the chain hashes exactly the canonical JSON of the later statement, so a server
// recomputes it from the received bytes alone. Cost: one SHA-256 per point.
#include "submit/format/chain.h"

#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

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
    crypto_hash_sha256_final(&state, chain->head);
    free(bytes);
    return 0;
}

// ---- members of the statement

// The name of an object's member is a path with a dot.
static const char *const root_names[] = {
    "batch", "data", "device", "evaluated_by", "files", "group", "hardware", "input_size", "metrics", "model.flops_per_sample",
    "model.name", "model.parameters", "nonce", "official", "precision", "price.date", "price.instance",
    "price.micro_usd_per_hour", "price.source", "recipe.digest", "recipe.name", "recipe.published", "replay_of", "seed",
    "software", "started_ms", "step_least", "step_most", "stop_at_target", "synthetic", "target_micro", "task", "task_digest",
    "threads", "ticket", "views", "work", NULL};
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

int chain_bind(struct chain *chain, const json_t *run)
{
    return hash_words(chain, NULL, json_pack("{s:o}", "run", members_of(run, root_names)));
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
    if (!chain_from_hex(&before, root)) return fail(ERR_INPUT, "the root of the run's chain is no digest");
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

void chain_add(struct chain *chain, const struct chain_point *p)
{
    json_t *scores = list_scores(p->metrics, p->metric_count, p->score);
    json_t *point = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "t_ns", (json_int_t)p->t_ns, "classic_ns",
                              (json_int_t)p->classic_ns, "warm_ns", (json_int_t)p->warm_ns, "warm_with_evaluation_ns",
                              (json_int_t)p->warm_with_evaluation_ns, "samples", (json_int_t)p->samples, "loss",
                              (json_int_t)p->loss_micro, "step", (json_int_t)p->step, "epoch_micro",
                              (json_int_t)p->epoch_micro, "stall_ns", (json_int_t)p->stall_ns);
    if (json_array_size(scores) > 0) json_object_set(point, "scores", scores);
    json_decref(scores);
    if (json_array_size(p->losses) > 0) json_object_set(point, "losses", (json_t *)p->losses);
    const struct chain before = *chain;
    if (hash_words(chain, &before, point) < 0) BUG("a point that has no canonical form");  // it has integers and names alone
}

void chain_hex(const struct chain *chain, char hex[DIGEST_HEX])
{
    digest_hex(chain->head, hex);
}

bool chain_from_hex(struct chain *chain, const char *hex)
{
    size_t got = 0;
    if (strlen(hex) != DIGEST_HEX - 1) return false;
    return sodium_hex2bin(chain->head, sizeof chain->head, hex, DIGEST_HEX - 1, NULL, &got, NULL) == 0 &&
           got == sizeof chain->head;
}
