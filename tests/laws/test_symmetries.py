"""What may be done to the data without changing the machine."""

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import ortho_group

from mercer.kernels import RBF
from tests.laws.two_class import assert_same_machine, law, problems

GAUSSIAN = st.just(RBF(0.3))


@law(problems(), st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(problem, random):
    order = list(range(len(problem.y)))
    random.shuffle(order)
    model = problem.fit()
    shuffled = problem.replace(X=problem.X[order], y=problem.y[order], weight=problem.weight[order]).fit()
    shuffled.support_, shuffled.bounds_ = np.array(order)[shuffled.support_], model.bounds_
    assert_same_machine(model, shuffled, problem.X, problem.X, problem.kernel)


@law(problems(), st.data())
def test_a_row_twice_is_a_row_of_weight_two(problem, data):
    i = data.draw(st.integers(0, len(problem.y) - 1))
    repeated = problem.replace(
        X=np.vstack([problem.X, problem.X[i]]),
        y=np.append(problem.y, problem.y[i]),
        weight=np.append(problem.weight, problem.weight[i]),
    )
    heavier = problem.replace(weight=problem.weight * np.where(np.arange(len(problem.y)) == i, 2.0, 1.0))
    assert_same_machine(heavier.fit(), repeated.fit(), problem.X, problem.X, problem.kernel)


@law(problems())
def test_swapping_the_labels_flips_the_sign(problem):
    swapped = problem.replace(y=-problem.y)
    assert_same_machine(problem.fit(), swapped.fit(), problem.X, problem.X, problem.kernel, sign=-1.0)


@law(problems(kernels=GAUSSIAN), st.integers(0, 2**32 - 1))
def test_the_gaussian_machine_turns_with_the_data(problem, seed):
    d = problem.X.shape[1]
    turn = ortho_group.rvs(d, random_state=seed) if d > 1 else -np.eye(1)
    turned = problem.replace(X=problem.X @ turn)
    assert_same_machine(problem.fit(), turned.fit(), problem.X, turned.X, problem.kernel)


@law(problems(kernels=GAUSSIAN), st.floats(-1e3, 1e3))
def test_the_gaussian_machine_moves_with_the_data(problem, shift):
    moved = problem.replace(X=problem.X + shift)
    assert_same_machine(problem.fit(), moved.fit(), problem.X, moved.X, problem.kernel)


@law(problems(kernels=GAUSSIAN), st.sampled_from([1e-3, 0.3, 7.0, 1e3]))
def test_the_width_of_a_gaussian_scales_with_the_data(problem, scale):
    scaled = problem.replace(X=scale * problem.X, kernel=RBF(0.3 / scale**2))
    assert_same_machine(problem.fit(), scaled.fit(), problem.X, scaled.X, problem.kernel)


@law(problems(), st.sampled_from([sparse.csr_matrix, sparse.csr_array]))
def test_sparse_rows_are_rows(problem, layout):
    spread = problem.replace(X=layout(problem.X))
    model = spread.fit()
    model.dual_coef_ = model.dual_coef_.toarray()
    assert_same_machine(problem.fit(), model, problem.X, spread.X.toarray(), problem.kernel)


@law(problems())
def test_a_point_that_supports_nothing_may_be_left_out(problem):
    model = problem.fit()
    kept = np.zeros(len(problem.y), dtype=bool)
    kept[model.support_] = True
    if len(set(problem.y[kept])) < 2:
        return
    alone = problem.replace(X=problem.X[kept], y=problem.y[kept], weight=problem.weight[kept])
    assert_same_machine(model, alone.fit(), problem.X, problem.X, problem.kernel)
