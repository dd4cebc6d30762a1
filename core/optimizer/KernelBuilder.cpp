// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelBuilder.h"

#include <algorithm>

namespace heddle {

namespace {

constexpr int maxAttempts = 96;
constexpr std::size_t maxExpressions = 1500;

Shape contiguousStrides(const Shape &shape)
{
    Shape strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
        strides[d - 1] = strides[d] * shape[d];
    return strides;
}

std::vector<std::int64_t> withoutOnes(const Shape &shape)
{
    std::vector<std::int64_t> result;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(result),
                 [](std::int64_t size) { return size != 1; });
    return result;
}

} // namespace

BuildOutcome KernelBuilder::build(std::vector<KernelRoot> roots)
{
    // The root with the most elements spans the domain; the others are stores of it or of its outer part.
    std::stable_sort(roots.begin(), roots.end(), [this](const KernelRoot &a, const KernelRoot &b) {
        return elementCount(m_ir.at(a.value).type.shape) > elementCount(m_ir.at(b.value).type.shape);
    });
    BuildOutcome outcome;
    for (int round = 0; round < maxAttempts; ++round) {
        m_split.reset();
        m_realise.reset();
        m_widen = false;
        m_refusal.clear();
        if (attempt(roots)) {
            finish();
            outcome.kernel = std::move(m_kernel);
            return outcome;
        }
        if (m_split) {
            auto &extents = m_extents[m_split->list];
            const auto place = extents.begin() + static_cast<std::ptrdiff_t>(m_split->place);
            *place /= m_split->inner;
            extents.insert(place + 1, m_split->inner);
            m_preferredOuter.clear(); // axis numbers have moved
            continue;
        }
        if (m_widen)
            continue;
        outcome.realise = m_realise;
        outcome.refusal = m_refusal;
        return outcome;
    }
    outcome.refusal = "its reshapes cut the same axes in too many ways";
    return outcome;
}

bool KernelBuilder::attempt(const std::vector<KernelRoot> &roots)
{
    m_kernel = Kernel();
    m_kernel.spaces.emplace_back();
    m_domain.clear();
    m_outer.reset();
    m_axisPlace.clear();
    m_memo.clear();
    if (!m_extents.contains(-1))
        m_extents[-1] = withoutOnes(m_ir.at(roots.front().value).type.shape);
    for (const std::int64_t extent : m_extents[-1]) {
        const int axis = static_cast<int>(m_kernel.axes.size());
        m_axisPlace[axis] = {-1, m_domain.size()};
        m_domain.push_back(axis);
        m_kernel.axes.push_back({extent});
    }
    if (!m_preferredOuter.empty() && !chooseOuter(m_preferredOuter))
        return false;
    m_rootValues.clear();
    for (const KernelRoot &root : roots)
        m_rootValues.insert(root.value);
    bool isFirst = true;
    for (const KernelRoot &root : roots) {
        if (!placeRoot(root, isFirst))
            return false;
        isFirst = false;
    }
    return true;
}

bool KernelBuilder::placeRoot(const KernelRoot &root, bool isFirst)
{
    const TensorType &type = m_ir.at(root.value).type;
    const std::int64_t elements = elementCount(type.shape);
    std::vector<int> axes = m_domain;
    if (elements != m_kernel.count(m_domain)) {
        if (!m_outer && !isFirst) {
            // Nothing has fixed the outer axes yet: take the leading ones that make up this root.
            std::set<int> leading;
            std::int64_t product = 1;
            for (const int axis : m_domain) {
                if (product == elements)
                    break;
                product *= m_kernel.extent(axis);
                leading.insert(axis);
            }
            if (product != elements || !chooseOuter(leading))
                return fail("its size is neither that of the domain nor of its outer part") >= 0;
        }
        axes.clear();
        for (const int axis : m_domain) {
            if (m_outer->contains(axis))
                axes.push_back(axis);
        }
        if (elements != m_kernel.count(axes))
            return fail("its size is neither that of the domain nor of its outer part") >= 0;
    }
    const Affine linear = flattenAxes(axes);
    const auto index = unflatten(linear, type.shape);
    if (!index)
        return false;
    const int value = evaluate(root.value, *index, 0);
    if (value < 0)
        return false;
    KernelStore store;
    store.index = linear;
    store.value = value;
    const KernelBuffer buffer{root.buffer, type};
    const auto place = std::find(m_kernel.buffers.begin(), m_kernel.buffers.end(), buffer);
    store.buffer = static_cast<int>(place - m_kernel.buffers.begin());
    if (place == m_kernel.buffers.end())
        m_kernel.buffers.push_back(buffer);
    m_kernel.stores.push_back(std::move(store));
    return true;
}

int KernelBuilder::fail(std::string reason)
{
    m_refusal = std::move(reason);
    return -1;
}

int KernelBuilder::demand(ValueId value)
{
    m_realise = value;
    return -1;
}

void KernelBuilder::requestSplit(int axis, std::int64_t inner)
{
    const auto &[list, place] = m_axisPlace.at(axis);
    m_split = Split{list, place, inner};
}

const KernelBuffer *KernelBuilder::bufferOf(ValueId id) const
{
    const auto known = m_available.find(id);
    return known == m_available.end() ? nullptr : &known->second;
}

Affine KernelBuilder::flatten(const Index &index, const Shape &shape) const
{
    const Shape strides = contiguousStrides(shape);
    Affine linear;
    for (std::size_t d = 0; d < index.size(); ++d)
        linear.add(index[d], strides[d]);
    return linear;
}

Affine KernelBuilder::flattenAxes(const std::vector<int> &axes) const
{
    Affine linear;
    std::int64_t stride = 1;
    for (std::size_t i = axes.size(); i-- > 0;) {
        linear.addTerm(axes[i], stride);
        stride *= m_kernel.extent(axes[i]);
    }
    return linear;
}

/// The index of each dimension from a linear one: quotients and remainders that must be affine again.
/// Asks for a split where an axis crosses a dimension's border; nothing when no split helps.
std::optional<KernelBuilder::Index> KernelBuilder::unflatten(const Affine &linear, const Shape &shape)
{
    Index index(shape.size());
    Affine rest = linear;
    for (std::size_t d = shape.size(); d-- > 0;) {
        const std::int64_t size = shape[d];
        if (d == 0) {
            index[0] = rest;
            break;
        }
        Affine quotient;
        Affine remainder;
        quotient.offset = rest.offset / size;
        remainder.offset = rest.offset % size;
        std::int64_t highest = remainder.offset;
        for (const auto &[axis, coefficient] : rest.terms) {
            if (coefficient < 0)
                return std::nullopt;
            if (coefficient % size == 0) {
                quotient.addTerm(axis, coefficient / size);
                continue;
            }
            const std::int64_t extent = m_kernel.extent(axis);
            if (coefficient < size && size % coefficient == 0 && extent > size / coefficient
                && extent % (size / coefficient) == 0) {
                requestSplit(axis, size / coefficient);
                return std::nullopt;
            }
            remainder.addTerm(axis, coefficient);
            highest += coefficient * (extent - 1);
        }
        if (highest >= size)
            return std::nullopt;
        index[d] = remainder;
        rest = quotient;
    }
    return index;
}

int KernelBuilder::append(KernelExpression expression)
{
    for (const int arg : expression.args) {
        const KernelExpression &part = m_kernel.expression(arg);
        expression.stage = std::max(expression.stage, part.stage);
        expression.space = std::max(expression.space, part.space);
    }
    m_kernel.expressions.push_back(std::move(expression));
    return static_cast<int>(m_kernel.expressions.size()) - 1;
}

int KernelBuilder::loadAt(const KernelBuffer &buffer, Affine element)
{
    const auto place = std::find(m_kernel.buffers.begin(), m_kernel.buffers.end(), buffer);
    const int number = static_cast<int>(place - m_kernel.buffers.begin());
    if (place == m_kernel.buffers.end())
        m_kernel.buffers.push_back(buffer);
    const std::string key = "load " + std::to_string(number) + "@" + element.text();
    const auto known = m_memo.find(key);
    if (known != m_memo.end())
        return known->second;
    KernelExpression expression;
    expression.kind = KernelExpression::Kind::Load;
    expression.dtype = buffer.type.dtype;
    expression.buffer = number;
    expression.index = std::move(element);
    return m_memo[key] = append(std::move(expression));
}

int KernelBuilder::load(const KernelBuffer &buffer, const Index &index, const Shape &shape)
{
    return loadAt(buffer, flatten(index, shape));
}

int KernelBuilder::evaluate(ValueId id, const Index &index, int space)
{
    const Value &value = m_ir.at(id);
    if (m_kernel.expressions.size() > maxExpressions)
        return fail("its body would have more than " + std::to_string(maxExpressions) + " operations");
    std::string key = std::to_string(id) + "@";
    if (value.kind != Value::Kind::Literal) {
        for (const Affine &each : index)
            key += each.text() + ",";
    }
    const auto known = m_memo.find(key);
    if (known != m_memo.end())
        return known->second;
    int result = -1;
    if (const KernelBuffer *buffer = bufferOf(id)) {
        result = load(*buffer, index, value.type.shape);
        if (result >= 0)
            m_memo[key] = result;
        return result;
    }
    KernelExpression expression;
    expression.dtype = value.type.dtype;
    expression.origin = value.origin;
    switch (value.kind) {
    case Value::Kind::Source: result = load({value.source, value.type}, index, value.type.shape); break;
    case Value::Kind::Literal:
        expression.number = value.number;
        expression.integer = value.integer;
        result = append(std::move(expression));
        break;
    case Value::Kind::Index:
        expression.kind = KernelExpression::Kind::Index;
        expression.index = index[static_cast<std::size_t>(value.dims.front())];
        result = append(std::move(expression));
        break;
    case Value::Kind::Point: {
        expression.kind = KernelExpression::Kind::Operation;
        expression.op = value.op;
        for (const ValueId arg : value.args) {
            const int part = evaluate(arg, index, space);
            if (part < 0)
                return -1;
            expression.args.push_back(part);
        }
        result = append(std::move(expression));
        break;
    }
    case Value::Kind::View: {
        Index base(value.view.size());
        for (std::size_t d = 0; d < base.size(); ++d) {
            base[d].offset = value.view[d].offset;
            for (const auto &[dim, stride] : value.view[d].terms)
                base[d].add(index[static_cast<std::size_t>(dim)], stride);
        }
        result = evaluate(value.args.front(), base, space);
        break;
    }
    case Value::Kind::Reshape: {
        // The elements keep their order, so that a buffer is read at the linear index whatever its shape.
        ValueId base = value.args.front();
        while (m_ir.at(base).kind == Value::Kind::Reshape && !bufferOf(base))
            base = m_ir.at(base).args.front();
        const Affine linear = flatten(index, value.type.shape);
        const Value &target = m_ir.at(base);
        if (const KernelBuffer *buffer = bufferOf(base)) {
            result = loadAt(*buffer, linear);
        } else if (target.kind == Value::Kind::Source) {
            result = loadAt({target.source, target.type}, linear);
        } else {
            const auto inner = unflatten(linear, target.type.shape);
            if (!inner)
                return m_split ? -1 : demand(base);
            result = evaluate(base, *inner, space);
        }
        break;
    }
    case Value::Kind::Reduce: result = evaluateReduction(id, index); break;
    }
    if (result >= 0)
        m_memo[key] = result;
    return result;
}

/// Fixes the outer axes, or says whether they are these.
bool KernelBuilder::chooseOuter(const std::set<int> &axes)
{
    if (m_outer)
        return *m_outer == axes;
    m_outer = axes;
    for (const int axis : m_domain) {
        if (axes.contains(axis))
            m_kernel.outer.push_back(axis);
        else
            m_kernel.spaces[0].push_back(axis);
    }
    return true;
}

/// The inner space of a reduction over `reduced`: one of the same size, so that its loop walks the same
/// elements as the others, or a new one.
int KernelBuilder::spaceFor(const Shape &reduced)
{
    const std::int64_t size = elementCount(reduced);
    for (std::size_t s = 0; s < m_kernel.spaces.size(); ++s) {
        if (!m_kernel.spaces[s].empty() && m_kernel.count(m_kernel.spaces[s]) == size)
            return static_cast<int>(s);
    }
    const int list = static_cast<int>(m_kernel.spaces.size());
    if (!m_extents.contains(list) || elementCount(m_extents[list]) != size)
        m_extents[list] = withoutOnes(reduced);
    std::vector<int> axes;
    for (const std::int64_t extent : m_extents[list]) {
        const int axis = static_cast<int>(m_kernel.axes.size());
        m_axisPlace[axis] = {list, axes.size()};
        axes.push_back(axis);
        m_kernel.axes.push_back({extent});
    }
    m_kernel.spaces.push_back(std::move(axes));
    return list;
}

int KernelBuilder::evaluateReduction(ValueId id, const Index &index)
{
    const Value &value = m_ir.at(id);
    const Value &operand = m_ir.at(value.args.front());
    // The axes that it varies over must be enumerated completely, each point once.
    Affine linear = flatten(index, value.type.shape);
    std::set<int> axes;
    std::vector<std::pair<std::int64_t, int>> byStride;
    for (const auto &[axis, coefficient] : linear.terms) {
        axes.insert(axis);
        byStride.emplace_back(coefficient, axis);
    }
    std::sort(byStride.begin(), byStride.end());
    std::int64_t expected = 1;
    bool isComplete = linear.offset == 0;
    for (const auto &[coefficient, axis] : byStride) {
        isComplete = isComplete && coefficient == expected && m_axisPlace.at(axis).first == -1;
        expected *= m_kernel.extent(axis);
    }
    if (!isComplete || expected != elementCount(value.type.shape))
        return demand(id);
    if (m_separate && !m_rootValues.contains(id))
        return demand(id);
    if (!chooseOuter(axes)) {
        // More outer axes are more parallel; the coarser reduction is small and is worth a buffer.
        const bool isWider = axes.size() > m_outer->size() && axes.size() < m_domain.size()
            && axes.size() > m_preferredOuter.size();
        if (!isWider)
            return demand(id);
        m_preferredOuter = axes;
        m_widen = true;
        return -1;
    }
    Shape reduced;
    for (const int dim : value.dims)
        reduced.push_back(operand.type.shape[static_cast<std::size_t>(dim)]);
    const int space = elementCount(reduced) == 1 ? KernelExpression::outerOnly : spaceFor(reduced);
    Index inner(operand.type.shape.size());
    Index position(reduced.size());
    if (space >= 0) {
        const auto split = unflatten(flattenAxes(m_kernel.spaces[static_cast<std::size_t>(space)]), reduced);
        if (!split)
            return m_split ? -1 : fail("its reduced dimensions do not line up");
        position = *split;
    }
    std::size_t nextKept = 0;
    std::size_t nextReduced = 0;
    for (std::size_t d = 0; d < inner.size(); ++d) {
        const bool isReduced =
            std::find(value.dims.begin(), value.dims.end(), static_cast<int>(d)) != value.dims.end();
        inner[d] = isReduced ? position[nextReduced++] : index[nextKept++];
    }
    const int part = evaluate(value.args.front(), inner, space);
    if (part < 0 || space < 0)
        return part;
    KernelReduction reduction;
    reduction.op = value.op;
    reduction.operand = part;
    reduction.dtype = value.type.dtype;
    reduction.space = space;
    reduction.origin = value.origin;
    KernelExpression total;
    total.kind = KernelExpression::Kind::Total;
    total.dtype = value.type.dtype;
    total.reduction = static_cast<int>(m_kernel.reductions.size());
    total.origin = value.origin;
    m_kernel.reductions.push_back(std::move(reduction));
    return append(std::move(total));
}

/// Joins neighbouring axes of a loop that every index walks as one.
void KernelBuilder::mergeAxes(std::vector<int> &list)
{
    std::vector<Affine *> indices;
    for (KernelExpression &expression : m_kernel.expressions) {
        if (expression.kind == KernelExpression::Kind::Load
            || expression.kind == KernelExpression::Kind::Index)
            indices.push_back(&expression.index);
    }
    for (KernelStore &store : m_kernel.stores)
        indices.push_back(&store.index);
    for (std::size_t i = list.size(); i-- > 1;) {
        const int slow = list[i - 1];
        const int fast = list[i];
        const std::int64_t extent = m_kernel.extent(fast);
        const bool canMerge = std::all_of(indices.begin(), indices.end(), [&](const Affine *index) {
            return index->coefficient(slow) == index->coefficient(fast) * extent;
        });
        if (!canMerge)
            continue;
        // The fast axis takes over the slow one's range.
        m_kernel.axes[static_cast<std::size_t>(fast)].extent *= m_kernel.extent(slow);
        for (Affine *index : indices)
            index->addTerm(slow, -index->coefficient(slow));
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    }
}

/// exp(x - max x): the argument is never positive, so the cheaper exponential is exact enough, and a NaN
/// reaches every use through the exponential, so that the maximum itself need not carry it.
void KernelBuilder::recogniseSoftmax()
{
    using Kind = KernelExpression::Kind;
    const auto maximumOf = [this](const KernelExpression &expression) -> int {
        if (expression.kind != Kind::Operation || expression.op != "sub"
            || expression.dtype != Dtype::Float32)
            return -1;
        const KernelExpression &peak = m_kernel.expression(expression.args[1]);
        if (peak.kind != Kind::Total)
            return -1;
        const KernelReduction &reduction = m_kernel.reductions[static_cast<std::size_t>(peak.reduction)];
        return reduction.op.starts_with("max") && reduction.operand == expression.args[0] ? peak.reduction
                                                                                          : -1;
    };
    std::set<int> quick;
    for (KernelExpression &expression : m_kernel.expressions) {
        if (expression.kind != Kind::Operation || expression.op != "exp")
            continue;
        const int reduction = maximumOf(m_kernel.expression(expression.args[0]));
        if (reduction >= 0) {
            expression.op = "exp_flush";
            quick.insert(reduction);
        }
    }
    // exp(a - log Σ exp a), a log-softmax made a softmax again, is not positive either.
    for (KernelExpression &expression : m_kernel.expressions) {
        if (expression.kind != Kind::Operation || expression.op != "exp"
            || expression.dtype != Dtype::Float32)
            continue;
        const KernelExpression &difference = m_kernel.expression(expression.args[0]);
        if (difference.kind != Kind::Operation || difference.op != "sub")
            continue;
        const KernelExpression &logarithm = m_kernel.expression(difference.args[1]);
        if (logarithm.kind != Kind::Operation || logarithm.op != "log")
            continue;
        const KernelExpression &total = m_kernel.expression(logarithm.args[0]);
        if (total.kind != Kind::Total)
            continue;
        const KernelReduction &reduction = m_kernel.reductions[static_cast<std::size_t>(total.reduction)];
        const KernelExpression &summed = m_kernel.expression(reduction.operand);
        if (reduction.op == "sum" && summed.op == "exp_flush" && summed.args[0] == difference.args[0])
            expression.op = "exp_flush";
    }
    for (const KernelExpression &expression : m_kernel.expressions) {
        for (const int arg : expression.args) {
            const KernelExpression &part = m_kernel.expression(arg);
            if (part.kind == Kind::Total && maximumOf(expression) != part.reduction)
                quick.erase(part.reduction);
        }
    }
    for (const KernelStore &store : m_kernel.stores) {
        const KernelExpression &value = m_kernel.expression(store.value);
        if (value.kind == Kind::Total)
            quick.erase(value.reduction);
    }
    for (const int reduction : quick)
        m_kernel.reductions[static_cast<std::size_t>(reduction)].op = "max_quick";
}

void KernelBuilder::finish()
{
    if (!m_outer)
        chooseOuter({});
    recogniseSoftmax();
    mergeAxes(m_kernel.outer);
    for (std::vector<int> &space : m_kernel.spaces)
        mergeAxes(space);
    m_kernel.settle();
}

} // namespace heddle
