"""Mercer's estimators, and their fitted attributes.

A new estimator is one line at the end: its module, its fitted attributes, and the check of its family.
"""

from collections.abc import Callable, Iterable
from typing import Any

from mercer.exchange.model_file import consistency
from mercer.exchange.model_file.registry import estimator

# Families of estimators, by their fitted attributes.
_INPUT = ("n_features_in_", "feature_names_in_")
_MACHINE = (
    *_INPUT, "_items", "support_", "n_support_", "intercept_", "expansion_", "_sparse", "support_vectors_",
    "dual_coef_", "shape_fit_", "n_iter_", "status_", "fit_status_", "_traces", "_last_betas", "_evidence",
    "compression_", "kernel_", "kernel_reason_", "_distances", "approximation_",
    "n_passes_", "rows_read_",
)  # fmt: skip
_CLASSIFIER = (*_MACHINE, "classes_", "class_weight_")
_LINEAR = (*_INPUT, "coef_", "intercept_", "status_", "n_iter_", "certificate_", "trace_", "_last")
_PASSES = ("n_passes_", "rows_read_")
_METHOD = (
    *_INPUT, "expansion_", "status_", "n_iter_", "trace_", "_evidence", "X_fit_", "dual_coef_", "compression_",
    "distance_", "approximation_", "n_passes_", "rows_read_",
)  # fmt: skip
_REGRESSION = (*_METHOD, "_is_flat", "_conformity")
_SPECTRAL = (*_METHOD, "solver_", "_missing", "_n_features_out", "rank_", "gamma_")


def _register(
    homes: str, state: Iterable[str], check: Callable[[Any], None], former: dict[str, str] | None = None
) -> None:
    for home in homes.split():
        estimator(f"mercer.{home}", state, check=check, former=former)


_machine, _linear, _method = consistency.check_machine, consistency.check_linear, consistency.check_method
_PROBABLE = (*_CLASSIFIER, "_calibration", "C_", "multi_class_", "_conformity")
_register("estimators.svm.svc:SVC estimators.svm.nu_svc:NuSVC", _PROBABLE, _machine)
_register("estimators.kernel.logistic:KernelLogisticRegression", (*_CLASSIFIER, "_conformity"), _machine)
_register("estimators.svm.hard_margin:HardMarginSVC", (*_CLASSIFIER, "_margins", "proofs_"), _machine)
_register(
    "estimators.online.kernel_perceptron:KernelPerceptron",
    (*_CLASSIFIER, "n_updates_", "_mistakes", "_multipliers"),
    _machine,
)
_register("estimators.svm.ramp:RampSVC", (*_CLASSIFIER, "outliers_", "steps_", "start_objectives_"), _machine)
_register("estimators.svm.analytic_center:AnalyticCenterMachine", _CLASSIFIER, _machine)
_register("estimators.svm.bayes_point:BayesPointMachine", (*_CLASSIFIER, "diagnostics_"), _machine)
_register("estimators.kernel.machine:KernelMachine", (*_CLASSIFIER, "loss_"), _machine, {"penalty": "alpha"})
_register("estimators.svm.svr:SVR", (*_MACHINE, "C_", "_conformity"), _machine)
_register("estimators.svm.nu_svr:NuSVR", (*_MACHINE, "epsilon_", "C_", "_conformity"), _machine)
_register("estimators.svm.one_class:OneClassSVM", (*_MACHINE, "offset_"), _machine)
_register("estimators.svm.svdd:SVDD", (*_MACHINE, "offset_", "radius_", "_centre", "_constant"), _machine)
_register("estimators.svm.rank:RankSVM", (*_MACHINE, "n_pairs_"), _machine)
_register("estimators.linear.svc:LinearSVC", (*_LINEAR, *_PASSES, "classes_", "_calibration", "_conformity"), _linear)
_register("estimators.linear.svr:LinearSVR", (*_LINEAR, *_PASSES, "_conformity"), _linear)
_register(
    "estimators.out_of_core.table_features:TableFeatures",
    (*_INPUT, "columns_", "is_sparse_"),
    consistency.check_table_features,
)
_register(
    "estimators.online.perceptron:Perceptron",
    (*_INPUT, "_machines", "classes_", "coef_", "intercept_", "expansion_", "n_updates_", "n_iter_", "t_", "status_",
     "_traces", "_certificates", "_mistakes", "_multipliers"),
    _linear,
)  # fmt: skip
_register(
    "estimators.online.pegasos:PegasosSVC",
    (*_INPUT, "_form", "classes_", "class_weight_", "_sparse", "_evidence", "_mean_weight", "_rho", "status_",
     "_traces", "n_iter_"),
    consistency.check_pegasos,
    {"lam": "alpha"},
)  # fmt: skip
_register(
    "estimators.kernel.ridge:KernelRidge",
    (*_REGRESSION, "alpha_", "jitter_", "solver_", "loo_", "alpha_errors_"),
    _method,
)
_register("estimators.kernel.least_squares:KernelLeastSquares", (*_REGRESSION, "rank_"), _method)
_register(
    "estimators.kernel.pca:KernelPCA",
    (*_SPECTRAL, "eigenvalues_", "eigenvectors_", "jitter_", "X_transformed_fit_", "_pre_images"),
    consistency.check_components,
)
_register(
    "estimators.kernel.svd:KernelSVD",
    (*_SPECTRAL, "singular_values_", "left_singular_vectors_", "right_coef_"),
    _method,
)
_register(
    "estimators.kernel.density:KernelDensity",
    (*_INPUT, "bandwidth_", "log_normalizer_", "expansion_", "offset_"),
    _method,
    {"log_normaliser_": "log_normalizer_"},
)
_register(
    "estimators.kernel.fisher:KernelFisherDiscriminant",
    (*_METHOD, "classes_", "priors_", "_rule", "intercept_", "scalings_", "means_", "jitter_", "solver_",
     "_n_features_out"),
    _method,
)  # fmt: skip
_register(
    "estimators.kernel.features:Nystroem",
    (*_INPUT, "_kernel", "_origin", "_vectors", "_factor", "jitter_", "components_", "component_indices_",
     "_n_features_out"),
    consistency.check_landmarks,
)  # fmt: skip
_register(
    "estimators.kernel.features:RandomFourierFeatures",
    (*_INPUT, "random_weights_", "random_offset_", "_n_features_out"),
    consistency.check_frequencies,
)
_WEIGHTED = ("kernel_names_", "weights_", "scales_", "weights_certificate_")
_register("estimators.mkl.classifier:MKLClassifier", (*_CLASSIFIER, *_WEIGHTED), _machine)
_register("estimators.mkl.regressor:MKLRegressor", (*_MACHINE, *_WEIGHTED), _machine)
_register("estimators.mkl.one_class:MKLOneClassSVM", (*_MACHINE, *_WEIGHTED, "offset_"), _machine)
_TUNED = (
    *_INPUT, "n_splits_", "cv_results_", "multimetric_", "best_index_", "best_params_", "best_score_",
    "best_estimator_", "refit_time_", "C_", "kernel_", "status_", "honest_score_", "honest_error_", "ending_",
)  # fmt: skip
_register(
    "selection.tuning.linear:LinearCV",
    (*_INPUT, "n_splits_", "cv_results_", "best_index_", "best_params_", "best_score_", "best_estimator_", "n_passes_",
     "status_", "classes_"),
    consistency.check_linear_search,
)  # fmt: skip
_register("selection.tuning.svc_cv:SVCCV", (*_TUNED, "classes_"), consistency.check_tuned)
_register("selection.tuning.svr_cv:SVRCV", (*_TUNED, "epsilon_"), consistency.check_tuned)
_register("selection.auto.classifier:AutoKernelClassifier", (*_TUNED, "classes_"), consistency.check_tuned)
_register("selection.auto.regressor:AutoKernelRegressor", _TUNED, consistency.check_tuned)
