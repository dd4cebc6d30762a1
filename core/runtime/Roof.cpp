// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/Roof.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t bytesPerArray = 128u << 20;
constexpr std::size_t elements = bytesPerArray / sizeof(float);
constexpr int repetitions = 7;

struct Unmap {
    void operator()(float *data) const { ::munmap(data, bytesPerArray); }
};
using Array = std::unique_ptr<float, Unmap>;

/// Memory that nobody has touched yet.
Array freshArray()
{
    void *data = ::mmap(nullptr, bytesPerArray, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return Array(data == MAP_FAILED ? nullptr : static_cast<float *>(data));
}

/// Runs `part(from, to)` on every thread over its share of the elements; seconds.
double inParallel(int threads, const std::function<void(std::size_t, std::size_t)> &part)
{
    std::atomic<int> ready = 0;
    std::atomic<bool> go = false;
    std::vector<std::jthread> pool;
    pool.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) {
        pool.emplace_back([&, i] {
            const auto share = elements / static_cast<std::size_t>(threads);
            const std::size_t from = share * static_cast<std::size_t>(i);
            const std::size_t to = i + 1 == threads ? elements : from + share;
            ++ready;
            while (!go.load(std::memory_order_acquire))
                std::this_thread::yield();
            part(from, to);
        });
    }
    while (ready.load() != threads)
        std::this_thread::yield();
    const auto start = Clock::now();
    go.store(true, std::memory_order_release);
    pool.clear();
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double bestOf(const std::function<double()> &once)
{
    double best = once();
    for (int i = 1; i < repetitions; ++i)
        best = std::min(best, once());
    return best;
}

using Lanes [[gnu::vector_size(64)]] = float;

[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
float sumOf(const float *data, std::size_t count)
{
    Lanes sums[4] = {};
    for (std::size_t i = 0; i + 64 <= count; i += 64) {
#pragma GCC unroll 4
        for (std::size_t lane = 0; lane < 4; ++lane) {
            Lanes value;
            __builtin_memcpy(&value, data + i + 16 * lane, sizeof value);
            sums[lane] += value;
        }
    }
    const Lanes total = sums[0] + sums[1] + sums[2] + sums[3];
    return total[0] + total[7] + total[15];
}

[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
void triad(float *out, const float *a, const float *b, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i)
        out[i] = a[i] + 0.5f * b[i];
}

constexpr std::int64_t fmaSteps = 4'000'000;
constexpr std::int64_t fmaChains = 12;

/// Independent chains of fused multiply-adds: enough of them to hide their latency.
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
float fmaPeak(std::int64_t steps, float seed)
{
    Lanes chains[fmaChains];
#pragma GCC unroll 12
    for (std::int64_t chain = 0; chain < fmaChains; ++chain)
        chains[chain] = Lanes{} + seed * static_cast<float>(chain + 1);
    const Lanes factor = Lanes{} + 0.9999f;
    const Lanes term = Lanes{} + seed;
    for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
        for (std::int64_t chain = 0; chain < fmaChains; ++chain)
            chains[chain] = chains[chain] * factor + term;
    }
    Lanes total{};
#pragma GCC unroll 12
    for (std::int64_t chain = 0; chain < fmaChains; ++chain)
        total += chains[chain];
    return total[0] + total[15];
}

/// Keeps a result alive without storing it anywhere a reader would look for it.
void keep(float value) { asm volatile("" : : "r"(&value) : "memory"); }

} // namespace

Json RoofReport::toJson() const
{
    return {{"threads", threads},
            {"copy_bytes_per_second", copyBytesPerSecond},
            {"triad_bytes_per_second", triadBytesPerSecond},
            {"read_bytes_per_second", readBytesPerSecond},
            {"fresh_copy_bytes_per_second", freshCopyBytesPerSecond},
            {"fault_seconds_per_byte", faultSecondsPerByte},
            {"page_fault_share", pageFaultShare},
            {"flops_per_second", flopsPerSecond},
            {"seconds", seconds}};
}

Result<RoofReport> measureRoof(int threads, const CancelToken &cancel)
{
    const auto start = Clock::now();
    RoofReport report;
    report.threads = threads;
    const Array a = freshArray();
    const Array b = freshArray();
    const Array out = freshArray();
    if (!a || !b || !out)
        return Error(Code::OutOfMemory, "no memory for measuring the roof", {},
                     "close other programs: it needs 512 MiB");
    inParallel(threads, [&](std::size_t from, std::size_t to) {
        std::fill(a.get() + from, a.get() + to, 1.0f);
        std::fill(b.get() + from, b.get() + to, 2.0f);
        std::fill(out.get() + from, out.get() + to, 0.0f);
    });
    const double bytes = static_cast<double>(bytesPerArray);
    const auto copyInto = [&](float *target) {
        return inParallel(threads, [&](std::size_t from, std::size_t to) {
            __builtin_memcpy(target + from, a.get() + from, (to - from) * sizeof(float));
        });
    };
    const double copy = bestOf([&] { return copyInto(out.get()); });
    const double triadSeconds = bestOf([&] {
        return inParallel(threads, [&](std::size_t from, std::size_t to) {
            triad(out.get() + from, a.get() + from, b.get() + from, to - from);
        });
    });
    const double read = bestOf([&] {
        return inParallel(threads,
                          [&](std::size_t from, std::size_t to) { keep(sumOf(a.get() + from, to - from)); });
    });
    if (cancel.stop_requested())
        return Error(Code::Cancelled, "measuring the roof was cancelled");
    double fresh = 1e300;
    for (int i = 0; i < 3; ++i) {
        const Array target = freshArray();
        if (!target)
            return Error(Code::OutOfMemory, "no memory for measuring the roof", {},
                         "close other programs: it needs 512 MiB");
        fresh = std::min(fresh, copyInto(target.get()));
    }
    const double fma = bestOf([&] {
        return inParallel(threads, [&](std::size_t, std::size_t) { keep(fmaPeak(fmaSteps, 1.0f)); });
    });
    report.copyBytesPerSecond = 2.0 * bytes / copy;
    report.triadBytesPerSecond = 3.0 * bytes / triadSeconds;
    report.readBytesPerSecond = bytes / read;
    report.freshCopyBytesPerSecond = 2.0 * bytes / fresh;
    report.faultSecondsPerByte = std::max(0.0, fresh - copy) / bytes;
    report.pageFaultShare = std::max(0.0, fresh - copy) / fresh;
    report.flopsPerSecond = 2.0 * 16.0 * static_cast<double>(fmaSteps * fmaChains * threads) / fma;
    report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return report;
}

} // namespace heddle
