"""The parts of a report on a fitted model: bounds with their conditions, and their text."""

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from mercer.theory.radius import Ball

_BOOK = "Shalev-Shwartz & Ben-David, Understanding Machine Learning (2014)"
_VC = "Vapnik & Chervonenkis, Theory of Probability and its Applications 16 (1971), pages 264-280"
# Pages where a statement begins in the printed book; the section too, as the authors' online copy has different ones.
_SOURCES = {
    "theorem_15_4": f"{_BOOK}, section 15.1.2, page 171",
    "corollary_15_7": f"{_BOOK}, section 15.2.1, page 172 (208 in the authors' online copy)",
    "norm": f"{_BOOK}, section 15.2.1, page 172 (208 in the authors' online copy)",
    "margin_vc": f"Magdon-Ismail, Learning From Data, lecture 25; {_VC}",
    "vc": _VC,
    "support_vectors": "Vapnik, The Nature of Statistical Learning Theory (1995), chapter 5",
    "xi_alpha": "Joachims, ICML (2000), pages 431-438; Jaakkola & Haussler, AISTATS (1999)",
}
_BIASES = {"free": "free bias", "penalized": "penalised bias", "none": "homogeneous"}


@dataclass(frozen=True)
class Finding:
    """One bound: its value, whether its conditions are met, and what it is about.

    Attributes
    ----------
    key, name : str
    value : float or None
        None if it cannot be computed.
    says : str
        What is bounded, and with what certainty.
    assumes : str
        What no sample can confirm.
    unmet : tuple of str
        Conditions that this model does not meet; the bound applies if there are none.
    """

    key: str
    name: str
    value: float | None
    says: str
    assumes: str = ""
    unmet: tuple = ()

    @property
    def source(self) -> str:
        """Where it is proved: book and section, or authors and year; empty for an unknown key."""
        return _SOURCES.get(self.key, "")

    @property
    def applies(self) -> bool:
        """Whether every condition that can be checked holds."""
        return self.value is not None and not self.unmet

    @property
    def is_vacuous(self) -> bool:
        """Whether it is 1 or more, and so says nothing."""
        return self.value is not None and self.value >= 1.0

    def as_dict(self) -> dict[str, Any]:
        """The fields and the verdict, ready for JSON."""
        return {**asdict(self), "source": self.source, "applies": self.applies}

    def __str__(self) -> str:
        value = "-" if self.value is None else f"{self.value:.4g}"
        verdict = "does not apply" if not self.applies else ("vacuous" if self.is_vacuous else "holds")
        details = [self.says] if self.says else []
        details += [f"assumes: {self.assumes}"] if self.assumes and self.applies else []
        details += [f"but {reason}" for reason in self.unmet]
        return "\n".join([f"  {value:>9}  {verdict:<14}  {self.name}", *(f"{'':29}{line}" for line in details)])


class Judgement:
    """Something with findings."""

    if TYPE_CHECKING:
        findings: tuple[Finding, ...]

    @property
    def vacuous(self) -> list[str]:
        """Keys of the bounds that apply but are vacuous."""
        return [finding.key for finding in self.findings if finding.applies and finding.is_vacuous]

    @property
    def holding(self) -> list[str]:
        """Keys of the bounds that apply and are not vacuous."""
        return [finding.key for finding in self.findings if finding.applies and not finding.is_vacuous]

    def __getitem__(self, key: str) -> Finding:
        for finding in self.findings:
            if finding.key == key:
                return finding
        raise KeyError(f"no finding is called {key!r}; there are {', '.join(finding.key for finding in self.findings)}")

    def _summary(self) -> str:
        lists = (("holds and is informative", self.holding), ("vacuous", self.vacuous))
        return "\n".join(f"{name}: {', '.join(keys) if keys else 'none'}" for name, keys in lists)


@dataclass(frozen=True, eq=False)
class Report(Judgement):
    """The result of `theory.report`; print it, or look up a bound by its key: ``report["xi_alpha"]``.

    Attributes
    ----------
    model : str
    m : int
    dimension : float
        Of the feature space.
    delta : float
    norm, intercept, bias
        norm(w), b and its kind.
    training_error, hinge : float
        Means over the training rows.
    functional_margin, gamma : float
        min y f(x), and the same divided by norm(w).
    rho : float
        Largest norm of a row in feature space.
    ball : Ball
        The smallest one.
    findings : tuple of Finding
    """

    model: str
    m: int
    dimension: float
    delta: float
    norm: float
    intercept: float
    bias: str
    training_error: float
    hinge: float
    functional_margin: float
    gamma: float
    rho: float
    counts_words: bool
    ball: Ball = field(repr=False)
    findings: tuple = field(repr=False)

    @property
    def is_separated(self) -> bool:
        """Whether the model separates its training rows, with a (gamma, rho)-margin."""
        return self.functional_margin > 0

    def as_dict(self) -> dict[str, Any]:
        """The numbers, ready for JSON; infinity and NaN become None."""
        plain = {key: value for key, value in vars(self).items() if key not in ("ball", "findings")}
        plain |= {"ball_radius": self.ball.radius, "ball_gap": self.ball.gap}
        each = [finding.as_dict() for finding in self.findings]
        return {key: _finite(value) for key, value in plain.items()} | {"findings": each}

    def __str__(self) -> str:
        parts = [self._title(), "", "Measured on the training rows", *self._measured()]
        parts += ["", "Bounds on the error of new rows, and leave-one-out", *map(str, self.findings), ""]
        return "\n".join([*parts, self._summary()])

    def _title(self) -> str:
        space = "infinitely many" if math.isinf(self.dimension) else f"{self.dimension:.0f}"
        return f"{self.model}: {self.m} rows, {space} features, delta = {self.delta:g}"

    def _measured(self) -> list[str]:
        side = f"separated with a ({self.gamma:.4g}, {self.rho:.4g})-margin" if self.is_separated else "not separated"
        ball = f"R = {self.ball.radius:.6g}, exact to {self.ball.gap:.0e}, {len(self.ball.support)} rows on its sphere"
        words = " = distinct words of the longest document" if self.counts_words else ""
        return [
            f"  |w| = {self.norm:.6g}, b = {self.intercept:.6g} ({_BIASES[self.bias]})",
            f"  training error {self.training_error:.4g}, mean hinge loss {self.hinge:.4g}",
            f"  {side}; functional margin {self.functional_margin:.4g}, geometric margin gamma = {self.gamma:.6g}",
            f"  largest norm rho = {self.rho:.6g}; rho^2 = {self.rho**2:.6g}{words}",
            f"  smallest ball {ball}",
            f"  {self._norm_against_dimension()}",
        ]

    def _norm_against_dimension(self) -> str:
        """The comparison of section 15.2.2."""
        product = self.rho**2 * self.norm**2
        if math.isinf(self.dimension):
            return f"rho^2 |w|^2 = {product:.4g} against infinitely many dimensions: only the norm can bound"
        better, worse = ("norm", "dimension") if product < self.dimension else ("dimension", "norm")
        comparison = f"the {better} needs fewer rows than the {worse}"
        return f"rho^2 |w|^2 = {product:.4g} against d = {self.dimension:.0f}: {comparison}"


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
