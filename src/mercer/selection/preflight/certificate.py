"""What the certificate of a fit will take, and what it will rest on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mercer._errors import MercerError
from mercer.estimators.bases.kernel_model import KernelModel
from mercer.estimators.fitting.certificate import Evidence
from mercer.estimators.fitting.certifiers import SMALL_WORK, USUAL_COST
from mercer.problems import taken_over
from mercer.selection.preflight.memory import support_of
from mercer.selection.preflight.timer import CoreTimer


@dataclass(frozen=True)
class CertificateForecast:
    """Seconds of a certificate, and whether everything is recomputed for it, when it is read, or `fit` computes it."""

    seconds: float
    is_full: bool

    def __str__(self) -> str:
        if self.is_full:
            return f"certificate {self.seconds:.2g} s when it is read"
        return f"certificate {self.seconds:.2g} s of them, with what the solver has taken over"


def forecast(n: int, d: int, fitted: Sequence[tuple[int, Any]]) -> CertificateForecast | None:
    """From the last sample's certificate; None where a model has none, or it is not of a dual in signed form."""
    if not fitted or not isinstance(fitted[-1][1], KernelModel):
        return None
    rows, model = fitted[-1]
    evidence = vars(model).get("_evidence")
    if not isinstance(evidence, Evidence) or evidence.data is None or not len(model.support_):
        return None
    certifier = evidence.certifier
    try:
        took = min(_seconds(certifier) for _ in range(2))  # the first may have had code to load
    except MercerError:
        return None
    free, support = support_of(fitted, n)
    # Of several classes each machine has two, and support vectors grow with their rows at most.
    growth = n / rows * (support / len(model.support_) if support else n / rows)
    is_full = not certifier.takes_over or growth * certifier.work * max(1.0, d / USUAL_COST) <= SMALL_WORK
    share = 1.0 if is_full else min(1 / taken_over.ONE_IN, taken_over.MOST / n, (1.25 * taken_over.SAMPLE + free) / n)
    return CertificateForecast(took * growth * share, is_full)


def _seconds(certifier: Any) -> float:
    timer = CoreTimer()
    certifier.full()
    return timer.seconds()[0]
