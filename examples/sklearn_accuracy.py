"""Tune a scikit-learn model until its accuracy is certified to be 0.97, not only on one lucky split.

    python examples/sklearn_accuracy.py

Every evaluation cross-validates on a new random split, so the same setting scores differently each time. The certificate is
about the mean over splits.
"""

from sklearn.datasets import load_breast_cancer  # type: ignore[import-untyped]
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
from sklearn.preprocessing import StandardScaler  # type: ignore[import-untyped]
from sklearn.svm import SVC  # type: ignore[import-untyped]

from satisfice.sklearn import SatisficeSearchCV

TARGET = 0.97


def main() -> None:
    """Search and print the answer."""
    X, y = load_breast_cancer(return_X_y=True)
    space = {"svc__C": (1e-2, 1e3, "log"), "svc__gamma": (1e-5, 1.0, "log")}
    search = SatisficeSearchCV(make_pipeline(StandardScaler(), SVC()), space, TARGET, budget=60, random_state=1)
    search.fit(X, y)
    print(search.answer_)
    print(f"mean accuracy over its splits: {search.best_score_:.3f}")


if __name__ == "__main__":
    main()
