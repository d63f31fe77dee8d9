"""What each parameter and fitted attribute must be, whichever estimator has it; a new one is one line."""

from mercer.exchange.model_file import rules

_count = rules.integer(0)
_any_number = rules.number(finite=False)
items = rules.instance("ndarray", "_csr_base", "list", "DataFrame", "Table", "Frame")
_certificates = rules.anything

ATTRIBUTES = {
    "n_features_in_": _count,
    "feature_names_in_": rules.names,
    "classes_": rules.either(rules.labels, rules.list_of(rules.labels)),
    "class_weight_": rules.floats1,
    "priors_": rules.floats1,
    "_items": rules.optional(items),
    "support_": rules.indices,
    "n_support_": rules.indices,
    "support_vectors_": items,
    "X_fit_": items,
    "dual_coef_": rules.either(rules.array("f", ndim=(1, 2)), rules.csr),
    "coef_": rules.either(rules.array("f", ndim=(1, 2)), rules.csr),
    "intercept_": rules.floats1,
    "expansion_": rules.instance("Expansion"),
    "shape_fit_": rules.list_of(_count),
    "_sparse": rules.flag,
    "_is_flat": rules.flag,
    "status_": rules.instance("Status"),
    "fit_status_": _count,
    "n_iter_": rules.either(_count, rules.indices),
    "t_": rules.number(),
    "n_updates_": rules.indices,
    "n_pairs_": _any_number,
    "trace_": rules.anything,
    "_traces": rules.optional(rules.list_of(rules.list_of(rules.anything))),
    "_last_betas": rules.optional(rules.list_of(rules.floats)),
    "_last": rules.optional(rules.list_of(rules.instance("LinearSolution"))),
    "_evidence": rules.optional(rules.instance("Evidence", "SGDEvidence")),
    "_multipliers": rules.optional(rules.floats2),
    "_mistakes": rules.optional(rules.instance("MistakeEvidence")),
    "certificate_": _certificates,
    "_certificates": _certificates,
    "_calibration": rules.optional(rules.instance("Calibration")),
    "_machines": rules.optional(rules.list_of(rules.instance("RowPerceptron"))),
    "_form": rules.instance("WeightForm", "KernelForm"),
    "_rho": rules.number(),
    "_mean_weight": rules.number(),
    "_margins": rules.floats1,
    "proofs_": rules.list_of(rules.optional(rules.instance("NotSeparableProof"))),
    "compression_": rules.instance("Compression"),
    "loss_": rules.instance("Loss"),
    "diagnostics_": rules.anything,
    "outliers_": rules.anything,
    "start_objectives_": rules.anything,
    "steps_": rules.anything,
    "epsilon_": rules.number(),
    "offset_": rules.either(rules.number(), rules.floats1),
    "radius_": rules.number(),
    "_centre": rules.number(),
    "_constant": rules.optional(rules.number()),
    "bandwidth_": rules.number(),
    "log_normalizer_": rules.number(),
    "_rule": rules.instance("FisherRule"),
    "scalings_": rules.floats1,
    "means_": rules.floats2,
    "jitter_": rules.number(),
    "solver_": rules.text,
    "_n_features_out": _count,
    "rank_": _count,
    "_missing": rules.optional(rules.text),
    "eigenvalues_": rules.floats1,
    "eigenvectors_": rules.floats2,
    "gamma_": rules.optional(rules.number()),
    "alpha_": rules.either(rules.number(), rules.floats1),
    "loo_": rules.instance("LeaveOneOut"),
    "alpha_errors_": rules.array("f", ndim=1, finite=False),
    "X_transformed_fit_": rules.floats2,
    "_pre_images": rules.instance("Expansion"),
    "singular_values_": rules.floats1,
    "left_singular_vectors_": rules.floats2,
    "right_coef_": rules.floats2,
    "kernel_names_": rules.list_of(rules.text),
    "weights_": rules.floats1,
    "scales_": rules.floats1,
    "kernel_": rules.either(rules.instance("Kernel"), rules.text),
    "kernel_reason_": rules.text,
    "C_": rules.number(finite=False),
    "n_splits_": _count,
    "cv_results_": rules.dict_of,
    "multimetric_": rules.flag,
    "best_index_": _count,
    "best_params_": rules.dict_of,
    "best_score_": _any_number,
    "refit_time_": rules.number(),
    "best_estimator_": rules.instance("KernelModel"),
}

# Attributes that earlier versions called otherwise.
RENAMED = {"_proof": "_evidence"}

# What predicting reads, wherever a fit leaves it: a model without one of these could not answer.
NEEDED = frozenset(
    ("expansion_", "coef_", "intercept_", "shape_fit_", "_items", "_sparse", "_calibration", "_is_flat", "_form",
     "_rule", "_centre", "_constant", "offset_", "bandwidth_", "log_normalizer_", "eigenvalues_", "eigenvectors_",
     "singular_values_", "weights_"),
)  # fmt: skip

# Parameters that predicting reads too; the others are for `fit`, which checks them itself.
PARAMETERS = {"n_jobs": rules.optional(rules.integer())}
