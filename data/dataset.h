// SPDX-License-Identifier: Apache-2.0
// Data sets as the rest of DAWN sees them: named fields of samples, in two splits. A field has one element type and either
// one shape for all samples (read by range) or one dimension that varies (ragged: read sample by sample).
//
// Invariant: a read returns complete samples with labels in range, or fails with a sentence that names the file and the
// byte. Several threads may read at once. Only one at a time may open, close or call functions that set facts (verify,
// check, content digests). Cost: reading CIFAR-10 runs at the speed of the disk or the page cache; drawing synthetic images
// costs about 65 us each and is shared among the threads.
#pragma once

#include "runtime/common/base/dtype.h"
#include "runtime/common/base/error.h"
#include "runtime/common/base/file.h"

struct dataset;

// The purpose of a split; facts.split_name is the data set's own name for it ("validation", "dev").
enum split { SPLIT_TRAIN, SPLIT_TEST, SPLIT_COUNT };

enum { DATASET_FIELDS = 8, FIELD_FIXED = -1 };
struct field {
    const char *name;    // "images", "labels", "tokens"
    enum dtype dtype;
    struct shape shape;  // of one sample, rank 0 for a single number; the ragged dimension holds the maximum
    int ragged;          // the dimension that varies, or FIELD_FIXED
    int classes;         // values are 0 .. classes - 1; 0: the field is not a label. Only for u8 and i32
};
int64_t field_elements(const struct field *, int64_t length);  // of one sample; only a ragged field uses `length`
int64_t field_bytes(const struct field *, int64_t length);

struct dataset_facts {
    const char *name;    // "cifar10", "synthetic"
    const char *title;   // "CIFAR-10"
    const char *folder;  // the folder of the files; NULL for synthetic
    bool asked;          // one sample that a person gave, whose failures name it
    bool synthetic;      // drawn by this program: no real board accepts it
    bool official;       // dataset_verify or dataset_check found exactly the published samples; false before they are called
    bool remembered;     // that result was remembered (manifest.h); only sizes and times were read
    const char *split_name[SPLIT_COUNT];
    int64_t count[SPLIT_COUNT];
    int64_t left_out;    // unreadable samples of the source, which are in no split; 0 if they were not counted
    int short_side;      // shorter side to which larger pictures were shrunk in the pack; 0: pictures kept their size
    int64_t unfit_seed;  // a training with this seed would read its first epoch class by class (an old pack); -1: none
    int quality;         // of the JPEGs that the packer encoded; 0: it encoded none
    struct field field[DATASET_FIELDS];
    int fields;
    // For sets with a field "images" u8[height,width,channels] and a field "labels"; zeros for all others.
    int height, width, channels, classes;
    float mean[3], std[3];           // of the training pixels / 255, by channel
    const char *const *class_names;  // NULL-terminated
};

// The name of data set `i` of the table; NULL after the last.
const char *dataset_name(int i);

// `folder` holds the files or is the parent of their folder. NULL: $DAWN_DATA, else $XDG_DATA_HOME/dawn, else
// ~/.local/share/dawn. Checks sizes, not contents. An error names the missing file and the command that downloads it.
int dataset_open(const char *name, const char *folder, struct dataset **) MUST_CHECK;
// The synthetic set with other counts than the default 10,000 and 2,000. Image i of a split is the same for all counts.
int dataset_open_synthetic(int64_t train, int64_t test, struct dataset **) MUST_CHECK;
// The shape of a data set without its files: the published facts, but every pixel is noise and `synthetic` is set.
// For plans and benchmarks on machines where nothing has been fetched.
int dataset_open_noise(const char *name, struct dataset **) MUST_CHECK;
void dataset_close(struct dataset *);  // NULL is fine

const struct dataset_facts *dataset_facts(const struct dataset *);
struct text;
void dataset_samples_text(const struct dataset_facts *, struct text *);  // adds "images of 32 x 32", "samples of a, b and c"
const char *split_name(enum split);  // "train", "test"

const struct field *dataset_field(const struct dataset *, const char *name);  // NULL if there is none
// Reads `count` samples of a fixed field; `into` NULL only checks them. Uses the threads of threads.h for large counts.
int dataset_read(struct dataset *, enum split, const char *field, int64_t first, int64_t count, void *into) MUST_CHECK;
// Reads one sample of any field into `into`, which holds `capacity` bytes. `length` (may be NULL) receives the length of
// the ragged dimension, 1 for fixed fields. Starts no threads, because decoders call it.
int dataset_item(struct dataset *, enum split, const char *field, int64_t index, void *into, size_t capacity,
                 int64_t *length) MUST_CHECK;
int dataset_item_of(struct dataset *, enum split, const struct field *, int64_t index, void *into, size_t capacity,
                    int64_t *length) MUST_CHECK;  // the same for a field of this data set
// The length of the ragged dimension of every sample of the split, for buckets.
int dataset_lengths(struct dataset *, enum split, const char *field, int32_t *lengths) MUST_CHECK;
// Adds the name of a sample in the data set's source ("train/n01440764/1.JPEG"), or "sample 7".
void dataset_sample_name(struct dataset *, enum split, int64_t index, struct text *);
void dataset_sample_path(struct dataset *, enum split, int64_t index, struct text *);  // the same behind the set's folder
// After a failure with a sample: adds the sample's path to the sentence, if it has a name, and returns `rc`.
int dataset_name_failure(struct dataset *, enum split, int64_t index, int rc);
// Announces that these samples will be read soon. The system begins to read them if that helps. The range must be inside the
// split.
void dataset_want(struct dataset *, enum split, const char *field, int64_t first, int64_t count);

// SHA-256 over the bytes of the split's records in the order of the files (label, then planes), in lower-case hex. For
// synthetic data it covers the generator's version and parameters, so it costs nothing.
int dataset_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
// SHA-256 over the sorted SHA-256 of every record, which does not depend on the order of the records. For questions it
// equals the digest above (data/read/squad/squad_kind.c).
int dataset_content_digest(struct dataset *, enum split, char hex[DIGEST_HEX]) MUST_CHECK;
// Two copies of a set with the same content digests may hold the samples in another order or, if they are official packs of
// pictures, in another size. Their layouts differ. A layout is a digest of names, places and sizes, or "" if all copies are
// equal. It costs no pass over the data, and the names of a folder are hashed once (1.3 million in ImageNet).
int dataset_layout(struct dataset *, char hex[DIGEST_HEX]) MUST_CHECK;

enum dataset_verdict {
    DATASET_OFFICIAL,   // the published files, byte for byte
    DATASET_REORDERED,  // exactly the published images and labels, each once, in another order
    DATASET_CUSTOM,     // complete and readable, but other images: not the published data set
    DATASET_SYNTHETIC,
};
// Reads everything, checks every label and compares with the published digests; sets facts->official. About half a
// second for CIFAR-10 on two cores once the files are in memory.
int dataset_verify(struct dataset *, enum dataset_verdict *) MUST_CHECK;
// Calls `progress` while dataset_verify reads pictures, on the thread that called it: about `done` of `all` samples of a split.
typedef void (*dataset_progress)(void *context, enum split, int64_t done, int64_t all);
void dataset_watch(struct dataset *, dataset_progress progress, void *context);
// The same verdict without reading files that are unchanged since they were last read (manifest.h). The digests above use
// remembered digests in the same way. Runs on its own threads, concurrent with the main thread's work.
int dataset_check(struct dataset *, enum dataset_verdict *) MUST_CHECK;
const char *dataset_verdict_text(enum dataset_verdict);  // "official", "official, other order", ...

// The default folder of data sets; free() it. NULL if there is not even a home folder.
char *dataset_default_folder(void);
