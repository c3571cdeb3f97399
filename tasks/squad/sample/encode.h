// SPDX-License-Identifier: Apache-2.0
// Samples of an encoder: windows (windows.h) of the pieces of a question and its context. A view of a data set that squad_of
// knows. Its fields are "tokens" and "segments" (i32, ragged; segment 1 is the context), "start" and "end" (i32: places of
// the answer's first and last piece; if the window does not hold the answer both are 0, the position of [CLS]).
//
// Cost: when the view is made, all threads cut every text into pieces once (20 MB of text a second and thread). The pieces
// are kept, 12 bytes each, and samples are assembled from them.
#pragma once

#include "tasks/squad/sample/reader.h"

extern const struct reader encode_reader;
