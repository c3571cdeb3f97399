// SPDX-License-Identifier: Apache-2.0
// Where SQuAD comes from, and how its bytes are known.
#include "data/fetch/source.h"

const struct source squad_source = {
    .name = "squad",
    .title = "SQuAD 1.1",
    .page = "https://rajpurkar.github.io/SQuAD-explorer/",
    .part = {{.url = "https://rajpurkar.github.io/SQuAD-explorer/dataset/train-v1.1.json"},
             {.url = "https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v1.1.json"}},
    .folder = "squad",
    .file =
        {
            [SPLIT_TRAIN] = {"train-v1.1.json", SPLIT_TRAIN, 30288272,
                             "3527663986b8295af4f7fcdff1ba1ff3f72d07d61a20f487cb238a6ef92fd955"},
            [SPLIT_TEST] = {"dev-v1.1.json", SPLIT_TEST, 4854279,
                            "95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9"},
        },
    .content =
        {
            [SPLIT_TRAIN] = "3527663986b8295af4f7fcdff1ba1ff3f72d07d61a20f487cb238a6ef92fd955",
            [SPLIT_TEST] = "95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9",
        },
    .checked =
        "The authors publish no digests. The SHA-256 of both files are those that independent loaders carry (ParlAI and "
        "the metadata of Hugging Face's datasets among them).",
};

const struct kind *const kinds_squad[] = {&squad_kind, &squad_split_kind, &stories_kind, NULL};
