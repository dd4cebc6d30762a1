/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The page that a timer and one subject share (a 4096-byte memfd). A *subject* is a process that can
 * run one call of something: the C++ executor (a native candidate) or Python (a baseline, a ModelNew).
 * The timer (in heddle-worker, trusted) owns the clock: it writes op, slot, stateSlot and flags, then
 * increments `request` and wakes its futex; the subject does the op, publishes, stores the same number
 * into `reply` and wakes that. Nothing the subject writes here is believed without a check.
 * The same layout is read by core/python/heddle_oracle/doorbell.py; a test compares the offsets.
 */
enum HeddleOp {
    HEDDLE_OP_PREPARE =
        1, /* copy input slot `slot` and state slot `stateSlot` into private memory, kept from call to call */
    HEDDLE_OP_CALL = 2,    /* one call on the prepared inputs: the only timed op; publishes outputs */
    HEDDLE_OP_EMPTY = 3,   /* does nothing: the cost of the doorbell itself */
    HEDDLE_OP_RELEASE = 4, /* free the outputs of the last call */
    HEDDLE_OP_EXIT = 5     /* leave the doorbell loop (back to the channel) */
};

enum HeddleCallFlags {
    HEDDLE_CALL_GUARDED = 1,       /* PREPARE and CALL: guard zones round every buffer, outputs and scratch
                                filled with 0xFF bytes (NaN) first; never set for timed calls */
    HEDDLE_CALL_STATE_IN_PLACE = 2 /* PREPARE: a Python candidate's state is copied into its own tensors,
                                      behind load_state_dict; an executor does so in any case */
};

enum { HEDDLE_GUARD_BYTES = 256, HEDDLE_GUARD_FILL = 0xA5 };
enum { HEDDLE_MAX_OUTPUTS = 64, HEDDLE_MAX_INPUTS = 96, HEDDLE_MESSAGE_BYTES = 896 };

typedef struct HeddleSpan {
    uint64_t address; /* in the subject's own address space */
    uint64_t bytes;
} HeddleSpan;

typedef struct HeddleDoorbell {
    uint32_t request; /* futex; written by the timer */
    uint32_t pad0[15];
    uint32_t reply; /* futex; written by the subject */
    uint32_t pad1[15];
    uint32_t op;
    uint32_t flags;
    uint32_t slot;
    uint32_t stateSlot;
    uint32_t pad2[12];
    int32_t status;       /* 0: done; 1: failed, see message */
    uint32_t outputCount; /* outputs in order, then the state tensors that the call updates, in order */
    uint32_t inputCount;  /* the private copies in use: inputs in order, then state tensors in order */
    uint32_t pad3[13];
    HeddleSpan outputs[HEDDLE_MAX_OUTPUTS]; /* offset 256; contiguous, C order */
    HeddleSpan inputs[HEDDLE_MAX_INPUTS];   /* offset 1280 */
    char message[HEDDLE_MESSAGE_BYTES];     /* offset 2816; UTF-8, NUL-terminated */
    char pad4[384];
} HeddleDoorbell;

#ifdef __cplusplus
static_assert(sizeof(HeddleDoorbell) == 4096);
static_assert(offsetof(HeddleDoorbell, reply) == 64 && offsetof(HeddleDoorbell, op) == 128
              && offsetof(HeddleDoorbell, status) == 192 && offsetof(HeddleDoorbell, outputs) == 256
              && offsetof(HeddleDoorbell, inputs) == 1280 && offsetof(HeddleDoorbell, message) == 2816);
#endif
