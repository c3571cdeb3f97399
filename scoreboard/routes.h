// SPDX-License-Identifier: Apache-2.0
// Every address of the scoreboard: the pages of scoreboard/pages/pages.h and the answers of scoreboard/api/api.h.
#pragma once

#include "scoreboard/http/server.h"

extern const struct route route_table[];  // ends with method NULL
