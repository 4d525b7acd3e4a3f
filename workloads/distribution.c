/* Draws the row that a request of a workload is for, by one of YCSB's distributions (uniform,
 * Zipf's law, latest, hotspot, sequential); and numbers by Zipf's law, for sizes of values. */
#include "distribution.h"

#include <stddef.h>

const char *const request_distributions[] = {
	"uniform", "zipfian", "scrambled_zipfian", "latest", "hotspot", "sequential", NULL};

/* Items of YCSB's ScrambledZipfianGenerator, and the shares of its hotspot, in per cent. */
#define SCRAMBLED_ITEMS UINT64_C(10000000000)
enum { HOT_RECORDS = 20, HOT_REQUESTS = 80 };

/* Zipf's law by rejection-inversion (Hörmann and Derflinger, ACM TOMACS 6(3), 1996). With exponent
 * 0.99 the integral of x^-0.99 from 1 is 100 (x^0.01 - 1), and its inverse a power of 100. */

static double power_100(double x)
{
	double x2 = x * x, x4 = x2 * x2, x8 = x4 * x4, x16 = x8 * x8, x32 = x16 * x16;

	return x32 * x32 * x32 * x4;
}

/* x^0.01 of x from 1 to 2^40, by Newton's method from a cubic error below 1 %. */
static double root_100(double x)
{
	int bits = 64 - __builtin_clzll((unsigned long long)x);
	double logarithm = 0.006931471805599453 * (bits - 0.5);
	double root = 1 + logarithm + logarithm * logarithm / 2;

	for (int i = 0; i < 6; i++)
		root = (99 * root + x / (power_100(root) / root)) / 100;
	return root;
}

static double integral(double x)
{
	return 100 * (root_100(x) - 1);
}

static double inverse(double y)
{
	return power_100(1 + y / 100);
}

static double density(double x)
{
	return root_100(x) / x;
}

uint64_t zipf_draw(struct zipf *zipf, struct prng *prng, uint64_t count)
{
	static double bottom, near; /* a draw so near above its number is accepted */

	if (near == 0) {
		bottom = integral(1.5) - 1;
		near = 2 - inverse(integral(2.5) - density(2));
	}
	if (zipf->count != count) {
		zipf->count = count;
		zipf->top = integral((double)count + 0.5);
	}
	for (;;) {
		double unit = (double)(prng_next(prng) >> 11) * 0x1p-53;
		double area = zipf->top + unit * (bottom - zipf->top);
		double x = inverse(area);
		uint64_t number = (uint64_t)(x + 0.5);

		if (number < 1)
			number = 1;
		if (number > count)
			number = count;
		if ((double)number - x <= near ||
		    area >= integral((double)number + 0.5) - density((double)number))
			return number;
	}
}

/* FNV-1a over the eight bytes of a number, the lowest first, without its sign, as YCSB has it. */
static uint64_t fnv(uint64_t number)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < 8; i++, number >>= 8)
		hash = (hash ^ (number & 0xff)) * UINT64_C(1099511628211);
	return hash >> 63 ? -hash : hash;
}

uint64_t distribution_draw(enum request_distribution distribution, struct zipf *zipf,
			   struct prng *prng, struct records records, uint64_t number)
{
	uint64_t count = records.now > 0 ? records.now : 1;
	uint64_t hot = (count * HOT_RECORDS + 99) / 100;

	switch (distribution) {
	case UNIFORM:
		return prng_below(prng, count);
	case ZIPFIAN:
		return zipf_draw(zipf, prng, count) - 1;
	case SCRAMBLED_ZIPFIAN:
		/* With those inserted since, other records would become the popular ones. */
		return fnv(zipf_draw(zipf, prng, SCRAMBLED_ITEMS) - 1) %
		       (records.before > 0 ? records.before : count);
	case LATEST:
		return count - zipf_draw(zipf, prng, count);
	case HOTSPOT:
		if (prng_below(prng, 100) < HOT_REQUESTS || hot == count)
			return prng_below(prng, hot);
		return hot + prng_below(prng, count - hot);
	default:
		return number % count;
	}
}
