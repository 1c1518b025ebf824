"""The paper's experiments: what they are, running them into records, and reading figures and claims out of the records.

`compare` runs rules and problems of your own in the same way.
"""

from satisfice.paper.experiments.comparing import compare, define_problem
from satisfice.paper.experiments.comparison import Comparison

__all__ = ["Comparison", "compare", "define_problem"]
