"""A budget and a change of scale, against sums of explicit feature vectors."""

import numpy as np
import pytest

from mercer.solvers.stochastic.pegasos_steps import NORM, SCALE, STEP, SUM, keep_budget, new_clock, rescale

NOW = 9.0


def residual(features, j, o):
    """What is left of a feature vector beside the multiple of another that is nearest to it."""
    multiple = np.linalg.lstsq(features[[o]].T, features[j])[0][0]
    return float(np.sum((features[j] - multiple * features[o]) ** 2)), multiple


def removed(features, beta, ages, merging):
    """The item that is given up, and the one that takes its place with a multiple, if there is one."""
    held = np.flatnonzero(beta)
    older = [j for j in held if ages[j] != NOW] or list(held)
    sizes = {j: (np.sum((beta[j] * features[j]) ** 2), ages[j]) for j in older}
    least = min(sizes, key=sizes.get)
    if not merging:
        return least, None, 0.0
    near = {j: min((*residual(features, j, o), o) for o in held if o != j) for j in held}
    losses = {j: beta[j] ** 2 * near[j][0] for j in (least, *(j for j in held if ages[j] == NOW))}
    gone = min(losses, key=losses.get)
    return gone, near[gone][2], near[gone][1]


@pytest.mark.parametrize("merging", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_over_its_budget_an_expansion_gives_up_what_it_needs_least(seed, merging):
    rng = np.random.default_rng(seed)
    items = rng.permutation(10)[:7]
    features, beta, sums, ages = np.zeros((10, 4)), np.zeros(10), np.zeros(10), np.zeros(10)
    features[items] = rng.normal(size=(7, 4)) * rng.uniform(0.5, 2.0, (7, 1))
    beta[items[:-1]], sums[items[:-1]] = rng.normal(size=6), rng.normal(size=6)
    ages[items] = rng.choice([1.0, 2.0, 3.0, NOW], 7)
    theta = beta @ features
    found, found_sums, clock = beta.copy(), sums.copy(), new_clock()
    clock[STEP], clock[NORM] = NOW + 1.0, theta @ theta
    values = features[items] @ theta
    G = features[items] @ features[items].T
    keep_budget(G, items, clock, found, found_sums, values, ages, 3, merging)
    for _ in range(3):
        gone, partner, multiple = removed(features, beta, ages, merging)
        for each in (beta, sums):
            if partner is not None:
                each[partner] += multiple * each[gone]
            each[gone] = 0.0
    np.testing.assert_allclose(found, beta, atol=1e-12)
    np.testing.assert_allclose(found_sums, sums, atol=1e-12)
    np.testing.assert_allclose(values, features[items] @ (beta @ features), atol=1e-12)
    assert clock[NORM] == pytest.approx(np.sum((beta @ features) ** 2))


def test_of_equally_small_items_the_oldest_goes_and_one_of_this_step_last():
    G, pool = np.eye(4), np.arange(4)
    ages = np.array([5.0, 2.0, NOW, 3.0])
    clock, order = new_clock(), []
    clock[STEP] = NOW + 1.0
    for budget in (3, 2, 1, 0):
        beta = np.array([-1.0, 1.0, 0.5, 1.0])
        keep_budget(G, pool, clock, beta, np.zeros(4), np.zeros(4), ages, budget, False)
        order.append(set(np.flatnonzero(beta == 0.0)))
    assert order == [{1}, {1, 3}, {0, 1, 3}, {0, 1, 2, 3}]


def test_an_item_without_another_to_merge_into_is_removed():
    beta, values = np.array([2.0, 0.0, 3.0]), np.zeros(3)
    G = np.diag([1.0, 1.0, 0.0])  # the last item is zero in feature space: nothing is a multiple of it
    keep_budget(G, np.arange(3), new_clock(), beta, np.ones(3), values, np.zeros(3), 0, True)
    assert not beta.any()


def test_a_scale_multiplied_into_theta_leaves_the_weights_and_the_sum_of_iterates(rng):
    theta, sums, clock = rng.normal(size=5), rng.normal(size=5), new_clock()
    clock[STEP], clock[SCALE], clock[SUM], clock[NORM] = 8.0, 0.25, 3.0, theta @ theta
    weights, iterates = clock[SCALE] * theta, clock[SUM] * theta - sums
    rescale(clock, theta, sums)
    np.testing.assert_allclose(clock[SCALE] * theta, weights)
    np.testing.assert_allclose(clock[SUM] * theta - sums, iterates)
    np.testing.assert_allclose([clock[NORM], clock[SCALE], clock[STEP]], [theta @ theta, 1.0, 8.0])
