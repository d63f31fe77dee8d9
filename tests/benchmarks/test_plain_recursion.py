"""The opponent of the tree race computes the same kernel."""

import numpy as np

from benchmarks.harness.plain_recursion import recursive_gram
from mercer.kernels import SubsetTree


def test_the_recursion_agrees():
    trees = ["(S (NP (DT the) (NN dog)) (VP (V barks)))", "(NP (DT the) (NN dog))", "(NN dog)", "", "(S (VP (V runs)))"]
    np.testing.assert_allclose(recursive_gram(trees, 0.3), SubsetTree(decay=0.3)(trees), rtol=1e-12)
