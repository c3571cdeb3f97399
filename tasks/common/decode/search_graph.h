// SPDX-License-Identifier: Apache-2.0
// Beam search on the device: programs of an evaluation for any decoder. Scores, histories and the best answer so far are stored
// in slots; the host reads how many hypotheses of each sample have finished. When the unfinished samples fit a smaller batch
// (drive_shrunk), their rows are copied there, and their answers are copied back at the end.
//
// Of the 2 x beam best continuations of a sample, those that end among the first `beam` are finished, and the best `beam` others
// go on. A sample is done when `beam` of its hypotheses have finished, or at its limit, where only the end is allowed. BPE_PAD
// and BPE_BOS are never chosen. Beam 1 is greedy.
#pragma once

#include "tasks/common/decode/decoding.h"

// The divisor of the score of a finished hypothesis with n words, its end included: n^alpha (fairseq's lenpen) or
// ((5 + n) / 6)^alpha (Wu et al. 2016; MLPerf).
enum search_norm { SEARCH_LENGTH, SEARCH_GNMT };
enum { SEARCH_SAMPLES = 256 };  // of a batch, at most
struct search {
    int beam;             // 1 to REORDER_MOST
    enum search_norm norm;
    double alpha;
    double coverage;      // this times the sum of log(min(1, attention that a source word got)) is added to the score; 0: nothing
    double ratio, extra;  // limit on the words without the end: ratio x words of the source with its end + extra
    int output;           // number of the first of its outputs
};

// The programs of a search, in this order in the task's table. A search of single samples has the first two.
enum {
    SEARCH_BEGIN,   // encodes the source of the batch
    SEARCH_NEXT,    // computes one more word
    SEARCH_SHRINK,  // copies the rows of unfinished samples into the smaller batch
    SEARCH_RETURN,  // copies its answers back into the batch
    SEARCH_PROGRAMS,
};
void search_program(struct step *, const struct search *, int program);
enum {  // its outputs, from search->output on
    SEARCH_WORDS,   // i32[B,L], L = step.is.length: the best finished hypothesis
    SEARCH_COUNT,   // i32[B]: its words without the end; later elements of SEARCH_WORDS are undefined
    SEARCH_SCORE,   // f32[B]: normalised
    SEARCH_SEEN,    // f32[B,L,S]: the attention to the source at each word, its end included; only if setting->shows
    SEARCH_OUTPUTS,
};
struct drive;
// The limit on the words of an answer, its end included, if the source has at most `source` words.
int64_t search_longest(const struct search *, int64_t source);
// Runs the programs on the current batch until all samples are done. `first` is the number of the first program.
int search_run(struct drive *, const struct search *, int first) MUST_CHECK;
