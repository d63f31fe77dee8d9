"""Every sentence of `consistency`: a model that has one part amiss is refused for that part, and whole it is not."""

import copy

import numpy as np
import pytest
from scipy import sparse

import mercer
from mercer.exchange.model_file.consistency import check_calibration, check_row_perceptron
from mercer.exchange.model_file.registry import kind_of
from mercer.exchange.model_file.rules import Refused
from mercer.solvers.stochastic import pegasos_steps

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
TWO = (X[:, 0] > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.5, 0.5])


def table():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": X[:, 0], "kind": np.where(TWO, "a", "b")})
    return mercer.TableFeatures().fit(frame)


MAKE = {
    "two classes": lambda: mercer.SVC().fit(X, TWO),
    "three classes": lambda: mercer.SVC(probability="isotonic", cache_size=1).fit(X, THREE),
    "precomputed": lambda: mercer.SVC(kernel="precomputed").fit(X @ X.T, TWO),
    "precomputed ridge": lambda: mercer.KernelRidge(kernel="precomputed").fit(X @ X.T, X[:, 0]),
    "regression": lambda: mercer.SVR().fit(X, X[:, 0]),
    "linear": lambda: mercer.LinearSVC().fit(X, THREE),
    "discriminant": lambda: mercer.KernelFisherDiscriminant().fit(X, THREE),
    "components": lambda: mercer.KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X),
    "landmarks": lambda: mercer.Nystroem(n_components=5).fit(X),
    "frequencies": lambda: mercer.RandomFourierFeatures(n_components=6).fit(X),
    "perceptron": lambda: mercer.Perceptron(max_iter=5000).fit(X, TWO),
    "two-class pegasos": lambda: mercer.PegasosSVC(T=50).fit(X, TWO),
    "pegasos": lambda: mercer.PegasosSVC(T=50).fit(X, THREE),
    "kernel pegasos": lambda: mercer.PegasosSVC(T=50, kernel="rbf").fit(X, TWO),
    "search": lambda: mercer.SVCCV([1.0], [0.5], cv=2).fit(X, TWO),
    "linear search": lambda: mercer.LinearCV(mercer.LinearSVC(), Cs=[1.0], cv=2).fit(X, TWO),
    "columns": table,
}


@pytest.fixture(scope="module")
def models():
    return {name: make() for name, make in MAKE.items()}


def without(*names):
    def lose(model):
        for name in names:
            del vars(model)[name]

    return lose


def changed(**values):
    return lambda model: vars(model).update(values)


def within(path, **values):
    """The same in a part of a model."""

    def change(model):
        for name in path.split("."):
            model = model[int(name)] if name.isdigit() else getattr(model, name)
        for name, value in values.items():
            object.__setattr__(model, name, value)

    return change


AMISS = [
    ("two classes", without("dual_coef_"), "must have dual_coef_"),
    ("two classes", without("classes_"), "must have classes_"),
    ("two classes", without("n_features_in_"), "must have n_features_in_"),
    ("two classes", changed(n_features_in_=4), "must have 4 features, has vectors of 3"),
    ("two classes", changed(intercept_=np.zeros(2)), "must have an intercept for each function"),
    ("two classes", changed(support_=np.arange(2)), "must have dual_coef_ of 2 support vectors"),
    ("two classes", changed(shape_fit_=(3, 3)), "has support_ beyond its training data"),
    ("two classes", changed(classes_=np.arange(3)), "must have 3 functions for 3 classes, has 1"),
    ("two classes", changed(classes_=np.arange(1)), "must have 0 functions for 1 classes, has 1"),
    ("two classes", changed(class_weight_=np.ones(3)), "must have a weight for each class"),
    ("two classes", changed(kernel=3), "must have a kernel that is a name, a Kernel or a function"),
    ("two classes", changed(_items=X), "must keep training items only for a function of the caller's"),
    ("two classes", changed(kernel=mercer.kernels.Spectrum(2)), "must have been fitted with its kernel"),
    ("three classes", within("_calibration", maps=[]), "must have a calibration for each function"),
    ("three classes", within("_calibration", n_classes=2), "must have a calibration of 3 classes"),
    ("three classes", within("_calibration", has_pairs=False), "must have a calibration of its own two-class problems"),
    ("precomputed", changed(shape_fit_=(2, 40)), "must have support vectors among 2 training items"),
    ("precomputed ridge", changed(n_features_in_=2), "must have support vectors among 2 training items"),
    ("regression", changed(intercept_=np.zeros(0)), "must have an intercept for each function"),
    ("linear", changed(n_features_in_=2), "must have 2 weights, has 3"),
    ("linear", changed(intercept_=np.zeros(2)), "must have an intercept for each function"),
    ("perceptron", within("_machines.0", w=np.zeros(5)), "must have machines of as many weights"),
    ("pegasos", within("_form.iterates.0", theta=np.zeros(2)), "must have a weight for each feature"),
    ("linear", changed(classes_=np.arange(4)), "must have 4 functions for 4 classes, has 3"),
    ("discriminant", changed(classes_=np.arange(4)), "must have a mean for each class"),
    ("components", changed(eigenvalues_=np.ones(3)), "must have 3 functions, one for each eigenvalue"),
    ("components", within("_pre_images", vectors=np.zeros((40, 3))), "must have pre-images of 2 coordinates"),
    ("components", changed(n_features_in_=4), "must have 4 features"),
    ("landmarks", changed(_factor=np.eye(4)), "must have a factor of 5 landmarks"),
    ("landmarks", changed(_factor=-np.eye(5)), "must have a factor with a positive diagonal"),
    ("landmarks", changed(_factor=np.diag([1.0, 1.0, 0.0, 1.0, 1.0])), "must have a factor with a positive diagonal"),
    ("landmarks", changed(_n_features_out=4), "must have 5 features"),
    ("landmarks", without("jitter_"), "must have jitter_"),
    ("frequencies", changed(n_features_in_=2), "must have 6 frequencies of 2 columns"),
    ("frequencies", changed(random_offset_=np.zeros(5)), "must have 6 phases"),
    ("frequencies", without("random_offset_"), "must have random_offset_"),
    ("pegasos", changed(classes_=np.arange(2)), "must have a weight for each class"),
    ("pegasos", changed(n_features_in_=5), "must have a weight for each feature"),
    ("pegasos", without("class_weight_"), "must have class_weight_"),
    ("kernel pegasos", changed(n_features_in_=5), "must have vectors of its features"),
    ("search", changed(multimetric_=False, scoring=["accuracy", "f1"]), "must have one scorer, or several"),
    ("search", changed(best_estimator_=mercer.SVC()), "must have a winner that is fitted"),
    ("search", changed(classes_=np.array([0, 2])), "must have the classes of its winner"),
    ("linear search", without("best_estimator_"), "must have a winner"),
    ("linear search", changed(best_estimator_=mercer.LinearSVC()), "must have a winner"),
    ("columns", changed(feature_names_in_=np.array(["kind", "size"], object)), "must have a column for each name"),
    ("columns", changed(n_features_in_=3), "must have 3 columns, has 2"),
    ("columns", without("is_sparse_"), "must have is_sparse_"),
    ("columns", within("columns_.0", mean=np.inf), "must have finite means and deviations"),
    ("columns", within("columns_.0", filling=np.nan), "must have finite means and deviations"),
    ("columns", within("columns_.0", deviation=0.0), "must have finite means and deviations"),
    ("columns", within("columns_.1", labels=("a", "a")), "must have different labels"),
    ("columns", within("columns_.1", labels=("a", 2)), "must have labels"),
]


@pytest.mark.parametrize("name", MAKE)
def test_a_whole_model_is_sound(name, models):
    kind_of(models[name]).check(copy.deepcopy(models[name]))


@pytest.mark.parametrize(("name", "spoil", "reason"), AMISS, ids=[f"{each[0]}: {each[2]}" for each in AMISS])
def test_a_model_with_a_part_amiss_is_refused_for_it(name, spoil, reason, models):
    model = copy.deepcopy(models[name])
    spoil(model)
    with pytest.raises(Refused, match=reason):
        kind_of(model).check(model)


@pytest.mark.parametrize("name", MAKE)
def test_a_model_that_is_not_fitted_has_nothing_amiss(name, models):
    model = type(models[name])(**models[name].get_params(deep=False))
    kind_of(model).check(model)


def isotonic(models, **values):
    found = copy.deepcopy(models["three classes"]._calibration)
    for name, value in values.items():
        object.__setattr__(found.maps[0], name, value)
    return found


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"levels": np.zeros(0)}, "must have a level for each knot"),
        ({"knots": np.zeros(0), "levels": np.zeros(0)}, "must have a level for each knot"),
        ({"knots": np.array([1.0, 0.0]), "levels": np.array([0.0, 1.0])}, "must have rising steps"),
        ({"knots": np.array([0.0, 1.0]), "levels": np.array([0.0, 1.5])}, "must have rising steps"),
        ({"knots": np.array([0.0, 1.0]), "levels": np.array([-0.5, 1.0])}, "must have rising steps"),
    ],
)
def test_steps_of_a_calibration(values, reason, models):
    check_calibration(isotonic(models))
    with pytest.raises(Refused, match=reason):
        check_calibration(isotonic(models, **values))


@pytest.mark.parametrize(("place", "value"), [("A", np.inf), ("B", np.nan)])
def test_slopes_of_a_calibration(place, value, models):
    found = isotonic(models)
    slope = getattr(found.maps[0], "slope", found.maps[0])
    object.__setattr__(slope, place, value)
    with pytest.raises(Refused, match="must have finite slopes"):
        check_calibration(found)


def test_the_method_of_a_calibration(models):
    found = isotonic(models)
    object.__setattr__(found, "method", "guessed")
    with pytest.raises(Refused, match="must have a method that is known"):
        check_calibration(found)


def test_sparse_rows_of_pegasos_are_as_wide_as_they_say():
    model = mercer.PegasosSVC(T=20, kernel="rbf").fit(sparse.csr_matrix(X), TWO)
    kind_of(model).check(copy.deepcopy(model))
    model.n_features_in_ = 7
    with pytest.raises(Refused, match="must have vectors of its features"):
        kind_of(model).check(model)


STEPS = [
    ("pegasos", within("_form.iterates.0", clock=np.zeros(1)), "must have a clock"),
    ("pegasos", within("_form.iterates.0.steps", lam=0.0), "must have sound steps"),
    ("pegasos", within("_form.iterates.0.steps", lam=np.inf), "must have sound steps"),
    ("pegasos", within("_form.iterates.0.steps", batch_size=0), "must have sound steps"),
    ("pegasos", within("_form.iterates.0.steps", radius=0.0), "must have sound steps"),
    ("pegasos", within("_form.iterates.0", theta=np.zeros(0)), "must have sums of its weights"),
    ("pegasos", within("_form.iterates.0", sums=np.zeros(99)), "must have sums of its weights"),
    ("kernel pegasos", within("_form.iterates.0", beta=np.zeros(1)), "must have sums of its coefficients"),
    ("kernel pegasos", within("_form.iterates.0", strategy="hope"), "must have a strategy that is known"),
]


@pytest.mark.parametrize(("name", "spoil", "reason"), STEPS, ids=[f"{each[0]}: {each[2]}" for each in STEPS])
def test_a_run_with_a_step_amiss_is_refused_for_it(name, spoil, reason, models):
    model = copy.deepcopy(models[name])
    iterate = model._form.iterates[0]
    kind_of(iterate).check(iterate)
    assert all(getattr(iterate, each).dtype == np.float64 for each in ("clock", "sums"))
    spoil(model)
    with pytest.raises(Refused, match=reason):
        kind_of(iterate).check(iterate)


@pytest.mark.parametrize("place", ["STEP", "SCALE"])
def test_the_clock_of_a_run_has_begun(place, models):
    iterate = copy.deepcopy(models["pegasos"]._form.iterates[0])
    iterate.clock[getattr(pegasos_steps, place)] = 1.0
    kind_of(iterate).check(iterate)
    iterate.clock[getattr(pegasos_steps, place)] = 0.0
    with pytest.raises(Refused, match="must have sound steps"):
        kind_of(iterate).check(iterate)


def perceptron(**values):
    machine = mercer.Perceptron(max_iter=5).fit(X, TWO)._machines[0]
    vars(machine).update(values)
    return machine


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_perceptron_with_a_part_amiss_is_refused_for_it():
    check_row_perceptron(perceptron())
    for values, reason in (
        ({"method": "hope"}, "must have a method that is known"),
        ({"state": np.zeros(1)}, "must have a state of"),
        ({"w": np.zeros(1)}, "must have two equally long vectors"),
    ):
        with pytest.raises(Refused, match=reason):
            check_row_perceptron(perceptron(**values))
    whole = perceptron(w=np.zeros(4, np.float32), late=np.zeros(4))
    check_row_perceptron(whole)
    assert whole.w.dtype == np.float64


@pytest.mark.parametrize(
    ("name", "arrays"), [("pegasos", ["clock", "theta", "sums"]), ("kernel pegasos", ["clock", "beta", "sums", "ages"])]
)
def test_arrays_that_later_steps_write_to_are_copies_in_double_precision(name, arrays, models):
    iterate = copy.deepcopy(models[name]._form.iterates[0])
    given = {each: np.float32(getattr(iterate, each)) for each in arrays}
    for each, array in given.items():
        array.setflags(write=False)
        setattr(iterate, each, array)
    kind_of(iterate).check(iterate)
    for each, array in given.items():
        found = getattr(iterate, each)
        assert found.dtype == np.float64
        assert found.flags.writeable
        np.testing.assert_array_equal(found, array)


def test_a_step_may_stand_where_another_does_and_reach_both_ends(models):
    check_calibration(isotonic(models, knots=np.array([0.0, 0.0, 1.0]), levels=np.array([0.0, 0.5, 1.0])))
