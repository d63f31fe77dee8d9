"""Losses of the margin y f(x) or of the residual y - f(x), with the box and ridge of their duals."""

import numpy as np


class Hinge:
    r"""max(0, 1 - z). Dual: 0 <= alpha_i <= C_i."""

    name = "hinge"

    @staticmethod
    def value(margins):
        return np.maximum(0.0, 1.0 - margins)

    @staticmethod
    def box(C):
        """Upper bounds of alpha."""
        return C

    @staticmethod
    def ridge(C):
        """Diagonal added to the kernel matrix."""
        return None


class SquaredHinge:
    r"""max(0, 1 - z)^2. Dual: alpha_i >= 0, with 1 / (2 C_i) added to the diagonal."""

    name = "squared_hinge"

    @staticmethod
    def value(margins):
        return np.maximum(0.0, 1.0 - margins) ** 2

    @staticmethod
    def box(C):
        return np.full_like(C, np.inf)

    @staticmethod
    def ridge(C):
        # C = inf is the hard margin: no slack, no ridge.
        return 1.0 / (2.0 * C)


MARGIN_LOSSES = {loss.name: loss for loss in (Hinge, SquaredHinge)}


class EpsilonInsensitive:
    r"""max(0, |r| - epsilon). Dual: |beta_i| <= C_i."""

    name = "epsilon_insensitive"

    @staticmethod
    def value(residuals, epsilon):
        return np.maximum(0.0, np.abs(residuals) - epsilon)

    @staticmethod
    def box(C):
        """The largest |beta|."""
        return C

    @staticmethod
    def ridge(C):
        """Diagonal added to the kernel matrix."""
        return None


class SquaredEpsilonInsensitive:
    r"""max(0, |r| - epsilon)^2. Dual: no bound, with 1 / (2 C_i) added to the diagonal."""

    name = "squared_epsilon_insensitive"

    @staticmethod
    def value(residuals, epsilon):
        return np.maximum(0.0, np.abs(residuals) - epsilon) ** 2

    @staticmethod
    def box(C):
        return np.full_like(C, np.inf)

    @staticmethod
    def ridge(C):
        return 1.0 / (2.0 * C)


TUBE_LOSSES = {loss.name: loss for loss in (EpsilonInsensitive, SquaredEpsilonInsensitive)}
