"""The contents of an explanation, and how it is printed."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np

from mercer._errors import ParameterError
from mercer._types import FloatArray

if TYPE_CHECKING:
    from mercer.explanation.polynomials import LearntPolynomial

# Lines printed of each table; the rest is summed up in one line.
LINES = 10


@dataclass(frozen=True)
class Contributions:
    """One way to divide decision values: a number for each name and each decision function.

    Attributes
    ----------
    kind : str
        What the names are: "support vector", "term", "feature", "column", "position" or "node".
    names : list of str
    values : ndarray of shape (n_functions, n_names)
    """

    kind: str
    names: list
    values: np.ndarray

    def top(self, count: int = LINES, function: int = 0) -> list[tuple[str, float]]:
        """The (name, value) pairs of largest absolute value, largest first."""
        order = np.argsort(-np.abs(self.values[function]), kind="stable")[:count]
        return [(self.names[k], float(self.values[function, k])) for k in order]

    def as_dict(self, function: int = 0) -> dict[str, float]:
        """Value by name; parts of the same name, such as a word that is also a run of letters, are added."""
        found: dict[str, float] = {}
        for name, value in zip(self.names, self.values[function].tolist(), strict=True):
            found[name] = found.get(name, 0.0) + value
        return found


@dataclass(frozen=True, repr=False)
class Explanation:
    """Contributions to the decision values of one item; each table and the intercept add up to them.

    Attributes
    ----------
    functions : list of str
        What a positive decision value means, one for each two-class problem.
    intercept : ndarray of shape (n_functions,)
    by_support_vector, by_term, by_feature, by_column, by_position, by_node : Contributions or None
        None if the kernel cannot be divided in this way.
    polynomial : LearntPolynomial or None
        The decision functions as polynomials of the columns, if they are polynomials with few enough terms.
    has_named_terms : bool
        Whether the terms are called by something, such as a column, and not only by their kernels.
    """

    functions: list
    intercept: np.ndarray
    by_support_vector: Contributions | None = None
    by_term: Contributions | None = None
    by_feature: Contributions | None = None
    by_column: Contributions | None = None
    by_position: Contributions | None = None
    by_node: Contributions | None = None
    polynomial: object = None
    has_named_terms: bool = True

    def as_polynomial(self) -> "LearntPolynomial":
        """The decision functions as polynomials of the columns, as `mercer.as_polynomial` gives them.

        Examples
        --------
        >>> import mercer
        >>> X, y = [[0.0, 0.0], [2.0, 2.0], [2.0, 0.0], [3.0, 0.0]], [-1, -1, 1, 1]
        >>> model = mercer.SVC(kernel="linear", C=10.0, tol=1e-9).fit(X, y)
        >>> print(mercer.explain(model, [1.0, 0.5]).as_polynomial())
        1 rather than -1 if x0 - x1 > 1
        """
        if self.polynomial is None:
            raise ParameterError(
                "as_polynomial needs a kernel that is a polynomial of the inner product, and at most 20,000 monomials"
            )
        return cast("LearntPolynomial", self.polynomial)

    @property
    def main(self) -> Contributions:
        """The most informative table: named terms, else features, terms, columns, positions, nodes, support vectors."""
        named = self.by_term if self.has_named_terms else None
        whole = (self.by_position, self.by_node, self.by_support_vector)
        found = (named, self.by_feature, self.by_term, self.by_column, *whole)
        return next(table for table in found if table is not None)

    @property
    def decision(self) -> FloatArray:
        """The decision value of each function."""
        table = self.by_support_vector or self.main
        return table.values.sum(axis=1) + self.intercept

    def __str__(self) -> str:
        return "\n".join(self._function(k) for k in range(len(self.functions)))

    # A notebook shows what print does: pages of support vectors would help nobody.
    __repr__ = __str__

    def _function(self, k: int) -> str:
        table = self.main
        # A line for one that is left out would be as long as that one's own.
        most = LINES if len(table.names) > LINES + 1 else LINES + 1
        lines = table.top(most, k)
        if len(table.names) > most:
            rest = float(table.values[k].sum()) - sum(value for _, value in lines)
            lines.append((f"the other {len(table.names) - most}", rest))
        lines.append(("intercept", float(self.intercept[k])))
        width = max(len(name) for name, _ in lines)
        listed = [f"  {name:{width}}  {value: z.3f}" for name, value in lines]
        return "\n".join([f"decision value for {self.functions[k]}: {self.decision[k]:z.3f}", *listed])
