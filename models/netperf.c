/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "models/netperf.h"

enum {
	PAGE = 4096,
	MESSAGE = 10240,    /* netperf -m 10K */
	BUFFER_HEAD = 1280, /* truesize of an empty socket buffer: 704 head + 256 sk_buff + 320
			       shared info */
};

static int64_t scaled(const struct netperf_pair *pair, int64_t bytes)
{
	return (int64_t)((double)bytes * pair->rules->truesize_scale + 0.5);
}

/* Takes bytes from what the socket has charged ahead; charges whole pages for what is missing. The
 * addition stands for the update under the socket's lock. */
static void schedule(struct thread *self, struct netperf_pair *pair, struct memcg_cpu *cpu,
		     struct socket *socket, int64_t bytes, bool forced)
{
	int64_t left = ADD_RETURN(socket, forward_alloc, -bytes), pages;

	if (left >= 0)
		return;
	pages = (-left + PAGE - 1) / PAGE;
	memcg_charge_socket(self, &pair->rules->memcg, pair->memcg, cpu, pair->shared, pages,
			    forced);
	ADD(socket, forward_alloc, pages * PAGE);
}

/* Returns bytes to the socket; what makes whole pages goes back. */
static void reclaim(struct thread *self, struct netperf_pair *pair, struct memcg_cpu *cpu,
		    struct socket *socket, int64_t bytes)
{
	int64_t left = ADD_RETURN(socket, forward_alloc, bytes), pages = left / PAGE;

	if (pages <= 0)
		return;
	ADD(socket, forward_alloc, -pages * PAGE);
	memcg_uncharge_socket(self, &pair->rules->memcg, pair->memcg, cpu, pair->shared, pages);
}

static void work(struct thread *self, const struct netperf_pair *pair, double cycles)
{
	WORK(cycles * (1 + pair->rules->jitter * (2 * RANDOM() - 1)));
}

/* Both sides know, without talking, where the n-th buffer's memory is handled: a hash of (pair, n,
 * question) in [0, 1). */
static bool happens(const struct netperf_pair *pair, uint64_t n, uint64_t question,
		    double probability)
{
	uint64_t z = pair->seed + (2 * n + question) * 0x9e3779b97f4a7c15u; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53 < probability;
}

enum { RECEIVE_DEFERRED, ACK_DEFERRED };

/* What a whole buffer takes: exactly what its fragments took. */
static int64_t buffer_bytes(const struct netperf_pair *pair)
{
	int64_t message = 2 * scaled(pair, PAGE) + scaled(pair, MESSAGE - 2 * PAGE);

	return scaled(pair, BUFFER_HEAD) + pair->rules->sends_per_buffer * message;
}

/* The fragments of one send: ring offsets are multiples of 10 KiB, so a send starts at a page or in
 * the middle of one. */
static void send_fragments(struct thread *self, struct netperf_pair *pair, uint64_t n)
{
	static const int64_t fragments[2][3] = { { PAGE, PAGE, MESSAGE - 2 * PAGE },
						 { MESSAGE - 2 * PAGE, PAGE, PAGE } };

	for (int k = 0; k < 3; k++)
		schedule(self, pair, pair->send_cpu, pair->send_socket,
			 scaled(pair, fragments[n % 2][k]), false);
}

void netperf_send(struct thread *self, void *argument)
{
	struct netperf_pair *pair = argument;
	const struct netperf_rules *rules = pair->rules;
	uint64_t k = (uint64_t)rules->sends_per_buffer, window = (uint64_t)rules->window;

	for (uint64_t n = 0;; n++) {
		uint64_t buffer = n / k;

		BEGIN(NETPERF_SEND);
		if (n % k == 0) {
			if (buffer >= window) {
				AWAIT();
				if (happens(pair, buffer - window, ACK_DEFERRED, rules->defer_ack))
					reclaim(self, pair, pair->send_cpu, pair->send_socket,
						buffer_bytes(pair));
			}
			schedule(self, pair, pair->send_cpu, pair->send_socket,
				 scaled(pair, BUFFER_HEAD), true);
		}
		work(self, pair, rules->send_work);
		send_fragments(self, pair, n);
		if (n % k == k - 1) {
			if (!happens(pair, buffer, RECEIVE_DEFERRED, rules->defer_receive))
				schedule(self, pair, pair->send_cpu, pair->receive_socket,
					 buffer_bytes(pair), false);
			SIGNAL(pair->receiver);
		}
		END(NETPERF_SEND);
	}
}

void netperf_receive(struct thread *self, void *argument)
{
	struct netperf_pair *pair = argument;
	const struct netperf_rules *rules = pair->rules;

	for (uint64_t buffer = 0;; buffer++) {
		AWAIT();
		BEGIN(NETPERF_RECEIVE);
		if (happens(pair, buffer, RECEIVE_DEFERRED, rules->defer_receive))
			schedule(self, pair, pair->receive_cpu, pair->receive_socket,
				 buffer_bytes(pair), false);
		work(self, pair, rules->receive_work * (double)rules->sends_per_buffer);
		reclaim(self, pair, pair->receive_cpu, pair->receive_socket, buffer_bytes(pair));
		if (!happens(pair, buffer, ACK_DEFERRED, rules->defer_ack))
			reclaim(self, pair, pair->receive_cpu, pair->send_socket,
				buffer_bytes(pair));
		SIGNAL(pair->sender);
		END(NETPERF_RECEIVE);
	}
}
