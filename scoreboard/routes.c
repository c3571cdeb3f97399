// SPDX-License-Identifier: Apache-2.0
// The one table of addresses, made of the lists at the doors of the rooms.
#include "scoreboard/routes.h"

#include "scoreboard/api/api.h"
#include "scoreboard/pages/pages.h"

const struct route route_table[] = {
#define ROUTE(method, pattern, handler, what) {method, pattern, what, handler},
    PAGE_ROUTES
#undef ROUTE
#define ROUTE(method, pattern, handler, shape, what) {method, pattern, what, handler},
    API_ROUTES
#undef ROUTE
    {0},
};
