// SPDX-License-Identifier: Apache-2.0
// Where CIFAR-10 comes from, and how its bytes are known.
#include "data/fetch/source.h"

const struct source cifar10_source = {
    .name = "cifar10",
    .title = "CIFAR-10",
    .page = "https://www.cs.toronto.edu/~kriz/cifar.html",
    .part = {{"https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", 170052171,
              "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}},
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
        "the batches' SHA-256 come from torchvision-ruby alone, and only tell 'official' from 'official, other order'. "
        "The content digests were computed for DAWN over all 60,000 records (SHA-256 over the sorted SHA-256 of "
        "every 3,073-byte record), so that copies in another order are recognised: the set they were "
        "computed from has the well-known channel means and deviations, 6,000 images per class, no record twice.",
};

const struct kind *const kinds_cifar[] = {&cifar_kind, NULL};
