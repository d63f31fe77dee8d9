"""scikit-learn's own checks of what an estimator must do, for every kind of PegasosSVC."""

import pytest
from sklearn.utils.estimator_checks import check_classifiers_train, parametrize_with_checks

from mercer import PegasosSVC
from mercer.kernels import RBF, Linear

VARIANTS = [PegasosSVC(), PegasosSVC(average=False, sampling="permutation"), PegasosSVC(kernel="rbf", budget=50)]
MORE_VARIANTS = [
    PegasosSVC(bias="none"),
    PegasosSVC(projected=True),
    PegasosSVC(batch_size=4),
    PegasosSVC(sampling="permutation"),
    PegasosSVC(kernel=Linear(), form="expansion"),
    PegasosSVC(kernel=RBF(gamma=0.5)),
    PegasosSVC(kernel="rbf", projected=True),
    PegasosSVC(kernel="rbf", budget=100, budget_strategy="removal"),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(MORE_VARIANTS)
def test_sklearn_check_of_other_variants(estimator, check):
    check(estimator)


class Judged(PegasosSVC):
    """Without the tag that spares means of iterates the checks of accuracy."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = False
        return tags


@pytest.mark.parametrize("variant", VARIANTS + MORE_VARIANTS, ids=str)
def test_the_accuracy_that_scikit_learn_expects_is_reached_all_the_same(variant):
    check_classifiers_train("PegasosSVC", Judged(**variant.get_params(deep=False)))
