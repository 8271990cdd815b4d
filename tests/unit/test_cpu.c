/* SPDX-License-Identifier: Apache-2.0
 * CPU levels: which there are, and holding a call to one. */
#include <criterion/criterion.h>

#include "src/base/cpu.h"
#include "src/load/sample.h"

Test(cpu, at_least_one_can_run)
{
    cr_assert_geq(pfi_cpu_count(), 1);
}

Test(cpu, c_is_everywhere_and_each_level_has_those_below)
{
    const unsigned levels = pfi_cpu_levels();

    cr_assert(levels & 1u << PFI_CPU_C);
    if (levels & 1u << PFI_CPU_AVX512)
        cr_assert(levels & 1u << PFI_CPU_AVX2);
    if (levels & 1u << PFI_CPU_AVX2)
        cr_assert(levels & 1u << PFI_CPU_SSE41);
}

Test(cpu, info_names_the_best_level)
{
    pinfold_info info = {.struct_size = sizeof(info)};
    int best = PFI_CPU_C;

    for (int level = PFI_CPU_C; level <= PFI_CPU_NEON; level++)
        if (pfi_cpu_levels() & 1u << level)
            best = level;
    pinfold_info_get(&info);
    cr_assert_str_eq(info.simd,
                     pfi_cpu_level_name((enum pfi_cpu_level)best));
}

Test(cpu, a_task_takes_the_level_that_was_asked_for)
{
    static const char *const names[] = {"", "none", "sse4.1", "avx2", "avx512",
                                        "neon"};
    pinfold_recipe recipe = pinfold_recipe_default();

    for (int level = PFI_CPU_C; level <= PFI_CPU_NEON; level++) {
        struct pfi_task task;
        pinfold_error err;

        pfi_error_clear(&err);
        recipe.cpu_level = level;
        if (pfi_cpu_levels() & 1u << level) {
            cr_assert_eq(pfi_task_init(&task, &recipe, &err), PINFOLD_OK);
            cr_assert_eq((int)task.kernels.level, level);
        } else {
            cr_assert_eq(pfi_task_init(&task, &recipe, &err),
                         PINFOLD_E_UNSUPPORTED);
            cr_assert_not_null(strstr(err.message, names[level]));
        }
    }
}

Test(cpu, a_level_without_vectors_is_called_none)
{
    cr_assert_str_eq(pfi_cpu_level_name(PFI_CPU_C), "none");
}

Test(cpu, other_numbers_are_no_levels)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    struct pfi_recipe resolved;

    recipe.cpu_level = PFI_CPU_NEON + 1;
    cr_assert_eq(pfi_recipe_resolve(&resolved, &recipe, NULL),
                 PINFOLD_E_ARGUMENT);
    recipe.cpu_level = -1;
    cr_assert_eq(pfi_recipe_resolve(&resolved, &recipe, NULL),
                 PINFOLD_E_ARGUMENT);
}
