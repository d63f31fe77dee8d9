"""What each family of estimators has to answer for, given the oracle's kernel matrix.

A judge takes a problem and its fitted model and yields sentences, one for each thing that is wrong. A model that did
not end OPTIMAL promises nothing about its conditions, but predicts what its coefficients say all the same.
"""

import numpy as np

from mercer import Status
from tests.campaign.functions import Machine, machines, row_weights
from tests.oracles import exact_conditions as conditions
from tests.oracles.exact_kernels import LONG

# Of a coefficient, relative to its box; of sums, relative to their terms.
FEASIBLE = 1e-10
# A squared norm below this share of what its coefficients could make it is rounding.
NOTHING = 1e-13
# A margin of less than so many tolerances may be told to be zero.
UNRESOLVED = 10.0
# A border that belongs to the inside is moved out by so much of its size (docs/svm_forms.md).
BORDER = 3e-10


def _tolerance(model):
    return model.tol


def _feasible(box, beta, what):
    ends = np.abs(np.concatenate([box.lower, box.upper, beta]))
    outside, size = box.outside(beta), float(ends[np.isfinite(ends)].max(initial=0.0))
    if outside > FEASIBLE * size:
        yield f"{what}: coefficients leave their box by {outside:.1e}, its largest end is {size:.1e}"


def _sum(beta, total, what, largest=0.0):
    excess, size = abs(float(np.sum(beta.astype(LONG))) - total), float(np.abs(beta).sum())
    if excess > FEASIBLE * max(size, abs(total), largest):
        yield f"{what}: coefficients sum to {total + excess:.6g} instead of {total:.6g}"


def _kkt(box, beta, f, doubt, tol, what):
    violation = box.violation(beta, f)
    allowed = tol + 2.0 * float(np.max(doubt, initial=0.0))
    if not violation <= allowed:
        yield f"{what}: OPTIMAL but violated by {violation:.2e}, tol {tol:.1e}, rounding {allowed - tol:.1e}"


def _bias(kind, beta, intercept, what, largest=0.0):
    if kind == "free":
        yield from _sum(beta, 0.0, what, largest)
    wanted = {"penalized": float(beta.sum()), "none": 0.0}.get(kind, intercept)
    if abs(wanted - intercept) > FEASIBLE * max(float(np.abs(beta).sum()), 1e-300):
        yield f"{what}: the intercept is {intercept:.6g}, {kind} makes it {wanted:.6g}"


def _class_weights(problem, model):
    """C_i over C, from classes and rows."""
    found = row_weights(problem)
    if model.get_params().get("class_weight") == "balanced":
        codes = np.searchsorted(model.classes_, problem.y)
        # scikit-learn's rule: rows are counted, whatever they weigh.
        shares = np.bincount(codes)
        found = found * (len(codes) / (len(shares) * shares))[codes]
    return found


def _optimal(model):
    return model.status_ == Status.OPTIMAL


def _is_by_gap(model):
    return model.get_params().get("gap_tol") is not None


def margins(problem, model):
    """SVC, and KernelMachine with its losses."""
    if model.get_params().get("multi_class") == "crammer_singer" and len(model.classes_) > 2:
        yield from crammer_singer(problem, model)
        return
    factor = 2.0 if model.get_params().get("multi_class") == "crammer_singer" else 1.0
    C = factor * model.C * _class_weights(problem, model)
    for machine in machines(problem, model):
        yield from _margin(machine, C[machine.indices], model.loss, model.bias, model)


def _margin(machine, C, loss, bias, model):
    used = C > 0
    part = machine.only(used)
    box = conditions.hinge(part.signs, C[used], loss)
    yield from _feasible(box, part.beta, machine.name)
    yield from _bias(bias, part.beta, part.intercept, machine.name, float(C.max()))
    if not (_optimal(model) and not _is_by_gap(model)):
        return
    yield from _kkt(box, part.beta, part.f, part.rounding, model.tol, machine.name)


def crammer_singer(problem, model):
    """All classes together: one coefficient for each row and class, of sum zero over the classes."""
    C = model.C * _class_weights(problem, model)
    used, beta = C > 0, Machine.table(problem, model)
    is_own = np.searchsorted(model.classes_, problem.y)[:, None] == np.arange(len(model.classes_))
    upper = np.where(is_own, C[:, None], 0.0)
    size = float(np.abs(beta).max(initial=0.0))
    worst = max(float(np.abs(beta.sum(axis=1)).max()), float((beta - upper).max()))
    if worst > FEASIBLE * size:
        yield f"coefficients of all classes leave their box or sum by {worst:.1e}, the largest is {size:.1e}"
    if not _optimal(model) or _is_by_gap(model):
        return
    parts = list(machines(problem, model))
    scores = np.stack([part.f for part in parts], axis=1) + ~is_own
    rounding = float(np.max([part.rounding[used] for part in parts]))
    # Of the classes whose coefficient may rise, the lowest score must not be below the highest of all.
    lowest = np.where(beta < upper - conditions.AT_END * C[:, None], scores, np.inf).min(axis=1)
    violation = float((scores.max(axis=1) - lowest)[used].max())
    if not violation <= model.tol + 4.0 * rounding:
        yield f"OPTIMAL but violated by {violation:.2e}, tol {model.tol:.1e}, rounding {rounding:.1e}"


def kernel_machine(problem, model):
    """Any loss: of the margin, or of the residual."""
    scale = 0.5 / model.alpha * row_weights(problem)
    for machine in machines(problem, model):
        C = scale[machine.indices]
        if hasattr(model, "classes_") and "hinge" in model.loss:
            yield from _margin(machine, C, model.loss, model.bias, model)
            continue
        used = C > 0
        part = machine.only(used)
        if hasattr(model, "classes_"):
            z = part.signs * part.f
            slope = 1 / (1 + np.exp(z)) if model.loss == "logistic" else np.exp(-z)
            response = C[used] * part.signs * slope
            yield from _response(part, response, C[used], model, machine.name)
        else:
            box = conditions.residual(problem.y[machine.indices][used], C[used], model.loss)
            yield from _feasible(box, part.beta, machine.name)
            yield from _bias(model.bias, part.beta, part.intercept, machine.name, float(C.max()))
            if _optimal(model):
                yield from _kkt(box, part.beta, part.f, part.rounding, model.tol, machine.name)


def _response(part, response, C, model, what):
    """Coefficients beside what a smooth loss asks for, as a share of C."""
    if not _optimal(model) or _is_by_gap(model):
        return
    excess = np.abs(part.beta - response) / C
    slope = np.maximum(1.0, np.asarray(np.abs(response) / C, float))
    allowed = model.tol + 4.0 * float(np.max(part.rounding * slope)) + 1e-14
    if not float(excess.max()) <= allowed:
        yield f"{what}: OPTIMAL but coefficients are {float(excess.max()):.2e} C off, allowed {allowed:.1e}"


def logistic(problem, model):
    """Two classes or more."""
    C = model.C * _class_weights(problem, model)
    found = list(machines(problem, model))
    used = C > 0
    parts = [machine.only(used) for machine in found]
    if len(parts) == 1:
        (part,) = parts
        response = C[used] * part.signs / (1 + np.exp(part.signs * part.f))
        yield from _response(part, response, C[used], model, "logistic")
        return
    f = np.stack([part.f for part in parts], axis=1)
    odds = np.exp(f - f.max(axis=1, keepdims=True))
    shares = odds / odds.sum(axis=1, keepdims=True)
    for k, part in enumerate(parts):
        response = C[used] * ((part.signs > 0) - shares[:, k])
        yield from _response(part, response, C[used], model, f"softmax, class {k}")


def svr(problem, model):
    """The tube that is given."""
    yield from _tube(problem, model, model.epsilon, model.bias)


def _tube(problem, model, epsilon, bias):
    (machine,) = machines(problem, model)
    C = model.C * row_weights(problem)
    used = C > 0
    part, box = machine.only(used), conditions.tube(problem.y[used], C[used], epsilon)
    yield from _feasible(box, part.beta, "tube")
    yield from _bias(bias, part.beta, part.intercept, "tube", float(C.max()))
    if _optimal(model):
        yield from _kkt(box, part.beta, part.f, part.rounding, model.tol, "tube")


def nu_svr(problem, model):
    """The tube that is found: as SVR's with it, and coefficients of a size that nu gives."""
    yield from _tube(problem, model, model.epsilon_, "free")
    total = model.nu * float((model.C * row_weights(problem)).sum())
    size = float(np.abs(model.dual_coef_).sum())
    if size > total * (1.0 + 1e-9):
        yield f"sizes of coefficients sum to {size:.6g}, nu allows {total:.6g}"


def is_nothing(problem, machine):
    """Whether w is as short as rounding: of a matrix given in single precision, its square may be negative."""
    K = problem.K[np.ix_(machine.indices, machine.indices)]
    reach = np.abs(machine.beta) @ np.sqrt(np.maximum(np.diagonal(K), 0.0))
    return bool(machine.beta @ (K @ machine.beta) <= NOTHING * reach**2)


def nu_svc(problem, model):
    """Divided by the margin: rho comes back from the sum of coefficients."""
    if len(model.classes_) > 2 or not _optimal(model):
        return
    (machine,) = machines(problem, model)
    weights = row_weights(problem)
    used = weights > 0
    part, total = machine.only(used), model.nu * float(weights.sum())
    size = float(np.abs(part.beta).sum())
    if size == 0.0:
        yield "no coefficient at all"
        return
    if problem.is_told_zero and is_nothing(problem, machine):
        return
    # The sum of coefficients is `total` before they are divided by rho; by 1 where a fit says that there is no margin.
    rho = total / size
    margin = 0.0 if problem.is_told_zero and abs(rho - 1.0) < FEASIBLE else 1.0
    # Divided and multiplied again, a coefficient at its bound is there but for rounding.
    reach = weights[used] / rho * (1.0 - 1e-9)
    ends = part.signs * reach
    box = conditions.Box(margin * part.signs, np.minimum(ends, 0.0), np.maximum(ends, 0.0))
    # A margin that is told to be zero is not known to be more than UNRESOLVED tolerances.
    tol = model.tol / rho if margin else (1.0 + UNRESOLVED) * model.tol
    yield from _kkt(box, part.beta, part.f, part.rounding, tol + 1e-9, "nu")


def one_class(problem, model):
    """A half-space."""
    (machine,) = machines(problem, model)
    weights = row_weights(problem)
    used = weights > 0
    part, upper = machine.only(used), weights[used]
    box = conditions.Box(np.zeros(len(upper)), np.zeros(len(upper)), upper)
    yield from _feasible(box, part.beta, "half-space")
    yield from _sum(part.beta, model.nu * float(weights.sum()), "half-space")
    if _optimal(model):
        moved = BORDER * abs(part.intercept)
        yield from _kkt(box, part.beta, part.f, part.rounding + moved, model.tol, "half-space")


def ball(problem, model):
    """A ball around most of the rows."""
    (machine,) = machines(problem, model)
    weights = row_weights(problem)
    used = weights > 0
    total = model.nu * float(weights.sum())
    upper = np.minimum(weights[used] / total if total > 0 else 1.0, 1.0) * np.ones(int(used.sum()))
    diagonal = np.diagonal(problem.K)[used]
    part, box = machine.only(used), conditions.Box(0.5 * diagonal, np.zeros(len(upper)), upper)
    yield from _feasible(box, part.beta, "ball")
    yield from _sum(part.beta, 1.0, "ball")
    if _optimal(model):
        own = conditions.EPS * (np.diagonal(problem.doubt)[used] + 8.0 * np.abs(np.asarray(diagonal, float)))
        moved = BORDER * float(np.abs(diagonal).max(initial=0.0))
        yield from _kkt(box, part.beta, part.f, part.rounding + own + moved, model.tol, "ball")


def hard_margin(problem, model):
    """Every row beyond the margin, and those with a coefficient at it."""
    for machine in machines(problem, model):
        ends = machine.signs * np.inf
        box = conditions.Box(machine.signs, np.minimum(ends, 0.0), np.maximum(ends, 0.0))
        yield from _feasible(box, machine.beta, machine.name)
        if _optimal(model):
            yield from _kkt(box, machine.beta, machine.f, machine.rounding, model.tol, machine.name)


def ramp(problem, model):
    """A stationary point: outliers have the box turned round, and margins on their side of s."""
    C = model.C * _class_weights(problem, model)
    outliers = model.outliers_ if isinstance(model.outliers_, list) else [model.outliers_]
    for machine, out in zip(machines(problem, model), outliers, strict=True):
        own = C[machine.indices]
        used = own > 0
        is_out = np.isin(machine.indices, out)[used]
        part = machine.only(used)
        reach = np.where(is_out, -1.0, 1.0) * part.signs * own[used]
        box = conditions.Box(part.signs, np.minimum(reach, 0.0), np.maximum(reach, 0.0))
        yield from _feasible(box, part.beta, machine.name)
        yield from _bias(model.bias, part.beta, part.intercept, machine.name, float(own.max()))
        if not _optimal(model):
            continue
        yield from _kkt(box, part.beta, part.f, part.rounding, model.tol, machine.name)
        beyond = np.where(is_out, part.signs * part.f - model.s, model.s - part.signs * part.f)
        if not float(beyond.max()) <= model.tol + 2.0 * float(part.rounding.max()):
            yield f"{machine.name}: OPTIMAL but a margin is {float(beyond.max()):.2e} on the wrong side of s"


def ridge(problem, model):
    """The normal equations, relative to the targets as the certificate has them."""
    weights = row_weights(problem)
    root = np.sqrt(weights)
    beta = np.asarray(model.dual_coef_, float)
    used = weights > 0
    f = (problem.K @ beta.astype(LONG))[used]
    penalty = model.alpha_ + model.jitter_
    residual = root[used] * (problem.y[used] - f) - penalty * beta[used] / root[used]
    doubt = root[used] * conditions.rounding(beta, problem.doubt[used], problem.K[used])
    size = float(np.linalg.norm(root[used] * problem.y[used])) or 1.0
    share = float(np.sqrt((residual**2).sum())) / size
    if _optimal(model) and not share <= model.tol + 2.0 * float(np.linalg.norm(doubt)) / size:
        yield f"OPTIMAL but the normal equations are {share:.2e} off, tol {model.tol:.1e}"


def ranking(problem, model):
    """The objective over all pairs, beside that of the certificate."""
    weights = row_weights(problem)
    (machine,) = machines(problem, model)
    f, y = machine.f, problem.y
    shortfall = np.maximum(0, 1 - (f[:, None] - f[None, :]))
    pairs = np.where(y[:, None] > y[None, :], weights[:, None] * weights[None, :], 0.0)
    pairs[:, weights <= 0] = 0.0
    losses = float((pairs * (shortfall if model.loss == "hinge" else shortfall**2)).sum())
    primal = 0.5 * float(machine.beta @ f) + model.C * losses
    told = model.certificate_.primal
    slope = model.C * float((pairs * (1.0 if model.loss == "hinge" else 2.0 * shortfall)).sum())
    unsure = float(machine.rounding.max(initial=0.0)) + 4.0 * conditions.EPS * float(np.abs(f).max(initial=0.0))
    doubt = 2.0 * unsure * (slope + float(np.abs(machine.beta).sum()))
    if _optimal(model) and abs(primal - told) > 1e-8 * abs(primal) + doubt:
        yield f"the certificate's primal is {told:.10g}, recomputed {primal:.10g}"


def spectral(problem, model):
    """Components are eigenvectors of the (centred) matrix."""
    K = problem.K
    centred = problem.name == "KernelPCA"
    if centred:
        means = K.mean(axis=0)
        K = K - means[None, :] - means[:, None] + means.mean()
    values = model.eigenvalues_ if centred else model.singular_values_**2
    vectors = model.eigenvectors_ if centred else model.left_singular_vectors_
    largest = float(np.abs(np.linalg.eigvalsh(np.asarray(K, float))).max(initial=0.0))
    residual = np.asarray(K @ vectors.astype(LONG) - vectors * values, float)
    doubt = conditions.EPS * float((problem.doubt + 16.0 * np.abs(np.asarray(problem.K, float))).sum(axis=1).max())
    worst = float(np.abs(residual).max(initial=0.0))
    if _optimal(model) and worst > 1e-8 * largest + 4.0 * doubt:
        yield f"OPTIMAL but an eigenpair is {worst:.2e} off, the largest value is {largest:.2e}"


def separated(problem, model):
    """A perceptron that found an end has no row on the wrong side."""
    if model.method == "averaged" or not _optimal(model):
        return
    if (model.predict(problem.X) != problem.y).any():
        yield "OPTIMAL, and a training row is on the wrong side"


def density(problem, model):
    """The logarithm of a sum of kernels, in long double."""
    weights = row_weights(problem)
    A, B = problem.items[1] / LONG(model.bandwidth), problem.items[0][weights > 0] / LONG(model.bandwidth)
    square = sum((A[:, k, None] - B[None, :, k]) ** 2 for k in range(A.shape[1]))
    r = np.sqrt(square)
    inside = r < 1
    shape = {
        "gaussian": np.exp(-square / 2),
        "exponential": np.exp(-r),
        "tophat": np.where(inside, 1, 0),
        "epanechnikov": np.where(inside, 1 - square, 0),
        "linear": np.where(inside, 1 - r, 0),
        "cosine": np.where(inside, np.cos(np.pi * r / 2), 0),
    }[model.kernel]
    total = shape @ weights[weights > 0].astype(LONG)
    told = model.score_samples(problem.new)
    sizes = np.asarray((A**2).sum(axis=1), float) + float((B**2).sum(axis=1).max())
    doubt = 64.0 * problem.eps * (1.0 + A.shape[1]) * (1.0 + sizes)
    if model.kernel in ("linear", "exponential"):
        # Functions of r itself: a square s that is off by d has a root that is off by min(d / sqrt(s), sqrt(d)).
        least = np.asarray(r.min(axis=1), float)
        doubt = np.maximum(doubt, doubt / np.maximum(least, np.sqrt(doubt)))
    # A density that is next to nothing, or a row at the edge of a window, is a matter of rounding.
    clear = (total > 1e-280) & (np.abs(r - 1).min(axis=1) > 10.0 * doubt) & (doubt < 1e-3)
    off = np.abs(told - (np.log(np.where(clear, total, 1)) - LONG(model.log_normalizer_)))
    smallest = np.asarray(np.where(shape > 0, shape, np.inf).min(axis=1), float)
    allowed = doubt / np.minimum(1.0, smallest) + 1e-12 * abs(model.log_normalizer_)
    if (off > allowed)[clear].any():
        yield f"a log density is {float((off - allowed)[clear].max()):.2e} off"


JUDGES = {
    "SVCCV": margins,
    "SVRCV": svr,
    "MKLClassifier": margins,
    "MKLRegressor": svr,
    "MKLOneClassSVM": one_class,
    "Perceptron": separated,
    "KernelPerceptron": separated,
    "KernelDensity": density,
    "SVC": margins,
    "KernelMachine": kernel_machine,
    "KernelLogisticRegression": logistic,
    "SVR": svr,
    "NuSVR": nu_svr,
    "NuSVC": nu_svc,
    "OneClassSVM": one_class,
    "SVDD": ball,
    "HardMarginSVC": hard_margin,
    "RampSVC": ramp,
    "KernelRidge": ridge,
    "RankSVM": ranking,
    "KernelPCA": spectral,
    "KernelSVD": spectral,
}
