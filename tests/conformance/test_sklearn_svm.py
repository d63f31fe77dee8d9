"""scikit-learn's own tests of its kernel machines, from its installed ``sklearn/svm/tests``, run against Mercer's.

Each of its two test modules is executed once more with ``svm.SVC``, ``svm.SVR`` and the others of
FORMS standing for Mercer's, and everything else as it is; its test functions then become tests of a class here. A test
that cannot apply is named below with its reason, and nothing is left out in any other way.
"""

import inspect

import pytest
import sklearn
from sklearn.utils.fixes import parse_version

import mercer
from tests.conformance.borrowed import as_class, functions_of, load

PRIVATE = "looks at or alters a private attribute of scikit-learn's"
ONE_STEP = "stops after one or two steps, but the first step here solves its six points"

CANNOT_APPLY = {
    "test_svm": {
        "test_gamma_scale": f"{PRIVATE}: _gamma",
        "test_tweak_params": f"{PRIVATE}: _dual_coef_",
        "test_svc_raises_error_internal_representation": f"{PRIVATE}: _n_support",
        "test_libsvm_convergence_warnings": ONE_STEP,
        "test_svr_errors": "a kernel function that returns the wrong shape is refused, but by fit already",
        "test_svc_nonfinite_params": "refused too, before the fit, by an error that names the cause: the variance",
    },
    "test_sparse": {"test_timeout": ONE_STEP},
}


def is_since(version):
    """Whether the installed scikit-learn is this version or a later one."""
    return parse_version(sklearn.__version__) >= parse_version(version)


if is_since("1.9"):
    CANNOT_APPLY["test_svm"] |= {
        "test_probability_raises_futurewarning": "scikit-learn retires the parameter; here it stays",
        "test_svc_nusvc_probA_probB_deprecated": "scikit-learn retires the attributes; here they stay",
    }
else:
    CANNOT_APPLY["test_svm"]["test_negative_sample_weights_mask_all_samples"] = (
        "NuSVC refuses them in the words that scikit-learn has since 1.9, which are also those of all the others"
    )

# With a kernel that is 0 between any two points, this one wants votes and confidences to disagree.
# The intercepts of NuSVC then say so only by rounding errors, and here they have none.
ONLY_FOR_SVC = {"test_svm": {"test_svc_ovr_tie_breaking"}, "test_sparse": set()}

ABOUT_OTHER_ESTIMATORS = {
    "test_svm": {
        "test_crammer_singer_binary": "LinearSVC",
        "test_dense_liblinear_intercept_handling": "LinearSVC",
        "test_dual_auto": "LinearSVC",
        "test_dual_auto_edge_cases": "LinearSVC",
        "test_liblinear_set_coef": "LinearSVC",
        "test_linear_svm_convergence_warnings": "LinearSVC and LinearSVR",
        "test_linearsvc": "LinearSVC",
        "test_linearsvc_crammer_singer": "LinearSVC",
        "test_linearsvc_fit_sampleweight": "LinearSVC",
        "test_linearsvc_iris": "LinearSVC",
        "test_linearsvc_parameters": "LinearSVC",
        "test_linearsvc_verbose": "LinearSVC",
        "test_linearsvm_liblinear_sample_weight": "LinearSVC and LinearSVR",
        "test_linearsvr_fit_sampleweight": "LinearSVR",
        "test_lsvc_intercept_scaling_zero": "LinearSVC",
    },
    "test_sparse": {
        "test_linearsvc": "LinearSVC",
        "test_linearsvc_iris": "LinearSVC",
        "test_sparse_liblinear_intercept_handling": "LinearSVC",
    },
}


FORMS = {name: getattr(mercer, name) for name in ("NuSVC", "SVR", "NuSVR", "OneClassSVM")}


def with_mercer(name):
    """The tests of this module by name, with Mercer's classes in scikit-learn's place."""
    return functions_of(load(f"svm.tests.{name}", "svm", SVC=mercer.SVC, **FORMS))


def for_svc(test):
    """A test of several classes, for SVC alone."""

    def test_of_svc(global_random_seed):
        # Before scikit-learn 1.8 its data had a seed of their own.
        seeds = [global_random_seed] * ("global_random_seed" in inspect.signature(test).parameters)
        test(mercer.SVC, *seeds)

    return test_of_svc


def applicable(title, name):
    """Every test of a module that applies, as a class."""
    tests = with_mercer(name)
    tests |= {each: for_svc(tests[each]) for each in ONLY_FOR_SVC[name]}
    return as_class(title, tests, {*CANNOT_APPLY[name], *ABOUT_OTHER_ESTIMATORS[name]})


# scikit-learn's tests stop some fits early on purpose.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    # Its own estimators, which some tests set beside, retire the parameter.
    pytest.mark.filterwarnings("ignore:The `probability` parameter was deprecated:FutureWarning"),
]

TestDense = applicable("TestDense", "test_svm")
TestSparse = applicable("TestSparse", "test_sparse")


@pytest.mark.parametrize("name", CANNOT_APPLY)
def test_every_test_that_is_left_out_exists(name):
    listed = {*CANNOT_APPLY[name], *ONLY_FOR_SVC[name], *ABOUT_OTHER_ESTIMATORS[name]}
    assert listed <= set(with_mercer(name))


@pytest.mark.parametrize("name", CANNOT_APPLY)
def test_tests_about_other_estimators_do_not_mention_ours(name):
    tests = with_mercer(name)
    sources = [inspect.getsource(tests[each]) for each in ABOUT_OTHER_ESTIMATORS[name]]
    assert not [each for each in sources if any(f"svm.{ours}(" in each for ours in ("SVC", *FORMS))]
