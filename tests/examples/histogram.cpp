// SPDX-License-Identifier: BSD-2-Clause
/*
 * histogram.cpp - a histogram that is spread over all ranks, in C++17
 *
 * Classes own the handles and free them; errors become exceptions. Each rank draws numbers and adds
 * one to their bins, which lie in the windows of all ranks.
 */
#include <oriel.h>

#include <cstdint>
#include <iostream>
#include <random>
#include <stdexcept>

static int check(int rc)
{
	if (rc < 0)
		throw std::runtime_error(oriel_last_error());
	return rc;
}

class job
{
	oriel_job *handle;

  public:
	job()
	{
		check(oriel_init(nullptr, &handle));
	}
	job(const job &) = delete;
	job &operator=(const job &) = delete;
	/* Waits for the ranks that this one has talked to. A destructor must not throw, so an error is printed. */
	~job()
	{
		if (oriel_finalize(&handle))
			std::cerr << oriel_last_error() << '\n';
	}
	operator oriel_job *() const
	{
		return handle;
	}
};

class group
{
	oriel_group *handle;

  public:
	explicit group(oriel_job *job)
	{
		check(oriel_group_world(job, &handle));
	}
	group(const group &) = delete;
	group &operator=(const group &) = delete;
	~group()
	{
		oriel_group_free(&handle);
	}
	operator oriel_group *() const
	{
		return handle;
	}
};

/* Window memory of `count` elements of T on each rank; displacements count elements. */
template <typename T> class window
{
	oriel_win *handle;
	T *base;
	std::size_t count;

  public:
	window(oriel_group *group, std::size_t count) : count(count)
	{
		void *memory;

		check(oriel_win_allocate(count * sizeof(T), sizeof(T), nullptr, group, &memory, &handle));
		base = static_cast<T *>(memory);
	}
	window(const window &) = delete;
	window &operator=(const window &) = delete;
	~window()
	{
		if (oriel_win_free(&handle))
			std::cerr << oriel_last_error() << '\n';
	}
	operator oriel_win *() const
	{
		return handle;
	}
	const T *begin() const
	{
		return base;
	}
	const T *end() const
	{
		return base + count;
	}
};

static void run(oriel_job *job)
{
	constexpr int bins_of_rank = 10, numbers = 10000;
	static const std::int64_t one = 1;
	const int rank = check(oriel_rank(job)), size = check(oriel_size(job));
	std::mt19937 random(static_cast<unsigned>(rank));
	std::binomial_distribution<int> draw(size * bins_of_rank - 1);
	std::int64_t mine = 0;

	group world(job);
	window<std::int64_t> bins(world, bins_of_rank);
	window<std::int64_t> total(world, 1);

	check(oriel_win_lock_all(bins, 0));
	for (int i = 0; i < numbers; i++) {
		const int bin = draw(random);

		check(oriel_accumulate(bins, &one, 1, ORIEL_INT64, ORIEL_SUM, bin / bins_of_rank,
		                       static_cast<std::size_t>(bin % bins_of_rank)));
	}
	check(oriel_win_unlock_all(bins));
	check(oriel_barrier(job));
	check(oriel_win_sync(bins)); /* what others have added is here */
	for (std::int64_t in_bin : bins)
		mine += in_bin;

	check(oriel_win_fence(total, ORIEL_MODE_NOPRECEDE));
	check(oriel_accumulate(total, &mine, 1, ORIEL_INT64, ORIEL_SUM, 0, 0));
	check(oriel_win_fence(total, ORIEL_MODE_NOSUCCEED));
	if (rank == 0 && *total.begin() != std::int64_t{ numbers } * size)
		throw std::runtime_error("numbers are lost");
	if (rank == 0)
		std::cout << *total.begin() << " numbers in " << size * bins_of_rank << " bins\n";
}

int main(int argc, char **)
{
	if (argc > 1) {
		std::cout << "usage: oriel-run -n 4 ./histogram\n";
		return 0;
	}
	try {
		job job;

		run(job);
		return 0;
	} catch (const std::exception &error) {
		std::cerr << "histogram: " << error.what() << '\n';
		return 1;
	}
}
