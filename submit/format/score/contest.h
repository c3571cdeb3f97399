// SPDX-License-Identifier: Apache-2.0
// The contests: the tasks that have boards, and what the rules fix about them (docs/rules.md). Both programs embed one table,
// contests.json.
#ifndef DAWN_FORMAT_CONTEST_H
#define DAWN_FORMAT_CONTEST_H

#include "runtime/base/file.h"
#include "submit/format/run_metric.h"

enum { CONTEST_TARGETS = 4, CONTESTS_MAX = 32 };
struct contest {
    const char *name;          // "cifar10": in records and addresses
    const char *title;         // "CIFAR10": on pages, and DAWNBench's folder
    const char *about;         // one sentence
    const char *metric;        // "top1", "top5", "f1": the board's
    struct run_metric board;   // the same with its unit and direction
    const char *metric_title;  // "top-1 accuracy"
    const char *test_name;     // "the 10,000 test images"
    int64_t items;             // N of "k of N". A metric that is no count (F1) is kept in millionths: N is 1,000,000
    int64_t test_items;        // items of the whole test set
    int64_t train_items;       // of the published training set; 0: not known here
    int64_t samples_per_item;  // at most so many samples come of one stored item (windows of a long text); usually 1
    int64_t target_micro[CONTEST_TARGETS];  // the board's own first, then those one may filter by; 0 ends
    const char *train_digest, *test_digest;  // SHA-256 of the published content, whatever its order; NULL: not known here
    bool harness;              // DAWN itself trains it: dawn train NAME
    bool synthetic;            // the board for data that programs draw themselves: never official
    const char *dawnbench_column;  // of DAWNBench's log and of its inference files: "top1Accuracy"
    int64_t dawnbench_scale;       // what 100% is called there: 100 (percent) or 1 (SQuAD's f1)
};
const struct contest *contest_table(int *count);         // parsed once
const struct contest *contest_find(const char *name);    // NULL: there is none
// The contest of a run: its task's, or the demonstration's when its data is synthetic.
const struct contest *contest_of(const char *task, bool synthetic);
// Whether the metric is no count of items (F1): people read it as 0.7612, a count as 76.12%. NULL is a count.
bool contest_is_share(const struct contest *);
// N of "k of N" where `measured` items were looked at, as in a latency: those, or millionths where the metric is no count.
int64_t contest_items(const struct contest *, int64_t measured);

// Whether the table knows both digests of the published content. Without them nothing can be called official.
bool contest_has_digests(const struct contest *);
// Whether a digest of "train" or "test" names the published content.
bool contest_knows_data(const struct contest *, const char *split, const char *digest);

// What the rules fix about a task, as a digest: two runs with different ones are not comparable.
int contest_digest(const char *task, const struct run_metric *, int64_t target_micro, char hex[DIGEST_HEX]) MUST_CHECK;
// k of n against millionths, in integers: exactly at the target meets it.
bool contest_meets(int64_t k, int64_t n, int64_t target_micro);
// The column of a metric in DAWNBench's logs: "top5Accuracy". NULL: it had none.
const char *contest_column(const char *metric);
// A metric as people call it: "top-5 accuracy"; the name itself if no contest has it.
const char *contest_metric_title(const char *metric);

#endif
