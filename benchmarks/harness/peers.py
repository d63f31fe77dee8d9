"""Mercer and its peers behind one face: the form of the data, how to fit, what was found."""

from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from benchmarks.harness.objective import Coefficients

TOLERANCE = 1e-3


@dataclass(frozen=True)
class Contestant:
    """An SVC to race: where it lives, and the form of data in which it is fastest."""

    name: str
    module: str
    dtype: str
    takes_sparse: bool = True
    parameters: tuple = ()

    def is_installed(self):
        """Whether its package can be found; nothing is imported."""
        return find_spec(self.module.partition(".")[0]) is not None

    def in_float64(self):
        """The same contestant given float64 rows."""
        return replace(self, dtype="float64")

    def prepare(self, X):
        """X in this contestant's form; conversion is never timed."""
        if not hasattr(X, "toarray"):
            return np.ascontiguousarray(X, dtype=self.dtype)
        return X.astype(self.dtype) if self.takes_sparse else X.toarray().astype(self.dtype)

    def estimator(self, C, gamma, **parameters):
        """An unfitted Gaussian SVC; everything not named is the contestant's default."""
        svc = import_module(self.module).SVC
        settings = {**dict(self.parameters), **parameters}
        return svc(C=C, gamma=gamma, kernel="rbf", tol=TOLERANCE, **settings)


def coefficients(model):
    """The fitted numbers that `objective.judge` needs."""
    dual_coef = model.dual_coef_
    dual_coef = dual_coef.toarray() if hasattr(dual_coef, "toarray") else np.asarray(dual_coef)
    return Coefficients(np.asarray(model.support_), dual_coef, np.asarray(model.intercept_))


MERCER = Contestant("mercer", "mercer", "float32")
LIBSVM = Contestant("sklearn", "sklearn.svm", "float64", parameters=(("cache_size", 1000),))
# oneDAL is faster on a dense array than on CSR, even for a9a and w8a.
ONEDAL = Contestant("intelex", "sklearnex.svm", "float32", takes_sparse=False, parameters=(("cache_size", 1000),))

PEERS = {peer.name: peer for peer in (LIBSVM, ONEDAL)}


def contestants(names):
    """Mercer and the named peers, those that are installed; tells which are missing."""
    chosen = [MERCER, *(PEERS[name] for name in names)]
    for contestant in chosen:
        if not contestant.is_installed():
            print(f"{contestant.name} is not installed ({contestant.module}); racing without it.")
    return [contestant for contestant in chosen if contestant.is_installed()]
