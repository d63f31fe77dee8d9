"""Singular vectors in the features of a kernel."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer._types import FloatArray
from mercer.estimators.kernel.spectral import SpectralMethod

if TYPE_CHECKING:
    from mercer.kernels.base.kernel import Kernel


class KernelSVD(SpectralMethod):
    """Singular values and vectors of the features of a kernel, which are not centred.

    Parameters
    ----------
    n_components : int or None, default=2
        Number of components; None keeps every one whose singular value is more than rounding error.
    kernel : str, Kernel or callable, default="linear"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", "cosine", "chi2" or "precomputed"), an expression such
        as "rbf + 2*linear" or "spectrum(k=4)", a kernel from `mercer.kernels`, or a function
        ``function(x, y, **kernel_params)`` that returns the kernel of two items as a number.
    gamma : float, "scale", "auto" or "median", optional
        Coefficient of the named kernels that have one ("rbf", "poly", "sigmoid", "laplacian" and "chi2"). A
        positive number, or a rule: "scale" is 1 / (n_features * X.var()), "auto" is 1 / n_features, and
        "median" is one over the median squared distance between rows (for "laplacian", the median absolute
        distance). None is the same as "auto".
    degree : int, default=3
        Degree of the kernel "poly", 0 or more; other kernels ignore it.
    coef0 : float, default=1
        Constant term of the kernels "poly" and "sigmoid".
    kernel_params : dict, optional
        Keyword arguments for a kernel that is a function.
    eigen_solver : {"auto", "dense", "arpack", "krylov", "randomized"}, default="auto"
        "dense" finds all eigenvalues by LAPACK. "krylov" (or "arpack", whose block form it is) finds the largest to
        `tol`, and switches to "dense" if they are too close together for iterations and there is room. "randomized"
        takes a fixed number of power steps. "auto" uses "dense" for up to 500 rows, or for more than a sixth as many
        components as rows, and otherwise "krylov".
    tol : float, default=0
        Largest residual of an eigenpair relative to the largest eigenvalue; 0 stands for 1e-10.
    max_iter : int, optional
        Largest number of iterations of "krylov"; no limit by default.
    iterated_power : int or "auto", default="auto"
        Number of power steps of "randomized", 0 or more.
    random_state : int, RandomState or None, default=None
        Seed of the random start; by default the start is always the same.
    n_jobs : int, optional
        Number of threads; all cores by default. Negative numbers count back from all cores, so -1 also means
        all.
    time_limit : float, optional
        Seconds allowed for the whole fit; no limit by default.
    memory_limit : int or str, optional
        Memory for the fit in bytes, or as text such as "2GiB"; by default half of the free memory.
    callbacks : list of callables, optional
        Functions called with a `TracePoint` as the solver proceeds; a true return value ends the fit.
    verbose : bool, default=False
        Whether to print the progress of the solver to standard error.

    Attributes
    ----------
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the features, largest first: square roots of the eigenvalues of the kernel matrix.
    left_singular_vectors_ : ndarray of shape (n, n_components)
        Orthonormal, one entry for each training row.
    right_coef_ : ndarray of shape (n, n_components)
        Right singular vectors as combinations of the training features.
    X_fit_ : array or CSR of shape (n, d)
        The training rows, or the kernel matrix itself if it was precomputed.
    rank_ : int
        Rank of the kernel matrix; only if it is positive semidefinite and more components were computed than it has.
    certificate_ : EigenCertificate
        Residuals of the eigenpairs, recomputed in double precision when first read.
    solver_ : str
        The method that was used.
    status_ : Status
        How the fit ended; a warning is given unless it is OPTIMAL. NOT_CONVEX says that the matrix has a negative
        eigenvalue beyond rounding: components belong to the positive ones. "dense" sees every negative eigenvalue;
        "krylov" and "randomized" see those that show in the diagonal or in the vectors they went through, so they may
        miss a small one. Kernels that are positive semidefinite by construction are not examined.
    expansion_ : Expansion
        The coordinates as sums of kernels.
    trace_ : list of TracePoint
        The progress of the solver.
    n_iter_ : int
        Iterations taken.

    Examples
    --------
    With the linear kernel these are the singular values of the rows themselves:

    >>> import numpy as np
    >>> from mercer import KernelSVD
    >>> X = np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> KernelSVD(n_components=2).fit(X).singular_values_.round(6)
    array([3., 2.])
    """

    _is_centred = False

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        kernel: "str | Kernel | Callable[..., Any]" = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        memory_limit: int | str | None = None,
        callbacks: Sequence[Callable[[Any], Any]] | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.callbacks = callbacks
        self.verbose = verbose

    def _set_attributes(self, values: FloatArray, vectors: FloatArray) -> None:
        self.singular_values_, self.left_singular_vectors_ = np.sqrt(values), vectors
        self.right_coef_ = np.divide(
            vectors, self.singular_values_, out=np.zeros_like(vectors), where=self.singular_values_ > 0
        )
