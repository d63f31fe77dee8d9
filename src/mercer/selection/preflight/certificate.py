"""How long the certificate of a fit will take, and what it will be based on."""

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
    """Seconds for a certificate, and whether it is recomputed from scratch when it is read, or computed by `fit`."""

    seconds: float
    is_full: bool

    def __str__(self) -> str:
        if self.is_full:
            return f"the certificate takes {self.seconds:.2g} s when it is read"
        return f"the certificate is {self.seconds:.2g} s of that, with values reused from the solver"


def forecast(n: int, d: int, fitted: Sequence[tuple[int, Any]]) -> CertificateForecast | None:
    """From the last sample's certificate; None if a model has none, or its dual is not in signed form."""
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
    # With several classes each machine has two of them, and support vectors grow at most with their rows.
    growth = n / rows * (support / len(model.support_) if support else n / rows)
    is_full = not certifier.takes_over or growth * certifier.work * max(1.0, d / USUAL_COST) <= SMALL_WORK
    share = 1.0 if is_full else min(1 / taken_over.ONE_IN, taken_over.MOST / n, (1.25 * taken_over.SAMPLE + free) / n)
    return CertificateForecast(took * growth * share, is_full)


def _seconds(certifier: Any) -> float:
    timer = CoreTimer()
    certifier.full()
    return timer.seconds()[0]
