// SPDX-License-Identifier: Apache-2.0
#include "tasks/translation/translator.h"
