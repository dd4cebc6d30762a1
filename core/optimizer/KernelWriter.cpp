// SPDX-License-Identifier: Apache-2.0
#include "core/optimizer/KernelWriter.h"

#include "core/optimizer/CppText.h"
#include "core/optimizer/KernelNames.h"

#include <algorithm>
#include <limits>
#include <set>

namespace heddle {

namespace {

constexpr std::int64_t blockElements = 8192;

bool isSum(const KernelReduction &reduction) { return reduction.op == "sum" || reduction.op == "prod"; }

class KernelWriter {
public:
    KernelWriter(Kernel kernel, const std::vector<std::vector<double>> &constants, std::size_t number)
        : m_kernel(std::move(kernel)),
          m_schedule(makeSchedule(m_kernel)),
          m_constants(constants),
          m_number(number),
          m_names(m_kernel, m_schedule)
    {
    }
    Result<WrittenKernel> run();

private:
    using Kind = KernelExpression::Kind;
    bool hasLanes() const { return m_schedule.laneAxis >= 0; }

    // The frame.
    void writeHeader();
    void writeConstants();
    void openOuterLoops();
    void writeRowPointers();
    void describe();
    std::string tileMacro() { return "TILE" + suffix(); }
    std::string suffix() const { return m_number == 0 ? "" : "_" + std::to_string(m_number); }
    std::string threadClause();

    // Stages.
    void writeStage(int stage);
    void writeTraversal(int stage, int space);
    void writeOuterStores(int stage);
    void prepareOuter(const std::vector<int> &needed);
    void frontier(int id, std::vector<int> &into) const;
    bool dependsOnLane(int id) const;
    void openInnerLoops(int space, const std::vector<const KernelReduction *> &folds,
                        const std::vector<const KernelStore *> &stores, bool isShared);
    void closeTo(int depth);
    void declareAccumulators(const std::vector<const KernelReduction *> &folds, const std::string &ending);
    void combineParts(const std::vector<const KernelReduction *> &folds);
    void finishTotals(const std::vector<const KernelReduction *> &folds);

    // Expressions.
    std::string outerValue(int id);
    std::string innerValue(int id);
    std::string define(int id, std::vector<std::string> args);
    std::string literal(const KernelExpression &expression) const;
    std::string loadText(const KernelExpression &expression) const;
    std::string pointerTo(int buffer, const Affine &index) const;
    std::string keptText(int id) const;
    void storeInner(const KernelStore &store);
    void declareStreams(const std::vector<const KernelStore *> &stores);
    void writeStreams(const std::vector<const KernelStore *> &stores);
    std::string streamMacro() { return "STREAM" + suffix(); }

    // Reductions.
    std::string accumulatorType(const KernelReduction &reduction) const;
    std::string identity(const KernelReduction &reduction) const;
    std::string clause(const KernelReduction &reduction) const;
    std::string fold(const KernelReduction &reduction, const std::string &into,
                     const std::string &value) const;
    bool keepsNaN(const KernelReduction &reduction) const
    {
        return !isSum(reduction) && reduction.op != "max_quick" && isFloating(reduction.dtype);
    }
    const std::string &accumulator(const KernelReduction &reduction) const
    {
        return m_accumulators.at(static_cast<int>(&reduction - m_kernel.reductions.data()));
    }

    Kernel m_kernel;
    Schedule m_schedule;
    const std::vector<std::vector<double>> &m_constants;
    std::size_t m_number;
    KernelNames m_names;
    CppText m_out;
    WrittenKernel m_written;
    std::map<int, std::string> m_outerValues;  ///< outer-level scalar → name
    std::map<int, std::string> m_laneValues;   ///< outer-level value for each lane → array
    std::map<int, std::string> m_scope;        ///< values of the innermost loop being written
    std::map<int, std::string> m_accumulators; ///< reduction → name
    std::map<int, std::string> m_keptArrays;
    std::set<int> m_keptReady;
    std::set<int> m_keptPending;
    int m_space = 0;
    bool m_isInLaneLoop = false;
    std::string m_unknownOperation;
    struct Stream {
        std::string block;
        std::string target;
        std::string row;
    };
    std::map<int, Stream> m_streams; ///< store → where its row is gathered
};

std::string KernelWriter::literal(const KernelExpression &expression) const
{
    return cppLiteral(expression.dtype, expression.number, expression.integer);
}

std::string KernelWriter::pointerTo(int buffer, const Affine &index) const
{
    return m_names.rowPointer(buffer, index) + "[" + m_names.innerPart(index) + "]";
}

std::string KernelWriter::loadText(const KernelExpression &expression) const
{
    return pointerTo(expression.buffer, expression.index);
}

bool KernelWriter::dependsOnLane(int id) const
{
    const KernelExpression &expression = m_kernel.expression(id);
    if (!hasLanes() || expression.kind == Kind::Literal)
        return false;
    if (expression.kind == Kind::Total)
        return true;
    if (expression.index.coefficient(m_schedule.laneAxis) != 0)
        return true;
    return std::any_of(expression.args.begin(), expression.args.end(),
                       [this](int arg) { return dependsOnLane(arg); });
}

/// Writes one `const` line and returns its name.
std::string KernelWriter::define(int id, std::vector<std::string> args)
{
    const KernelExpression &expression = m_kernel.expression(id);
    std::string text;
    std::string base = expression.op;
    if (expression.kind == Kind::Load) {
        text = loadText(expression);
        base = m_names.parameter(expression.buffer);
    } else if (expression.kind == Kind::Index) {
        text = m_names.fullIndex(expression.index);
        base = "index";
    } else {
        const KernelExpression &first = m_kernel.expression(expression.args.front());
        const bool isLiteral =
            expression.args.size() > 1 && m_kernel.expression(expression.args[1]).kind == Kind::Literal;
        auto written = cppOperation(expression.op, expression.dtype, first.dtype, args, isLiteral);
        if (m_kernel.isPrecise && first.dtype == Dtype::Float32) {
            if (auto precise = preciseOperation(expression.op, args))
                written = std::move(precise);
        }
        if (!written)
            m_unknownOperation = expression.op + " of " + std::string(dtypeName(first.dtype));
        text = written.value_or("0");
    }
    const std::string name = m_names.local(base);
    const bool isLoad = expression.kind == Kind::Load;
    m_out.line("const " + (isLoad ? memoryType(expression.dtype) : cppType(expression.dtype)) + " " + name
               + " = " + text + ";");
    return name;
}

/// A value that is the same over the inner spaces, at the level of the outer loops (in a lane loop: of one
/// lane).
std::string KernelWriter::outerValue(int id)
{
    const KernelExpression &expression = m_kernel.expression(id);
    if (expression.kind == Kind::Literal)
        return literal(expression);
    if (const auto known = m_outerValues.find(id); known != m_outerValues.end())
        return known->second;
    if (const auto known = m_laneValues.find(id); known != m_laneValues.end())
        return known->second + "[" + m_names.lane() + "]";
    if (const auto known = m_scope.find(id); known != m_scope.end())
        return known->second;
    if (expression.kind == Kind::Total) {
        const KernelReduction &reduction =
            m_kernel.reductions[static_cast<std::size_t>(expression.reduction)];
        const std::string text = accumulator(reduction) + (hasLanes() ? "[" + m_names.lane() + "]" : "");
        return accumulatorType(reduction) == cppType(reduction.dtype)
            ? text
            : "static_cast<" + cppType(reduction.dtype) + ">(" + text + ")";
    }
    std::vector<std::string> args;
    for (const int arg : expression.args)
        args.push_back(outerValue(arg));
    const std::string name = define(id, std::move(args));
    (m_isInLaneLoop ? m_scope : m_outerValues)[id] = name;
    return name;
}

std::string KernelWriter::keptText(int id) const
{
    std::string index = m_names.spaceIndex(m_space);
    if (hasLanes())
        index = "(" + index + ") * TILE" + suffix() + " + " + m_names.lane();
    return m_keptArrays.at(id) + "[" + index + "]";
}

std::string KernelWriter::innerValue(int id)
{
    const KernelExpression &expression = m_kernel.expression(id);
    if (expression.space == KernelExpression::outerOnly)
        return outerValue(id);
    if (const auto known = m_scope.find(id); known != m_scope.end())
        return known->second;
    if (m_keptReady.contains(id)) {
        const std::string name = m_names.local("kept");
        m_out.line("const " + cppType(expression.dtype) + " " + name + " = " + keptText(id) + ";");
        return m_scope[id] = name;
    }
    std::vector<std::string> args;
    for (const int arg : expression.args)
        args.push_back(innerValue(arg));
    const std::string name = define(id, std::move(args));
    m_scope[id] = name;
    if (m_schedule.kept.contains(id)) {
        m_out.line(keptText(id) + " = " + name + ";");
        m_keptPending.insert(id);
    }
    return name;
}

std::string KernelWriter::accumulatorType(const KernelReduction &reduction) const
{
    if (reduction.dtype == Dtype::Bool)
        return "int32_t";
    if (!isSum(reduction))
        return cppType(reduction.dtype);
    if (!isFloating(reduction.dtype))
        return "int64_t";
    // Sums are kept in double, which costs little beside the memory; short columns of lanes in float do
    // not lose more than eager's own sums.
    const bool isShort = m_kernel.count(m_kernel.spaces[static_cast<std::size_t>(reduction.space)]) <= 64;
    return hasLanes() && isShort && reduction.dtype == Dtype::Float32 ? "float" : "double";
}

std::string KernelWriter::identity(const KernelReduction &reduction) const
{
    const bool isMax = reduction.op.starts_with("max");
    if (isSum(reduction))
        return reduction.op == "prod" ? "1" : "0";
    if (reduction.dtype == Dtype::Bool)
        return isMax ? "0" : "1";
    if (isFloating(reduction.dtype)) {
        const double infinity = std::numeric_limits<double>::infinity();
        return cppLiteral(reduction.dtype, isMax ? -infinity : infinity, 0);
    }
    switch (reduction.dtype) {
    case Dtype::Int32: return isMax ? "INT32_MIN" : "INT32_MAX";
    case Dtype::Int16: return isMax ? "INT16_MIN" : "INT16_MAX";
    case Dtype::Int8: return isMax ? "INT8_MIN" : "INT8_MAX";
    case Dtype::UInt8: return isMax ? "0" : "UINT8_MAX";
    default: return isMax ? "INT64_MIN" : "INT64_MAX";
    }
}

std::string KernelWriter::clause(const KernelReduction &reduction) const
{
    if (isSum(reduction))
        return reduction.op == "sum" ? "+" : "*";
    const bool isMax = reduction.op.starts_with("max");
    if (reduction.dtype == Dtype::Bool)
        return isMax ? "|" : "&";
    return isMax ? "max" : "min";
}

std::string KernelWriter::fold(const KernelReduction &reduction, const std::string &into,
                               const std::string &value) const
{
    const std::string type = accumulatorType(reduction);
    const std::string given = "static_cast<" + type + ">(" + value + ")";
    if (isSum(reduction))
        return into + (reduction.op == "sum" ? " += " : " *= ") + given + ";";
    const bool isMax = reduction.op.starts_with("max");
    if (reduction.dtype == Dtype::Bool)
        return into + (isMax ? " |= " : " &= ") + given + ";";
    const std::string isBeyond = into + (isMax ? " < " : " > ") + value;
    if (keepsNaN(reduction) && hasLanes())
        return into + " = (" + value + " != " + value + " || " + isBeyond + ") ? " + value + " : " + into
            + ";";
    return into + " = " + isBeyond + " ? " + value + " : " + into + ";";
}

void KernelWriter::declareAccumulators(const std::vector<const KernelReduction *> &folds,
                                       const std::string &ending)
{
    for (const KernelReduction *reduction : folds) {
        const std::string name = accumulator(*reduction) + ending;
        if (!hasLanes()) {
            m_out.line(accumulatorType(*reduction) + " " + name + " = " + identity(*reduction) + ";");
            if (keepsNaN(*reduction))
                m_out.line("int32_t " + name + "_nan = 0;");
            continue;
        }
        m_out.line("alignas(64) " + accumulatorType(*reduction) + " " + name + "[TILE" + suffix() + "];");
        m_out.line("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes()
                   + "; ++" + m_names.lane() + ")");
        m_out.line("    " + name + "[" + m_names.lane() + "] = " + identity(*reduction) + ";");
    }
}

void KernelWriter::combineParts(const std::vector<const KernelReduction *> &folds)
{
    if (folds.empty())
        return;
    m_out.pragma("omp critical");
    m_out.open("");
    for (const KernelReduction *reduction : folds) {
        const std::string &name = accumulator(*reduction);
        if (!hasLanes()) {
            m_out.line(fold(*reduction, name, name + "_part"));
            if (keepsNaN(*reduction))
                m_out.line(name + "_nan |= " + name + "_part_nan;");
            continue;
        }
        const std::string at = "[" + m_names.lane() + "]";
        m_out.line("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes()
                   + "; ++" + m_names.lane() + ")");
        m_out.line("    " + fold(*reduction, name + at, name + "_part" + at));
    }
    m_out.close();
}

void KernelWriter::frontier(int id, std::vector<int> &into) const
{
    const KernelExpression &expression = m_kernel.expression(id);
    if (m_keptReady.contains(id))
        return;
    if (expression.space == KernelExpression::outerOnly) {
        if (std::find(into.begin(), into.end(), id) == into.end())
            into.push_back(id);
        return;
    }
    for (const int arg : expression.args)
        frontier(arg, into);
}

/// Computes what the inner loops need from the outer level, once for each outer point.
void KernelWriter::prepareOuter(const std::vector<int> &needed)
{
    std::vector<int> scalars;
    for (const int id : needed)
        frontier(id, scalars);
    std::vector<int> forLanes;
    for (const int id : scalars) {
        if (!dependsOnLane(id))
            outerValue(id);
        else if (m_kernel.expression(id).kind == Kind::Operation && !m_laneValues.contains(id))
            forLanes.push_back(id);
    }
    if (forLanes.empty())
        return;
    std::vector<std::pair<int, std::string>> arrays;
    for (const int id : forLanes) {
        const std::string name = m_names.local(m_kernel.expression(id).op + "_of_lane");
        m_out.line("alignas(64) " + cppType(m_kernel.expression(id).dtype) + " " + name + "[TILE" + suffix()
                   + "];");
        arrays.emplace_back(id, name);
    }
    // What does not vary over lanes is computed outside their loop.
    m_isInLaneLoop = true;
    m_out.pragma("omp simd");
    m_out.open("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes() + "; ++"
               + m_names.lane() + ")");
    m_scope.clear();
    for (const auto &[id, name] : arrays) {
        const std::string value = outerValue(id);
        m_out.line(name + "[" + m_names.lane() + "] = " + value + ";");
    }
    m_out.close();
    m_scope.clear();
    m_isInLaneLoop = false;
    for (const auto &[id, name] : arrays)
        m_laneValues[id] = name;
}

void KernelWriter::closeTo(int depth)
{
    while (m_out.depth() > depth)
        m_out.close();
}

/// Opens the loops of an inner space down to the vector loop. With `isShared` the threads of a parallel
/// region divide the traversal.
void KernelWriter::openInnerLoops(int space, const std::vector<const KernelReduction *> &folds,
                                  const std::vector<const KernelStore *> &stores, bool isShared)
{
    const std::vector<int> &axes = m_kernel.spaces[static_cast<std::size_t>(space)];
    const std::size_t leading = hasLanes() ? axes.size() : axes.empty() ? 0 : axes.size() - 1;
    const bool isBlocked = isShared && !hasLanes() && m_kernel.extent(axes.back()) > 2 * blockElements;
    const std::size_t shared = leading + (isBlocked ? 1 : 0);
    if (isShared && shared > 0) {
        m_out.pragma(std::string("omp for schedule(static)")
                     + (shared > 1 ? " collapse(" + std::to_string(shared) + ")" : ""));
    } else if (isShared) {
        m_out.pragma("omp single");
        m_out.open("");
    }
    for (std::size_t i = 0; i < leading; ++i) {
        const std::string &axis = m_names.axis(axes[i]);
        m_out.open("for (int64_t " + axis + " = 0; " + axis + " < " + std::to_string(m_kernel.extent(axes[i]))
                   + "; ++" + axis + ")");
    }
    if (isBlocked) {
        m_out.open("for (int64_t block = 0; block < " + std::to_string(m_kernel.extent(axes.back()))
                   + "; block += " + std::to_string(blockElements) + ")");
        m_out.line("const int64_t block_end = heddle::min<int64_t>(block + " + std::to_string(blockElements)
                   + ", " + std::to_string(m_kernel.extent(axes.back())) + ");");
    }
    if (hasLanes()) {
        m_out.pragma("omp simd");
        m_out.open("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes()
                   + "; ++" + m_names.lane() + ")");
        return;
    }
    if (axes.empty())
        return;
    declareStreams(stores);
    std::string clauses;
    for (const KernelReduction *reduction : folds) {
        const std::string name = accumulator(*reduction) + (isShared ? "_part" : "");
        clauses += " reduction(" + clause(*reduction) + " : " + name + ")";
        if (keepsNaN(*reduction))
            clauses += " reduction(| : " + name + "_nan)";
    }
    m_out.pragma("omp simd" + clauses);
    const std::string &axis = m_names.axis(axes.back());
    std::string from = "0";
    std::string to = std::to_string(m_kernel.extent(axes.back()));
    if (m_schedule.splitsInner) {
        from = "chunk";
        to = "chunk_end";
    } else if (isBlocked) {
        from = "block";
        to = "block_end";
    }
    m_out.open("for (int64_t " + axis + " = " + from + "; " + axis + " < " + to + "; ++" + axis + ")");
}

/// Rows that go around the caches are gathered first: `target` is that array, or the row itself.
void KernelWriter::declareStreams(const std::vector<const KernelStore *> &stores)
{
    const int axis = m_kernel.spaces[0].empty() ? -1 : m_kernel.spaces[0].back();
    for (const KernelStore *store : stores) {
        const int number = static_cast<int>(store - m_kernel.stores.data());
        if (!m_schedule.streamed.contains(number))
            continue;
        const std::string size =
            m_schedule.splitsInner ? "CHUNK" + suffix() : std::to_string(m_kernel.extent(axis));
        const std::string block = m_names.local("stream_block");
        const std::string target = m_names.local("stream_target");
        const std::string from = m_schedule.splitsInner ? "chunk" : "0";
        Affine rest = store->index;
        rest.addTerm(axis, -1);
        const std::string inner = m_names.innerPart(rest);
        const std::string row = m_names.rowPointer(store->buffer, store->index) + " + " + from
            + (inner == "0" ? "" : " + " + inner);
        m_out.line("alignas(64) float " + block + "[" + streamMacro() + " ? " + size + " : 1];");
        m_out.line("float *const " + target + " = " + streamMacro() + " ? " + block + " : " + row + ";");
        m_streams[number] = {block, target, row};
        m_written.tunables[streamMacro()] = {0, {0, 1}};
    }
}

void KernelWriter::writeStreams(const std::vector<const KernelStore *> &stores)
{
    std::vector<std::string> lines;
    const int axis = m_kernel.spaces[0].empty() ? -1 : m_kernel.spaces[0].back();
    for (const KernelStore *store : stores) {
        const auto stream = m_streams.find(static_cast<int>(store - m_kernel.stores.data()));
        if (stream == m_streams.end())
            continue;
        const std::string count =
            m_schedule.splitsInner ? "chunk_end - chunk" : std::to_string(m_kernel.extent(axis));
        lines.push_back("heddle::stream_copy(" + stream->second.row + ", " + stream->second.block + ", "
                        + count + ");");
    }
    if (lines.empty())
        return;
    m_out.open("if (" + streamMacro() + ")");
    for (const std::string &line : lines)
        m_out.line(line);
    m_out.line("heddle::stream_fence();");
    m_out.close();
    m_streams.clear();
}

void KernelWriter::storeInner(const KernelStore &store)
{
    const std::string value = innerValue(store.value);
    if (const auto stream = m_streams.find(static_cast<int>(&store - m_kernel.stores.data()));
        stream != m_streams.end()) {
        const std::string &axis = m_names.axis(m_kernel.spaces[0].back());
        m_out.line(stream->second.target + "[" + axis + (m_schedule.splitsInner ? " - chunk" : "")
                   + "] = " + value + ";");
        return;
    }
    m_out.line(pointerTo(store.buffer, store.index) + " = " + value + ";");
}

void KernelWriter::finishTotals(const std::vector<const KernelReduction *> &folds)
{
    if (hasLanes())
        return;
    for (std::size_t id = 0; id < m_kernel.expressions.size(); ++id) {
        const KernelExpression &each = m_kernel.expressions[id];
        if (each.kind != Kind::Total)
            continue;
        const KernelReduction &reduction = m_kernel.reductions[static_cast<std::size_t>(each.reduction)];
        if (std::find(folds.begin(), folds.end(), &reduction) == folds.end())
            continue;
        const std::string name = m_names.local("total");
        const std::string from = accumulator(reduction);
        std::string text = "static_cast<" + cppType(each.dtype) + ">(" + from + ")";
        if (keepsNaN(reduction))
            text = from + "_nan ? " + cppLiteral(each.dtype, std::numeric_limits<double>::quiet_NaN(), 0)
                + " : " + from;
        m_out.line("const " + cppType(each.dtype) + " " + name + " = " + text + ";");
        m_outerValues[static_cast<int>(id)] = name;
    }
}

void KernelWriter::writeTraversal(int stage, int space)
{
    std::vector<const KernelReduction *> folds;
    std::vector<int> needed;
    std::string purpose;
    for (std::size_t i = 0; i < m_kernel.reductions.size(); ++i) {
        const KernelReduction &reduction = m_kernel.reductions[i];
        if (reduction.stage != stage || reduction.space != space)
            continue;
        const std::string word = reduction.op == "max_quick" ? "max" : reduction.op;
        m_accumulators[static_cast<int>(i)] = m_names.local("running_" + word);
        folds.push_back(&reduction);
        needed.push_back(reduction.operand);
        purpose += (purpose.empty() ? "" : ", ") + word + " for " + operatorName(reduction.origin);
    }
    std::vector<const KernelStore *> stores;
    for (const KernelStore &store : m_kernel.stores) {
        if (store.stage != stage || store.space != space)
            continue;
        stores.push_back(&store);
        needed.push_back(store.value);
        purpose += (purpose.empty() ? "" : ", ") + ("write " + m_names.parameter(store.buffer));
    }
    if (folds.empty() && stores.empty())
        return;
    prepareOuter(needed);
    if (m_kernel.stages > 1 || !folds.empty())
        m_out.comment("Pass " + std::to_string(stage + 1) + ": " + purpose + ".");
    declareAccumulators(folds, "");
    const int depth = m_out.depth();
    const bool isShared = m_schedule.splitsStages;
    if (isShared) {
        m_out.pragma("omp parallel");
        m_out.open("");
        declareAccumulators(folds, "_part");
    }
    const int region = m_out.depth();
    m_space = space;
    m_scope.clear();
    m_isInLaneLoop = hasLanes();
    openInnerLoops(space, folds, stores, isShared);
    for (const KernelReduction *reduction : folds) {
        const std::string value = innerValue(reduction->operand);
        const std::string at = hasLanes() ? "[" + m_names.lane() + "]" : "";
        const std::string into = accumulator(*reduction) + (isShared ? "_part" : "") + at;
        m_out.line(fold(*reduction, into, value));
        // PyTorch's maxima are NaN where an element is; noting that apart keeps the vector loop short.
        if (keepsNaN(*reduction) && !hasLanes())
            m_out.line(into + "_nan |= " + value + " != " + value + ";");
    }
    for (const KernelStore *store : stores)
        storeInner(*store);
    if (!m_streams.empty())
        m_out.close();
    writeStreams(stores);
    closeTo(region);
    m_isInLaneLoop = false;
    m_scope.clear();
    if (isShared)
        combineParts(folds);
    closeTo(depth);
    m_keptReady.insert(m_keptPending.begin(), m_keptPending.end());
    m_keptPending.clear();
    finishTotals(folds);
}

/// Stores of one element for each outer point: results of reductions, running statistics.
void KernelWriter::writeOuterStores(int stage)
{
    std::vector<const KernelStore *> stores;
    for (const KernelStore &store : m_kernel.stores) {
        if (store.stage == stage && store.space == KernelExpression::outerOnly)
            stores.push_back(&store);
    }
    if (stores.empty())
        return;
    const int depth = m_out.depth();
    if (hasLanes()) {
        m_isInLaneLoop = true;
        m_scope.clear();
        m_out.pragma("omp simd");
        m_out.open("for (int64_t " + m_names.lane() + " = 0; " + m_names.lane() + " < " + m_names.lanes()
                   + "; ++" + m_names.lane() + ")");
    }
    // Every value before the first store: a buffer that is updated is read before.
    std::vector<std::string> values;
    for (const KernelStore *store : stores)
        values.push_back(outerValue(store->value));
    for (std::size_t i = 0; i < stores.size(); ++i)
        m_out.line(pointerTo(stores[i]->buffer, stores[i]->index) + " = " + values[i] + ";");
    closeTo(depth);
    m_isInLaneLoop = false;
    m_scope.clear();
}

void KernelWriter::writeStage(int stage)
{
    writeOuterStores(stage);
    for (std::size_t space = 0; space < m_kernel.spaces.size(); ++space)
        writeTraversal(stage, static_cast<int>(space));
}

std::string KernelWriter::threadClause()
{
    if (m_schedule.elements >= 16 * 32768)
        return "";
    m_written.tunables["THREADED" + suffix()] = {m_schedule.isSmall ? 0 : 1, {0, 1}};
    return " if (THREADED" + suffix() + ")";
}

void KernelWriter::describe()
{
    std::string text = "Fuses " + operatorList(m_kernel) + ". ";
    const std::string points = std::to_string(m_kernel.outerCount());
    if (m_kernel.reductions.empty())
        text += "One pass over memory, nothing kept between elements.";
    else
        text += "For each of " + points + " outer points, " + std::to_string(m_kernel.stages)
            + " passes over data that the first pass brings into the cache.";
    if (!m_schedule.kept.empty())
        text += " Costly values are kept in a small array between passes instead of computed again.";
    if (hasLanes())
        text += " Vector lanes run over neighbouring outer points, where memory is contiguous.";
    if (m_schedule.splitsStages)
        text += " There are few outer points, so threads share each pass.";
    m_out.comment(text);
}

void KernelWriter::writeConstants()
{
    for (std::size_t b = 0; b < m_kernel.buffers.size(); ++b) {
        const KernelBuffer &buffer = m_kernel.buffers[b];
        if (!buffer.name.starts_with("const:"))
            continue;
        const std::vector<double> &data =
            m_constants[static_cast<std::size_t>(std::stoul(buffer.name.substr(6)))];
        std::string row = "static const " + memoryType(buffer.type.dtype) + " "
            + m_names.parameter(static_cast<int>(b)) + "[" + std::to_string(data.size()) + "] = {";
        for (std::size_t i = 0; i < data.size(); ++i) {
            const std::string item =
                cppLiteral(buffer.type.dtype, data[i], static_cast<std::int64_t>(data[i]));
            if (row.size() + item.size() > 96) {
                m_out.line(row);
                row = "   ";
            }
            row += (i ? " " : "") + item + (i + 1 < data.size() ? "," : "");
        }
        m_out.line(row + "};");
        m_out.blank();
    }
}

void KernelWriter::writeHeader()
{
    describe();
    std::string signature = "extern \"C\" void " + m_kernel.name + "(";
    bool isFirst = true;
    for (std::size_t b = 0; b < m_kernel.buffers.size(); ++b) {
        const KernelBuffer &buffer = m_kernel.buffers[b];
        const bool isConst = !m_kernel.writes(static_cast<int>(b));
        if (buffer.name.starts_with("const:") || (isConst && !m_kernel.reads(static_cast<int>(b))))
            continue;
        const std::string parameter = (isConst ? "const " : "") + memoryType(buffer.type.dtype)
            + " *HEDDLE_RESTRICT " + m_names.parameter(static_cast<int>(b));
        signature += (isFirst ? "" : ", ");
        isFirst = false;
        if (signature.size() + parameter.size() > 96) {
            if (signature.ends_with(" "))
                signature.pop_back();
            m_out.line(signature);
            signature = "    ";
        }
        signature += parameter;
        m_written.arguments.push_back(buffer.name);
    }
    m_out.line(signature + ")");
    m_out.open("");
}

void KernelWriter::openOuterLoops()
{
    std::vector<std::string> loops;
    for (const int axis : m_kernel.outer) {
        const std::string extent = std::to_string(m_kernel.extent(axis));
        if (axis == m_schedule.laneAxis)
            continue;
        const std::string &name = m_names.axis(axis);
        loops.push_back("for (int64_t " + name + " = 0; " + name + " < " + extent + "; ++" + name + ")");
    }
    std::string tail;
    if (hasLanes()) {
        const std::string extent = std::to_string(m_kernel.extent(m_schedule.laneAxis));
        loops.push_back("for (int64_t lane0 = 0; lane0 < " + extent + "; lane0 += " + tileMacro() + ")");
        tail = "const int64_t " + m_names.lanes() + " = heddle::min<int64_t>(" + tileMacro() + ", " + extent
            + " - lane0);";
        m_written.tunables[tileMacro()] = {m_schedule.tile, m_schedule.tileChoices};
    } else if (m_schedule.splitsInner) {
        const std::string extent = std::to_string(m_kernel.extent(m_kernel.spaces[0].back()));
        loops.push_back("for (int64_t chunk = 0; chunk < " + extent + "; chunk += CHUNK" + suffix() + ")");
        tail =
            "const int64_t chunk_end = heddle::min<int64_t>(chunk + CHUNK" + suffix() + ", " + extent + ");";
        m_written.tunables["CHUNK" + suffix()] = {16384, {4096, 16384, 65536}};
    }
    if (!m_schedule.splitsStages && !loops.empty() && m_schedule.elements > 2048) {
        const std::string collapse =
            loops.size() > 1 ? " collapse(" + std::to_string(loops.size()) + ")" : "";
        m_out.pragma("omp parallel for" + collapse + " schedule(static)" + threadClause());
    }
    for (const std::string &loop : loops)
        m_out.open(loop);
    if (!tail.empty())
        m_out.line(tail);
}

void KernelWriter::writeRowPointers()
{
    for (const std::string &line : m_names.rowPointerLines())
        m_out.line(line);
    for (const int id : m_schedule.kept) {
        const KernelExpression &expression = m_kernel.expression(id);
        const std::string name = m_names.local(expression.op + "_row");
        std::string count =
            std::to_string(m_kernel.count(m_kernel.spaces[static_cast<std::size_t>(expression.space)]));
        if (hasLanes())
            count += " * " + tileMacro();
        m_out.line("alignas(64) " + cppType(expression.dtype) + " " + name + "[" + count + "];");
        m_keptArrays[id] = name;
    }
}

Result<WrittenKernel> KernelWriter::run()
{
    writeConstants();
    writeHeader();
    openOuterLoops();
    writeRowPointers();
    for (int stage = 0; stage < m_kernel.stages; ++stage)
        writeStage(stage);
    closeTo(0);
    if (!m_unknownOperation.empty())
        return Error(Code::NotCovered,
                     "not covered: the operation " + m_unknownOperation + " has no C++ form.", m_kernel.name,
                     "Write a candidate by hand.");
    m_written.text = m_out.text();
    return std::move(m_written);
}

} // namespace

Result<WrittenKernel> writeKernel(Kernel kernel, std::size_t number,
                                  const std::vector<std::vector<double>> &constants)
{
    return KernelWriter(std::move(kernel), constants, number).run();
}

} // namespace heddle
