"""Kernels: how alike two things are, as small values that can be added and multiplied.

Every name is loaded when it is first asked for, so that importing this package costs
nothing. A new kernel adds its file, its test and one line to the index below.
"""

from typing import Any

from mercer._lazy import load

_INDEX = {
    "ChiSquared": "vector.chi_squared",
    "Constant": "vector.constant",
    "Cosine": "vector.cosine",
    "Delta": "vector.delta",
    "Laplacian": "vector.laplacian",
    "Linear": "vector.linear",
    "Matern": "vector.matern",
    "Polynomial": "vector.polynomial",
    "RBF": "vector.rbf",
    "RationalQuadratic": "vector.rational_quadratic",
    "SecondOrder": "vector.second_order",
    "Sigmoid": "vector.sigmoid",
    "Mismatch": "string.mismatch",
    "Spectrum": "string.spectrum",
    "Subsequence": "string.subsequence",
    "PartialTree": "tree.partial_tree",
    "SubsetTree": "tree.subset_tree",
    "Subtree": "tree.subtree",
    "LabelPath": "graph.label_path",
    "ShortestPath": "graph.shortest_path",
    "WeisfeilerLehman": "graph.weisfeiler_lehman",
    "Graphlet": "graph.graphlet",
    "RandomWalk": "graph.random_walk",
    "AtNodes": "node.at_nodes",
    "CoCitation": "node.co_citation",
    "Diffusion": "node.diffusion",
    "RegularizedLaplacian": "node.regularized_laplacian",
    "Columns": "table.columns",
    "Cyclic": "table.cyclic",
    "Encoded": "table.encoded",
    "On": "table.on",
    "Standardized": "table.standardized",
    "Link": "relational.link",
    "Record": "relational.record",
    "Tables": "relational.tables",
    "Custom": "given.precomputed",
    "GivenMatrix": "given.several_precomputed",
    "Precomputed": "given.precomputed",
    "Centered": "algebra.centered",
    "Normalized": "algebra.normalized",
    "Power": "algebra.scaled_power",
    "Product": "algebra.sum_product",
    "Scaled": "algebra.scaled_power",
    "Sum": "algebra.sum_product",
    "Kernel": "base.kernel",
    "DotProductKernel": "base.kernel",
    "PairwiseKernel": "base.kernel",
    "MercerVerdict": "base.mercer_condition",
    "mercer_check": "base.mercer_condition",
    "repair": "base.mercer_condition",
    "describe_columns": "table.describe_columns",
    "placed": "table.place_kernel",
    "resolve": "notation.sklearn_names",
    "kernel_names": "notation.parse",
    "parse": "notation.parse",
}

__all__ = sorted(_INDEX)  # noqa: PLE0605  (the index is the list)


def __getattr__(name: str) -> Any:
    return load(globals(), _INDEX, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_INDEX})
