"""Kernels evaluated and learned together, against each of them alone and against L-BFGS-B."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.optimize import minimize

from satisfice.errors import NumericalFailure
from satisfice.gp.ascent import ascend
from satisfice.gp.evidence import free_parameters, integrated, learn, log_evidence_with_gradient, split
from satisfice.gp.kernels import Additive, Stationary
from satisfice.gp.kernels.stack import KernelStack, order_of
from satisfice.gp.priors import Prior, auto_families, exact_families
from satisfice.gp.stacked import Objectives, integrated_together, learn_together

LAM = 1e-4


def data(n, d, seed, noise=0.0):
    rng = default_rng(seed)
    X = rng.random((n, d))
    y = np.sin(3 * X @ rng.standard_normal(d)) + 2 * X[:, 0] ** 2 + noise * rng.standard_normal(n)
    return X, (y - y.mean()) / y.std()


def families_of(d, lam):
    return exact_families(d) if lam is not None else auto_families(d)


def drawn(families, lam, rng, count):
    """Random starts of each family, and its guess."""
    return [[family.free(lam).draw(rng) for _ in range(count)] for family in families]


def together(families, lam, X, y, starts, rounds=50, tolerance=1e-7):
    kernels, priors = [each.kernel for each in families], [each.free(lam) for each in families]
    return learn_together(kernels, lam, X, y, priors, starts, [rounds] * len(kernels), tolerance)


@pytest.mark.parametrize("lam", [LAM, None], ids=["known", "learned"])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("n", [1, 2, 9, 30])
def test_a_stack_has_the_evidence_and_the_gradient_of_each_kernel(n, d, lam):
    X, y = data(max(n, 3), d, n)
    X, y = X[:n], y[:n]
    if n > 5:
        X[4] = X[2]  # equal points: a nugget, and kinks at a distance of 0
    families = families_of(d, lam)
    families = [families[k] for k in order_of([each.kernel for each in families])]
    priors = [each.free(lam) for each in families]
    objectives = Objectives([each.kernel for each in families], priors, lam, X, y)
    points = np.zeros_like(objectives.low)
    chosen = [starts[0] for starts in drawn(families, lam, default_rng(1), 1)]
    for row, start in zip(points, chosen, strict=True):
        row[: len(start)] = start
    values, gradients = objectives(np.arange(len(families)), points)
    for k, (family, prior, start) in enumerate(zip(families, priors, chosen, strict=True)):
        value, gradient = log_evidence_with_gradient(*split(family.kernel, lam, start), X, y)
        log_prior, slope = prior.log_density_with_gradient(start)
        expected = gradient[: len(start)] + slope
        assert values[k] == pytest.approx(value + log_prior, rel=1e-7, abs=1e-7)
        assert gradients[k, : len(start)] == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())
        assert (gradients[k, len(start) :] == 0).all()


def test_large_stacks_are_evaluated_in_blocks_with_the_same_result():
    X, y = data(120, 3, 0)
    family = exact_families(3)[1]
    objectives = Objectives([family.kernel] * 7, [family.free(LAM)] * 7, LAM, X, y)  # 7,140 pairs: two at a time
    points = np.array([family.free(LAM).draw(default_rng(k)) for k in range(7)])
    values, gradients = objectives(np.arange(7), points)
    for k in range(7):
        value, gradient = objectives(np.array([k]), points[k : k + 1])
        assert values[k] == pytest.approx(value[0], rel=1e-12)
        assert gradients[k] == pytest.approx(gradient[0], rel=1e-9, abs=1e-9)


def test_a_covariance_without_a_factorisation_gets_the_jitter_of_the_posterior():
    X, y = np.repeat(data(5, 2, 0)[0], 2, axis=0), np.repeat(data(5, 2, 0)[1], 2)
    kernel, prior = Stationary("se", np.array([0.5])), exact_families(2)[0].free(1e-18)
    objectives = Objectives([kernel], [prior], 1e-18, X, y)
    value, _ = objectives(np.array([0]), kernel.parameters[None])
    expected = (
        log_evidence_with_gradient(kernel, 1e-18, X, y)[0] + prior.log_density_with_gradient(kernel.parameters)[0]
    )
    assert value[0] == pytest.approx(expected, rel=1e-6)


def test_a_kernel_that_is_finite_nowhere_is_a_failure():
    X, y = data(6, 2, 0)
    families = exact_families(2)
    with pytest.raises(NumericalFailure, match="not finite anywhere"):
        together(families, LAM, X, 1e200 * y, drawn(families, LAM, default_rng(0), 1))


def test_kernels_of_other_kinds_are_learned_alone():
    X, y = data(12, 2, 0)
    kernels = [Additive("matern52", np.array([0.3, 0.4])), Stationary("se", np.array([0.5]))]
    assert order_of(kernels) == []
    flat = [Prior(np.full(k, -4.0), np.full(k, 3.0), np.zeros(k), np.full(k, 1.0)) for k in (3, 2)]
    starts = [[kernel.parameters] for kernel in kernels]
    found = learn_together(kernels, LAM, X, y, flat, starts, [50, 50], 1e-9)
    for each, kernel, prior, start in zip(found, kernels, flat, starts, strict=True):
        assert each.objective == learn(kernel, LAM, X, y, prior, start, 1e-9).objective
    plain = [integrated(each, LAM, X, y, prior) for each, prior in zip(found, flat, strict=True)]
    assert [each.objective for each in integrated_together(found, LAM, X, y, flat)] == [
        each.objective for each in plain
    ]


@pytest.mark.cpu
@pytest.mark.parametrize("lam", [LAM, None], ids=["known", "learned"])
def test_the_maxima_are_those_of_l_bfgs_b(lam):
    """Over many data sets; some evidences have several maxima, and either method may find the better one."""
    differences = []
    for seed in range(12):
        n, d = [(6, 2), (12, 3), (25, 6), (30, 2)][seed % 4]
        X, y = data(n, d, seed, noise=0.0 if lam is not None else 0.2)
        families = families_of(d, lam)
        starts = drawn(families, lam, default_rng(seed), 2)
        found = together(families, lam, X, y, starts)
        alone = [
            learn(each.kernel, lam, X, y, each.free(lam), mine, 1e-7)
            for each, mine in zip(families, starts, strict=True)
        ]
        differences += [one.objective - other.objective for one, other in zip(found, alone, strict=True)]
    differences = np.array(differences)
    assert (np.abs(differences) < 1e-2).mean() >= 0.8
    assert (differences < -0.1).mean() <= 0.12
    assert np.clip(differences, -5, 5).mean() >= -0.3


@pytest.mark.cpu
def test_where_it_stops_l_bfgs_b_rises_no_further():
    gains = []
    for seed in range(8):
        X, y = data(20, 4, seed)
        families = exact_families(4)
        found = together(families, LAM, X, y, drawn(families, LAM, default_rng(seed), 1), tolerance=1e-5)
        for each, family in zip(found, families, strict=True):
            more = learn(family.kernel, LAM, X, y, family.free(LAM), [free_parameters(each, LAM)], 1e-12, 200)
            gains.append(more.objective - each.objective)
    assert np.median(gains) < 1e-3
    assert np.mean(np.array(gains) < 0.05) >= 0.9


def test_integrals_together_are_those_of_each_kernel():
    X, y = data(15, 3, 0)
    families = exact_families(3)
    priors = [each.free(LAM) for each in families]
    found = together(families, LAM, X, y, drawn(families, LAM, default_rng(0), 1))
    expected = [integrated(each, LAM, X, y, prior).objective for each, prior in zip(found, priors, strict=True)]
    results = integrated_together(found, LAM, X, y, priors)
    assert [each.objective for each in results] == pytest.approx(expected, abs=1e-3)
    assert all(each.objective <= before.objective for each, before in zip(results, found, strict=True))


def banana(which, points):
    """Rows of minus a Rosenbrock function, each with its own bend; -inf beyond a wall, where the objective has no value."""
    bend = 1.0 + which
    x, y = points.T
    value = -((1 - x) ** 2) - bend * (y - x * x) ** 2
    gradient = np.column_stack([2 * (1 - x) + 4 * bend * x * (y - x * x), -2 * bend * (y - x * x)])
    return np.where(x < -1.4, -np.inf, value), gradient


def test_an_ascent_ends_at_the_top_of_each_function():
    low, high = np.full((6, 2), -2.0), np.full((6, 2), 2.0)
    start = np.array([[-1.2, 1.0], [0.0, 0.0], [1.9, -1.9], [-1.0, -1.0], [0.5, 2.0], [-1.9, 0.0]])
    points, tops = ascend(banana, start, low, high, np.ones((6, 2)), np.full(6, 300), 1e-12)
    assert points[:5] == pytest.approx(np.ones((5, 2)), abs=1e-3)
    assert tops[:5] == pytest.approx(0, abs=1e-6)
    assert tops[5] == -np.inf  # it started where there is no value


def test_an_ascent_stays_within_its_bounds_and_its_rounds():
    low, high = np.full((2, 2), -2.0), np.array([[0.5, 2.0], [2.0, 2.0]])
    calls = []

    def counted(which, points):
        calls.append(which)
        return banana(which, points)

    points, tops = ascend(counted, np.zeros((2, 2)), low, high, np.ones((2, 2)), np.array([200, 1]), 1e-12)
    bounds = list(zip(low[0], high[0], strict=True))
    reference = minimize(lambda u: -banana(np.array([0]), u[None])[0][0], np.zeros(2), bounds=bounds, tol=1e-12)
    assert points[0] == pytest.approx(reference.x, abs=1e-3)
    assert tops[0] == pytest.approx(-reference.fun, abs=1e-6)
    assert (points <= high).all()
    assert tops[1] > -1.0  # one accepted step
    assert sum(1 in which for which in calls) <= 1 + 1 + 8  # the start, the step, and shorter ones before it


def test_a_stack_can_be_cut_into_rows():
    kernels = [each.kernel for each in exact_families(3)]
    kernels = [kernels[k] for k in order_of(kernels)]
    stack = KernelStack.of(kernels, 3)
    parameters = np.zeros((len(kernels), stack.select.shape[2]))
    some = np.array([0, 2, 5])
    part = stack.take(some)
    assert part.forms == tuple(stack.forms[k] for k in some)
    assert (part.values(parameters[some]).inverse == stack.values(parameters).inverse[some]).all()
