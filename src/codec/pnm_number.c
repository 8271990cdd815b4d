/* SPDX-License-Identifier: Apache-2.0
 * Python's int() and float() of short tokens, without the locale that strtod()
 * depends on. */
#include "src/codec/pnm_number.h"

bool pfi_pnm_is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A token being read. */
struct cursor {
    const unsigned char *at, *end;
};

static bool is_digit(const struct cursor *c)
{
    return c->at < c->end && *c->at >= '0' && *c->at <= '9';
}

/* Steps over a sign; true where it is a minus. */
static bool take_sign(struct cursor *c)
{
    const bool negative = c->at < c->end && *c->at == '-';

    if (negative || (c->at < c->end && *c->at == '+'))
        c->at++;
    return negative;
}

/* Steps over digits, single underscores between them, and appends them to
 * *value; returns how many there were. */
static int take_digits(struct cursor *c, int64_t *value)
{
    int n = 0;

    while (is_digit(c)) {
        *value = *value * 10 + (*c->at++ - '0');
        n++;
        if (c->end - c->at >= 2 && *c->at == '_' && c->at[1] >= '0' &&
            c->at[1] <= '9')
            c->at++;
    }
    return n;
}

bool pfi_pnm_int(const unsigned char *token, size_t n, int64_t *out)
{
    struct cursor c = {token, token + n};
    const bool negative = take_sign(&c);
    int64_t value = 0;

    if (n > PFI_PNM_TOKEN_MAX || !take_digits(&c, &value) || c.at < c.end)
        return false;
    *out = negative ? -value : value;
    return true;
}

/* Whether digits * 10**exponent is a double other than 0 and infinity. */
static bool is_normal(int64_t digits, int64_t exponent)
{
    if (digits == 0)
        return false;
    while (digits < 1000000000) {
        digits *= 10;
        exponent--;
    }
    exponent += 9; /* of the first of ten digits */
    /* DBL_MAX and half a step, 1.7976931348623158e308, round to infinity; half
     * of the smallest double, 2.4703282292062327e-324, rounds to 0. */
    if (exponent > 308 || (exponent == 308 && digits >= 1797693135))
        return false;
    return exponent > -324 || (exponent == -324 && digits > 2470328229);
}

bool pfi_pnm_scale(const unsigned char *token, size_t n, bool *negative)
{
    struct cursor c = {token, token + n};
    int64_t digits = 0, exponent = 0;
    int count, decimals = 0;

    if (n > PFI_PNM_TOKEN_MAX)
        return false;
    *negative = take_sign(&c);
    count = take_digits(&c, &digits);
    if (c.at < c.end && *c.at == '.') {
        c.at++;
        decimals = take_digits(&c, &digits);
    }
    if (!count && !decimals) /* or an infinity, or no number */
        return false;
    if (c.at < c.end && (*c.at == 'e' || *c.at == 'E')) {
        c.at++;
        const bool down = take_sign(&c);

        if (!take_digits(&c, &exponent))
            return false;
        exponent = down ? -exponent : exponent;
    }
    return c.at == c.end && is_normal(digits, exponent - decimals);
}
