"""One problem: fitted, watched, judged."""

import tempfile
import traceback
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import MercerError, Status
from tests.campaign import in_blocks, peers, predictions, refusals, since
from tests.campaign.judges import JUDGES
from tests.campaign.problems import draw

PEERS = {"SVC": peers.libsvm, "LinearSVC": peers.linear, "LinearSVR": peers.linear}
# Every so many problems, a model is also saved and loaded.
SAVED = 20


@dataclass
class Trial:
    """What became of a seed."""

    seed: int
    name: str
    status: str = ""
    findings: list = field(default_factory=list)
    problem: str = ""

    def as_dict(self):
        """For JSON."""
        return asdict(self)


def run(seed, names=None):
    """Draw the problem of a seed, fit it and judge it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        problem = draw(seed, names)
    trial = Trial(seed, problem.name, problem=problem.summary())
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            model = problem.fitted()
        except MercerError as error:
            trial.status = f"refused: {type(error).__name__}"
            trial.problem += f" -> {error}"
            trial.findings += [f"refusal: {each}" for each in refusals.judge(problem, error)]
            return trial
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            trial.status = "exception"
            trial.findings.append(f"fit raised {_last(error)}")
            return trial
    problem.is_told_zero = any(map(_is_of_nothing, heard))
    trial.status = getattr(model, "status_", Status.OPTIMAL).name
    trial.findings += [f"{kind}: {each}" for kind, each in _judged(problem, model, heard)]
    # Certificates have been read by now.
    if getattr(model, "status_", Status.OPTIMAL).name != trial.status:
        trial.findings.append(f"certificate: {trial.status} became {model.status_.name} when it was read")
    return trial


def _last(error):
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} at {Path(frame.filename).name}:{frame.lineno}: {str(error)[:200]}"


def _judged(problem, model, heard):
    """(kind, sentence) of everything that is wrong."""
    yield from (("warning", each) for each in _warned(model, heard))
    with warnings.catch_warnings(record=True) as later:
        warnings.simplefilter("always")
        with np.errstate(all="ignore"):
            if problem.parts is not None:
                problem.weigh(np.asarray(model.weights_) / np.asarray(model.scales_))
            judged = getattr(model, "best_estimator_", model)
            for kind, judge in _all_judges(problem, model):
                try:
                    yield from ((kind, each) for each in judge(problem, judged))
                except MercerError as error:
                    yield kind, f"refused after the fit: {type(error).__name__}: {str(error)[:200]}"
                except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                    yield kind, f"raised {_last(error)}"
    yield from (("warning", each) for each in _noise(later))
    yield from (("warning", str(each.message)) for each in later if issubclass(each.category, ConvergenceWarning))


def _all_judges(problem, model) -> Iterable:
    yield "certificate", _certificate
    is_known = problem.about not in ("auto", "table") or since.resolve(problem, model)
    if problem.about == "approximation":
        yield "prediction", since.restricted_values
        yield "distance", since.restricted
    elif is_known and problem.name in JUDGES:
        yield "conditions", JUDGES[problem.name]
    if is_known and problem.about != "approximation":
        yield "prediction", predictions.judge
    if problem.about == "conformal":
        yield "conformal", since.conformal
    if problem.about == "blocks":
        yield "blocks", in_blocks.as_in_memory
    if problem.name in PEERS and problem.about in (None, "blocks"):
        yield "peer", PEERS[problem.name]
    if problem.seed % SAVED == 0:
        yield "file", _saved


def _noise(heard):
    """Warnings that are nobody's advice."""
    return [
        f"{each.category.__name__}: {each.message} at {Path(each.filename).name}:{each.lineno}"
        for each in heard
        if each.category in (RuntimeWarning, DeprecationWarning, FutureWarning)
    ]


def _warned(model, heard):
    """A fit warns of an end that is not OPTIMAL, and of no other."""
    yield from _noise(heard)
    told = any(issubclass(each.category, ConvergenceWarning) and not _is_of_nothing(each) for each in heard)
    status = getattr(model, "status_", Status.OPTIMAL)
    if told != (status != Status.OPTIMAL):
        yield f"the status is {status.name}, and a ConvergenceWarning was {'given' if told else 'not given'}"


def _is_of_nothing(each):
    """Whether a warning says that the optimum is w = 0, which is an optimum all the same."""
    return str(each.message).startswith(("the margin is zero", "there is no half-space"))


def _certificate(problem, model):
    """OPTIMAL is what the certificate says, too; and no gap is negative."""
    found = getattr(model, "certificate_", None)
    if found is None:
        return
    options = model.get_params()
    for each in found if isinstance(found, list) else [found]:
        gap = getattr(each, "gap", 0.0)
        if not gap >= 0.0:
            yield f"the gap is {gap:.2e}"
        if model.status_ != Status.OPTIMAL or problem.name in ("PegasosSVC", "Perceptron", "KernelPerceptron"):
            continue
        if problem.about == "approximation" and each.relative_gap <= options["tol"]:
            continue  # over blocks, the gap ends a fit
        if problem.name.startswith(("Linear", "MKL")) or options.get("gap_tol") is not None:
            bound = options.get("gap_tol") or options["tol"]
            if problem.name.startswith("MKL") and model.method not in ("simple", "lp-norm"):
                continue
            if not each.relative_gap <= bound:
                yield f"OPTIMAL beside a relative gap of {each.relative_gap:.2e}, asked for {bound:.1e}"
        elif "tol" in options and problem.name not in ("KernelPCA", "KernelSVD"):
            if not each.is_optimal(options["tol"]):
                yield f"OPTIMAL beside a certificate that denies it: tol {options['tol']:.1e}, {each}"
        elif not each.is_optimal():
            yield f"OPTIMAL beside a certificate that denies it: {each}"


def _saved(problem, model):
    """A model that was saved and loaded gives the same answers, to the last bit."""
    if problem.kernel is not None and problem.kernel.form == "function":  # a table has none
        return
    with tempfile.TemporaryDirectory(prefix="mercer-campaign-") as folder:
        path = Path(folder) / "model.mercer"
        mercer.save(model, path)
        again = mercer.load(path)
    for method in ("decision_function", "predict", "transform", "score_samples"):
        if hasattr(model, method):
            first, second = (np.asarray(getattr(each, method)(problem.new)) for each in (model, again))
            if not np.array_equal(first, second, equal_nan=first.dtype.kind == "f"):
                yield f"{method} of the loaded model differs"
