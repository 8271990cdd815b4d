/* SPDX-License-Identifier: Apache-2.0
 * Who held up whom. */
#include <criterion/criterion.h>

#include "src/cli/verdict.h"

Test(verdict, the_longer_wait_decides)
{
    cr_assert_str_eq(pfi_cli_verdict(2, 1), ": loading is the bottleneck");
    cr_assert_str_eq(pfi_cli_verdict(1, 2), ": the caller is the bottleneck");
    cr_assert_str_eq(pfi_cli_verdict(0.5, 0), ": loading is the bottleneck");
    cr_assert_str_eq(pfi_cli_verdict(0, 0.5), ": the caller is the bottleneck");
}

Test(verdict, nobody_waited)
{
    cr_assert_str_eq(pfi_cli_verdict(0, 0), "");
    cr_assert_str_eq(pfi_cli_verdict(0.49, 0.49), "");
}
