/* SPDX-License-Identifier: Apache-2.0
 * Landlock for files, and a seccomp filter for the rest.  The numbers are the
 * kernel's ABI, so that it does not matter how old the headers are. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall(), O_PATH */
#endif
#include "src/cli/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "src/cli/text.h"

/* -------------------------------------------------------------- landlock --- */

/* Numbers of the calls, the same on every architecture. */
enum { CREATE = 444, ADD_RULE = 445, RESTRICT = 446 };

/* linux/landlock.h; the fields behind the first came with versions 4 and 6. */
struct ruleset {
    uint64_t files, net, scoped;
};

struct rule {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

#define READ_FILE (1u << 2)
#define READ_DIR (1u << 3)
#define READS (READ_FILE | READ_DIR)
/* Write, remove and make files and folders; to rename into another folder
 * (version 2) and to cut (3). */
#define WRITES                                                                \
    (READS | 1u << 1 | 1u << 4 | 1u << 5 | 1u << 7 | 1u << 8 | 1u << 13 |     \
     1u << 14)

/* What version `abi` knows to forbid. */
static struct ruleset forbidden(long abi)
{
    return (struct ruleset){
        .files = abi >= 5   ? 0xFFFF
                 : abi >= 3 ? 0x7FFF
                 : abi >= 2 ? 0x3FFF
                            : 0x1FFF,
        .net = abi >= 4 ? 3 : 0,
        .scoped = abi >= 6 ? 3 : 0,
    };
}

static size_t ruleset_size(long abi)
{
    return abi >= 6   ? sizeof(struct ruleset)
           : abi >= 4 ? offsetof(struct ruleset, scoped)
                      : offsetof(struct ruleset, net);
}

/* A file that is not there needs no rule. */
static void allow(int ruleset, const char *path, uint64_t what)
{
    struct rule rule;
    struct stat st;
    const int fd = path ? open(path, O_PATH | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    /* Of a file there is nothing to list or make. */
    rule.allowed = !fstat(fd, &st) && S_ISDIR(st.st_mode)
                       ? what
                       : what & (READ_FILE | 1u << 1 | 1u << 14);
    rule.parent = fd;
    if (syscall(ADD_RULE, ruleset, 1, &rule, 0))
        pfi_cli_say("pinfold: sandbox: %s: %s", path, strerror(errno));
    close(fd);
}

static void allow_above(int ruleset, const char *path, uint64_t what)
{
    char *const copy = path ? strdup(path) : NULL;

    if (copy)
        allow(ruleset, dirname(copy), what);
    free(copy);
}

static void allow_output(const struct pfi_cli_options *o, int ruleset,
                         uint64_t writes)
{
    const char *const out = o->arguments[1];
    const char *const files[] = {o->save, o->quarantine, o->sheet.file,
                                 o->tune.svg,
                                 o->command == PFI_CLI_SHEET ? out : NULL};

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        allow_above(ruleset, files[i], writes);
    if (o->command != PFI_CLI_EXPORT)
        return;
    /* These are made under another name beside it. */
    if (o->format == PFI_CLI_SAFETENSORS || o->format == PFI_CLI_NPY_EACH) {
        allow_above(ruleset, out, writes);
        return;
    }
    (void)mkdir(out, 0777);
    allow(ruleset, out, writes);
}

static void confine_files(const struct pfi_cli_options *o)
{
    /* 1: asks for the version */
    const long abi = syscall(CREATE, NULL, 0, 1);
    const struct ruleset all = forbidden(abi);
    const char *const reads[] = {o->arguments[0], o->subset, o->weights,
                                 o->list_order, "/proc/self", "/sys/fs/cgroup",
                                 "/sys/devices/system"};
    int ruleset;

    if (abi < 1) {
        pfi_cli_say("pinfold: sandbox: no Landlock in this kernel (%s): files "
                    "are not confined",
                    strerror(errno));
        return;
    }
    if (abi < 4)
        pfi_cli_say("pinfold: sandbox: Landlock of this kernel has version %ld: "
                    "%sTCP is left to seccomp",
                    abi, abi < 3 ? "files can be cut; " : "");
    ruleset = (int)syscall(CREATE, &all, ruleset_size(abi), 0);
    for (size_t i = 0; ruleset >= 0 && i < sizeof(reads) / sizeof(*reads); i++)
        allow(ruleset, reads[i], READS);
    if (ruleset >= 0 && (o->command & (PFI_CLI_VERIFY | PFI_CLI_SCAN)))
        allow(ruleset, o->arguments[1], READS);
    if (ruleset >= 0)
        allow_output(o, ruleset, WRITES & all.files);
    if (ruleset < 0 || syscall(RESTRICT, ruleset, 0))
        pfi_cli_say("pinfold: sandbox: Landlock: %s", strerror(errno));
    if (ruleset >= 0)
        close(ruleset);
}

/* --------------------------------------------------------------- seccomp --- */

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH
#define DENY(name)                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1),                   \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define LOAD(field)                                                           \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

/* What no decoder has a use for: EPERM. */
static void confine_calls(void)
{
    struct sock_filter filter[] = {
        LOAD(arch),
        /* Of another architecture's calls the numbers mean something else. */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        LOAD(nr),
        /* x32, which is within x86_64 */
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        DENY(execve), DENY(execveat), DENY(socket), DENY(socketpair),
        DENY(connect), DENY(bind), DENY(ptrace), DENY(process_vm_readv),
        DENY(process_vm_writev), DENY(pidfd_getfd), DENY(kcmp), DENY(bpf),
        DENY(perf_event_open), DENY(userfaultfd), DENY(keyctl), DENY(add_key),
        DENY(request_key), DENY(mount), DENY(umount2), DENY(pivot_root),
        DENY(chroot), DENY(setns), DENY(unshare), DENY(open_by_handle_at),
        DENY(io_uring_setup), DENY(init_module), DENY(finit_module),
        DENY(kexec_load), DENY(reboot), DENY(fchmod), DENY(fchmodat),
        DENY(fchown), DENY(fchownat), DENY(setxattr), DENY(fsetxattr),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {
        .len = sizeof(filter) / sizeof(*filter), .filter = filter};

    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        pfi_cli_say("pinfold: sandbox: no seccomp filter (%s): calls are not "
                    "confined",
                    strerror(errno));
}
#else
static void confine_calls(void)
{
    pfi_cli_say("pinfold: sandbox: no seccomp filter is written for this CPU: "
                "calls are not confined");
}
#endif

/* --------------------------------------------------------------- program --- */

const char *pfi_cli_take_sandbox(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->sandbox = true;
    /* CUDA opens files and devices of its own. */
    if (o->loader.memory == PINFOLD_MEMORY_AUTO)
        o->loader.memory = PINFOLD_MEMORY_PAGEABLE;
    return NULL;
}

void pfi_cli_sandbox(const struct pfi_cli_options *o)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
        pfi_cli_say("pinfold: sandbox: none: %s", strerror(errno));
        return;
    }
    confine_files(o);
    confine_calls();
}
