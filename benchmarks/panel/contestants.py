"""Who predicts in the panel: Mercer without options, and what people usually take."""

from typing import Any

from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

import mercer
from benchmarks.panel.tables import Table

TRAIN, TUNE = "mercer train", "mercer tune"


def contestants(table: Table, with_tune: bool = False) -> dict[str, Any]:
    """Unfitted machines by name, each with the defaults of its library."""
    classifies = table.task == "classification"
    found = {TRAIN: train(table)}
    if with_tune:
        kind = mercer.AutoKernelClassifier if classifies else mercer.AutoKernelRegressor
        found[TUNE] = kind(random_state=0)
    return found | (_of_texts() if table.is_text else _of_columns(table, classifies))


def train(table: Table) -> Any:
    """What `mercer train` fits."""
    if table.task == "classification":
        return mercer.SVC(kernel="auto", C="auto")
    return mercer.SVR(kernel="auto", C="auto", epsilon=0.05 * float(table.y.std()))


def _of_texts() -> dict[str, Any]:
    return {"TF-IDF + linear": make_pipeline(TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2)), LinearSVC())}


def _of_columns(table: Table, classifies: bool) -> dict[str, Any]:
    numbers = [name for name in table.X if table.X[name].dtype.kind in "fiub"]
    labels = [name for name in table.X if name not in numbers]

    def scaled() -> Any:
        own = make_pipeline(SimpleImputer(), StandardScaler())
        codes = OneHotEncoder(handle_unknown="ignore")
        return make_column_transformer((own, numbers), (codes, labels), sparse_threshold=0.0)

    def ordinal() -> Any:
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-1)
        return make_column_transformer(("passthrough", numbers), (codes, labels))

    if classifies:
        boosting, forest = HistGradientBoostingClassifier(random_state=0), RandomForestClassifier(random_state=0)
        machine, plane = SVC(), LogisticRegression(max_iter=1000)
    else:
        boosting, forest = HistGradientBoostingRegressor(random_state=0), RandomForestRegressor(random_state=0)
        machine, plane = SVR(), Ridge()
    return {
        "scikit-learn SVM": make_pipeline(scaled(), machine),
        "random forest": make_pipeline(scaled(), forest),
        "boosting": make_pipeline(ordinal(), boosting),
        "linear": make_pipeline(scaled(), plane),
    }
