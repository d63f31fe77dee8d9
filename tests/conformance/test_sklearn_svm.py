"""scikit-learn's own tests of SVC, from its installed ``sklearn/svm/tests``, run against Mercer's.

Each of its two test modules is executed once more with ``svm.SVC`` standing for ``mercer.SVC``
and everything else as it is; its test functions then become tests of a class here. A test
that cannot apply is named below with its reason, and nothing is left out in any other way.
"""

import importlib.util
import inspect
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

import pytest
import sklearn
from sklearn import svm

import mercer

PRIVATE = "looks at or alters a private attribute of scikit-learn's"
ONE_STEP = "stops after one or two steps, but the first step here solves its six points"

CANNOT_APPLY = {
    "test_svm": {
        "test_probability_raises_futurewarning": "scikit-learn retires the parameter; here it stays",
        "test_svc_nusvc_probA_probB_deprecated": "scikit-learn retires the attributes; here they stay",
        "test_gamma_scale": f"{PRIVATE}: _gamma",
        "test_tweak_params": f"{PRIVATE}: _dual_coef_",
        "test_svc_raises_error_internal_representation": f"{PRIVATE}: _n_support",
        "test_libsvm_convergence_warnings": ONE_STEP,
        "test_svc_nonfinite_params": "refused too, before the fit, by an error that names the cause: the variance",
    },
    "test_sparse": {"test_timeout": ONE_STEP},
}

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
        "test_linearsvr": "SVR and LinearSVR",
        "test_linearsvr_fit_sampleweight": "LinearSVR",
        "test_lsvc_intercept_scaling_zero": "LinearSVC",
        "test_n_support": "OneClassSVM, SVR and NuSVR",
        "test_oneclass": "OneClassSVM",
        "test_oneclass_decision_function": "OneClassSVM",
        "test_oneclass_score_samples": "OneClassSVM",
        "test_sparse_fit_support_vectors_empty": "SVR",
        "test_svm_regressor_sided_sample_weight": "SVR and NuSVR",
        "test_svr": "SVR, NuSVR and LinearSVR",
        "test_svr_coef_sign": "SVR, NuSVR and LinearSVR",
        "test_svr_errors": "SVR",
        "test_svr_predict": "SVR",
    },
    "test_sparse": {
        "test_linearsvc": "LinearSVC",
        "test_linearsvc_iris": "LinearSVC",
        "test_sparse_liblinear_intercept_handling": "LinearSVC",
        "test_sparse_oneclasssvm": "OneClassSVM",
    },
}


def load(name, SVC):
    """The test module of this name, executed with `SVC` in scikit-learn's place."""
    spec = importlib.util.find_spec(f"sklearn.svm.tests.{name}")
    module = ModuleType(f"{name}_with_mercer")
    module.__file__ = spec.origin
    code = compile(Path(spec.origin).read_text(encoding="utf-8"), spec.origin, "exec")
    with patch.object(sklearn, "svm", SimpleNamespace(**{**vars(svm), "SVC": SVC})):
        exec(code, vars(module))  # noqa: S102 - the installed tests are the subject
    return module


def functions_of(module):
    """Its test functions by name."""
    found = inspect.getmembers(module, inspect.isfunction)
    return {name: function for name, function in found if name.startswith("test_")}


def borrowed(name):
    """A class body: every test of a module that applies, as a static method."""
    tests = functions_of(load(name, mercer.SVC))
    left_out = {**CANNOT_APPLY[name], **ABOUT_OTHER_ESTIMATORS[name]}
    return {each: staticmethod(function) for each, function in tests.items() if each not in left_out}


# scikit-learn's tests stop some fits early on purpose.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    # Its own estimators, which some tests set beside, retire the parameter.
    pytest.mark.filterwarnings("ignore:The `probability` parameter was deprecated:FutureWarning"),
]

TestDense = type("TestDense", (), borrowed("test_svm"))
TestSparse = type("TestSparse", (), borrowed("test_sparse"))


@pytest.mark.parametrize("name", CANNOT_APPLY)
def test_every_test_that_is_left_out_exists(name):
    listed = {*CANNOT_APPLY[name], *ABOUT_OTHER_ESTIMATORS[name]}
    assert listed <= set(functions_of(load(name, mercer.SVC)))


@pytest.mark.parametrize("name", CANNOT_APPLY)
def test_tests_about_other_estimators_do_not_mention_svc(name):
    tests = functions_of(load(name, mercer.SVC))
    assert not [each for each in ABOUT_OTHER_ESTIMATORS[name] if "svm.SVC" in inspect.getsource(tests[each])]
