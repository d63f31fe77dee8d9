"""The errors a caller may want to catch, all below every other room."""


class MercerError(Exception):
    """Base class of every error that Mercer raises on purpose."""


class ParameterError(MercerError, ValueError):
    """A parameter has a value that the method cannot take."""


class DataError(MercerError, ValueError):
    """The data cannot be used as given."""


class NotPositiveSemidefiniteError(MercerError, ValueError):
    """A kernel that must be positive semidefinite is not; ``witness`` proves it."""

    def __init__(self, message, witness=None):
        super().__init__(message)
        self.witness = witness


class MissingExtraError(MercerError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class NotSeparableError(MercerError, ValueError):
    """No hyperplane separates the data; ``proof`` is a point that both convex hulls have in common."""

    def __init__(self, message, proof=None):
        super().__init__(message)
        self.proof = proof


class ModelFileError(MercerError, ValueError):
    """A file is damaged, is not a model file, or holds something unknown to this version of Mercer."""


class CancelledError(MercerError):
    """A callback of the caller stopped the work before there was a result."""


class TimeLimitError(MercerError, TimeoutError):
    """`time_limit` ran out before there was a model; the estimator is as it was before."""


class ClusterError(MercerError, RuntimeError):
    """A cluster could not finish its work; the message says what failed, what is kept and how to continue."""
