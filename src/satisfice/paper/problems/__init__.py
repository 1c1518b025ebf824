"""Test problems, all to be maximised: `PROBLEMS` has every one of the paper's by name.

robot3 and robot4 need `pip install '.[push]'` and xgboost needs `pip install '.[tuning]'`; the packages
are loaded at the first evaluation.
"""

from satisfice.errors import MissingExtra
from satisfice.paper.problems.draws import DRAWS
from satisfice.paper.problems.problem import Problem
from satisfice.paper.problems.push import PUSH
from satisfice.paper.problems.synthetic import SYNTHETIC
from satisfice.paper.problems.tuning import TUNING

PROBLEMS: dict[str, Problem] = {each.name: each for each in (*DRAWS, *SYNTHETIC, *PUSH, *TUNING)}

__all__ = ["PROBLEMS", "MissingExtra", "Problem"]
