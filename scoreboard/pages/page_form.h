// SPDX-License-Identifier: Apache-2.0
// The filter of a board as a form: GET, so that its state is the address.
#pragma once

#include "scoreboard/pages/page.h"

void page_form(struct page *, const struct filter *, const struct facets *);
// The active filters, each with a link that removes it. Returns their number.
int page_form_chips(struct page *, enum view, const struct filter *);
void page_form_nothing(struct page *, enum view, const struct filter *);  // shown instead of rows if none passes
