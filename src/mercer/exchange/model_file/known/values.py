"""Parts of fitted models: certificates, traces, losses, calibrations, and runs that can be continued.

A new class is one line of `record` (a dataclass) or `plain` (anything else).
"""

from typing import Any

from mercer.exchange.model_file import consistency, rules
from mercer.exchange.model_file.attributes import items
from mercer.exchange.model_file.registry import plain, record

# Plain values: certificates, traces, losses, calibrations.
for _home in (
    "problems.certificate:Certificate",
    "problems.mkl.weighted_kernels:WeightedCertificate",
    "problems.kernel_methods.ridge:RidgeCertificate",
    "problems.kernel_methods.ridge:LeaveOneOut",
    "problems.kernel_methods.least_squares:LeastSquaresCertificate",
    "problems.kernel_methods.spectrum:EigenCertificate",
    "problems.svm.ramp:RampCertificate",
    "problems.version_space.centres:CenterCertificate",
    "problems.version_space.perceptron:MistakeBound",
    "problems.svm.hard_margin:NotSeparableProof",
    "problems.kernel_methods.fisher:FisherRule",
    "problems.regularization:Regularization",
    "problems.distance:Distance",
    "estimators.conformal.conformal:Conformal",
    "estimators.low_rank.low_rank:LowRank",
    "estimators.low_rank.low_rank:LandmarksUsed",
    "solvers.version_space.mcmc_diagnostics:ChainDiagnostics",
    "solvers.dual_qp.ramp_cccp:CCCPStep",
    "solvers.result:TracePoint",
    "solvers.mkl.search:WeightPoint",
    "solvers.stochastic.pegasos:StepPoint",
    "solvers.linear_result:LinearSolution",
):
    record(f"mercer.{_home}")

for _loss in ("Hinge", "SquaredHinge", "Ramp", "Logistic", "Exponential", "SquaredMargin", "ZeroOne"):
    record(f"mercer.problems.losses.margin_losses:{_loss}", name=f"losses.{_loss}")
for _loss in ("Squared", "Huber", "EpsilonInsensitive", "SquaredEpsilonInsensitive", "Pinball", "CustomLoss"):
    record(f"mercer.problems.losses.residual_losses:{_loss}", name=f"losses.{_loss}")

record("mercer.exchange.compress.compress:Compression")
record("mercer.estimators.out_of_core.feature_columns:NumberColumn")
record("mercer.estimators.out_of_core.feature_columns:LabelColumn")
record("mercer.solvers.stochastic.pegasos:Steps", name="SGDSteps")
record("mercer.estimators.bases.probabilities:Sigmoid")
record("mercer.estimators.bases.probabilities:Steps")

plain(
    "mercer.estimators.bases.probabilities:Calibration",
    {
        "method": rules.text,
        "n_classes": rules.integer(2),
        "has_pairs": rules.flag,
        "maps": rules.list_of(rules.instance("Sigmoid", "Steps")),
    },
    check=consistency.check_calibration,
)

plain(
    "mercer.estimators.conformal.conformity:Conformity",
    {
        "scores": rules.array("f", ndim=1, finite=False),
        "columns": rules.indices,
        "models": rules.list_of(rules.instance("Conforming"), list),
        "codes": rules.array("iu", ndim=1, least=-1),
        "score": rules.text,
        "by_class": rules.flag,
    },
    check=consistency.check_conformity,
)

# The evidence of a fit is its certificates; the data behind them are not part of a model.
_WITHOUT_DATA = {"data": None, "_mark": 0}
_OF_METHODS = ("RidgeCertificate", "LeastSquaresCertificate", "EigenCertificate")


def _evidence_of_one(cls: Any, fields: dict[str, Any]) -> Any:
    """Kernel methods once had their own class for it, which held a certificate instead of a list."""
    found, evidence = fields["_found"], cls.__new__(cls)
    vars(evidence).update(_WITHOUT_DATA, certifier=None, _found=None if found is None else [found])
    return evidence


# Written by earlier versions and still read, so it comes first; the second is what is written.
plain(
    "mercer.estimators.fitting.certificate:Evidence",
    {"_found": rules.optional(rules.instance(*_OF_METHODS))},
    name="Proof",
    make=_evidence_of_one,
)
plain(
    "mercer.estimators.fitting.certificate:Evidence",
    {"_found": rules.optional(rules.list_of(rules.instance("Certificate", *_OF_METHODS)))},
    constants={**_WITHOUT_DATA, "certifier": None},
)
plain(
    "mercer.estimators.online.mistake_bound:MistakeEvidence",
    {
        "updates": rules.indices,
        "bias": rules.text,
        "step": rules.number(),
        "_found": rules.optional(rules.list_of(rules.instance("MistakeBound"))),
    },
    constants={**_WITHOUT_DATA, "rows": None, "signs": None},
)
plain(
    "mercer.estimators.online.sgd_certificate:SGDEvidence",
    {
        "lam": rules.number(),
        "bias": rules.text,
        "_rho": rules.optional(rules.number()),
        "_found": rules.optional(rules.list_of(rules.instance("Certificate"))),
    },
    constants={**_WITHOUT_DATA, "form": None, "n_jobs": None},
)

# Runs that can be continued; their arrays are written to, so each has its own copy.
plain(
    "mercer.solvers.stochastic.perceptron:RowPerceptron",
    {
        "method": rules.text,
        "eta": rules.number(),
        "with_bias": rules.flag,
        "state": rules.floats1,
        "w": rules.floats1,
        "late": rules.floats1,
    },
    check=consistency.check_row_perceptron,
)
plain(
    "mercer.solvers.stochastic.pegasos:LinearIterate",
    {
        "steps": rules.instance("Steps"),
        "clock": rules.floats1,
        "theta": rules.floats1,
        "sums": rules.floats1,
        "_slice": rules.optional(rules.integer(1)),
    },
    check=consistency.check_linear_iterate,
)
plain(
    "mercer.solvers.stochastic.kernel_pegasos:KernelIterate",
    {
        "steps": rules.instance("Steps"),
        "clock": rules.floats1,
        "beta": rules.floats1,
        "sums": rules.floats1,
        "ages": rules.floats1,
        "budget": rules.optional(rules.integer(1)),
        "strategy": rules.text,
        "_slice": rules.optional(rules.integer(1)),
    },
    check=consistency.check_kernel_iterate,
)
plain(
    "mercer.estimators.online.sgd_forms:WeightForm",
    {"iterates": rules.list_of(rules.instance("LinearIterate"), list), "has_bias": rules.flag},
    check=consistency.check_weight_form,
)
plain(
    "mercer.estimators.online.sgd_forms:KernelForm",
    {
        "kernel": rules.instance("Kernel"),
        "memory_limit": rules.anything,
        "has_bias": rules.flag,
        "iterates": rules.list_of(rules.instance("KernelIterate"), list),
        "items": rules.optional(items),
        "vectors": rules.optional(rules.instance("ndarray", "_csr_base", "list", "Frame", "MatrixItems")),
        "origin": rules.optional(rules.floats1),
        "support": rules.indices,
    },
    check=consistency.check_kernel_form,
)
