// SPDX-License-Identifier: Apache-2.0
// dawn eval frechet: compares the features of two sets of samples, of any network and any program.
#include <stdio.h>
#include <stdlib.h>

#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/options.h"
#include "tasks/commands.h"
#include "tasks/common/frechet/frechet.h"
#include "tasks/common/frechet/npy.h"

static const size_t FILE_MOST = (size_t)1 << 36;

static void read_npy_row(const void *context, int64_t sample, double *into)
{
    npy_row(context, sample, into);
}

static int measure_file(const char *path, struct frechet_moments *into)
{
    char *bytes;
    size_t count;
    struct npy npy;
    TRY(file_read(path, FILE_MOST, &bytes, &count));
    int rc = npy_parse(path, bytes, count, &npy);
    if (rc == 0) rc = frechet_measure(&(struct frechet_set){path, npy.rows, npy.columns, read_npy_row, &npy}, into);
    free(bytes);
    return rc;
}

static void print_json(const struct frechet *f, const struct frechet_moments m[2])
{
    printf("{\"frechet\": %.17g, \"means\": %.17g, \"spread\": %.17g, \"features\": %lld, \"samples\": [%lld, %lld]}\n",
           f->distance, f->means, f->spread, (long long)m[0].d, (long long)m[0].n, (long long)m[1].n);
}

static void print_score(const struct frechet *f, const struct frechet_moments m[2])
{
    char features[TEXT_FIGURE], first[TEXT_FIGURE], second[TEXT_FIGURE];
    printf("distance  %.6f\n", f->distance);
    printf("means     %.6f\n", f->means);
    printf("spread    %.6f\n", f->spread);
    printf("%s samples and %s, %s features of each\n", text_count(first, m[0].n), text_count(second, m[1].n),
           text_count(features, m[0].d));
}

static int compare_files(const char *const path[2], bool json)
{
    struct frechet_moments m[2] = {{0}};
    struct frechet f;
    int rc = measure_file(path[0], &m[0]);
    if (rc == 0) rc = measure_file(path[1], &m[1]);
    if (rc == 0 && m[0].d != m[1].d)
        rc = fail(ERR_INPUT, "%s has %lld features per sample and %s has %lld", path[0], (long long)m[0].d, path[1],
                  (long long)m[1].d);
    if (rc == 0) rc = frechet_between(&m[0], &m[1], &f);
    if (rc == 0) (json ? print_json : print_score)(&f, m);
    for (int i = 0; i < 2; i++) frechet_free(&m[i]);
    return rc;
}

int cmd_eval_frechet(int argc, char **argv)
{
    bool json = false;
    const struct option options[] = {
        {OPTION_FLAG, 'j', "json", NULL, "one JSON object with both terms", &json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        "eval frechet", "A.npy B.npy [OPTIONS]",
        "Prints the Frechet distance of two sets of features, |m1 - m2|^2 + Tr(C1 + C2 - 2 (C1 C2)^(1/2)), which is the FID if "
        "the features are Inception's. Both files are NumPy's arrays of two dimensions, one row of f32 or f64 for each "
        "sample. A set needs at least as many samples as features. More samples give a smaller distance, so their number belongs "
        "to it.",
        options,
        "Example:\n  dawn eval frechet real.npy generated.npy --json\n",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc < 3) return fail(ERR_USAGE, "expected two files with features of samples");
    if (argc > 3) return fail(ERR_USAGE, "eval frechet does not take \"%.60s\"", argv[3]);
    return compare_files((const char *const[]){argv[1], argv[2]}, json);
}
