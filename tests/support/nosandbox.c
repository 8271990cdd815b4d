/* SPDX-License-Identifier: Apache-2.0
 * Preloaded into the program: a kernel without Landlock and seccomp filters. */
#include <errno.h>
#include <sys/prctl.h>

long syscall(long number, ...);
int prctl(int option, ...);

/* The program makes no other call than Landlock's through this. */
long syscall(long number, ...)
{
    (void)number;
    errno = ENOSYS;
    return -1;
}

int prctl(int option, ...)
{
    errno = EINVAL;
    return option == PR_SET_NO_NEW_PRIVS ? 0 : -1;
}
