"""Run slow peers faster, with the same questions: SMAC and bayesian-optimization in half the time, BoTorch in 3/5, Ax in 3/4.

    PYTHONHASHSEED=0 .venv-bench/bin/python bench/faster_peers.py smac network

prints the CPU seconds without and with the patches, and whether the questions are the same. The patches skip redundant work. SMAC copies
all kernels for every value of its likelihood, converts every neighbour to the user's units and seeds each generator of neighbours twice.
scikit-learn validates every point that an acquisition is evaluated at. torch broadcasts the same few shapes again and again and validates
the arguments of each distribution, as does GPyTorch, which also finds its path through its layers for every value (`botorch_direct.py`).
Ax evaluates its raw candidates 32 at a time. Python collects garbage among everything imported. Records of such runs are marked
`hastened`: their seconds are not those that a user waits.
"""

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")  # before numpy

import gc
import inspect
import sys
from functools import cache
from textwrap import dedent
from time import process_time
from typing import Any

import numpy as np
from botorch_direct import go_straight

HASTENED = ("smac", "bayes-opt", "botorch-ei", "botorch-pi", "ax")


@cache
def hasten(contestant: str) -> None:
    """Patch this process for the contestant. Does nothing for those that are not in `HASTENED`."""
    if contestant in ("smac", "bayes-opt"):
        _skip_checks()
    if contestant == "smac":
        _skip_copies()
        _skip_units()
        _skip_entropy()
    if contestant in ("botorch-ei", "botorch-pi", "ax"):
        _remember_shapes()
        _skip_debugging()
        go_straight()
    if contestant == "ax":
        _join_candidates()
    if contestant in HASTENED:
        _collect_seldom()


def _skip_checks() -> None:
    """Skip validation: points that a library made itself are arrays of finite numbers."""
    import sklearn  # type: ignore[import-untyped]
    from sklearn.gaussian_process import _gpr  # type: ignore[import-untyped]

    def validate_data(_: Any, /, X: Any, y: Any = None, **kwargs: Any) -> Any:
        points = np.asarray(X, dtype=float)
        return points if y is None else (points, np.asarray(y, dtype=float))

    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)
    _gpr.validate_data = validate_data


def _skip_copies() -> None:
    """Copy the kernel once for all values of a likelihood, not for each of them."""
    from sklearn.gaussian_process import GaussianProcessRegressor as Regressor

    plain = Regressor.log_marginal_likelihood

    def log_marginal_likelihood(
        self: Any, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        if theta is None or not clone_kernel:
            return plain(self, theta, eval_gradient, clone_kernel)
        kernel, (original, copy) = self.kernel_, getattr(self, "_copied", (None, None))
        if original is not kernel:
            copy = kernel.clone_with_theta(theta)
            self._copied = kernel, copy
        self.kernel_ = copy
        try:
            return plain(self, theta, eval_gradient, False)
        finally:
            self.kernel_ = kernel

    Regressor.log_marginal_likelihood = log_marginal_likelihood


def _skip_units() -> None:
    """Have SMAC's local search compute a changed value only where it keeps a list of those it has seen."""
    from smac.acquisition.maximizer import local_search  # type: ignore[import-not-found]

    source, line = dedent(inspect.getsource(local_search.LocalSearch._search)), "value = n[changed_hp_name]"
    before, after = source.split(line)  # it occurs once
    found: dict[str, Any] = {}
    quick = f"{before}{line} if changed_hp_name in visited_values[i] else None{after}"
    exec(f"from __future__ import annotations\n{quick}", vars(local_search), found)  # noqa: S102 - its own text
    local_search.LocalSearch._search = found["_search"]


def _skip_entropy() -> None:
    """Seed SMAC's generators of neighbours once, without entropy from the operating system."""
    from numpy.random import MT19937, RandomState
    from numpy.random.bit_generator import ISeedSequence
    from smac.acquisition.maximizer import local_search

    class Nothing(ISeedSequence):
        def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
            return np.ones(n_words, dtype)

    plain, nothing = local_search.get_one_exchange_neighbourhood, Nothing()

    def get_one_exchange_neighbourhood(configuration: Any, seed: int, **kwargs: Any) -> Any:
        random = RandomState(MT19937(nothing))  # type: ignore[arg-type]
        random.seed(seed)
        return plain(configuration, seed=random, **kwargs)

    local_search.get_one_exchange_neighbourhood = get_one_exchange_neighbourhood


def _remember_shapes() -> None:
    """Cache broadcast shapes, and skip the validation of distributions' arguments."""
    import torch

    plain: Any = torch.functional.broadcast_shapes
    known = cache(plain)

    def broadcast_shapes(*shapes: Any) -> Any:
        return known(*(shape if isinstance(shape, int) else tuple(shape) for shape in shapes))

    torch.broadcast_shapes = torch.functional.broadcast_shapes = broadcast_shapes
    torch.distributions.Distribution.set_default_validate_args(False)


def _skip_debugging() -> None:
    """Skip the shape checks of kernels and operators, which a library built itself."""
    import gpytorch
    import linear_operator  # type: ignore[import-not-found]

    for settings in (gpytorch.settings, linear_operator.settings):
        settings.debug._set_state(False)


def _join_candidates() -> None:
    """Evaluate all of Ax's raw candidates at once, not 32 at a time."""
    from ax.generators.torch.botorch_modular import optimizer_argparse  # type: ignore[import-not-found]

    optimizer_argparse.INIT_BATCH_LIMIT = 1024


def _collect_seldom() -> None:
    """Exempt what is imported by now from garbage collection, and collect the rest a hundred times less often."""
    gc.freeze()
    gc.set_threshold(70_000)


def _questions(contestant: str, name: str, count: int = 55) -> tuple[list[Any], float]:
    """Questions on a problem, more than SMAC's initial design has, and their CPU seconds."""
    from eval_peers import CONTESTANTS
    from eval_problems import PROBLEMS
    from evaluations import quiet, starting_points

    problem, asked, start = PROBLEMS[name], [], process_time()
    with quiet():
        questions = CONTESTANTS[contestant](problem, 0, starting_points(problem, 0))
        asked.append(next(questions))
        while len(asked) < count:
            asked.append(questions.send(min(problem.value(asked[-1]), problem.target - 1e-6)))
        questions.close()
    return asked, process_time() - start


def main() -> None:
    """Time one contestant on one problem, without and with the patches."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        sys.exit("Set PYTHONHASHSEED=0: SMAC iterates over a set of settings, and its order depends on the hash seed.")
    if len(sys.argv) != 3 or sys.argv[1] not in HASTENED:
        sys.exit(f"The arguments must be one of {', '.join(HASTENED)} and the name of a problem; got {sys.argv[1:]}.")
    _, contestant, name = sys.argv
    plain, seconds = _questions(contestant, name)
    hasten(contestant)
    quick, fewer = _questions(contestant, name)
    same = "the same" if quick == plain else "different"
    print(f"{contestant} on {name}: {seconds:.1f} s, {fewer:.1f} s, {same} questions")


if __name__ == "__main__":
    main()
