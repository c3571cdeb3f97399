// SPDX-License-Identifier: Apache-2.0
// Every address of the scoreboard: those of scoreboard/pages/pages.h and of scoreboard/api/api.h.
#ifndef DAWN_SCOREBOARD_ROUTES_H
#define DAWN_SCOREBOARD_ROUTES_H

#include "scoreboard/http/server.h"

extern const struct route route_table[];  // ends with method NULL

#endif
