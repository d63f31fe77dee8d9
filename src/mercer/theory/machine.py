"""The facts about a fitted two-class model that theory needs, read from its public attributes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from scipy import sparse

from mercer._errors import DataError, MercerError, ParameterError
from mercer._jit.once import computed_once
from mercer._types import Array, FloatArray, IndexArray, Labels, Rows
from mercer.kernels.base.kernel import Kernel
from mercer.kernels.given.precomputed import Custom, Precomputed
from mercer.kernels.notation.sklearn_names import resolve
from mercer.kernels.table.frame import Frame
from mercer.kernels.vector.linear import Linear
from mercer.problems.losses.margin_losses import MARGIN_LOSSES
from mercer.problems.regularization import resolve_C
from mercer.problems.svm.soft_margin import BIASES
from mercer.solvers.result import Status
from mercer.theory.radius import radius_about_origin

if TYPE_CHECKING:

    class FittedClassifier(Protocol):
        """The attributes common to all supported models; coefficients are kept in different places."""

        classes_: Array

        def decision_function(self, X: Rows) -> Array: ...


# A slack up to this is the solver's tolerance, not a violated margin.
SLACK_TOLERANCE = 1e-2
# A relative duality gap up to this is an optimum for the purposes of leave-one-out.
LARGEST_GAP = 1e-2


@dataclass(frozen=True, eq=False)
class FittedFunction:
    """f(x) = <w, psi(x)> + b, together with the rows it was fitted to.

    Attributes
    ----------
    name : str
    X, kernel
        The rows, and the kernel between them.
    signs, values : ndarray (m,)
        Labels as +1 and -1, and f(x_i).
    norm, intercept : float
        norm(w) in feature space, and b.
    bias : {"free", "penalized", "none"}
    alpha : ndarray (m,) or None
        Dual variables of a support vector machine, if the model has them.
    lam : float or None
        Weight of |w|^2 against the mean loss; 0 for the hard margin, None if unknown.
    loss : str
    status : Status
        How the fit ended.
    certified_gap : float or None
        The relative duality gap of its certificate, if it has one.
    is_weighted : bool
        Whether some rows count more than others.
    penalty : str
        "l2" if the losses are weighed against |w|^2.
    """

    name: str
    X: object
    kernel: Kernel
    signs: np.ndarray
    values: np.ndarray
    norm: float
    intercept: float
    bias: str
    alpha: np.ndarray | None
    lam: float | None
    loss: str
    status: Status
    certified_gap: float | None
    is_weighted: bool
    penalty: str

    @property
    def m(self) -> int:
        """Number of rows."""
        return len(self.signs)

    @property
    def margins(self) -> FloatArray:
        """y_i f(x_i)."""
        return self.signs * self.values

    @property
    def slack(self) -> FloatArray:
        """xi_i = max(0, 1 - y_i f(x_i))."""
        return np.maximum(0.0, 1.0 - self.margins)

    @property
    def is_svm(self) -> bool:
        """Whether it minimises |w|^2 with a loss of support vector machines."""
        return self.loss in MARGIN_LOSSES and self.penalty == "l2"

    @property
    def is_hard(self) -> bool:
        """Whether no row falls short of the margin, so that Soft-SVM has found the Hard-SVM solution."""
        return self.is_svm and bool(self.slack.max() <= SLACK_TOLERANCE)

    @property
    def is_solved(self) -> bool:
        """Whether the fit reached the optimum, by its status and by the duality gap."""
        gap = self.certified_gap if self.alpha is None else self.relative_gap
        return self.status == Status.OPTIMAL and (gap is None or gap <= LARGEST_GAP)

    @property
    def relative_gap(self) -> float | None:
        """(primal - dual) / primal of alpha, or None if C is not the same for all rows.

        Row weights in the fit show up here, because alpha then solves a different problem.
        """
        if self.alpha is None or not self.lam or self.is_weighted or not self.is_svm:
            return None
        C = 1.0 / (2.0 * self.lam * self.m)
        penalised = self.intercept**2 if self.bias == "penalized" else 0.0
        half_norm = 0.5 * (self.norm**2 + penalised)
        primal = half_norm + C * float(MARGIN_LOSSES[self.loss].value(self.margins).sum())
        ridge = cast(Any, MARGIN_LOSSES[self.loss].ridge)(C)
        dual = float(self.alpha.sum()) - half_norm - 0.5 * float(self.alpha @ self.alpha) * (ridge or 0.0)
        return (primal - dual) / max(primal, 1e-300)

    @property
    def has_free_support_vectors(self) -> bool:
        """Whether some alpha is neither 0 nor at its bound."""
        if self.alpha is None or not self.lam:
            return self.alpha is not None and bool(self.alpha.any())
        at_most = np.inf if self.loss == "squared_hinge" else 1.0 / (2.0 * self.lam * self.m)
        return bool(((self.alpha > 0) & (self.alpha < (1.0 - 1e-8) * at_most)).any())

    @computed_once
    def rho(self) -> float:
        """Largest norm of a row in feature space."""
        return radius_about_origin(self.X, self.kernel)

    @computed_once
    def homogeneous(self) -> tuple[float, float]:
        """(rho, norm of w) with b as the weight of a constant feature.

        For a penalised bias the feature is 1. A free bias is written as the weight b/r of a
        feature r, with the r that makes the product of the two norms smallest: rho norm(w) + abs(b).
        """
        b = abs(self.intercept)
        if self.bias == "penalized":
            return float(np.hypot(self.rho, 1.0)), float(np.hypot(self.norm, b))
        if b == 0 or self.rho == 0 or self.norm == 0:
            return self.rho, self.norm
        r = np.sqrt(self.rho * b / self.norm)
        return float(np.hypot(self.rho, r)), float(np.hypot(self.norm, b / r))

    @computed_once
    def dimension(self) -> float:
        """Dimension of the feature space; infinite if no finite feature map is known."""
        if isinstance(self.kernel, Linear):
            return float(np.shape(cast(Rows, self.X))[1])
        try:
            row = (
                cast(Rows, self.X)[:1].toarray()
                if sparse.issparse(self.X)
                else np.asarray(cast(Rows, self.X)[:1], dtype=np.float64)
            )
            return float(self.kernel.feature_map(row).shape[1])
        except (MercerError, TypeError, ValueError):
            return np.inf

    @computed_once
    def counts_words(self) -> bool:
        """Whether rows are bags of words: 0 and 1 under a linear kernel."""
        if not isinstance(self.kernel, Linear):
            return False
        values = cast(Rows, self.X).data if sparse.issparse(self.X) else cast(Rows, self.X)
        return bool(((values == 0) | (values == 1)).all())


def read_machine(model: "FittedClassifier", X: Rows, y: Labels) -> FittedFunction:
    """The two-class function of a fitted model, from `coef_`, `support_` and `dual_coef_`, or `expansion_`.

    Parameters
    ----------
    model : fitted classifier of two classes
    X, y
        The rows and labels it was fitted to.
    """
    signs = _signs(model, y)
    values = np.asarray(model.decision_function(X), dtype=np.float64)
    X = rows_or_items(X)
    if values.shape != signs.shape:
        raise DataError(f"X and y must have the same length, got {len(values)} and {len(signs)}")
    intercept = float(np.ravel(getattr(model, "intercept_", 0.0))[0])
    beta = _signed_coefficients(model, X, signs, _loss(model))
    norm = _norm(model, beta, values - intercept)
    gap = _certified_gap(model) if beta is None else None
    return fitted_function(model, X, kernel_of(model, X), signs, values, beta, norm, intercept, gap)


def fitted_function(
    model: Any,
    X: Rows,
    kernel: Kernel,
    signs: FloatArray,
    values: FloatArray,
    beta: FloatArray | None,
    norm: float,
    intercept: float,
    certified_gap: float | None,
) -> FittedFunction:
    """One two-class function of a model, with what holds for all of the model's functions."""
    loss = _loss(model)
    return FittedFunction(
        name=type(model).__name__,
        X=X,
        kernel=kernel,
        signs=signs,
        values=values,
        norm=norm,
        intercept=intercept,
        bias=_bias(model, intercept),
        alpha=None if beta is None or loss not in MARGIN_LOSSES else np.abs(beta),
        lam=_lambda(model, len(signs)),
        loss=loss,
        status=getattr(model, "status_", Status.OPTIMAL),
        certified_gap=certified_gap,
        is_weighted=getattr(model, "class_weight", None) is not None,
        penalty=getattr(model, "penalty", "l2"),
    )


def rows_or_items(X: Rows) -> Any:
    """An array of numbers or CSR rows if possible, otherwise the items themselves; a `Frame` stays one."""
    if isinstance(X, Frame):
        return X
    if sparse.issparse(X):
        return X.tocsr()
    try:
        rows = np.asarray(X)
        return rows if rows.dtype.kind == "f" else rows.astype(np.float64)
    except (TypeError, ValueError):
        return X


def _signs(model: "FittedClassifier", y: Labels) -> FloatArray:
    classes = getattr(model, "classes_", None)
    if classes is None or not hasattr(model, "decision_function"):
        raise ParameterError(f"model must be a fitted classifier with a decision function, got {model!r}; fit it first")
    if len(classes) != 2:
        raise ParameterError(
            f"model must have two classes, got {len(classes)}; fit it to the rows of one pair of them, "
            "or to one against the rest, and report on each"
        )
    y = np.asarray(y)
    if y.ndim != 1 or not np.isin(y, classes).all():
        raise DataError(f"y must hold the labels {classes.tolist()} that the model was fitted to")
    return np.where(y == classes[1], 1.0, -1.0)


def _signed_coefficients(model: Any, X: Rows, signs: FloatArray, loss: str) -> FloatArray | None:
    """The coefficient of each row in the expansion, or None if the model keeps none."""
    if not hasattr(model, "support_") or not hasattr(model, "dual_coef_"):
        return None
    support, coefficients = model.support_, model.dual_coef_
    coefficients = np.ravel(coefficients.toarray() if sparse.issparse(coefficients) else coefficients)
    # Those of a support vector machine have the signs of the labels.
    expected = np.sign(coefficients) if loss in MARGIN_LOSSES else None
    if not _were_fitted(model, X, signs, support, expected):
        raise DataError("X and y must be the rows and labels that the model was fitted to, in the same order")
    beta = np.zeros(len(signs))
    beta[support] = coefficients
    return beta


def _were_fitted(model: Any, X: Rows, signs: FloatArray, support: IndexArray, expected: FloatArray | None) -> bool:
    """Whether the support vectors are at the rows the model names, with matching labels."""
    if len(support) and support.max() >= len(signs):
        return False
    if expected is not None and (signs[support] != expected).any():
        return False
    vectors = cast(Any, getattr(model, "support_vectors_", None))
    if isinstance(X, Frame) or not hasattr(X, "shape") or not hasattr(vectors, "shape"):
        return True  # a table or a list: only the labels can be checked
    if vectors.shape[:1] != support.shape or vectors.shape[1:] != X.shape[1:]:
        return True  # a precomputed matrix: only the labels can be checked
    return not (vectors != X[support]).sum()


def _norm(model: Any, beta: FloatArray | None, projections: FloatArray) -> float:
    """norm(w): from the dual variables if there are any, as |w|^2 = sum_i beta_i <w, psi(x_i)>."""
    if beta is not None:
        return float(np.sqrt(max(0.0, cast(float, beta @ projections))))
    if isinstance(getattr(model, "coef_", None), np.ndarray) or sparse.issparse(getattr(model, "coef_", None)):
        coefficients = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
        return float(np.linalg.norm(coefficients))
    expansion = getattr(model, "expansion_", None)
    if expansion is None or len(expansion.groups) != 1:
        raise ParameterError(f"model must have coef_, or support_ and dual_coef_, or expansion_, got {model!r}")
    at_vectors = expansion.values(expansion.vectors)[:, 0] - expansion.intercepts[0]
    return float(np.sqrt(max(0.0, expansion.groups[0].coefficients[:, 0] @ at_vectors)))


def kernel_of(model: Any, X: Rows) -> Kernel:
    """The kernel of a model, bound to the rows X."""
    given = getattr(model, "kernel", "linear")
    if callable(given) and not isinstance(given, Kernel):
        return Custom(given)
    if hasattr(model, "expansion_"):
        return model.expansion_.kernel
    parameters = {key: getattr(model, key) for key in ("gamma", "degree", "coef0") if hasattr(model, key)}
    return Precomputed() if given == "precomputed" else resolve(given, **parameters, X=X)


def _certified_gap(model: Any) -> float | None:
    """The gap that a model without dual variables has certified."""
    gap = getattr(getattr(model, "certificate_", None), "relative_gap", None)
    return None if gap is None else float(gap)


def _loss(model: Any) -> str:
    """The model's `loss`; without one it is the hinge for known classes, and otherwise unknown."""
    return getattr(model, "loss", "hinge" if type(model).__name__ in _HINGE_MACHINES else "of another kind")


_HINGE_MACHINES = ("SVC", "HardMarginSVC", "PegasosSVC")


def _bias(model: Any, intercept: float) -> str:
    if getattr(model, "bias", None) in BIASES:
        return model.bias
    if intercept == 0 or not getattr(model, "fit_intercept", True):
        return "none"
    # LIBLINEAR's bias is the weight of a constant feature.
    return "penalized" if hasattr(model, "intercept_scaling") else "free"


def _lambda(model: Any, m: int) -> float | None:
    """lambda of lambda |w|^2 + mean loss."""
    given = getattr(model, "C_", getattr(model, "C", None))
    if given is not None:
        C = resolve_C(given, m)
        return 0.0 if np.isinf(C) else 1.0 / (2.0 * C * m)
    # SGD models, ours and scikit-learn's, have (alpha / 2) |w|^2, as in (15.12).
    half = getattr(model, "alpha", None) if hasattr(model, "average") else None
    return None if half is None else 0.5 * float(half)
