"""What may be done to the data of a linear machine without changing it.

With an L2 penalty a machine whose gap is g has weights (the penalised bias among them) within sqrt(2 g) of the
best ones, so two machines for one problem differ by no more than their certificates allow. With an
L1 penalty the weights need not be unique, and objectives are compared.
"""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from mercer import LinearSVC, LinearSVR
from tests.laws.two_class import law

TOL = 1e-9
# Sums in another order differ by this share.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Linear:
    """A problem and its parameters, ready to fit."""

    X: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    C: float
    loss: str
    bias: str
    parameters: tuple = ()

    def fit(self):
        kind = LinearSVR if "epsilon" in self.loss else LinearSVC
        model = kind(C=self.C, loss=self.loss, bias=self.bias, tol=TOL, max_iter=-1, **dict(self.parameters))
        return model.fit(self.X, self.y, self.weight)

    def replace(self, **changes):
        return replace(self, **changes)


@st.composite
def problems(draw, losses=("hinge", "squared_hinge"), biases=("penalized", "free", "none")):
    """Rows of small multiples of a quarter: ties and repeated rows are common."""
    n, d = draw(st.integers(4, 12)), draw(st.integers(1, 4))
    quarters = st.lists(st.integers(-12, 12), min_size=n * d, max_size=n * d)
    X = np.array(draw(quarters), dtype=np.float64).reshape(n, d) / 4
    if "epsilon" in losses[0]:
        y = np.array(draw(st.lists(st.integers(-8, 8), min_size=n, max_size=n)), dtype=np.float64) / 4
    else:
        y = np.array([1, -1, *draw(st.lists(st.sampled_from([-1, 1]), min_size=n - 2, max_size=n - 2))])
    weight = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    C, loss, bias = (draw(st.sampled_from(values)) for values in ((0.1, 1.0, 10.0), losses, biases))
    return Linear(X, y, weight, C, loss, bias)


TUBES = ("epsilon_insensitive", "squared_epsilon_insensitive")


def known_gap(model):
    """A gap is the difference of two sums, and no smaller than what they are rounded to."""
    certificate = model.certificate_
    return max(certificate.gap, 4 * np.finfo(float).eps * abs(certificate.primal))


def assert_same_machine(one, other, factor=1.0):
    """The weights of `one` are `factor` times those of `other`, as far as their gaps can tell."""
    reach = np.sqrt(2 * known_gap(one)) + abs(factor) * np.sqrt(2 * known_gap(other))
    w, v = one.coef_.ravel(), factor * other.coef_.ravel()
    assert np.linalg.norm(w - v) <= reach + ROUNDING * (1.0 + np.abs(w).sum())


def assert_same_objective(one, other):
    """Each objective is within the two gaps of the other."""
    a, b = one.certificate_, other.certificate_
    assert abs(a.primal - b.primal) <= abs(a.gap) + abs(b.gap) + ROUNDING * (1.0 + abs(a.primal))


@law(problems(), st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(problem, random):
    order = list(range(len(problem.y)))
    random.shuffle(order)
    shuffled = problem.replace(X=problem.X[order], y=problem.y[order], weight=problem.weight[order])
    assert_same_machine(problem.fit(), shuffled.fit())


@law(problems(), st.data())
def test_a_row_twice_is_a_row_of_weight_two(problem, data):
    i = data.draw(st.integers(0, len(problem.y) - 1))
    again = [*range(len(problem.y)), i]
    repeated = problem.replace(X=problem.X[again], y=problem.y[again], weight=problem.weight[again])
    heavier = problem.replace(weight=problem.weight * np.where(np.arange(len(problem.y)) == i, 2.0, 1.0))
    assert_same_machine(heavier.fit(), repeated.fit())


@law(problems())
def test_swapping_the_labels_flips_the_sign(problem):
    assert_same_machine(problem.fit(), problem.replace(y=-problem.y).fit(), factor=-1.0)


@law(problems(), st.sampled_from([0.25, 3.0]))
def test_weights_and_C_multiply(problem, factor):
    scaled = problem.replace(C=problem.C / factor, weight=factor * problem.weight)
    assert_same_machine(problem.fit(), scaled.fit())


@law(problems(), st.sampled_from([1e-2, 0.5, 8.0]))
def test_C_scales_with_the_square_of_the_data(problem, factor):
    """a X with C / a^2 has the same function; the constant feature of a penalised bias grows with the others."""
    scaling = () if problem.bias != "penalized" else (("intercept_scaling", factor),)
    scaled = problem.replace(X=factor * problem.X, C=problem.C / factor**2, parameters=scaling)
    assert_same_machine(problem.fit(), scaled.fit(), factor=factor)


@law(problems(), st.sampled_from([(np.int32, np.float64), (np.int64, np.float32)]))
def test_every_form_of_the_rows_is_the_same_problem(problem, form):
    """Quarters are exact in single precision, so nothing is lost there."""
    index, value = form
    X = sparse.csr_matrix(problem.X.astype(value))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    model = problem.fit()
    assert_same_machine(model, problem.replace(X=X).fit())
    assert_same_machine(model, problem.replace(X=problem.X.astype(value)).fit())


@law(problems(), st.sampled_from(["dual_cd", "newton"]))
def test_the_solvers_agree(problem, solver):
    # Coordinate descent needs too many passes where C is large and rows repeat.
    gentle = problem.replace(C=min(problem.C, 1.0), loss="squared_hinge")
    assert_same_machine(gentle.fit(), gentle.replace(parameters=(("solver", solver),)).fit())


@law(problems(losses=("squared_hinge",), biases=("penalized", "none")), st.randoms(use_true_random=False))
def test_an_l1_penalty_does_not_see_order_signs_or_copies(problem, random):
    order = list(range(len(problem.y)))
    random.shuffle(order)
    sparse_one = problem.replace(parameters=(("penalty", "l1"),))
    model = sparse_one.fit()
    shuffled = sparse_one.replace(X=problem.X[order], y=-problem.y[order], weight=problem.weight[order])
    assert_same_objective(model, shuffled.fit())
    twice = sparse_one.replace(
        X=np.vstack([problem.X, problem.X]), y=np.tile(problem.y, 2), weight=np.tile(problem.weight / 2, 2)
    )
    assert_same_objective(model, twice.fit())


@law(problems(biases=("penalized", "none")), st.permutations(range(3)), st.randoms(use_true_random=False))
def test_crammer_and_singer_do_not_see_names_of_classes_or_copies(problem, names, random):
    y = np.concatenate([[0, 1, 2], [random.randrange(3) for _ in problem.y[3:]]])
    together = problem.replace(y=y, loss="hinge", parameters=(("multi_class", "crammer_singer"),))
    model = together.fit()
    renamed = together.replace(y=np.array(names)[y]).fit()
    renamed.coef_ = renamed.coef_[list(names)]
    assert_same_machine(model, renamed)
    twice = together.replace(
        X=np.vstack([problem.X, problem.X]), y=np.tile(y, 2), weight=np.tile(problem.weight / 2, 2)
    )
    assert_same_machine(model, twice.fit())


@law(problems(losses=TUBES), st.randoms(use_true_random=False))
def test_a_regression_does_not_see_order_or_copies(problem, random):
    order = list(range(len(problem.y)))
    random.shuffle(order)
    narrow = problem.replace(parameters=(("epsilon", 0.25),))
    model = narrow.fit()
    shuffled = narrow.replace(X=problem.X[order], y=problem.y[order], weight=problem.weight[order])
    assert_same_machine(model, shuffled.fit())
    twice = narrow.replace(
        X=np.vstack([problem.X, problem.X]), y=np.tile(problem.y, 2), weight=np.tile(problem.weight / 2, 2)
    )
    assert_same_machine(model, twice.fit())
    assert_same_machine(model, narrow.replace(y=-problem.y).fit(), factor=-1.0)


@law(problems(losses=TUBES), st.sampled_from([0.5, 4.0]))
def test_a_regression_scales_with_its_targets(problem, factor):
    """a y with a epsilon: the loss grows like a, its square like a^2, and the penalty like a^2."""
    C = problem.C * factor if problem.loss == "epsilon_insensitive" else problem.C
    wide = problem.replace(parameters=(("epsilon", 0.25),))
    scaled = wide.replace(y=factor * problem.y, C=C, parameters=(("epsilon", 0.25 * factor),))
    assert_same_machine(scaled.fit(), wide.fit(), factor=factor)


@law(problems(losses=TUBES, biases=("free",)), st.sampled_from([-3.0, 0.5]))
def test_a_free_bias_moves_with_the_targets(problem, shift):
    assert_same_machine(problem.fit(), problem.replace(y=problem.y + shift).fit())
