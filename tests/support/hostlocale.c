/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into the program: a host that has set its user's locale, which may
 * write numbers with a comma. */
#include <locale.h>
#include <stdio.h>

static __attribute__((constructor)) void set_locale(void)
{
    if (!setlocale(LC_ALL, ""))
        (void)fputs("hostlocale: there is no such locale\n", stderr);
}
