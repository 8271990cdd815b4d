/* SPDX-License-Identifier: Apache-2.0
 * The program's main() under a name that a test can call. */
int pinfold_main(int argc, char **argv);

#define main pinfold_main
#include "src/cli/main.c"
