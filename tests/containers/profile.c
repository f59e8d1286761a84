// SPDX-License-Identifier: BSD-2-Clause
/*
 * profile.c - a program under a seccomp filter that refuses what Docker's default one refuses
 *
 *   containers-profile PROGRAM [ARGUMENT...]
 *
 * To a process without capabilities, that profile allows most calls. It refuses with EPERM those of
 * `refused`, and clone, socket and personality with some arguments. clone3, and calls that are newer
 * than the profile, fail with ENOSYS.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER offsetof(struct seccomp_data, nr)
#define FIRST_ARGUMENT offsetof(struct seccomp_data, args) /* its low half, where that comes first */
#define NEWEST_CALL 450u                                   /* set_mempolicy_home_node */
#define NEW_NAMESPACES 0x7e020000u                         /* the flags of clone for all seven kinds */

/* These need a capability, or are of no use in a container. Old headers lack names of the last ones. */
static const unsigned int refused[] = {
	SYS_acct,
	SYS_add_key,
	SYS_bpf,
	SYS_chroot,
	SYS_clock_settime,
	SYS_delete_module,
	SYS_fanotify_init,
	SYS_finit_module,
	SYS_get_mempolicy,
	SYS_init_module,
	SYS_kcmp,
	SYS_kexec_file_load,
	SYS_kexec_load,
	SYS_keyctl,
	SYS_lookup_dcookie,
	SYS_mbind,
	SYS_migrate_pages,
	SYS_mount,
	SYS_move_pages,
	SYS_nfsservctl,
	SYS_open_by_handle_at,
	SYS_perf_event_open,
	SYS_pivot_root,
	SYS_quotactl,
	SYS_reboot,
	SYS_request_key,
	SYS_set_mempolicy,
	SYS_setdomainname,
	SYS_sethostname,
	SYS_setns,
	SYS_settimeofday,
	SYS_swapoff,
	SYS_swapon,
	SYS_syslog,
	SYS_umount2,
	SYS_unshare,
	SYS_userfaultfd,
	SYS_vhangup,
#ifdef __x86_64__
	SYS_ioperm,
	SYS_iopl,
	SYS_sysfs,
	SYS_uselib,
	SYS_ustat,
#endif
	425, /* io_uring_setup */
	426, /* io_uring_enter */
	427, /* io_uring_register */
	428, /* open_tree */
	429, /* move_mount */
	430, /* fsopen */
	431, /* fsconfig */
	432, /* fsmount */
	433, /* fspick */
	438, /* pidfd_getfd */
	440, /* process_madvise */
	442, /* mount_setattr */
	443, /* quotactl_fd */
	450, /* set_mempolicy_home_node */
};
static const unsigned int personalities[] = { 0x0, 0x8, 0x20000, 0x20008, 0xffffffff };

static struct sock_filter filter[3 * sizeof(refused) / sizeof(refused[0]) + 40];
static unsigned short length;

static void add(unsigned int code, unsigned int k, unsigned char yes, unsigned char no)
{
	filter[length++] = (struct sock_filter)BPF_JUMP((unsigned short)code, k, yes, no);
}

static void load(size_t offset)
{
	add(BPF_LD | BPF_W | BPF_ABS, (unsigned int)offset, 0, 0);
}

static void end_with(unsigned int result)
{
	add(BPF_RET | BPF_K, result, 0, 0);
}

/* Ends the call if a comparison (BPF_JEQ, BPF_JGT, BPF_JSET) of what is loaded with the value holds. */
static void end_if(unsigned int comparison, unsigned int value, unsigned int result)
{
	add(BPF_JMP | comparison | BPF_K, value, 0, 1);
	end_with(result);
}

/* Begins instructions for one call alone, up to end_of(). They compare its first argument. */
static unsigned short begin_of(unsigned int call)
{
	load(NUMBER);
	add(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 0);
	load(FIRST_ARGUMENT);
	return (unsigned short)(length - 2);
}

/* Ends the call with a result if nothing before has. */
static void end_of(unsigned short begin, unsigned int result)
{
	end_with(result);
	filter[begin].jf = (unsigned char)(length - begin - 1);
}

static void make_filter(void)
{
	const unsigned int no = SECCOMP_RET_ERRNO | EPERM, not_there = SECCOMP_RET_ERRNO | ENOSYS;
	unsigned short begin;

	load(NUMBER);
	end_if(BPF_JEQ, SYS_clone3, not_there);
	end_if(BPF_JGT, NEWEST_CALL, not_there);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		end_if(BPF_JEQ, refused[i], no);
	begin = begin_of(SYS_clone);
	end_if(BPF_JSET, NEW_NAMESPACES, no);
	end_of(begin, SECCOMP_RET_ALLOW);
	begin = begin_of(SYS_socket);
	end_if(BPF_JEQ, AF_VSOCK, no);
	end_of(begin, SECCOMP_RET_ALLOW);
	begin = begin_of(SYS_personality);
	for (size_t i = 0; i < sizeof(personalities) / sizeof(personalities[0]); i++)
		end_if(BPF_JEQ, personalities[i], SECCOMP_RET_ALLOW);
	end_of(begin, no);
	end_with(SECCOMP_RET_ALLOW);
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .filter = filter };

	if (argc < 2) {
		fprintf(stderr, "usage: containers-profile PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	make_filter();
	program.len = length;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("profile: seccomp");
		return 2;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 2;
}
