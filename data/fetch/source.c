// SPDX-License-Identifier: Apache-2.0
// The table of published data sets. A new data set is a new row here and a kind that reads its files (kind.h).
#include <string.h>
#include <sys/stat.h>

#include "data/fetch/source.h"

static const struct source sources[] = {
    {
        .name = "cifar10",
        .title = "CIFAR-10",
        .page = "https://www.cs.toronto.edu/~kriz/cifar.html",
        .url = "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
        .archive = "cifar-10-binary.tar.gz",
        .bytes = 170052171,
        .sha256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        .folder = "cifar-10-batches-bin",
        .file =
            {
                {"data_batch_1.bin", SPLIT_TRAIN, 30730000,
                 "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"},
                {"data_batch_2.bin", SPLIT_TRAIN, 30730000,
                 "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"},
                {"data_batch_3.bin", SPLIT_TRAIN, 30730000,
                 "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"},
                {"data_batch_4.bin", SPLIT_TRAIN, 30730000,
                 "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"},
                {"data_batch_5.bin", SPLIT_TRAIN, 30730000,
                 "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"},
                {"test_batch.bin", SPLIT_TEST, 30730000,
                 "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"},
                {"batches.meta.txt", SPLIT_COUNT, 61, NULL},
            },
        .content =
            {
                [SPLIT_TRAIN] = "55a61f79a40ece2ceda9fb5f9f7078f6ea2fc4952489cef56682bcf92cfcc260",
                [SPLIT_TEST] = "325704b01eb92e1e2a6215ae6a916bb7db7de054af0c496be1c7be2e0fcfbf5f",
            },
        .checked =
            "The authors publish the archive's MD5, c32a1d4ab5d03f1284b67883e8d87530, next to the link. MD5 no longer "
            "protects against a forged file, so DAWN checks the size and the SHA-256 before anything is unpacked. The "
            "SHA-256 of the archive is the one that independent loaders carry (torchvision-ruby and GoMLX among them); "
            "those of the batches are torchvision-ruby's alone, and only tell 'official' from 'official, other order'. "
            "The content digests were computed for DAWN over all 60,000 records (SHA-256 over the sorted SHA-256 of "
            "every 3,073-byte record), so that copies in another order are known for what they are: the set they were "
            "computed from has the well-known channel means and deviations, 6,000 images a class, no record twice.",
    },
    {
        .name = "imagenette",
        .title = "Imagenette",
        .page = "https://github.com/fastai/imagenette",
        .url = "https://s3.amazonaws.com/fast-ai-imageclas/imagenette2-160.tgz",
        .archive = "imagenette2-160.tgz",
        .bytes = 99003388,
        .sha256 = "64d0c4859f35a461889e0147755a999a48b49bf38a7e0f9bd27003f10db02fe5",
        .folder = "imagenette2-160",
        .packed = true,
        .content =
            {
                [SPLIT_TRAIN] = "d5bfd18e0e90c6bb9486d3a6d7f4bc0c2db4b93bbbbad78e068f552433390fce",
                [SPLIT_TEST] = "876b8857c17a03be029852b7c950c4a24bd2c448fd104d780e19f2608da8f04e",
            },
        .checked =
            "The archive's size and SHA-256 are those of TensorFlow Datasets, its MD5, e793b78cc4c9e9a4ccc0c1155377a412, is "
            "torchvision's. The content digests name that MD5 (docs/data.md).",
    },
    {
        .name = "squad",
        .title = "SQuAD 1.1",
        .page = "https://rajpurkar.github.io/SQuAD-explorer/",
        .url = "https://rajpurkar.github.io/SQuAD-explorer/dataset/",
        .bytes = 30288272 + 4854279,
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
    },
};

enum { SOURCES = sizeof sources / sizeof sources[0] };

const char *source_name(int i)
{
    return i < SOURCES ? sources[i].name : NULL;
}

const struct source *source_find(const char *name)
{
    for (int i = 0; i < SOURCES; i++) {
        if (strcmp(sources[i].name, name) == 0) return &sources[i];
    }
    return NULL;
}

int source_absent(const struct source *source, const char *given, const char *needs)
{
    struct stat st;
    if (stat(given, &st) == 0 && S_ISREG(st.st_mode))
        return fail(ERR_USAGE, "%s is a file; --data names the folder that has the files of %s", given, source->title);
    return fail(ERR_MISSING, "there is no %s in %s: %s is missing; \"dawn data fetch %s\" gets it, --data names another folder",
                source->title, given, needs, source->name);
}
