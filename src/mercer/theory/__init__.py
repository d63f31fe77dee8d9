"""What can be said about a model before new data arrive: margins, radii, bounds, leave-one-out.

``mercer.theory.report(model, X, y)`` applies all of it to a fitted model. Names are loaded
when first used. A new result adds its function, its test and one line to the index.
"""

from typing import Any

from mercer._lazy import load

_INDEX = {
    "Ball": "radius",
    "Finding": "judgement",
    "KKTResiduals": "lagrange",
    "LOSSES": "losses",
    "LagrangePoint": "constrained",
    "LagrangeSolution": "constrained",
    "Loss": "losses",
    "Report": "judgement",
    "bag_of_words": "words",
    "distance_to_hyperplane": "margin",
    "fritz_john_multipliers": "lagrange",
    "functional_margin": "margin",
    "geometric_margin": "margin",
    "growth_function": "vc",
    "hard_svm_bound": "bounds",
    "hard_svm_sample_size": "bounds",
    "is_separable_with_margin": "margin",
    "kernel_spread": "radius",
    "kkt_residuals": "lagrange",
    "margin_vc_dimension": "vc",
    "maximize": "constrained",
    "minimize": "constrained",
    "radius_about_origin": "radius",
    "ramp_bound": "bounds",
    "ramp_bound_for_fit": "bounds",
    "report": "findings",
    "smallest_ball": "radius",
    "soft_svm_bound": "bounds",
    "soft_svm_bound_for_norm": "bounds",
    "soft_svm_lambda": "bounds",
    "span_estimate": "leave_one_out",
    "squared_spans": "leave_one_out",
    "support_vector_bound": "leave_one_out",
    "vc_bound": "vc",
    "vc_dimension": "vc",
    "vc_lower_bound": "vc",
    "vc_sample_size": "vc",
    "xi_alpha_bound": "leave_one_out",
}

__all__ = sorted(_INDEX)  # noqa: PLE0605  (the index is the list)


def __getattr__(name: str) -> Any:
    return load(globals(), _INDEX, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_INDEX})
