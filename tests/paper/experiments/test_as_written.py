"""`--as paper` beside an implementation of the paper's text that shares no line with it."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.special import erfcx
from scipy.stats import CensoredData, logrank, mannwhitneyu

from satisfice.paper.experiments.curves import over_time
from satisfice.paper.experiments.run import run_cell
from satisfice.paper.experiments.spec import Cell
from satisfice.paper.problems import PROBLEMS

# --- the text, section 5.2, in numpy and scipy; derivatives are SciPy's finite differences


def kernel(A, B, theta):
    length, scale = np.exp(theta)
    return scale**2 * np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / (2 * length**2))


def minus_log_likelihood(theta, X, z, lam):
    factor = cho_factor(kernel(X, X, theta) + lam * np.eye(len(z)))
    return 0.5 * z @ cho_solve(factor, z) + np.log(np.diag(factor[0])).sum()


def log_excess(u):
    """log(phi(u) + u Phi(u))."""
    mills = np.sqrt(np.pi / 2) * erfcx(-u / np.sqrt(2))  # Phi(u) / phi(u), for a u that is not large
    return -0.5 * u**2 - 0.5 * np.log(2 * np.pi) + np.log1p(u * mills) if u < 5 else np.log(u)


RULES = {  # of mean, std, eta, the best value so far and the number of the evaluation
    "pg": lambda mean, std, eta, best, t: (mean - eta) / std,
    "ei": lambda mean, std, eta, best, t: np.log(std) + log_excess((mean - best) / std),
    "ucb": lambda mean, std, eta, best, t: mean + np.sqrt(np.log(t)) * std,
}


def minus_score(u, X, theta, factor, weights, rule, eta, best):
    k = kernel(u[None], X, theta)[0]
    variance = max(np.exp(2 * theta[1]) - k @ cho_solve(factor, k), 1e-12)
    return -rule(k @ weights, np.sqrt(variance), eta, best, len(X) + 1)


def naive_run(f, d, eta, rule, budget, rng, noise=0.0):
    """The true values of the actions and, from the third on, those of the best estimates; noiseless, up to a good action."""
    X = rng.random((3, d))
    truths = [f(x) for x in X]
    y = [truth + noise * rng.standard_normal() for truth in truths]
    estimates = []
    bounds = np.log([(1e-3, 1.0), (5e-2, 1.5)])
    grid = [(length, scale) for length in np.linspace(*bounds[0], 25)[::-1] for scale in np.linspace(*bounds[1], 5)]
    while len(y) < budget and (noise or max(y) < eta):
        mean, std = np.mean(y), np.std(y)
        z, lam = (np.array(y) - mean) / std, max((noise / std) ** 2, 1e-6)
        if len(y) % 3 == 0:
            start = min(grid, key=lambda theta: minus_log_likelihood(theta, X, z, lam))
            theta = minimize(minus_log_likelihood, start, (X, z, lam), method="L-BFGS-B", bounds=bounds).x
        factor = cho_factor(kernel(X, X, theta) + lam * np.eye(len(z)))
        weights = cho_solve(factor, z)
        means = kernel(X, X, theta) @ weights
        estimates.append(truths[np.argmax(means)])
        known = (X, theta, factor, weights, RULES[rule], (eta - mean) / std, means.max() if noise else z.max())
        ends = [minimize(minus_score, u, known, method="L-BFGS-B", bounds=[(0, 1)] * d) for u in rng.random((10, d))]
        X = np.vstack([X, min(ends, key=lambda end: end.fun).x])
        truths.append(f(X[-1]))
        y.append(truths[-1] + noise * rng.standard_normal())
    return np.array(truths), np.array(estimates)


# --- the comparison


def naive_runs(problem, rule, runs, budget, noise=0.0):
    box, rng = PROBLEMS[problem].domain, default_rng(7)
    return [naive_run(lambda u: PROBLEMS[problem].value(box.from_unit(u[None])[0]), box.dimension,
                      PROBLEMS[problem].target, rule, budget, rng, noise) for _ in range(runs)]  # fmt: skip


def our_runs(variant, problem, rule, runs, budget, noise=0.0):
    """The same of our records: the best value so far, and the best estimates from the third evaluation on."""
    eta = PROBLEMS[problem].target
    cells = [Cell(variant, problem, rule, eta, None if noise else eta, noise, budget, k, 0) for k in range(runs)]
    records = [run_cell(cell) for cell in cells]
    return [(over_time(record["rises"], record["evaluations"]), over_time(record["recommended"], budget)[2:-1])
            for record in records]  # fmt: skip


def p_of_waiting(problem, *both):
    """Of the log-rank test that the numbers of evaluations have one law; a run without a good action is censored."""
    eta = PROBLEMS[problem].target
    times = [CensoredData.right_censored([len(truths) for truths, _ in runs], [truths.max() < eta for truths, _ in runs])
             for runs in both]  # fmt: skip
    return float(logrank(*times).pvalue)


def p_of_estimates(problem, *both):
    """Of the rank test that the shares of the time at which the best estimate is good have one law."""
    shares = [[np.mean(estimates >= PROBLEMS[problem].target) for _, estimates in runs] for runs in both]
    return float(mannwhitneyu(*shares).pvalue)


def test_the_text_as_we_run_it_waits_as_long_as_a_naive_implementation_of_it():
    """A small part of the tests below, which `make test-slow` runs."""
    both = our_runs("paper", "dropwave-shifted", "pg", 20, 40), naive_runs("dropwave-shifted", "pg", 20, 40)
    assert p_of_waiting("dropwave-shifted", *both) > 1e-3


PINNED = [("keane", "pg"), ("dropwave-shifted", "pg"), ("eggholder", "pg"), ("alpine", "pg"), ("ackley", "pg"),
          ("eggholder", "ei"), ("alpine", "ucb"), ("dropwave-shifted", "ei")]  # fmt: skip
NOISY = [("keane", "pg"), ("ackley", "pg"), ("keane", "ei")]
LEVEL = 0.01 / (len(PINNED) + len(NOISY))


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "rule"), PINNED)
def test_the_numbers_of_evaluations_have_the_law_of_a_naive_implementation(problem, rule):
    both = our_runs("paper", problem, rule, 80, 100), naive_runs(problem, rule, 80, 100)
    assert p_of_waiting(problem, *both) > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "rule"), NOISY)
def test_under_noise_the_best_estimates_are_good_as_often_as_those_of_a_naive_implementation(problem, rule):
    both = our_runs("paper", problem, rule, 60, 60, 0.05), naive_runs(problem, rule, 60, 60, 0.05)
    assert p_of_estimates(problem, *both) > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["ackley", "dropwave-shifted"])
def test_the_comparison_tells_our_own_optimiser_from_that_of_the_text(problem):
    both = our_runs("paper-local", problem, "pg", 80, 100), naive_runs(problem, "pg", 80, 100)
    assert p_of_waiting(problem, *both) < LEVEL
