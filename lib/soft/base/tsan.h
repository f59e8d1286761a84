// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes ThreadSanitizer ignore accesses of softverbs, as it ignores a device's.
 *
 * DESIGN NOTES
 *
 * A program built with -fsanitize=thread sees the accesses that other libraries make to its memory
 * by memcpy and the like, but not the locks and flags that order them, and would report false
 * races. So it ignores the engine thread, threads that drain pipes, and RDMA. If softverbs itself
 * is built with the sanitizer, both calls do nothing.
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

/* NULL in a program without the sanitizer. */
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
