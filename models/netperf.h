/* SPDX-License-Identifier: GPL-2.0-or-later */
/* netperf TCP_SENDFILE over loopback, as far as socket memory goes: one sender and one receiver a
 * pair.
 *
 * Each send is three page fragments. The sender schedules send memory for each, and for each new
 * socket buffer; the buffer's receive memory is charged in one call, on the sender's CPU (loopback
 * delivers there) unless the receiver owns its socket just then. The receiver gives receive memory
 * back, and its acknowledgement gives send memory back on the receiver's CPU, unless the sender
 * owns its socket (net/ipv4/tcp.c, net/core/sock.c and include/net/sock.h of v6.0-rc1; netperf's
 * netlib.c). */
#ifndef MODELS_NETPERF_H
#define MODELS_NETPERF_H

#include "models/memcg.h"

enum { NETPERF_SEND, NETPERF_RECEIVE };

struct socket {
	struct place forward_alloc; /* bytes charged ahead; always ends below a page */
};

struct netperf_rules {
	struct memcg_rules memcg;
	int64_t sends_per_buffer; /* k: how many sends share one socket buffer */
	double defer_receive;  /* pR: probability that receive memory is charged by the receiver */
	double defer_ack;      /* pT: probability that send memory is given back by the sender */
	double truesize_scale; /* bytes of socket memory for each byte of truesize: 1 as derived */
	double send_work, receive_work; /* cycles of everything else, a send */
	double jitter;                  /* work varies uniformly by so much either way: 0 .. 1 */
	int64_t window;                 /* buffers under way between the two */
};

struct netperf_pair {
	const struct netperf_rules *rules;
	struct mem_cgroup *memcg; /* of both; NULL: the root */
	struct memcg_shared *shared;
	struct memcg_cpu *send_cpu, *receive_cpu;
	struct socket *send_socket, *receive_socket;
	struct thread *sender, *receiver;
	uint64_t seed; /* from which both sides draw where each buffer is handled */
};

/* The two sides; neither returns. */
void netperf_send(struct thread *self, void *pair);
void netperf_receive(struct thread *self, void *pair);

#endif
