"""Kernels, the items they compare, and expansions: the classes below the estimators.

A new kernel is one line in `_KERNELS`; it must be a dataclass whose constructor checks its fields.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray, Rows
from mercer.exchange.model_file import rules
from mercer.exchange.model_file.registry import plain, record
from mercer.exchange.model_file.rules import Refused

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel

_KERNELS = """
vector.chi_squared:ChiSquared vector.constant:Constant vector.cosine:Cosine vector.delta:Delta
vector.laplacian:Laplacian vector.linear:Linear vector.matern:Matern vector.polynomial:Polynomial vector.rbf:RBF
vector.second_order:SecondOrder vector.rational_quadratic:RationalQuadratic vector.sigmoid:Sigmoid
vector.density_window:Window
string.mismatch:Mismatch string.spectrum:Spectrum string.subsequence:Subsequence
tree.partial_tree:PartialTree tree.subset_tree:SubsetTree tree.subtree:Subtree
graph.label_path:LabelPath graph.shortest_path:ShortestPath graph.weisfeiler_lehman:WeisfeilerLehman
graph.graphlet:Graphlet graph.random_walk:RandomWalk
node.at_nodes:AtNodes node.co_citation:CoCitation node.diffusion:Diffusion
node.regularized_laplacian:RegularizedLaplacian
table.columns:Columns table.cyclic:Cyclic table.encoded:Encoded table.on:On table.standardized:Standardized
relational.link:Link relational.record:Record
given.precomputed:Custom given.precomputed:Precomputed given.several_precomputed:GivenMatrix
algebra.centered:Centered algebra.normalized:Normalized
algebra.scaled_power:Power algebra.scaled_power:Scaled algebra.sum_product:Product algebra.sum_product:Sum
"""

# Larger than any length, degree or depth of a real kernel; a file that says more is after memory and time.
LARGEST_SIZE = 2**16


# Measurements of kernels of columns on the training rows: a number for each column.
_MEASURED = ("origin", "mean", "deviation")


def _check_fields(kernel: "Kernel") -> None:
    """Refuse a kernel whose parameters exceed any reasonable model's, or do not fit its measurements."""
    for name, value in vars(kernel).items():
        sizes = value if isinstance(value, tuple) else (value,)
        if name != "random_state" and any(type(size) is int and abs(size) > LARGEST_SIZE for size in sizes):
            raise Refused(f"must have {name} of at most {LARGEST_SIZE}, got {str(value)[:60]}")
        if name in _MEASURED and value is not None:
            rules.list_of(rules.number(), tuple)(value)


# Names in files never change.
_FORMER = {"Normalized": "Normalised"}

for _home in _KERNELS.split():
    _name = _home.partition(":")[2]
    record(f"mercer.kernels.{_home}", name=f"kernels.{_FORMER.get(_name, _name)}", check=_check_fields)
record("mercer.kernels.table.coding:Coding", name="kernels.Coding")
record("mercer.kernels.string.document_frequencies:DocumentFrequencies", name="kernels.DocumentFrequencies")


def _make_tree(cls: Any, fields: dict[str, Any]) -> Any:
    return cls.from_preorder(fields["labels"], fields["counts"])


plain(
    "mercer.kernels.tree.tree:Tree",
    {"labels": rules.list_of(rules.text), "counts": rules.list_of(rules.integer(0))},
    make=_make_tree,
)


def _make_graph(cls: Any, fields: dict[str, Any]) -> Any:
    nodes, ends = fields["nodes"], fields["ends"]
    n, m = len(nodes), len(ends)
    if ends.shape != (m, 2) or ends.dtype.itemsize < 4 or (m and int(ends.max()) >= n):
        raise Refused(f"has {n} nodes and edges between others")
    # Older files have graphs whose edges have no numbers.
    fields = {"edge_attributes": None, **fields}
    for name, count in (*dict.fromkeys(_ON_NODES, n).items(), *dict.fromkeys(_ON_EDGES, m).items()):
        if fields[name] is not None and len(fields[name]) != count:
            raise Refused(f"must have {count} {name}, got {len(fields[name])}")
    if fields["weights"] is not None and not (fields["weights"] > 0).all():
        raise Refused("must have positive weights")
    graph = cls.of_parts(0, ends, **{name: fields[name] for name in _GRAPH_PARTS})
    graph.nodes = nodes
    if not isinstance(nodes, range):
        _ = graph.place_of  # names that are there twice, or cannot be names, are refused here
    return graph


_ON_NODES, _ON_EDGES = ("node_labels", "node_attributes"), ("edge_labels", "weights", "edge_attributes")
_GRAPH_PARTS = (*_ON_NODES, *_ON_EDGES, "directed")
plain(
    "mercer.kernels.graph.graph:Graph",
    {
        "directed": rules.flag,
        "nodes": rules.list_of(rules.anything, (range, tuple)),
        "ends": rules.array("i", ndim=2, least=0),
        "node_labels": rules.optional(rules.list_of(rules.anything, tuple)),
        "edge_labels": rules.optional(rules.list_of(rules.anything, tuple)),
        "weights": rules.optional(rules.floats1),
        "node_attributes": rules.optional(rules.floats2),
        "edge_attributes": rules.optional(rules.floats2),
    },
    make=_make_graph,
)


def _make_tables(cls: Any, fields: dict[str, Any]) -> Any:
    return cls(fields["frames"], fields["primary_keys"], fields["foreign_keys"])


plain(
    "mercer.kernels.relational.tables:Tables",
    {"frames": rules.dict_of, "primary_keys": rules.optional(rules.dict_of), "foreign_keys": rules.anything},
    make=_make_tables,
)


def _make_frame(cls: Any, fields: dict[str, Any]) -> Any:
    frame = cls(fields["native"])
    _ = frame.shape, frame.names
    return frame


for _kind in ("Frame", "ArrayFrame", "DictFrame"):
    plain(f"mercer.kernels.table.frame:{_kind}", {"native": rules.anything}, make=_make_frame)
plain(
    "mercer.kernels.table.column_frame:ColumnFrame",
    {"arrays": rules.dict_of},
    make=lambda cls, fields: cls(fields["arrays"]),
)


def _make_matrix_items(cls: Any, fields: dict[str, Any]) -> Any:
    return cls(None, fields["index"], np.float64)


plain("mercer.kernels.given.precomputed:MatrixItems", {"index": rules.indices}, make=_make_matrix_items)
plain(
    "mercer.kernels.given.several_precomputed:GivenMatrices",
    {"index": rules.indices},
    make=lambda cls, fields: cls(None, fields["index"]),
)

plain(
    "mercer.kernels.base.expansion:Group",
    {"begin": rules.integer(0), "end": rules.integer(0), "coefficients": rules.floats2, "outputs": rules.indices},
    make=lambda cls, fields: cls(**fields),
)


def _make_expansion(cls: Any, fields: dict[str, Any]) -> Any:
    kernel, vectors, groups, origin = (fields[name] for name in ("kernel", "vectors", "groups", "origin"))
    n = require_vectors(kernel, vectors, origin)
    functions = len(fields["intercepts"])
    for group in groups:
        if not group.begin <= group.end <= n or len(group.coefficients) != group.end - group.begin:
            raise Refused(f"has coefficients of vectors {group.begin} to {group.end}, and {n} vectors")
        outputs = group.outputs
        if group.coefficients.shape[1] != len(outputs) or (len(outputs) and int(outputs.max()) >= functions):
            raise Refused(f"has coefficients for functions beyond its {functions}")
    return cls(kernel, vectors, groups, fields["intercepts"], origin)


def require_vectors(kernel: "Kernel", vectors: Rows, origin: FloatArray | None) -> int:
    """The number of support vectors, if they are of a kind that the kernel takes."""
    from mercer.kernels.given.precomputed import MatrixItems, Precomputed

    if not kernel.is_bound:
        raise Refused("has a kernel that still waits for training data")
    if isinstance(kernel, Precomputed) != isinstance(vectors, MatrixItems):
        raise Refused("must have positions in a matrix for a kernel that is a matrix, and for no other")
    if isinstance(vectors, MatrixItems):
        return len(vectors)
    if kernel.takes_items is False:
        rules.either(rules.array("f", ndim=2), rules.csr)(vectors)
        if origin is not None and origin.shape != (vectors.shape[1],):
            raise Refused(f"has an origin of shape {origin.shape} for rows of {vectors.shape[1]} features")
    elif origin is not None and (not isinstance(vectors, np.ndarray) or origin.shape != vectors.shape[1:]):
        raise Refused("has an origin, which its vectors cannot have")
    return vectors.shape[0] if hasattr(vectors, "shape") else len(vectors)


plain(
    "mercer.kernels.base.expansion:Expansion",
    {
        "kernel": rules.instance("Kernel"),
        "vectors": rules.instance("ndarray", "_csr_base", "list", "Frame", "MatrixItems", "GivenMatrices"),
        "groups": rules.list_of(rules.instance("Group")),
        "intercepts": rules.floats1,
        "origin": rules.optional(rules.floats1),
    },
    make=_make_expansion,
)
