// SPDX-License-Identifier: Apache-2.0
// The members of a statement. Bounds are wide enough for any honest value and narrow enough that the sums and products in check.c
// fit into 64 bits (or it uses 128).
#include "submit/format/fields.h"

#include "submit/format/machine_list.h"
#include "submit/format/run_metric.h"

#define NS_MAX ((int64_t)1 << 53)  // 104 days in nanoseconds, and exact as a double
#define MS_MAX ((int64_t)1 << 43)
#define COUNT_MAX ((int64_t)1 << 50)
#define MICRO_MAX ((int64_t)1000000 * 1000000)
#define OPTIONAL FIELD_OPTIONAL

#define INT(name, low, high, ...) {name, FIELD_INT, low, high, __VA_ARGS__}
#define HEAD(type_)                                                                                                    \
    {"type", FIELD_ONE_OF, 0, 0, 0, type_, NULL, "the type of the statement"},                                         \
    INT("version", 1, 1, 0, NULL, NULL, "version of the type"),                                                        \
    {"board", FIELD_WORD, 1, 63, 0, NULL, NULL, "name of the scoreboard it is meant for: it counts on no other"}
#define BOARD_KEY                                                                                                      \
    {"board_key", FIELD_TEXT, 50, 50, OPTIONAL, NULL, NULL,                                                            \
     "fingerprint of that board's key; a board takes no new statement without it"}

#define CLOCKS                                                                                                         \
    INT("step", 1, COUNT_MAX, 0, NULL, NULL, "optimiser steps done"),                                                  \
    INT("epoch_micro", 0, COUNT_MAX, 0, NULL, NULL, "epochs done, in millionths"),                                     \
    INT("t_ns", 1, NS_MAX, 0, NULL, NULL, "end-to-end clock at the end of the point's evaluation"),                    \
    INT("classic_ns", 0, NS_MAX, 0, NULL, NULL, "classic clock at that moment"),                                       \
    INT("warm_ns", 0, NS_MAX, 0, NULL, NULL, "warm clock at that moment"),                                             \
    INT("warm_with_evaluation_ns", 0, NS_MAX, 0, NULL, NULL, "warm clock with evaluations at that moment"),            \
    INT("samples", 0, COUNT_MAX, 0, NULL, NULL, "samples trained on since the start")

static const struct field reached[] = {
    CLOCKS,
    INT("energy_uj", 1, COUNT_MAX, OPTIONAL, NULL, NULL, "energy used until then; the run's chain_end binds it"),
    {0},
};
static const struct field metric[] = {
    {"name", FIELD_WORD, 1, 32, 0, NULL, NULL, "its name, such as top5"},
    {"unit", FIELD_WORDS, 0, 12, 0, NULL, NULL, "\"%\": shown times 100; else shown as it is, with this unit"},
    {"lower_is_better", FIELD_YES, 0, 1, 0, NULL, NULL, "1: a lower score is better"},
    INT("items", 0, COUNT_MAX, 0, NULL, NULL, "N of a score that is k of N; 0: the score is a value in millionths"),
    {0},
};
static const struct field score[] = {
    {"metric", FIELD_WORD, 1, 32, 0, NULL, NULL, "name of the metric"},
    INT("score", -COUNT_MAX, COUNT_MAX, 0, NULL, NULL, "k, or the value in millionths"),
    {0},
};
static const struct field named_loss[] = {
    {"name", FIELD_WORD, 1, 32, 0, NULL, NULL, "its name in the task"},
    INT("loss", -COUNT_MAX, COUNT_MAX, 0, NULL, NULL, "its mean over rows since the point before, in millionths"),
    {0},
};
static const struct field point[] = {
    CLOCKS,
    INT("stall_ns", 0, NS_MAX, 0, NULL, NULL, "time for which steps waited for data, since the start"),
    {"scores", FIELD_LIST, 0, RUN_METRICS_MAX, OPTIONAL, NULL, score, "the evaluation; absent when there was none"},
    INT("loss", -COUNT_MAX, COUNT_MAX, 0, NULL, NULL, "mean training loss in millionths"),
    {"losses", FIELD_LIST, 1, RUN_LOSSES_MAX, OPTIONAL, NULL, named_loss, "the named losses of a task that has several"},
    {"hash", FIELD_HEX, 64, 64, 0, NULL, NULL, "h of the hash chain after this point"},
    {0},
};
static const struct field segment[] = {
    {"segment", FIELD_ONE_OF, 0, 0, 0, "process|init|data|compile|warmup|train|evaluate|checkpoint|idle|away", NULL,
     "its name (docs/rules.md)"},
    INT("start_ns", 0, NS_MAX, 0, NULL, NULL, "when it was entered, on the end-to-end clock"),
    INT("end_ns", 1, NS_MAX, 0, NULL, NULL, "when it was left"),
    {0},
};
static const struct field part[] = {
    INT("samples", 1, COUNT_MAX, 0, NULL, NULL, "samples of the part"),
    INT("flops_per_sample", 1, COUNT_MAX, 0, NULL, NULL, "floating-point operations of training on one of them"),
    {0},
};
#define REMEMBERED                                                                                                     \
    {"remembered", FIELD_YES, 0, 1, OPTIONAL, NULL, NULL,                                                              \
     "1: the digest was remembered, or is the one in a pack (docs/rules.md); 0: the bytes were read when the run began"}
static const struct field data_set[] = {
    {"name", FIELD_WORDS, 1, 64, 0, NULL, NULL, "name of the data set"},
    {"split", FIELD_ONE_OF, 0, 0, 0, "train|test", NULL, "its part"},
    {"digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of its content, independent of the order"},
    INT("items", 1, COUNT_MAX, 0, NULL, NULL, "number of samples"),
    {"official", FIELD_YES, 0, 1, 0, NULL, NULL, "1: said to be the published set"},
    {"synthetic", FIELD_YES, 0, 1, 0, NULL, NULL, "1: drawn by the program itself"},
    INT("short_side", 0, 65536, OPTIONAL, NULL, NULL,
        "of pictures: pixels to which the shorter side of larger ones was brought before the run; 0: they kept their size"),
    INT("quality", 0, 100, OPTIONAL, NULL, NULL, "JPEG quality of re-encoded pictures; 0: none was re-encoded"),
    REMEMBERED,
    {0},
};
static const struct field damaged[] = {
    INT("train", 0, COUNT_MAX, 0, NULL, NULL, "of the training data"),
    INT("test", 0, COUNT_MAX, 0, NULL, NULL, "of the test data"),
    {0},
};
static const struct field file[] = {
    {"kind", FIELD_ONE_OF, 0, 0, 0, "weights|vocab|vectors", NULL, "what it is: weights that training began with, ..."},
    {"name", FIELD_WORDS, 1, 160, 0, NULL, NULL, "its name, without a folder"},
    {"digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of its bytes"},
    INT("bytes", 0, COUNT_MAX, 0, NULL, NULL, "its size"),
    REMEMBERED,
    {0},
};
static const struct field model[] = {
    {"name", FIELD_WORDS, 1, 96, 0, NULL, NULL, "name of the network"},
    INT("parameters", 0, COUNT_MAX, 0, NULL, NULL, "its number of parameters; 0: not known"),
    INT("flops_per_sample", 0, COUNT_MAX, 0, NULL, NULL,
        "floating-point operations of a forward pass, the mean over an evaluation; 0: not known"),
    {"weights_digest", FIELD_HEX, 64, 64, OPTIONAL, NULL, NULL, "SHA-256 of the file of weights"},
    {0},
};
static const struct field recipe[] = {
    {"name", FIELD_WORDS, 1, 96, 0, NULL, NULL, "name of the recipe"},
    {"text", FIELD_TEXT, 0, 65536, 0, NULL, NULL,
     "the whole recipe as it was used, on one line; of an outside program its command"},
    {"digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of the text"},
    {"published", FIELD_YES, 0, 1, 0, NULL, NULL, "1: it trains like the recipe of that name in this repository"},
    {0},
};
static const struct field group[] = {
    {"nonce", FIELD_HEX, 32, 32, 0, NULL, NULL, "the group's name: 128 random bits"},
    INT("index", 1, 1000, 0, NULL, NULL, "number of this run in it"),
    INT("planned", 1, 1000, 0, NULL, NULL, "runs announced before the first began"),
    INT("announced_ms", 0, MS_MAX, 0, NULL, NULL, "when it was announced"),
    {0},
};
static const struct field price[] = {
    INT("micro_usd_per_hour", 1, MICRO_MAX, 0, NULL, NULL, "price of an hour of the whole machine"),
    {"source", FIELD_WORDS, 1, 200, 0, NULL, NULL, "who says so; \"user\" when the submitter does"},
    {"date", FIELD_DATE, 0, 0, 0, NULL, NULL, "when it was said"},
    {"instance", FIELD_WORDS, 0, 64, 0, NULL, NULL, "its name in the price table; empty when the submitter gave the price"},
    INT("total_micro_usd", 0, COUNT_MAX, OPTIONAL, NULL, NULL,
        "end-to-end time to the target x price, rounded up; absent when the target was not met"),
    {0},
};
#define TEXT(name, what) {#name, FIELD_WORDS, 0, 160, 0, NULL, NULL, what},
#define NUMBER(name, most, what) INT(#name, 0, most, 0, NULL, NULL, what),
static const struct field hardware[] = {
    MACHINE_FACT_LIST
    INT("devices", 1, 1 << 20, 0, NULL, NULL, "accelerators in use; 1 when it is the processor"),
    {0},
};
#undef TEXT
#undef NUMBER
static const struct field software[] = {
    {"framework", FIELD_WORDS, 1, 64, 0, NULL, NULL,
     "what trained: DAWN (its commit is its version), or what an outside program says of itself"},
    {"commit", FIELD_TEXT, 0, 64, 0, NULL, NULL, "commit DAWN was built from; empty: built outside git"},
    {"dirty", FIELD_YES, 0, 1, 0, NULL, NULL, "1: the sources differed from that commit"},
    {"compiler", FIELD_WORDS, 0, 160, 0, NULL, NULL, "compiler and version"},
    {"flags", FIELD_TEXT, 0, 512, 0, NULL, NULL, "its options"},
    {"binary_digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of the program's file"},
    {"libraries", FIELD_WORDS, 0, 512, 0, NULL, NULL, "libraries and their versions while it ran"},
    {0},
};
static const struct field latency[] = {
    {"weights_digest", FIELD_HEX, 64, 64, OPTIONAL, NULL, NULL, "SHA-256 of the file of weights"},
    {"precision", FIELD_WORD, 1, 16, 0, NULL, NULL, "number format of the arithmetic"},
    {"device", FIELD_WORD, 1, 32, 0, NULL, NULL, "the device"},
    INT("threads", 0, 65536, 0, NULL, NULL, "threads in use"),
    INT("items", 1, COUNT_MAX, 0, NULL, NULL, "items measured"),
    INT("warmup_items", 0, COUNT_MAX, 0, NULL, NULL, "items before them whose times were thrown away"),
    INT("model_mean_ns", 1, NS_MAX, 0, NULL, NULL, "the forward pass alone: mean"),
    INT("model_p50_ns", 1, NS_MAX, 0, NULL, NULL, "median"),
    INT("model_p90_ns", 1, NS_MAX, 0, NULL, NULL, "90% of the items took no longer"),
    INT("model_p99_ns", 1, NS_MAX, 0, NULL, NULL, "99% of the items took no longer"),
    INT("whole_mean_ns", 1, NS_MAX, 0, NULL, NULL, "with preprocessing: mean, used for ranking"),
    INT("whole_p50_ns", 1, NS_MAX, 0, NULL, NULL, "median"),
    INT("whole_p90_ns", 1, NS_MAX, 0, NULL, NULL, "90%"),
    INT("whole_p99_ns", 1, NS_MAX, 0, NULL, NULL, "99%"),
    INT("k", 0, COUNT_MAX, 0, NULL, NULL, "correct items of the same pass; the value in millionths where the metric is one"),
    INT("views", 1, 4096, 0, NULL, NULL, "forward passes per item"),
    {"eligible", FIELD_YES, 0, 1, 0, NULL, NULL, "1: k meets the target on the whole published test set"},
    {"data_digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of the content of the set the items came from"},
    {"synthetic", FIELD_YES, 0, 1, 0, NULL, NULL, "1: drawn by the program itself"},
    {"hardware", FIELD_OBJECT, 0, 0, 0, NULL, hardware, "the machine that answered"},
    {"price", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, price, "its price; total_micro_usd: of 10,000 items"},
    INT("measured_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {"hash", FIELD_HEX, 64, 64, 0, NULL, NULL, "hash of the measurement and the root"},
    {0},
};

static const struct field entered[] = {
    {"statement", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the competition"},
    {"salt", FIELD_HEX, 32, 32, 0, NULL, NULL, "128 random bits, so that nobody can guess this statement from its digest"},
    {0},
};

static const struct field run_ticket[] = {
    {"statement", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the ticket"},
    {"board_key", FIELD_TEXT, 50, 50, 0, NULL, NULL, "fingerprint of the board that issued it; other boards ignore it"},
    {"proof", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of its receipt's signature; its first 12 digits are the seed"},
    {0},
};
static const struct field run[] = {
    HEAD("run"),
    BOARD_KEY,
    {"handle", FIELD_HANDLE, 1, 39, 0, NULL, NULL, "the submitter's name on the boards"},
    {"team", FIELD_WORDS, 0, 96, 0, NULL, NULL, "team or organisation, as the author says; may be empty"},
    {"division", FIELD_ONE_OF, 0, 0, 0, "closed|open", NULL,
     "closed: a recipe of this repository as it stands, no files besides the data, scored by the harness; "
     "open: anything"},
    {"evaluated_by", FIELD_ONE_OF, 0, 0, 0, "harness|self", NULL,
     "harness: dawn owned data, labels and evaluation; self: the program under test reported its own score"},
    {"task", FIELD_WORD, 1, 32, 0, NULL, NULL, "name of the task"},
    {"task_digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of the canonical task, metric, items, target and scored set"},
    {"metrics", FIELD_LIST, 1, RUN_METRICS_MAX, 0, NULL, metric, "the measured metrics; the first is the board's"},
    INT("target_micro", 1, COUNT_MAX, 0, NULL, NULL, "the target of the first metric, in millionths"),
    {"nonce", FIELD_HEX, 32, 32, 0, NULL, NULL, "the run's name: 128 random bits"},
    {"status", FIELD_ONE_OF, 0, 0, 0, "done|missed|interrupted|failed", NULL, "how it ended"},
    INT("seed", -COUNT_MAX, COUNT_MAX, 0, NULL, NULL, "seed of all random numbers"),
    {"precision", FIELD_WORD, 1, 16, 0, NULL, NULL, "number format of the arithmetic"},
    {"device", FIELD_WORD, 1, 32, 0, NULL, NULL, "device that trained"},
    INT("threads", 0, 65536, 0, NULL, NULL, "threads of the processor in use"),
    INT("batch", 0, COUNT_MAX, 0, NULL, NULL, "samples of a step; 0: not known"),
    INT("step_least", 1, COUNT_MAX, OPTIONAL, NULL, NULL, "fewest samples of a step, if `step_most` is there; absent: 0"),
    INT("step_most", 1, COUNT_MAX, OPTIONAL, NULL, NULL, "most samples of a step; absent: every step has `batch`"),
    INT("views", 0, 4096, 0, NULL, NULL, "forward passes per item in an evaluation; 0: not known"),
    INT("input_size", 0, 65536, 0, NULL, NULL, "side of the evaluated images in pixels; 0: no images, or not known"),
    {"stop_at_target", FIELD_YES, 0, 1, 0, NULL, NULL, "1: training stopped at the first evaluation that met the target"},
    {"synthetic", FIELD_YES, 0, 1, 0, NULL, NULL, "1: some data were drawn by the program itself"},
    {"official", FIELD_YES, 0, 1, 0, NULL, NULL, "1: all data have the published digests"},
    INT("started_ms", 0, MS_MAX, 0, NULL, NULL, "date and time at which it began"),
    INT("ended_ms", 0, MS_MAX, 0, NULL, NULL, "date and time at which it ended"),
    {"model", FIELD_OBJECT, 0, 0, 0, NULL, model, "the trained network"},
    {"recipe", FIELD_OBJECT, 0, 0, 0, NULL, recipe, "how"},
    {"data", FIELD_LIST, 0, 8, 0, NULL, data_set, "on what; empty when the harness did not own the data"},
    {"damaged", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, damaged, "pictures that turned out to be damaged in the run"},
    {"files", FIELD_LIST, 1, 3, OPTIONAL, NULL, file, "what the run took besides its data"},
    {"chain_root", FIELD_HEX, 64, 64, 0, NULL, NULL, "h0 of the hash chain"},
    {"replay_of", FIELD_HEX, 64, 64, OPTIONAL, NULL, NULL,
     "last hash of the points of the run that this one repeats (dawn replay)"},
    {"chain_end", FIELD_HEX, 64, 64, OPTIONAL, NULL, NULL,
     "last hash of the chain, over the run's end; absent if the run did not finish"},
    {"points", FIELD_LIST, 0, 4000, 0, NULL, point, "the curve"},
    {"work", FIELD_LIST, 0, 64, OPTIONAL, NULL, part, "parts of the schedule in order, where a sample's cost changes"},
    {"segments", FIELD_LIST, 0, 4000, 0, NULL, segment, "what the stopwatch saw, without gaps"},
    {"reached", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, reached, "the first point that meets the target; absent when none does"},
    INT("resumed", 0, COUNT_MAX, 0, NULL, NULL, "how often the training was interrupted and resumed"),
    {"group", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, group, "the announced group it belongs to"},
    {"ticket", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, run_ticket, "the ticket that a board issued before it began"},
    {"price", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, price, "what an hour costs, and what the run did"},
    {"hardware", FIELD_OBJECT, 0, 0, 0, NULL, hardware, "the machine"},
    {"software", FIELD_OBJECT, 0, 0, 0, NULL, software, "the program"},
    INT("peak_memory_bytes", 0, COUNT_MAX, OPTIONAL, NULL, NULL, "most memory the process held; on a GPU, of the GPU"),
    INT("energy_uj", 0, COUNT_MAX, OPTIONAL, NULL, NULL, "energy of the processor packages and GPUs, as far as it can be read"),
    {"latencies", FIELD_LIST, 0, 32, 0, NULL, latency, "inference measured with its weights"},
    {"tags", FIELD_TAGS, 0, 8, 0, NULL, NULL, "words of the submitter, sorted"},
    {"note", FIELD_WORDS, 0, 500, OPTIONAL, NULL, NULL, "a remark of the submitter"},
    {"code_url", FIELD_URL, 0, 300, OPTIONAL, NULL, NULL, "https address of the code"},
    {"supersedes", FIELD_HEX, 64, 64, OPTIONAL, NULL, NULL, "digest of the own statement this one replaces, of the same run"},
    {"competition", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, entered,
     "the competition that it enters; a board takes it only from who committed to it"},
    {0},
};
static const struct field withdraw[] = {
    HEAD("withdraw"),
    BOARD_KEY,
    {"statement", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the own statement that is withdrawn"},
    {"reason", FIELD_WORDS, 1, 500, 0, NULL, NULL, "why; shown"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field amend[] = {
    HEAD("amend"),
    BOARD_KEY,
    {"statement", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the own run that is amended"},
    {"team", FIELD_WORDS, 0, 96, OPTIONAL, NULL, NULL, "as in a run"},
    {"note", FIELD_WORDS, 0, 500, OPTIONAL, NULL, NULL, "as in a run"},
    {"code_url", FIELD_URL, 0, 300, OPTIONAL, NULL, NULL, "as in a run"},
    {"tags", FIELD_TAGS, 0, 8, OPTIONAL, NULL, NULL, "as in a run"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field rotate[] = {
    HEAD("rotate"),
    BOARD_KEY,
    {"handle", FIELD_HANDLE, 1, 39, 0, NULL, NULL, "whose keys"},
    {"key", FIELD_TEXT, 80, 240, 0, NULL, NULL, "the new public key: \"ssh-ed25519 AAAA...\", without a comment"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field revoke[] = {
    HEAD("revoke"),
    BOARD_KEY,
    {"key", FIELD_TEXT, 50, 50, 0, NULL, NULL,
     "fingerprint of the key: \"SHA256:...\"; signed by itself or by the server's key"},
    {"reason", FIELD_WORDS, 1, 500, 0, NULL, NULL, "why; shown"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field repeated[] = {
    INT("epoch_micro", 1, COUNT_MAX, 0, NULL, NULL, "epochs that were trained again, in millionths"),
    INT("points", 1, COUNT_MAX, 0, NULL, NULL, "points of the run up to there"),
    INT("equal", 0, COUNT_MAX, 0, NULL, NULL, "of these, points whose samples, losses and scores are the same to the last bit"),
    {"device", FIELD_WORD, 1, 32, 0, NULL, NULL, "device that trained again"},
    {"hardware", FIELD_TEXT, 0, 160, 0, NULL, NULL, "model of the GPU, or of the processor"},
    {"binary_digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of the program's file"},
    {0},
};
static const struct field audit[] = {
    HEAD("audit"),
    BOARD_KEY,
    {"statement", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the statement it decides about"},
    {"verdict", FIELD_ONE_OF, 0, 0, 0, "confirmed|withdrawn|equal|differs|cancelled|upheld|dismissed", NULL,
     "of a run: confirmed, or withdrawn: an earlier confirmation no longer holds; of a run that was drawn: equal or differs, "
     "when it was trained again; of a competition: cancelled; of an objection: upheld, dismissed"},
    {"repeated", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, repeated, "of equal and differs: the compared part"},
    {"by", FIELD_WORDS, 1, 96, 0, NULL, NULL, "the person who decided; shown"},
    {"reason", FIELD_WORDS, 1, 500, 0, NULL, NULL, "the examined evidence, and why this was decided; shown"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field setting[] = {
    {"precision", FIELD_WORD, 1, 16, 0, NULL, NULL, "number format of the arithmetic"},
    {"fusion", FIELD_YES, 0, 1, 0, NULL, NULL, "1: operators were fused"},
    INT("batch", 1, COUNT_MAX, 0, NULL, NULL, "samples of a step"),
    {"size", FIELD_WORDS, 1, 48, 0, NULL, NULL, "of a sample: \"32 x 32\", \"length 384\""},
    {"recipe_digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of the recipe of this setting"},
    INT("ignored", 0, COUNT_MAX, 0, NULL, NULL, "steps before the first timed one"),
    INT("timed", 1, COUNT_MAX, 0, NULL, NULL, "timed steps of a repeat"),
    {"whole", FIELD_YES, 0, 1, 0, NULL, NULL, "1: the whole protocol; 0: the time limit cut it"},
    INT("repeats", 1, 1000, 0, NULL, NULL, "repeats"),
    INT("accepted", 0, 1000, 0, NULL, NULL, "repeats whose window was steady (docs/measuring.md)"),
    INT("step_ns", 1, NS_MAX, 0, NULL, NULL, "time of a step, median of the repeats"),
    INT("step_low_ns", 0, NS_MAX, 0, NULL, NULL, "of the fastest repeat"),
    INT("step_high_ns", 1, NS_MAX, 0, NULL, NULL, "of the slowest repeat"),
    INT("others_micro", 0, MICRO_MAX, OPTIONAL, NULL, NULL,
        "processors that other programs used meanwhile, in millionths of one; absent: unknown"),
    INT("energy_uj", 1, COUNT_MAX, OPTIONAL, NULL, NULL, "energy of a step, as far as it can be read"),
    INT("flops", 0, (int64_t)1 << 62, 0, NULL, NULL, "floating-point operations of a step"),
    INT("memory_bytes", 0, COUNT_MAX, 0, NULL, NULL, "memory of the step by plan"),
    {0},
};
static const struct field scaling[] = {
    {"precision", FIELD_WORD, 1, 16, 0, NULL, NULL, "number format of the arithmetic"},
    {"size", FIELD_WORDS, 1, 48, 0, NULL, NULL, "of a sample: \"32 x 32\", \"length 384\""},
    INT("processes", 1, 65536, 0, NULL, NULL, "processes that computed a step together; each has the threads above"),
    INT("machines", 1, 65536, 0, NULL, NULL, "machines that they were on"),
    INT("batch", 1, COUNT_MAX, 0, NULL, NULL, "samples of a step, of each process"),
    INT("step_ns", 1, NS_MAX, 0, NULL, NULL, "time of a step, median of the repeats"),
    INT("gradient_bytes", 0, COUNT_MAX, 0, NULL, NULL, "bytes that a step adds up over the processes"),
    {0},
};
static const struct field bench[] = {
    HEAD("bench"),
    BOARD_KEY,
    {"handle", FIELD_HANDLE, 1, 39, 0, NULL, NULL, "whose measurement"},
    {"task", FIELD_WORD, 1, 32, 0, NULL, NULL, "name of the task"},
    {"samples", FIELD_WORD, 1, 16, 0, NULL, NULL, "what its samples are called: images, questions"},
    {"data", FIELD_WORDS, 1, 64, 0, NULL, NULL, "name of the data set"},
    {"noise", FIELD_YES, 0, 1, 0, NULL, NULL, "1: noise of the shape of its samples"},
    {"model", FIELD_WORDS, 1, 96, 0, NULL, NULL, "name of the network"},
    {"recipe", FIELD_WORDS, 1, 96, 0, NULL, NULL, "name of the recipe"},
    {"device", FIELD_WORD, 1, 32, 0, NULL, NULL, "device that computed"},
    INT("threads", 0, 65536, 0, NULL, NULL, "threads of the processor in use"),
    INT("measured_ms", 0, MS_MAX, 0, NULL, NULL, "date and time of the last setting"),
    {"settings", FIELD_LIST, 0, BENCH_SETTINGS, 0, NULL, setting, "the measured settings, in order; empty if there is a scaling"},
    {"scaling", FIELD_LIST, 1, BENCH_SCALING, OPTIONAL, NULL, scaling, "the step over growing numbers of processes, instead"},
    {"hardware", FIELD_OBJECT, 0, 0, 0, NULL, hardware, "the machine"},
    {"software", FIELD_OBJECT, 0, 0, 0, NULL, software, "the program"},
    {0},
};
static const struct field competition[] = {
    HEAD("competition"),
    BOARD_KEY,
    {"name", FIELD_HANDLE, 1, 39, 0, NULL, NULL, "its name in addresses"},
    {"title", FIELD_WORDS, 1, 96, 0, NULL, NULL, "its name for people"},
    {"rules", FIELD_WORDS, 1, 4000, 0, NULL, NULL, "what holds besides the board's rules; shown"},
    {"url", FIELD_URL, 0, 300, OPTIONAL, NULL, NULL, "https address of more about it"},
    {"task", FIELD_WORD, 1, 32, 0, NULL, NULL, "the task whose board ranks the entries, as /api/v1/tasks names it"},
    {"ranked_by", FIELD_ONE_OF, 0, 0, 0, "training-time|training-cost|inference-latency|inference-cost", NULL, "that board"},
    {"rank", FIELD_ONE_OF, 0, 0, 0, "classic|group", NULL, "classic: an entry is a single run; group: an official group"},
    INT("target_micro", 1, COUNT_MAX, 0, NULL, NULL, "a target of that board, in millionths"),
    {"division", FIELD_ONE_OF, 0, 0, 0, "closed|open", NULL, "closed: runs of the closed division alone; open: any run"},
    {"trust", FIELD_ONE_OF, 0, 0, 0, "signed|checked", NULL, "the least level of trust that gets a place"},
    INT("begins_ms", 0, MS_MAX, 0, NULL, NULL, "commitments are accepted from this moment of the server's clock on,"),
    INT("commits_until_ms", 0, MS_MAX, 0, NULL, NULL, "before this one; and from this one on, the runs,"),
    INT("reveals_until_ms", 0, MS_MAX, 0, NULL, NULL, "before this one"),
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field committed[] = {
    {"statement", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the statement of a run, which nobody has seen yet"},
    {0},
};
static const struct field commit[] = {
    HEAD("commit"),
    BOARD_KEY,
    {"handle", FIELD_HANDLE, 1, 39, 0, NULL, NULL, "the participant's name on the boards"},
    {"competition", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the competition"},
    {"runs", FIELD_LIST, 1, 1000, 0, NULL, committed, "the entry: one run, or all runs of a group; the digests ascend"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field object[] = {
    HEAD("object"),
    BOARD_KEY,
    {"statement", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the run that it is about"},
    {"reason", FIELD_WORDS, 1, 1000, 0, NULL, NULL, "its fault; shown"},
    {"url", FIELD_URL, 0, 300, OPTIONAL, NULL, NULL, "https address of the evidence"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field ticket_group[] = {
    {"nonce", FIELD_HEX, 32, 32, 0, NULL, NULL, "the group's name"},
    INT("index", 1, 1000, 0, NULL, NULL, "number of the run in it: each has one ticket at most"),
    INT("planned", 1, 1000, 0, NULL, NULL, "its number of runs, the same in all its tickets"),
    {0},
};
static const struct field ticket[] = {
    HEAD("ticket"),
    BOARD_KEY,
    {"handle", FIELD_HANDLE, 1, 39, 0, NULL, NULL, "whose run it will be"},
    {"task", FIELD_WORD, 1, 32, 0, NULL, NULL, "as in the run, like the members after it"},
    INT("target_micro", 1, COUNT_MAX, 0, NULL, NULL, "the target of the first metric, in millionths"),
    {"model", FIELD_WORDS, 1, 96, 0, NULL, NULL, "name of the network"},
    {"recipe", FIELD_WORDS, 1, 96, 0, NULL, NULL, "name of the recipe"},
    {"recipe_digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of its text"},
    {"binary_digest", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of the program's file"},
    {"group", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, ticket_group, "the group that the run will belong to"},
    {"lock", FIELD_HEX, 64, 64, 0, NULL, NULL, "SHA-256 of the secret that its beats bring, 64 hexadecimal digits"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field stamp[] = {
    {"hash", FIELD_HEX, 64, 64, 0, NULL, NULL, "the hash of a point of the run, or of its end"},
    INT("ms", 0, MS_MAX, 0, NULL, NULL, "when the board got it"),
    {0},
};
static const struct field vouch[] = {
    HEAD("vouch"),
    BOARD_KEY,
    {"statement", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the run"},
    {"ticket", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of its ticket"},
    INT("issued_ms", 0, MS_MAX, 0, NULL, NULL, "when the board issued the ticket"),
    {"stamps", FIELD_LIST, 1, 3, 0, NULL, stamp, "the states that decide, when the board got them"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
static const struct field draw_key[] = {
    {"key", FIELD_TEXT, 50, 50, 0, NULL, NULL, "fingerprint of the key"},
    {0},
};
static const struct field draw[] = {
    HEAD("draw"),
    BOARD_KEY,
    INT("share_micro", 0, 1000000, 0, NULL, NULL, "share of new runs that is drawn, in millionths"),
    INT("again_micro", 0, 1000000, 0, NULL, NULL, "share of all runs that each 256th statement draws, in millionths"),
    {"keys", FIELD_LIST, 0, 256, 0, NULL, draw_key, "keys whose repetitions count"},
    {"by", FIELD_WORDS, 1, 96, 0, NULL, NULL, "the person who decided; shown"},
    INT("made_ms", 0, MS_MAX, 0, NULL, NULL, "date and time"),
    {0},
};
const struct field *const statement_fields[STATEMENT_TYPES] = {
    [STATEMENT_RUN] = run, [STATEMENT_WITHDRAW] = withdraw, [STATEMENT_AMEND] = amend,
    [STATEMENT_ROTATE] = rotate, [STATEMENT_REVOKE] = revoke, [STATEMENT_AUDIT] = audit,
    [STATEMENT_BENCH] = bench, [STATEMENT_COMPETITION] = competition, [STATEMENT_COMMIT] = commit,
    [STATEMENT_OBJECT] = object,
    [STATEMENT_TICKET] = ticket, [STATEMENT_VOUCH] = vouch,
    [STATEMENT_DRAW] = draw,
};
static const struct field proof_step[] = {
    {"hash", FIELD_HEX, 64, 64, 0, NULL, NULL, "the sibling of the hash reached so far"},
    {0},
};
static const struct field receipt_log[] = {
    INT("size", 1, COUNT_MAX, 0, NULL, NULL, "entries of the log with this one as its last"),
    {"root", FIELD_HEX, 64, 64, 0, NULL, NULL, "root of the tree over them (RFC 6962, SHA-256)"},
    {"proof", FIELD_LIST, 0, RECEIPT_PROOF, 0, NULL, proof_step, "leads from this entry up to the root"},
    {"signature", FIELD_TEXT, RECEIPT_SIGNATURE - 1, RECEIPT_SIGNATURE - 1, 0, NULL, NULL,
     "of the checkpoint of that size and root, as a signed note has it"},
    {0},
};
const struct field receipt_fields[] = {
    HEAD("receipt"),
    INT("sequence", 1, COUNT_MAX, 0, NULL, NULL, "number of the statement in the log"),
    INT("accepted_ms", 0, MS_MAX, 0, NULL, NULL, "when it was accepted: what orders ties"),
    {"payload", FIELD_HEX, 64, 64, 0, NULL, NULL, "digest of the statement"},
    {"signer", FIELD_TEXT, 50, 50, 0, NULL, NULL, "fingerprint of its key"},
    {"log", FIELD_OBJECT, 0, 0, OPTIONAL, NULL, receipt_log, "its place in the board's log (docs/log.md)"},
    {0},
};
