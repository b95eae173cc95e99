/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bodies of models/ as compiled for real threads, in the order of MODEL_BODIES. */
#ifndef NATIVE_BODIES_H
#define NATIVE_BODIES_H

struct thread; /* native/thread.h */
typedef void native_body(struct thread *self, void *argument);

extern native_body *const native_bodies[];

#endif
