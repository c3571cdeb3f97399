// SPDX-License-Identifier: Apache-2.0
// Boards: every contest (submit/format/score/contest.h) has these, each in two ranks. An entry is a row of a board. A filter
// selects and orders rows. Nothing here depends on HTTP or SQLite.
#pragma once

#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "submit/format/score/contest.h"

// BOARD(NAME, word in addresses, title, unit of a value in full precision). Less is better on all of them.
#define BOARD_LIST                                                                                                     \
    BOARD(TRAINING_TIME, "training-time", "Training time", "s")                                                        \
    BOARD(TRAINING_COST, "training-cost", "Training cost", "USD")                                                      \
    BOARD(INFERENCE_LATENCY, "inference-latency", "Inference latency", "ms")                                           \
    BOARD(INFERENCE_COST, "inference-cost", "Inference cost", "USD/item")
enum board {
#define BOARD(name, word, title, unit) BOARD_##name,
    BOARD_LIST
#undef BOARD
        BOARDS
};
const char *board_word(enum board);
const char *board_title(enum board);
const char *board_unit(enum board);
bool board_has_energy(enum board);  // of training
bool board_find(const char *word, enum board *);

// classic: single runs, as DAWNBench: first crossing on the classic clock (and that time x price); single latencies.
// group: official groups, as docs/rules.md: mean end-to-end time of the whole schedule (and that x price); for inference
// the mean over an official group's runs, each by its best eligible latency, if every run has one.
enum rank { RANK_CLASSIC, RANK_GROUP, RANKS };
const char *rank_word(enum rank);  // "classic", "group"
const char *board_counts(enum board, enum rank);  // one sentence about the counted value

// TRUST(NAME, word, title, what it means). Shown on every row: a signature proves who said something, not that it is true.
#define TRUST_LIST                                                                                                     \
    TRUST(IMPORTED, "imported", "Imported", "copied from a published archive; nothing was signed")                     \
    TRUST(SIGNED, "signed", "Signed",                                                                                  \
          "signed with a known key; a check raised a flag, the program scored itself, or a cost is by a price of one's own")    \
    TRUST(CHECKED, "checked", "Checked", "signed, evaluated by the harness; a program checked it and raised no flag")  \
    TRUST(WITNESSED, "witnessed", "Witnessed", "announced before it began; its clock agreed with this board's")                 \
    TRUST(REPRODUCED, "reproduced", "Reproduced", "the operator, or a key that the operator lists, came to the same figures") \
    TRUST(AUDITED, "audited", "Audited", "a person examined the run and its evidence for the operator of this board")
enum trust {
#define TRUST(name, word, title, what) TRUST_##name,
    TRUST_LIST
#undef TRUST
        TRUSTS
};
const char *trust_word(enum trust);
const char *trust_title(enum trust);
const char *trust_what(enum trust);

// A row. Texts are NUL-terminated, never NULL, in the arena of the query. 0 means "not known" if it cannot be a value.
struct entry {
    int64_t id;             // of the row, this database only
    enum board board;       // its board,
    enum rank order;        // and in which of its two ranks
    int64_t rank;           // 1 for the best; position in the order by value, then by server time, with any filter: among
                            // the checked entries, or among all where the view or the entry is below that level
    double value;           // in the board's unit, full precision
    double low, high;       // 95% interval of a group's mean; both the value otherwise
    double cost;            // USD (training: of the run; inference: of an item); negative: not known
    double energy;          // joules, of training boards: of a run up to the target, of a group the mean of whole runs; negative:
                            // not known
    double accuracy;        // score of the evaluation that counts, a group's mean: k / N, or a value
    double p;               // of a group's t-test; negative elsewhere
    int runs;               // of a group; 1 otherwise
    enum trust trust;
    int64_t accepted_ms;    // server time: breaks ties, dates the row. Training: of the run's first statement, even if
                            // another one replaced it; for an import, its date at midnight
    int64_t sequence;       // statement (group: its last); 0 for an import
    int64_t devices, views, flags;
    int64_t upheld;         // of these flags, objections that were upheld
    int64_t waits_ms;       // since when the log has drawn a run of it that nobody has repeated; 0: none
    int64_t repeated_micro; // epochs that the operator trained again to the same figures, of a group the fewest; 0: none
    int64_t differs;        // number of its runs that the operator trained again to other figures
    int64_t self;           // 1: the trained program scored itself (of a group: in any run)
    const char *contest;    // "cifar10"
    const char *group;      // nonce, "" when it is no group
    const char *source;     // import: TASK/train|inference/STEM; else "#SEQUENCE" or "group NONCE"
    const char *author;     // handle, or DAWNBench's author
    const char *team, *model, *hardware, *framework, *precision, *division;
    const char *date;       // YYYY-MM-DD, when the run was made (import: its timestamp)
    const char *code_url;   // "" or an https or http address
    const char *tags;       // words separated by blanks
};
struct entries {
    struct entry *at;
    int count;
    int64_t total, before;  // rows that pass the filter: on all pages, and on those before this one
    int64_t below;          // rows that pass all of the filter but its level of trust
    const char *next;       // cursor of the next page, NULL on the last
};

// SORT(NAME, word): columns a board can be sorted by; every one has an index. PROOF is a board's own order, which places follow:
// first what somebody repeated or examined, then the rest, each by value.
#define SORT_LIST                                                                                                      \
    SORT(PROOF, "proof")                                                                                               \
    SORT(VALUE, "value")                                                                                               \
    SORT(DATE, "date")                                                                                                 \
    SORT(AUTHOR, "author")                                                                                             \
    SORT(MODEL, "model")                                                                                               \
    SORT(HARDWARE, "hardware")                                                                                         \
    SORT(FRAMEWORK, "framework")                                                                                       \
    SORT(COST, "cost")                                                                                                 \
    SORT(SCORE, "score")                                                                                               \
    SORT(ENERGY, "energy")                                                                                             \
    SORT(TRUST, "trust")
enum sort {
#define SORT(name, word) SORT_##name,
    SORT_LIST
#undef SORT
        SORTS
};

enum { FILTER_TEXT = 160, FILTER_LIMIT = 200, FILTER_CURSOR = 128 };
// The request of a page or an API call. "" and 0 request nothing. Keys of a query string, each at most once:
//   rank=classic|group hardware=TEXT framework=TEXT author=TEXT model=TEXT precision=WORD division=closed|open
//   trust=WORD (at least; default: filter_default_trust) devices=N devices_max=N views_max=N energy_max=N
//   since=YYYY-MM-DD until=YYYY-MM-DD target=0.73
//   source=dawn|dawnbench sort=COLUMN order=asc|desc limit=1..200 cursor=...
// Texts match whole values, case-insensitively; hardware, model and framework also match as a part with a leading "~";
// model_part=TEXT, which the form sends, is model=~TEXT.
struct filter {
    const struct contest *contest;
    enum board board;
    enum rank rank;
    char hardware[FILTER_TEXT], framework[FILTER_TEXT], author[FILTER_TEXT], model[FILTER_TEXT];
    char precision[FILTER_TEXT], division[FILTER_TEXT], source[FILTER_TEXT];
    char since[11], until[11];
    enum trust trust;
    int64_t devices, devices_max, views_max;
    int64_t energy_max;    // joules
    int64_t target_micro;  // 0: the board's own
    enum sort sort;
    bool descending;
    int limit;             // default 50
    char cursor[FILTER_CURSOR];
};
// The pure, fuzzed parser of a query string ("a=b&c=d", percent-encoded, + is a blank; NULL is empty). Empty values ask
// nothing (forms send them). ERR_INPUT names the key.
int filter_read(const char *query, struct filter *) MUST_CHECK;
// The canonical query string of a filter, for caches and links: defaults left out, keys in order.
void filter_write(const struct filter *, struct text *into);
// The keys, as documents describe them.
struct filter_key {
    const char *name, *what;
    const char *const *words;  // all allowed values; NULL: any
    int word_count;
    int64_t high;              // of a whole number from 1 on; 0: it is a text
    const char *pattern;       // of a text, as a regular expression; "" requests nothing
    bool order;                // it orders or cuts the answer, and leaves no row out
};
// The filter of a board's first view: the same as filter_read(NULL).
struct filter filter_plain(const struct contest *, enum board, enum rank);
// The level of a filter that names none: evaluated by the harness, and without flags. The archive is always shown whole.
enum trust filter_default_trust(const struct filter *);
int filter_keys(void);
void filter_key(int index, struct filter_key *);
int filter_narrowing(const struct filter *);  // the number of its keys that leave rows out; not rank, order, limit and cursor

// A value as text: "4 min 57 s" (whole seconds rounded up, from 10 h on whole minutes; below 60 s with fractions), "$0.0212",
// "0.267 ms".
enum { BOARD_VALUE = 48 };
char *board_value(enum board, double value, char into[BOARD_VALUE]);
