r"""Principal components of coordinates: eigenvectors of a matrix as large as there are landmarks.

With coordinates :math:`\Phi` less their mean, :math:`\Phi^T\Phi U = U \Lambda`; the eigenvectors of
:math:`\Phi\Phi^T` are :math:`\Phi U \Lambda^{-1/2}`, and a row has the coordinates :math:`U^T (\phi(x) - \mu)`.

Cost: n m^2 multiplications, and some m^3.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from mercer._types import FloatArray
from mercer.problems.kernel_methods.spectrum import EigenCertificate, numerical_rank, with_signs


@dataclass(frozen=True)
class LowRankComponents:
    """Eigenvalues (k,), eigenvectors (n, k), directions (m, k), offsets (k,), rank, and their certificate."""

    values: np.ndarray
    vectors: np.ndarray
    directions: np.ndarray
    offsets: np.ndarray
    rank: int
    certificate: EigenCertificate


def components(coordinates: FloatArray, count: int) -> LowRankComponents:
    """The `count` largest principal components of coordinates (n, m), in double precision; centres them in place."""
    mean = coordinates.mean(axis=0)
    centred = np.subtract(coordinates, mean, out=coordinates)
    matrix = centred.T @ centred
    m, n = len(matrix), len(centred)
    values, directions = eigh(matrix, subset_by_index=(max(0, m - count), m - 1))
    values, directions = np.maximum(values[::-1], 0.0), directions[:, ::-1]
    rank = numerical_rank(values, n, n * float(mean @ mean))
    values = np.where(np.arange(len(values)) < rank, values, 0.0)
    sizes = np.sqrt(values)
    vectors = centred @ directions
    vectors = np.divide(vectors, sizes, out=np.zeros_like(vectors), where=sizes > 0.0)
    signs = np.where(np.einsum("ij,ij->j", with_signs(vectors), vectors) < 0.0, -1.0, 1.0)
    vectors, directions = vectors * signs, directions * signs
    proof = _certificate(centred, values[:rank], vectors[:, :rank])
    return LowRankComponents(values, vectors, directions, -(mean @ directions), rank, proof)


def _certificate(centred: FloatArray, values: FloatArray, vectors: FloatArray) -> EigenCertificate:
    largest = float(values.max(initial=0.0)) or 1.0
    residuals = np.linalg.norm(centred @ (centred.T @ vectors) - vectors * values, axis=0) / largest
    grown = np.abs(vectors.T @ vectors - np.eye(vectors.shape[1]))
    trace = float(np.vdot(centred, centred))
    explained = float(values.sum()) / trace if trace > 0.0 else 0.0
    return EigenCertificate(residuals, float(residuals.max(initial=0.0)), float(grown.max(initial=0.0)), explained)
