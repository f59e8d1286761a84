// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a device does is not seen by ThreadSanitizer.
 *
 * DESIGN NOTES A program that is built with -fsanitize=thread sees what other libraries do to its
 * memory by memcpy, free and the like, but not the locks and flags that order it, which are not
 * built so, or come through another process; it reports races that are none. A NIC's accesses are
 * unknown to it, and so are ours, between these two: the engine thread's, those of whoever looks
 * into the pipes, and RDMA. When softverbs itself is built with the sanitizer it is to be watched,
 * and both do nothing.
 */
#ifndef SOFT_UNSEEN_H
#define SOFT_UNSEEN_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SOFT_WATCHED
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SOFT_WATCHED
#endif

#ifdef SOFT_WATCHED

static inline void soft_unseen_begin(void)
{
}

static inline void soft_unseen_end(void)
{
}

#else

/* The sanitizer's own; NULL in a program without it. */
extern void AnnotateIgnoreReadsBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreReadsEnd(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesBegin(const char *file, int line) __attribute__((weak));
extern void AnnotateIgnoreWritesEnd(const char *file, int line) __attribute__((weak));

/* Both nest, thread by thread. */
static inline void soft_unseen_begin(void)
{
	if (!AnnotateIgnoreReadsBegin || !AnnotateIgnoreWritesBegin)
		return;
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}

static inline void soft_unseen_end(void)
{
	if (!AnnotateIgnoreReadsEnd || !AnnotateIgnoreWritesEnd)
		return;
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

#endif

#endif
