"""Test problems, all to be maximised: `PROBLEMS` has every one of the paper's by name.

robot3 and robot4 need `pip install '.[push]'` and xgboost needs `pip install '.[tuning]'`; the packages
are loaded at the first evaluation.
"""

from satisfice.problems.draws import DRAWS
from satisfice.problems.problem import Problem
from satisfice.problems.push import PUSH
from satisfice.problems.synthetic import SYNTHETIC
from satisfice.problems.tuning import TUNING
from satisfice.types import MissingExtra

PROBLEMS: dict[str, Problem] = {each.name: each for each in (*DRAWS, *SYNTHETIC, *PUSH, *TUNING)}

__all__ = ["PROBLEMS", "MissingExtra", "Problem"]
