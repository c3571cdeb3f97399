// SPDX-License-Identifier: Apache-2.0
// FLAC: the head is read here, the samples by libFLAC (docs/decisions/audio.md), which compares them with the MD5 in the head. A
// program that was built without libFLAC reads heads alone and says so.
#include <string.h>

#include "data/audio/sound_inside.h"

enum { STREAMINFO = 42, SAMPLES_MOST = SOUND_BYTES / 4 };

int sound_flac(const uint8_t *bytes, size_t count, size_t size, struct sound_layout *layout)
{
    (void)size;
    if (count < STREAMINFO) return fail(ERR_INPUT, "it ends within the head of a FLAC file");
    if ((bytes[4] & 0x7f) != 0 || bytes[5] != 0 || bytes[6] != 0 || bytes[7] != 34)
        return fail(ERR_INPUT, "its first block is not the STREAMINFO of a FLAC file");
    uint64_t packed = 0;
    for (int i = 18; i < 26; i++) packed = packed << 8 | bytes[i];
    const int64_t samples = (int64_t)(packed & ((UINT64_C(1) << 36) - 1));
    const int rate = (int)(packed >> 44), channels = (int)(packed >> 41 & 7) + 1, bits = (int)(packed >> 36 & 31) + 1;
    layout->head = (struct sound_head){"FLAC", rate, channels, bits, false, samples};
    layout->code = SOUND_FLAC;
    if (samples == 0) return fail(ERR_INPUT, "its head does not say how many samples it has");
    if (samples > SAMPLES_MOST)
        return fail(ERR_INPUT, "its head counts %lld samples; at most %d are read", (long long)samples, SAMPLES_MOST);
    return sound_check(&layout->head);
}

#ifndef WITH_FLAC
int sound_flac_decode(const uint8_t *bytes, size_t count, const struct sound_head *head, float *into)
{
    (void)bytes, (void)count, (void)head, (void)into;
    return fail(ERR_UNSUPPORTED, "this program was built without libFLAC; \"make deps && make\" builds it with it");
}
#else
#include <FLAC/stream_decoder.h>

struct reading {
    const uint8_t *bytes;
    size_t count, at;
    const struct sound_head *head;
    float *into;
    int64_t done;
    const char *fault;  // the first one
};

static FLAC__StreamDecoderReadStatus give_bytes(const FLAC__StreamDecoder *d, FLAC__byte *into, size_t *n, void *context)
{
    struct reading *r = context;
    const size_t rest = r->count - r->at;
    (void)d;
    if (*n > rest) *n = rest;
    memcpy(into, r->bytes + r->at, *n);
    r->at += *n;
    return *n > 0 ? FLAC__STREAM_DECODER_READ_STATUS_CONTINUE : FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM;
}

static FLAC__StreamDecoderWriteStatus take_samples(const FLAC__StreamDecoder *d, const FLAC__Frame *frame,
                                                   const FLAC__int32 *const channel[], void *context)
{
    struct reading *r = context;
    const FLAC__FrameHeader *h = &frame->header;
    const int64_t n = h->blocksize;
    (void)d;
    if ((int)h->channels != r->head->channels || (int)h->bits_per_sample != r->head->bits || n > r->head->samples - r->done) {
        if (r->fault == NULL) r->fault = "a frame does not agree with the head";
        return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
    }
    const float scale = 1 / ((float)(INT64_C(1) << (h->bits_per_sample - 1)) * (float)h->channels);
    for (int64_t i = 0; i < n; i++) {
        float sum = 0;
        for (unsigned c = 0; c < h->channels; c++) sum += (float)channel[c][i];
        r->into[r->done + i] = sum * scale;
    }
    r->done += n;
    return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

static void note_fault(const FLAC__StreamDecoder *d, FLAC__StreamDecoderErrorStatus status, void *context)
{
    struct reading *r = context;
    (void)d;
    if (r->fault == NULL) r->fault = FLAC__StreamDecoderErrorStatusString[status];
}

int sound_flac_decode(const uint8_t *bytes, size_t count, const struct sound_head *head, float *into)
{
    struct reading r = {.bytes = bytes, .count = count, .head = head, .into = into};
    FLAC__StreamDecoder *d = FLAC__stream_decoder_new();
    if (d == NULL) return fail(ERR_MEMORY, "not enough memory to decode FLAC");
    FLAC__stream_decoder_set_md5_checking(d, true);
    bool good = FLAC__stream_decoder_init_stream(d, give_bytes, NULL, NULL, NULL, NULL, take_samples, NULL, note_fault, &r) ==
                    FLAC__STREAM_DECODER_INIT_STATUS_OK &&
                FLAC__stream_decoder_process_until_end_of_stream(d);
    const bool memory = FLAC__stream_decoder_get_state(d) == FLAC__STREAM_DECODER_MEMORY_ALLOCATION_ERROR;
    const bool equal = FLAC__stream_decoder_finish(d);
    FLAC__stream_decoder_delete(d);
    if (memory) return fail(ERR_MEMORY, "not enough memory to decode FLAC");
    if (r.fault != NULL) return fail(ERR_INPUT, "it is damaged after sample %lld: %s", (long long)r.done, r.fault);
    if (!good || r.done != head->samples)
        return fail(ERR_INPUT, "it ends after %lld of its %lld samples", (long long)r.done, (long long)head->samples);
    return equal ? 0 : fail(ERR_INPUT, "its samples do not have the MD5 in its head");
}
#endif
