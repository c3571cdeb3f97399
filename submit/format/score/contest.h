// SPDX-License-Identifier: Apache-2.0
// The contests: the tasks with boards, and the facts that the rules fix for each (docs/rules.md). Both programs embed the
// contest.json of every task.
#pragma once

#include "runtime/common/base/file.h"
#include "submit/format/run_metric.h"

#include <jansson.h>

enum { CONTEST_TARGETS = 4, CONTESTS_MAX = 32 };
struct contest {
    const char *name;          // "cifar10": in records and addresses
    const char *title;         // "CIFAR10": on pages, and DAWNBench's folder
    const char *about;         // one sentence
    const char *fetch;         // what "dawn data fetch" calls its data; NULL: they come from elsewhere
    const char *metric;        // "top1", "top5", "f1": the board's
    struct run_metric board;   // the same with its unit and direction
    const char *metric_title;  // "top-1 accuracy"
    const char *test_name;     // "the 10,000 test images"
    int64_t items;             // N of "k of N". A metric that is no count (F1) is kept in millionths: N is 1,000,000
    int64_t most_micro;        // the largest value of the board's metric, and of others with its unit, if it has one; 0: unknown
    int64_t least_micro;       // the smallest value that samples drawn from the data itself could have
    const json_t *where_met;   // bounds of other metrics where the target is met: {"copies": {"least_micro": ..}}; NULL: none
    int64_t test_items;        // items of the whole test set
    // of a latency over the whole test set: test_items, but where the task makes samples of its own of it
    int64_t requests;
    int64_t train_items;       // of the published training set; 0 without a digest: training data are free
    bool steps_vary;           // a recipe may take more or fewer samples in a step than data.batch
    int64_t passes_per_item;   // evaluations of the network for one test item, at most (a game with a search per move); usually 1
    int64_t samples_per_item;  // largest number of samples of one stored item (windows of a long text); usually 1
    int64_t target_micro[CONTEST_TARGETS];  // first the board's own, then those for filters; 0 ends
    const char *train_digest, *test_digest;  // SHA-256 of the published content in any order; NULL: not known here
    const char *scored_set;    // SHA-256 of the samples that the task makes of the test set; NULL: it scores the test set itself
    const json_t *models;      // parameters and FLOPs of each model that DAWN trains; NULL: it does not train this task
    const char *mlperf;        // MLPerf's benchmark that is nearest to it; NULL: none
    bool synthetic;            // the board for data that programs generate: never official
    const char *dawnbench_column;  // of DAWNBench's log and of its inference files: "top1Accuracy"
    int64_t dawnbench_scale;       // the figure for 100% there: 100 (percent) or 1 (SQuAD's f1)
};
const struct contest *contest_table(int *count);         // parsed once
void contest_names(const char *names[CONTESTS_MAX + 1]);  // of those with published data; ends with NULL
const struct contest *contest_find(const char *name);    // NULL: unknown
// The contest of a run: its task's, or the demonstration's if its data is synthetic.
const struct contest *contest_of(const char *task, bool synthetic);
// True if the metric is no count of items (F1). It is shown as 0.7612, a count as 76.12%. NULL is a count.
bool contest_is_share(const struct contest *);
// N of "k of N" for `measured` items, as in a latency. A metric that is no count has millionths.
int64_t contest_items(const struct contest *, int64_t measured);

// False if any training data may be used, or none (self-play, text of any origin). The test set alone is then fixed.
bool contest_fixes_training(const struct contest *);
// True if the table has the digests of all content that the rules fix. Without them no data is official.
bool contest_has_digests(const struct contest *);
// True if a digest of "train" or "test" names the published content, or the rules do not fix it.
bool contest_knows_data(const struct contest *, const char *split, const char *digest);

// The digest of the facts that the rules fix for a task, the contest's scored set among them. Runs with different digests are not
// comparable.
int contest_digest(const char *task, const struct run_metric *, int64_t target_micro, char hex[DIGEST_HEX]) MUST_CHECK;
// Compares k of n with millionths, in integers. A score exactly at the target meets it.
bool contest_meets(int64_t k, int64_t n, int64_t target_micro);
// The column of a metric in DAWNBench's logs: "top5Accuracy". NULL: none.
const char *contest_column(const char *metric);
// The title of a metric: "top-5 accuracy", or its name if no contest has it.
const char *contest_metric_title(const char *metric);
