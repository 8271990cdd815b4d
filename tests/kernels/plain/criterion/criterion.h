/* SPDX-License-Identifier: Apache-2.0
 * As much of Criterion as unit tests need that run where it is not to be had:
 * on another CPU than the compiler's.  One such test to a program. */
#ifndef PFI_TESTS_PLAIN_CRITERION_H
#define PFI_TESTS_PLAIN_CRITERION_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_MOST 64

static struct {
    const char *name;
    void (*run)(void);
} plain_tests[PLAIN_MOST];
static int plain_n;

static inline void plain_add(const char *name, void (*run)(void))
{
    if (plain_n == PLAIN_MOST)
        abort();
    plain_tests[plain_n].name = name;
    plain_tests[plain_n++].run = run;
}

/* Ends the program where a test fails: the others say no more. */
static inline void plain_fail(const char *file, int line, const char *condition,
                              const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)printf("%s:%d: not %s ", file, line, condition);
    (void)vprintf(format, arguments);
    (void)printf("\n");
    va_end(arguments);
    exit(1);
}

#define Test(suite, name)                                                     \
    static void suite##_##name(void);                                         \
    __attribute__((constructor)) static void add_##suite##_##name(void)       \
    {                                                                         \
        plain_add(#suite "/" #name, suite##_##name);                          \
    }                                                                         \
    static void suite##_##name(void)

/* Messages are literals. */
#define cr_assert(condition, ...)                                             \
    ((condition) ? (void)0                                                    \
                 : plain_fail(__FILE__, __LINE__, #condition, "" __VA_ARGS__))
#define cr_assert_not(condition, ...) cr_assert(!(condition), __VA_ARGS__)
#define cr_assert_null(a, ...) cr_assert((a) == NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...) cr_assert((a) != NULL, __VA_ARGS__)
#define cr_assert_eq(a, b, ...) cr_assert((a) == (b), __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...) cr_assert(!strcmp(a, b), __VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...) cr_assert(!memcmp(a, b, n), __VA_ARGS__)

int main(void)
{
    for (int i = 0; i < plain_n; i++) {
        (void)printf("%s\n", plain_tests[i].name);
        plain_tests[i].run();
    }
    (void)printf("%d tests passed\n", plain_n);
    return plain_n == 0;
}

#endif
