// SPDX-License-Identifier: Apache-2.0
// Where Imagenette comes from, and how its bytes are known.
#include "data/fetch/source.h"

const struct source imagenette_source = {
    .name = "imagenette",
    .title = "Imagenette",
    .page = "https://github.com/fastai/imagenette",
    .part = {{"https://s3.amazonaws.com/fast-ai-imageclas/imagenette2-160.tgz", 99003388,
              "64d0c4859f35a461889e0147755a999a48b49bf38a7e0f9bd27003f10db02fe5"}},
    .folder = "imagenette2-160",
    .packed = true,
    .content =
        {
            [SPLIT_TRAIN] = "d5bfd18e0e90c6bb9486d3a6d7f4bc0c2db4b93bbbbad78e068f552433390fce",
            [SPLIT_TEST] = "876b8857c17a03be029852b7c950c4a24bd2c448fd104d780e19f2608da8f04e",
        },
    .checked =
        "The archive's size and SHA-256 come from TensorFlow Datasets; its MD5, e793b78cc4c9e9a4ccc0c1155377a412, is "
        "torchvision's. The content digests name that MD5 (docs/data.md).",
};

const struct kind *const kinds_imagenet[] = {&imagenet_kind, &imagenette_kind, NULL};
