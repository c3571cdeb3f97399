// SPDX-License-Identifier: Apache-2.0
// Boxes in fixed numbers. Codes, matches and slices: a thread computes one. Suppression and drawing: a block takes a picture.
// Suppression sorts the candidates and processes them in tiles: each thread compares its candidate with the boxes kept so far,
// then with each box of the tile that is kept.
#include "runtime/cuda/kernels/k_boxes.h"

#include "runtime/boxes.h"
#include "runtime/cuda/kernels/k_select.cuh"

template <typename T> __global__ void code_boxes(const struct k_boxes k)
{
    const int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i >= k.count * k.each) return;
    const int64_t box = i / k.each, at = k.shared ? box % k.n : box;
    const float *anchor = k.anchors + at * 4;
    const boxes_attr &a = k.attr;
    float x[4], y[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int j = 0; j < 4; j++) x[j] = to_float(((const T *)k.x)[i * 4 + j]);
    const bool any = box_exists(anchor) && (!a.encode || box_exists(x));
    for (int j = 0; any && j < 2; j++) {
        if (a.encode) {
            box_encode(x[j], x[j + 2], anchor[j], anchor[j + 2], &y[j], &y[j + 2]);
            y[j] *= a.weight[0], y[j + 2] *= a.weight[1];
            continue;
        }
        box_decode(x[j] / a.weight[0], x[j + 2] / a.weight[1], anchor[j], anchor[j + 2], &y[j], &y[j + 2]);
        if (!k.sizes) continue;
        const float end = k.sizes[box / k.n * 2 + 1 - j];
        y[j] = box_least(box_most(y[j], 0.0f), end), y[j + 2] = box_least(box_most(y[j + 2], 0.0f), end);
    }
    for (int j = 0; j < 4; j++) k.y[i * 4 + j] = y[j];
}

K_LAUNCHER(k_boxes)
{
    const struct k_boxes *k = (const struct k_boxes *)args;
    BY_FLOAT(k->type, T, return launch(code_boxes<T>, blocks_for(k->count * k->each), K_BLOCK, stream, *k));
}

// ---- non-maximum suppression

__device__ static inline void load_box(const float *from, float (&box)[4])
{
    for (int j = 0; j < 4; j++) box[j] = from[j];
}

struct nms_tile {  // in shared memory
    float box[K_BLOCK][4];
    int class_of[K_BLOCK], dead[K_BLOCK];
};

// The boxes of a picture that are kept, by their numbers in kept[]; returns how many. All threads call it.
__device__ static inline int suppress(const struct k_nms &k, const float *boxes, const int32_t *classes, const uint64_t *sorted,
                                      int capacity, int32_t *kept, struct nms_tile &tile)
{
    int count = 0;
    const int me = threadIdx.x;
    for (int base = 0; base < capacity && count < k.attr.k && sorted[base] != UINT64_MAX; base += K_BLOCK) {
        const uint64_t mine = base + me < capacity ? sorted[base + me] : UINT64_MAX;
        const int32_t at = mine == UINT64_MAX ? 0 : (int32_t)(uint32_t)mine;
        float box[4];
        load_box(boxes + (int64_t)at * 4, box);
        const int class_of = classes ? classes[at] : 0;
        bool dead = mine == UINT64_MAX;
        for (int j = 0; j < count && !dead; j++)
            dead = (!classes || classes[kept[j]] == class_of) && box_overlap(box, boxes + (int64_t)kept[j] * 4) > k.attr.iou;
        for (int j = 0; j < 4; j++) tile.box[me][j] = box[j];
        tile.class_of[me] = class_of, tile.dead[me] = dead;
        __syncthreads();
        for (int i = 0; i < K_BLOCK && count < k.attr.k; i++) {
            if (tile.dead[i]) continue;
            if (me == i) kept[count] = at;
            if (me > i && tile.class_of[i] == class_of && box_overlap(box, tile.box[i]) > k.attr.iou) tile.dead[me] = 1;
            count++;
            __syncthreads();
        }
        __syncthreads();
    }
    return count;
}

__global__ void suppress_boxes(const struct k_nms k)
{
    __shared__ nms_tile tile;
    const int64_t b = blockIdx.x;
    const int capacity = (int)k_sort_capacity(k.n);
    const float *boxes = k.boxes + b * k.n * 4, *scores = k.scores + b * k.n;
    const int32_t *classes = k.classes && !k.shared ? k.classes + b * k.n : k.classes;
    uint64_t *sorted = k.sorted + b * capacity;
    int32_t *kept = k.kept + b * k.attr.k;
    for (int i = threadIdx.x; i < capacity; i += K_BLOCK)
        sorted[i] = i < k.n && box_is_candidate(boxes + (int64_t)i * 4, scores[i], k.attr.score, k.attr.side)
                        ? (uint64_t)box_rank(scores[i]) << 32 | (uint32_t)i : UINT64_MAX;
    block_sort(sorted, capacity);
    const int count = suppress(k, boxes, classes, sorted, capacity, kept, tile);
    for (int64_t j = threadIdx.x; j < k.attr.k; j += K_BLOCK) {
        const bool any = j < count;
        const int64_t at = any ? kept[j] : 0, to = b * k.attr.k + j;
        for (int i = 0; i < 4 && k.to_boxes; i++) k.to_boxes[to * 4 + i] = any ? boxes[at * 4 + i] : 0.0f;
        if (k.to_scores) k.to_scores[to] = any ? scores[at] : 0.0f;
        if (k.at) k.at[to] = (int32_t)(b * k.n + at);
    }
    if (threadIdx.x == 0 && k.count) k.count[b] = count;
}

K_LAUNCHER(k_nms)
{
    const struct k_nms *k = (const struct k_nms *)args;
    return launch(suppress_boxes, (unsigned)k->batch, K_BLOCK, stream, *k);
}

// ---- matching

__device__ static inline const float *match_box(const struct k_match &k, int64_t b, int64_t i)
{
    return k.boxes + (k.shared ? i : b * k.n + i) * 4;
}

__global__ void match_best(const struct k_match k)  // a block takes a truth
{
    __shared__ float scratch[K_BLOCK / K_WARP];
    const float *truth = k.truth + (int64_t)blockIdx.x * 4;
    float best = -1.0f;
    for (int64_t i = threadIdx.x; box_exists(truth) && i < k.n; i += K_BLOCK) {
        const float *box = match_box(k, blockIdx.x / k.truths, i);
        if (box_exists(box)) best = box_most(best, box_overlap(box, truth));
    }
    best = warp_most(best);
    if (threadIdx.x % K_WARP == 0) scratch[threadIdx.x / K_WARP] = best;
    __syncthreads();
    if (threadIdx.x) return;
    for (int i = 0; i < K_BLOCK / K_WARP; i++) best = box_most(best, scratch[i]);
    k.best[blockIdx.x] = best;
}

__global__ void match_boxes(const struct k_match k)
{
    const int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i >= k.batch * k.n) return;
    const int64_t first = i / k.n * k.truths;
    const float *box = match_box(k, i / k.n, i % k.n);
    const struct box_match m = box_match(box, k.truth + first * 4, k.truths, k.attr.rescue ? k.best + first : nullptr);
    const int32_t of = k.classes ? k.classes[first + m.at] : 1;
    if (k.labels)
        k.labels[i] = !box_exists(box) ? -1 : m.rescued || m.overlap >= k.attr.high ? of : -(m.overlap >= k.attr.low);
    if (k.at) k.at[i] = (int32_t)(first + m.at);
}

K_LAUNCHER(k_match)
{
    const struct k_match *k = (const struct k_match *)args;
    if (k->attr.rescue) TRY_CUDA(launch(match_best, (unsigned)(k->batch * k->truths), K_BLOCK, stream, *k));
    return launch(match_boxes, blocks_for(k->batch * k->n), K_BLOCK, stream, *k);
}

// ---- drawing

struct sample_keys {
    const int32_t *labels;
    const float *random;
    bool positive;
    __device__ bool operator()(int64_t i, uint32_t *key) const
    {
        *key = box_rank(-random[i]);
        return positive ? labels[i] > 0 : labels[i] == 0;
    }
};

struct sample_take {
    const struct k_sample &k;
    int64_t picture, from;  // from: position of the first
    bool positive;
    __device__ void operator()(int rank, int64_t i, uint32_t) const
    {
        const int64_t to = picture * k.attr.k + from + rank;
        if (k.at) k.at[to] = (int32_t)(picture * k.n + i);
        if (k.to_labels) k.to_labels[to] = k.labels[picture * k.n + i];
        if (k.positive) k.positive[to] = positive ? 1.0f : 0.0f;
    }
};

__global__ void sample_boxes(const struct k_sample k)
{
    __shared__ select_scratch scratch;
    const int64_t b = blockIdx.x;
    int64_t from = 0;
    for (int part = 0; part < 2; part++) {
        const struct sample_keys keys = {k.labels + b * k.n, k.random + b * k.n, part == 0};
        const int64_t most = part == 0 ? k.attr.positive : k.attr.k - from, there = select_count(keys, k.n, scratch);
        const int count = (int)(there < most ? there : most);
        const struct sample_take take = {k, b, from, part == 0};
        if (count) select_take(keys, k.n, select_cut_of(keys, k.n, count, scratch), scratch, take);
        from += count;
    }
    for (int64_t to = b * k.attr.k + from + threadIdx.x; to < (b + 1) * k.attr.k; to += K_BLOCK) {
        if (k.at) k.at[to] = (int32_t)(b * k.n);
        if (k.to_labels) k.to_labels[to] = -1;
        if (k.positive) k.positive[to] = 0.0f;
    }
}

K_LAUNCHER(k_sample)
{
    const struct k_sample *k = (const struct k_sample *)args;
    return launch(sample_boxes, (unsigned)k->batch, K_BLOCK, stream, *k);
}

// ---- slices by class

template <typename T> __global__ void slice_classes(const struct k_class_slice k)
{
    const int64_t i = (int64_t)blockIdx.x * K_BLOCK + threadIdx.x;
    if (i >= k.count) return;
    const int64_t below = i % k.below, rest = i / k.below, slice = k.back ? rest / k.classes : rest;
    const int64_t of = k.index[slice / k.above];
    const bool any = of >= 0 && of < k.classes && (!k.back || rest % k.classes == of);
    const int64_t from = (k.back ? slice : slice * k.classes + of) * k.below + below;
    ((T *)k.to)[i] = any ? ((const T *)k.from)[from] : (T)0;
}

K_LAUNCHER(k_class_slice)
{
    const struct k_class_slice *k = (const struct k_class_slice *)args;
    switch (k->size) {
    case 1: return launch(slice_classes<uint8_t>, blocks_for(k->count), K_BLOCK, stream, *k);
    case 2: return launch(slice_classes<uint16_t>, blocks_for(k->count), K_BLOCK, stream, *k);
    default: return launch(slice_classes<uint32_t>, blocks_for(k->count), K_BLOCK, stream, *k);
    }
}
