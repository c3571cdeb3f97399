// SPDX-License-Identifier: Apache-2.0
#include "data/kind.h"

const struct kind *const kinds_go[] = {NULL};
