"""The losses of the literature as functions of the margin z = y f(x), and how fast each can change."""

from mercer.problems.losses.margin_losses import LOSSES_OF_MARGINS, Loss

__all__ = ["LOSSES", "Loss"]

LOSSES = LOSSES_OF_MARGINS
