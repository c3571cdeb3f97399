// SPDX-License-Identifier: Apache-2.0
// Features of pictures by the network that FID reads, with any weights (test/bench/torch_fid.py).
//
//   fid_features WEIGHTS PICTURES FEATURES    u8[n,32,32,3] -> f32[n,2048]; prints the processor time of one thread per picture
#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "tasks/wgan/pool3.h"

#include <stdio.h>
#include <stdlib.h>

static void check(int rc)
{
    if (rc >= 0) return;
    fprintf(stderr, "%s\n", error_text());
    exit(1);
}

int main(int argc, char **argv)
{
    struct device *device;
    struct pool3 *net;
    char *pictures;
    size_t bytes;
    if (argc != 4) return 2;
    check(file_read(argv[2], 1 << 30, &pictures, &bytes));
    check(device_open("cpu", 1, &device));
    check(pool3_open(argv[1], NULL, device, &net));
    const int64_t count = (int64_t)(bytes / POOL3_PICTURE);
    float *features = zalloc((size_t)(count * POOL3_FEATURES) * sizeof *features);
    const int64_t begun = clock_cpu_ns();
    check(pool3_features(net, (const uint8_t *)pictures, count, features));
    printf("%.3f s per picture\n", (double)(clock_cpu_ns() - begun) / 1e9 / (double)count);
    check(file_write(argv[3], (const char *)features, (size_t)(count * POOL3_FEATURES) * sizeof *features));
    pool3_free(net);
    device_close(device);
    free(features);
    free(pictures);
    return 0;
}
