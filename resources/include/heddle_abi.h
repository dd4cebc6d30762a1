// SPDX-License-Identifier: Apache-2.0
//
// The boundary between an executor and a kernel: one argument as a union, and the checks by which a
// generated trampoline compares plan.json with the prototype of a kernel. Kernels need not include this.
#pragma once

#include <stdint.h>

union heddle_arg {
    void *ptr;
    int64_t i64;
    int32_t i32;
    float f32;
    double f64;
};

namespace heddle {

struct bfloat16;
struct float16;

namespace abi {

struct OutOfRange {};

template<int index, typename... Types>
struct Pick {
    using Type = OutOfRange;
};
template<typename First, typename... Rest>
struct Pick<0, First, Rest...> {
    using Type = First;
};
template<int index, typename First, typename... Rest>
struct Pick<index, First, Rest...> {
    using Type = typename Pick<index - 1, Rest...>::Type;
};

template<typename Function>
struct Signature;
template<typename Result, typename... Parameters>
struct Signature<Result(Parameters...)> {
    static constexpr int count = static_cast<int>(sizeof...(Parameters));
    template<int index>
    using Parameter = typename Pick<index, Parameters...>::Type;
};
template<typename Result, typename... Parameters>
struct Signature<Result(Parameters...) noexcept> : Signature<Result(Parameters...)> {};

template<typename A, typename B>
struct Same {
    static constexpr bool value = false;
};
template<typename A>
struct Same<A, A> {
    static constexpr bool value = true;
};

/// Whether a kernel may see elements of `Element` as `Seen`: the same type, the same integer under
/// another name, or the raw 16 bits of a half-precision float.
template<typename Element, typename Seen>
struct Matches : Same<Element, Seen> {};
template<>
struct Matches<int64_t, long long> {
    static constexpr bool value = sizeof(long long) == sizeof(int64_t);
};
template<>
struct Matches<bfloat16, uint16_t> {
    static constexpr bool value = true;
};
template<>
struct Matches<float16, uint16_t> {
    static constexpr bool value = true;
};
template<>
struct Matches<bool, uint8_t> {
    static constexpr bool value = true;
};

template<typename Element, bool isWritable, typename Parameter>
struct PointerMatches {
    static constexpr bool value = false;
};
template<typename Element, bool isWritable, typename Seen>
struct PointerMatches<Element, isWritable, const Seen *> : Matches<Element, Seen> {};
template<typename Element, bool isWritable, typename Seen>
struct PointerMatches<Element, isWritable, Seen *> {
    static constexpr bool value = isWritable && Matches<Element, Seen>::value;
};
// Too few parameters is the business of the check of their count.
template<typename Element, bool isWritable>
struct PointerMatches<Element, isWritable, OutOfRange> {
    static constexpr bool value = true;
};

template<typename Function>
constexpr bool returns_void = false;
template<typename... Parameters>
constexpr bool returns_void<void(Parameters...)> = true;
template<typename... Parameters>
constexpr bool returns_void<void(Parameters...) noexcept> = true;

template<typename Function>
constexpr int arity = Signature<Function>::count;

/// Parameter `index` of the kernel takes a pointer to Element, const where the buffer is read-only.
template<typename Function, int index, typename Element, bool isWritable>
constexpr bool takes_pointer =
    PointerMatches<Element, isWritable, typename Signature<Function>::template Parameter<index>>::value;

template<typename Parameter, bool isWritable>
struct AnyPointer {
    static constexpr bool value = false;
};
template<typename Seen, bool isWritable>
struct AnyPointer<const Seen *, isWritable> {
    static constexpr bool value = true;
};
template<typename Seen, bool isWritable>
struct AnyPointer<Seen *, isWritable> {
    static constexpr bool value = isWritable;
};
template<bool isWritable>
struct AnyPointer<OutOfRange, isWritable> {
    static constexpr bool value = true;
};

/// Parameter `index` takes a pointer to some element, const where the buffer is read-only: for inputs and
/// state, whose dtype the task knows and the plan does not say.
template<typename Function, int index, bool isWritable>
constexpr bool takes_any_pointer =
    AnyPointer<typename Signature<Function>::template Parameter<index>, isWritable>::value;

/// Parameter `index` of the kernel takes this scalar.
template<typename Function, int index, typename Scalar>
constexpr bool takes_scalar = Matches<Scalar, typename Signature<Function>::template Parameter<index>>::value
    || Same<OutOfRange, typename Signature<Function>::template Parameter<index>>::value;

template<typename Type>
struct Reader;
template<typename Type>
struct Reader<Type *> {
    static Type *read(const heddle_arg &argument) { return static_cast<Type *>(argument.ptr); }
};
template<>
struct Reader<int64_t> {
    static int64_t read(const heddle_arg &argument) { return argument.i64; }
};
template<>
struct Reader<long long> {
    static long long read(const heddle_arg &argument) { return argument.i64; }
};
template<>
struct Reader<int32_t> {
    static int32_t read(const heddle_arg &argument) { return argument.i32; }
};
template<>
struct Reader<float> {
    static float read(const heddle_arg &argument) { return argument.f32; }
};
template<>
struct Reader<double> {
    static double read(const heddle_arg &argument) { return argument.f64; }
};

template<int... index>
struct Indices {};
template<int count, int... index>
struct MakeIndices : MakeIndices<count - 1, count - 1, index...> {};
template<int... index>
struct MakeIndices<0, index...> {
    using Type = Indices<index...>;
};

template<typename... Parameters, int... index>
inline void call_with(void (*kernel)(Parameters...), const heddle_arg *arguments, Indices<index...>)
{
    kernel(Reader<Parameters>::read(arguments[index])...);
}

/// Calls the kernel with arguments read by the types of its own parameters.
template<typename... Parameters>
inline void call(void (*kernel)(Parameters...), const heddle_arg *arguments)
{
    call_with(kernel, arguments, typename MakeIndices<static_cast<int>(sizeof...(Parameters))>::Type());
}

} // namespace abi
} // namespace heddle
