// SPDX-License-Identifier: Apache-2.0
// Blocks are written when they are taken, so that the system has really given them.
#include "runtime/common/base/reserve.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *block[RESERVE_BLOCKS];
static size_t block_size;
static int blocks;
static _Atomic int64_t limit = -1;  // changed under the lock

static bool system_gives(size_t bytes)
{
    if (limit < 0) return true;
    pthread_mutex_lock(&lock);
    bool gives = limit < 0 || (uint64_t)limit >= bytes;
    if (gives && limit >= 0) limit -= (int64_t)bytes;
    pthread_mutex_unlock(&lock);
    return gives;
}

static bool give_block(void)
{
    pthread_mutex_lock(&lock);
    bool any = blocks > 0;
    if (any) {
        free(block[--blocks]);
        if (limit >= 0) limit += (int64_t)block_size;
    }
    pthread_mutex_unlock(&lock);
    return any;
}

static void fill_blocks(void)
{
    while (blocks < RESERVE_BLOCKS && block_size > 0 && limit < 0) {
        void *at = malloc(block_size);
        if (at == NULL) return;
        block[blocks++] = memset(at, 1, block_size);
    }
}

void reserve_keep(size_t block_bytes)
{
    pthread_mutex_lock(&lock);
    while (blocks > 0) free(block[--blocks]);
    block_size = block_bytes;
    fill_blocks();
    pthread_mutex_unlock(&lock);
}

bool reserve_low(void)
{
    pthread_mutex_lock(&lock);
    fill_blocks();
    bool low = block_size > 0 && blocks < RESERVE_BLOCKS / 2;
    pthread_mutex_unlock(&lock);
    return low;
}

void *reserve_calloc(size_t bytes)
{
    void *at = NULL;
    do {
        if (system_gives(bytes)) at = calloc(1, bytes);
    } while (at == NULL && give_block());
    return at;
}

void *reserve_realloc(void *old, size_t bytes)
{
    void *at = NULL;
    do {
        if (system_gives(bytes)) at = realloc(old, bytes);
    } while (at == NULL && give_block());
    return at;
}

void reserve_limit(int64_t bytes)
{
    pthread_mutex_lock(&lock);
    limit = bytes;
    pthread_mutex_unlock(&lock);
}
