"""The text example of the textbook (section 15.2.2) on Reuters-21578: ``python -m benchmarks.words --topic earn``.

A document is a bag of words; rho² is the number of distinct words in the longest one, and B² the squared
norm of the weights. For each B it fits Soft-SVM with the lambda of Corollary 15.7 to the training part of the
ModApte split, and prints what theory says of the last machine. The file is looked for where the races look.
"""

import argparse
import json
import lzma

import numpy as np

from benchmarks.sets.data import NO_FOLDER, data_folder
from mercer import SVC, Regularization, theory

NORMS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)


def documents(topic, part="text"):
    """(texts, signs) of the training part and of the test part."""
    folder = data_folder()
    if folder is None:
        raise SystemExit(NO_FOLDER)
    with lzma.open(folder / "text" / "reuters21578.jsonl.xz", "rt", encoding="utf8") as lines:
        return split(map(json.loads, lines), topic, part)


def split(records, topic, part="text"):
    """The documents of the ModApte split: +1 where `topic` is among their topics."""
    found = {"train": ([], []), "test": ([], [])}
    for record in records:
        if record["modapte"] in found:
            texts, signs = found[record["modapte"]]
            texts.append(record["title"] if part == "title" else f"{record['title']}\n{record['body']}")
            signs.append(1 if topic in record["topics"] else -1)
    return [(texts, np.array(signs)) for texts, signs in found.values()]


def learn(X, y, X_test, y_test, norms=NORMS):
    """For each B a line of figures; the last machine."""
    m, rho = len(y), theory.radius_about_origin(X)
    print(f"m = {m}, d = {X.shape[1]}, rho² = {rho**2:.0f}")
    print(f"{'B²':>8} {'lambda':>9} {'|w|²':>8} {'rho²|w|²':>9} {'hinge':>7} {'held out':>9} {'error':>7}")
    for B in norms:
        lam = theory.soft_svm_lambda(m, rho, B)
        model = SVC(C=Regularization.from_lambda(lam), kernel="linear", bias="none").fit(X, y)
        squared = float(model.coef_.power(2).sum())
        hinges = [
            np.maximum(0.0, 1.0 - s * model.decision_function(part)).mean() for part, s in ((X, y), (X_test, y_test))
        ]
        error = float(np.mean(model.predict(X_test) != y_test))
        figures = f"{squared:8.2f} {rho**2 * squared:9.0f} {hinges[0]:7.4f} {hinges[1]:9.4f} {error:7.4f}"
        print(f"{B**2:8.0f} {lam:9.2g} {figures}", flush=True)
    return model


def main(arguments=None):
    """Fit, print the figures, print the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.words", description=__doc__.split(":")[0])
    parser.add_argument("--topic", default="earn", help="Reuters' word for the topic (default: earn)")
    parser.add_argument("--part", choices=("title", "text"), default="text", help="headlines only, or all (default)")
    options = parser.parse_args(arguments)
    (texts, y), (new_texts, y_new) = documents(options.topic, options.part)
    X, dictionary = theory.bag_of_words(texts)
    X_new, _ = theory.bag_of_words(new_texts, dictionary)
    print(theory.report(learn(X, y, X_new, y_new), X, y))


if __name__ == "__main__":
    main()
