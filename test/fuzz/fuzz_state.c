// SPDX-License-Identifier: Apache-2.0
// Any bytes as the state of a training. An accepted state keeps the parser's invariant: the slots fill the file exactly, each
// with the bytes that its shape needs. Its note is parsed, too.
#include "tasks/common/train/resume.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct state_view view;
    size_t header;
    uint8_t prefix[STATE_PREFIX] = {0};
    memcpy(prefix, bytes, count < sizeof prefix ? count : sizeof prefix);
    if (state_parse_prefix("fuzz", prefix, count, &header) < 0 ||
        state_parse("fuzz", (const char *)bytes + STATE_PREFIX, header, count, &view) < 0) {
        BUG_IF(strncmp(error_text(), "fuzz", 4) != 0);
        return 0;
    }
    uint64_t at = STATE_PREFIX + header;
    for (int i = 0; i < view.slots; i++) {
        const struct state_slot *s = &view.slot[i];
        BUG_IF(s->offset != at);
        BUG_IF((uint64_t)shape_count(&s->shape) * dtype_size(s->dtype) != s->size);
        BUG_IF(!*s->name || strlen(s->name) > STATE_NAME_LIMIT);
        at += s->size;
    }
    BUG_IF(at + STATE_DIGEST != count);
    const struct state_facts *f = &view.facts;
    BUG_IF(!f->program || !f->task || !f->model || !f->recipe || !f->precision || !f->device || !f->data || !f->note);
    BUG_IF(!f->digest[0] || !f->digest[1] || f->threads < 0 || f->step < 0 || f->samples < 0 || f->epoch < 0 || f->batch < 0);
    struct resume_note note;
    if (resume_note_read("note", f->note, &view.arena, &note) < 0) {
        BUG_IF(strncmp(error_text(), "note", 4) != 0);
    } else {
        BUG_IF(!note.nonce || !note.device || note.pace.steps < 0 || note.pace.ns < 0 || note.point_samples < 0);
    }
    state_view_free(&view);
    return 0;
}
