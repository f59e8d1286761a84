// SPDX-License-Identifier: BSD-2-Clause
/*
 * ThreadSanitizer ignores what softverbs does between these two: it does not see a device either.
 *
 * DESIGN NOTES A program that is built with -fsanitize=thread sees what other libraries do to its
 * memory by memcpy, free and the like, but not the locks and flags that order it, which are not
 * built so, or come through another process; it reports races that are none. A NIC's accesses are
 * unknown to it, and so are ours, between these two: the engine thread's, those of a thread that
 * looks into the pipes, and RDMA. When softverbs itself is built with the sanitizer it is to be
 * watched, and both do nothing.
 */
#ifndef SOFT_TSAN_H
#define SOFT_TSAN_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SOFT_UNDER_TSAN
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SOFT_UNDER_TSAN
#endif

#ifdef SOFT_UNDER_TSAN

static inline void soft_tsan_ignore_begin(void)
{
}

static inline void soft_tsan_ignore_end(void)
{
}

#else

/* The sanitizer's own; NULL in a program without it. */
extern void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));

/* Both nest, thread by thread. */
static inline void soft_tsan_ignore_begin(void)
{
	if (!AnnotateIgnoreReadsBegin || !AnnotateIgnoreWritesBegin)
		return;
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static inline void soft_tsan_ignore_end(void)
{
	if (!AnnotateIgnoreReadsEnd || !AnnotateIgnoreWritesEnd)
		return;
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

#endif

#endif
