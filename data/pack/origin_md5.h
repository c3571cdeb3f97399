// SPDX-License-Identifier: Apache-2.0
// The MD5s of archives, computed while they are packed.
#pragma once

#include "data/pack/md5.h"

struct origin_md5;

struct origin_md5 *origin_md5_start(int archives, char *const path[]);  // starts one thread each; NULL if there are no archives
void origin_md5_stop(struct origin_md5 *);                              // ends the threads, finished or not; NULL is fine
// Waits until archive `i` has been read.
int origin_md5_of(struct origin_md5 *, int i, char hex[MD5_HEX]) MUST_CHECK;
