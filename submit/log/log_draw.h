// SPDX-License-Identifier: Apache-2.0
// Which runs the log draws, so that its operator repeats them (docs/decisions/draw.md). Pure functions: anybody with the receipts
// of a board computes the same.
#pragma once

#include "runtime/common/base/file.h"

enum { DRAW_WHOLE = 1000000, DRAW_AGAIN = 256 };  // a share of all; each such statement's checkpoint draws among all runs

// The hash that draws: SHA-256 of the checkpoint's signature, as the receipt of the checkpoint's last statement has it
// (receipt.log.signature). Nobody but the board knows it before.
void log_draw_hash(const char *checkpoint_signature, char hex[DIGEST_HEX]);
// True if the checkpoint of that hash draws the run whose statement has that digest, at a share in millionths.
bool log_draw_has(const char *hash, const char *digest, int64_t share_micro);
