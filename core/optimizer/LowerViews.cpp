// SPDX-License-Identifier: Apache-2.0
// Operators that only re-index: they become index arithmetic of the loads and cost nothing by themselves.
#include "core/optimizer/LoweringContext.h"

#include <algorithm>
#include <limits>

namespace heddle {

namespace {

int wrapped(std::int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + rank : dim); }

Result<Values> same(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    return Values{reader.ir().cast(self, reader.hasOut() ? reader.out().dtype : reader.dtypeOf(self))};
}

Result<Values> dropout(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "input"));
    if (reader.flag(2, "train", true) && reader.number(1, "p", 0.5) != 0.0)
        return reader.notCovered("dropout in training mode draws random numbers");
    return reader.name() == "native_dropout"
        ? Values{self, reader.ir().expand(reader.ir().integer(1, Dtype::Bool), reader.shapeOf(self))}
        : Values{self};
}

Result<Values> reshaped(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    if (reader.name() == "view" && reader.out().dtype != reader.dtypeOf(self))
        return reader.notCovered("the bits read as another type");
    return Values{reader.ir().reshape(self, reader.out().shape)};
}

Result<Values> expanded(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    return Values{reader.ir().expand(self, reader.out().shape)};
}

Result<Values> broadcastTensors(NodeReader &reader)
{
    HEDDLE_TRY(Values values, reader.tensors(0, "tensors"));
    std::vector<Shape> shapes;
    for (const ValueId value : values)
        shapes.push_back(reader.shapeOf(value));
    for (ValueId &value : values)
        value = reader.ir().expand(value, broadcastShape(shapes));
    return values;
}

Result<Values> permuted(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const int rank = reader.rankOf(self);
    std::vector<int> order;
    for (int d = 0; d < rank; ++d)
        order.push_back(d);
    const std::string name = reader.name();
    if (name == "permute") {
        order.clear();
        for (const std::int64_t dim : reader.integers(1, "dims"))
            order.push_back(wrapped(dim, rank));
    } else if (rank >= 2) {
        const bool isPlain = name == "t" || name == "numpy_T" || name == "mT";
        const int a = wrapped(isPlain ? -2 : reader.integer(1, "dim0", 0), rank);
        const int b = wrapped(isPlain ? -1 : reader.integer(2, "dim1", 1), rank);
        std::swap(order[static_cast<std::size_t>(a)], order[static_cast<std::size_t>(b)]);
    }
    return Values{reader.ir().permute(self, order)};
}

Result<Values> sliced(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const int dim = wrapped(reader.integer(1, "dim", 0), reader.rankOf(self));
    const std::int64_t size = reader.shapeOf(self)[static_cast<std::size_t>(dim)];
    std::int64_t start = reader.integer(2, "start", 0);
    start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
    const std::int64_t step = reader.name() == "narrow" ? 1 : reader.integer(4, "step", 1);
    const std::int64_t count = reader.out().shape[static_cast<std::size_t>(dim)];
    return Values{reader.ir().slice(self, dim, start, step, count)};
}

Result<Values> selected(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const int dim = wrapped(reader.integer(1, "dim", 0), reader.rankOf(self));
    const std::int64_t index = reader.integer(2, "index", 0);
    const std::int64_t size = reader.shapeOf(self)[static_cast<std::size_t>(dim)];
    return Values{reader.ir().select(self, dim, index < 0 ? index + size : index)};
}

/// chunk, split, tensor_split, unbind: consecutive pieces along one dimension, as the result types say.
Result<Values> pieces(NodeReader &reader)
{
    HEDDLE_TRY(const ValueId self, reader.tensor(0, "self"));
    const bool isUnbind = reader.name() == "unbind";
    const int dim = wrapped(reader.integer(isUnbind ? 1 : 2, "dim", 0), reader.rankOf(self));
    Values values;
    std::int64_t start = 0;
    for (const TensorType &type : reader.node().out) {
        if (isUnbind) {
            values.push_back(reader.ir().select(self, dim, start++));
            continue;
        }
        const std::int64_t count = type.shape[static_cast<std::size_t>(dim)];
        values.push_back(reader.ir().slice(self, dim, start, 1, count));
        start += count;
    }
    if (values.empty())
        return reader.notCovered("the capture does not say what the pieces are");
    return values;
}

Result<Values> flipped(NodeReader &reader)
{
    HEDDLE_TRY(ValueId self, reader.tensor(0, "self"));
    for (const int dim : reader.dims(1, "dims", reader.rankOf(self))) {
        const std::int64_t size = reader.shapeOf(self)[static_cast<std::size_t>(dim)];
        self = reader.ir().slice(self, dim, size - 1, -1, size);
    }
    return Values{self};
}

} // namespace

const std::set<std::string, std::less<>> &aliasingOperators()
{
    static const std::set<std::string, std::less<>> names = {"view",         "reshape",
                                                             "_unsafe_view", "unsqueeze",
                                                             "squeeze",      "expand",
                                                             "expand_as",    "permute",
                                                             "transpose",    "t",
                                                             "numpy_T",      "mT",
                                                             "slice",        "select",
                                                             "flatten",      "unflatten",
                                                             "contiguous",   "detach",
                                                             "alias",        "dropout",
                                                             "to",           "narrow",
                                                             "chunk",        "split",
                                                             "unbind",       "split_with_sizes",
                                                             "view_as",      "lift_fresh",
                                                             "type_as",      "broadcast_tensors",
                                                             "broadcast_to", "float",
                                                             "double"};
    return names;
}

void addViewRules(LoweringTable &table)
{
    for (const char *name : {"contiguous", "clone", "detach", "alias", "lift_fresh_copy", "lift_fresh",
                             "alias_copy", "detach_copy", "positive"})
        table[name] = same;
    for (const char *name : {"dropout", "feature_dropout", "alpha_dropout", "native_dropout"})
        table[name] = dropout;
    for (const char *name :
         {"view", "reshape", "_unsafe_view", "unsqueeze", "squeeze", "flatten", "unflatten", "view_as",
          "reshape_as", "view_copy", "unsqueeze_copy", "squeeze_copy"})
        table[name] = reshaped;
    for (const char *name : {"expand", "expand_as", "expand_copy", "broadcast_to"})
        table[name] = expanded;
    table["broadcast_tensors"] = broadcastTensors;
    for (const char *name : {"permute", "transpose", "t", "numpy_T", "mT", "swapaxes", "swapdims"})
        table[name] = permuted;
    for (const char *name : {"slice", "narrow", "slice_copy"})
        table[name] = sliced;
    for (const char *name : {"select", "select_copy"})
        table[name] = selected;
    for (const char *name : {"chunk", "split", "split_with_sizes", "unbind"})
        table[name] = pieces;
    table["flip"] = flipped;
}

} // namespace heddle
