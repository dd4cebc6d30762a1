// SPDX-License-Identifier: Apache-2.0
#pragma once

/*
 * The extra functions of the fake driver library (FakeDriver.cpp), for tests that load it with dlopen or ctypes. Device
 * memory is a memfd, so descriptors, limits of a mapping and sharing between processes are real; the two kernels of
 * heddle-cuda-probe are known by name and run on the host. Not thread-safe.
 */
extern "C" {
/// Forgets the record and every failure asked for; what is allocated stays.
void heddle_fake_reset();
/// The calls since the reset, names separated by spaces, those that failed with "!" in front.
const char *heddle_fake_calls();
/// From now on the function called `name` returns `status` (0: it works again).
void heddle_fake_fail(const char *name, int status);
/// Handles, mappings, reserved ranges and plain allocations that exist now.
int heddle_fake_live();
}
