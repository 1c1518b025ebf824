"""Widths beside the paper's: dense algebra, fifty digits, and what other papers print."""

import mpmath as mp
import numpy as np
import pytest

from satisfice.domain.box import Box
from satisfice.errors import BadInput
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.gp.posterior import Posterior
from satisfice.paper.theory.confidence import FixedDesignWidth, LogDetWidth, RkhsWidth
from satisfice.paper.theory.information import greedy_information_gain, information_gain, posterior_information
from satisfice.rules.elimination import Elimination
from satisfice.rules.ucb import UpperConfidence
from satisfice.search.search import Search

KERNEL = Stationary("se", np.array([0.3]))
LAMS = [0.01, 0.25, 1.0, 4.0]


def posterior_with(lam, n=9, kernel=KERNEL, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    X[4] = X[3]
    return Posterior.given(kernel, lam, X, rng.standard_normal(n))


@pytest.mark.parametrize("lam", LAMS)
@pytest.mark.parametrize("formula", ["sum", "root"])
def test_a_width_by_log_det_agrees_with_fifty_digits(lam, formula):
    posterior, B, sigma, failure = posterior_with(lam), 1.5, 0.2, 0.05
    with mp.workdps(50):
        K = mp.matrix(KERNEL(posterior.X, posterior.X).tolist())
        half_log_det = mp.log(mp.det(mp.eye(K.rows) + K / mp.mpf(lam))) / 2
        noise = 2 * mp.mpf(sigma) ** 2 / mp.mpf(lam) * (half_log_det - mp.log(mp.mpf(failure)))
        exact = B + mp.sqrt(noise) if formula == "sum" else mp.sqrt(mp.mpf(B) ** 2 + noise)
    assert LogDetWidth(B, sigma, failure, formula).given(posterior) == pytest.approx(float(exact), rel=1e-12)


def test_the_information_of_a_posterior_is_that_of_its_points():
    posterior = posterior_with(0.2)
    assert posterior_information(posterior) == pytest.approx(information_gain(KERNEL, 0.2, posterior.X), rel=1e-12)
    assert posterior_information(Posterior.given(KERNEL, 0.2, np.empty((0, 1)), np.empty(0))) == 0


@pytest.mark.parametrize("lam", LAMS)
def test_the_root_is_the_largest_f_of_all_that_the_martingale_leaves(lam):
    """max f(x) over ||y - f(X)||^2 + lam ||f||^2 <= R^2 + lam B^2 in the span of the kernels at X and x, not by the posterior."""
    posterior, B, sigma, failure = posterior_with(lam, n=6), 1.0, 0.3, 0.1
    X, y = posterior.X, posterior.y
    for x in (0.05, 0.5, 0.77):
        points = np.unique(np.vstack([X, [[x]]]), axis=0)
        at_X, at_x, K = KERNEL(X, points), KERNEL(np.array([[x]]), points)[0], KERNEL(points, points)
        H = at_X.T @ at_X + lam * K + 1e-12 * np.eye(len(points))
        middle = np.linalg.solve(H, at_X.T @ y)
        least = y @ y - y @ at_X @ middle
        G = KERNEL(X, X)
        R2 = lam * y @ np.linalg.solve(G + lam * np.eye(len(X)), y)
        R2 += sigma**2 * (np.linalg.slogdet(np.eye(len(X)) + G / lam)[1] + 2 * np.log(1 / failure))
        highest = at_x @ middle + np.sqrt(at_x @ np.linalg.solve(H, at_x) * (R2 + lam * B**2 - least))
        mean, std = (float(part[0]) for part in posterior.marginal(np.array([[x]])))
        assert mean + LogDetWidth(B, sigma, failure, "root").given(posterior) * std == pytest.approx(highest, rel=1e-5)


def test_the_martingale_has_the_value_that_the_root_takes_it_to_have():
    """The mean over g ~ N(0, sigma^2 k / lam) of exp(-(y - g)^2 / (2 sigma^2)), by quadrature."""
    sigma, lam, k, y = 0.3, 0.2, 1.0, 0.7
    variance = mp.mpf(sigma) ** 2 * k / lam
    mean = mp.quad(
        lambda g: mp.exp(-((y - g) ** 2) / (2 * sigma**2)) * mp.npdf(g, 0, mp.sqrt(variance)), [-8, -1, 0, 1, 2, 8]
    )
    expected = -np.log1p(k / lam) / 2 - lam * y**2 / (k + lam) / (2 * sigma**2)
    assert float(mp.log(mean)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("lam", [1.0, 1.1, 3.0])
def test_no_width_by_log_det_is_wider_than_those_of_chowdhury_and_gopalan_or_of_fiedler(lam):
    B, sigma, failure = 1.0, 0.2, 0.1
    posterior = posterior_with(lam)
    K, n = KERNEL(posterior.X, posterior.X), len(posterior.X)
    chowdhury = B + sigma * np.sqrt(
        np.linalg.slogdet(lam * np.eye(n) + K)[1] + 2 * np.log(1 / failure)
    )  # lam = 1 + eta
    fiedler = np.linalg.slogdet(max(1, lam) / lam * K + max(1, lam) * np.eye(n))[1]
    fiedler = B + sigma / np.sqrt(lam) * np.sqrt(fiedler - 2 * np.log(failure))
    ours = LogDetWidth(B, sigma, failure).given(posterior)
    assert ours <= min(chowdhury, fiedler) * (1 + 1e-12)
    if lam == 1:
        assert ours == pytest.approx(chowdhury, rel=1e-12)
        assert ours == pytest.approx(fiedler, rel=1e-12)


@pytest.mark.parametrize("lam", LAMS)
def test_what_was_asked_is_never_wider_than_what_could_be_asked_and_the_root_never_wider_than_the_sum(lam):
    points = np.linspace(0, 1, 15)[:, None]
    gain = greedy_information_gain(KERNEL, lam, points, 40).tightened()
    rng = np.random.default_rng(3)
    X = points[rng.integers(15, size=40)]
    for formula in ("sum", "root"):
        width, data = RkhsWidth(1.0, 0.3, 0.1, gain, formula), LogDetWidth(1.0, 0.3, 0.1, formula)
        for t in (1, 2, 10, 41):
            seen = Posterior.given(KERNEL, lam, X[: t - 1], np.zeros(t - 1))
            assert data.given(seen) <= width(t) * (1 + 1e-9)
            assert LogDetWidth(1.0, 0.3, 0.1, "root").given(seen) <= data.given(seen)


def test_a_fixed_design_needs_no_gain_and_its_noise_is_normal():
    width = FixedDesignWidth(B=2.0, sigma=0.3, failure=0.05, lam=0.25, size=40)
    tail = 0.6 * np.sqrt(2 * np.log(2 * 40 * 9 * np.pi**2 / 0.3))
    assert width(3) == pytest.approx(2 + tail)
    assert FixedDesignWidth(2.0, 0.3, 0.05, 0.25, 40, "root")(3) == pytest.approx(np.hypot(2, tail))
    posterior = posterior_with(0.25)
    x = np.array([[0.42]])
    K = KERNEL(posterior.X, posterior.X)
    weights = np.linalg.solve(K + 0.25 * np.eye(len(K)), KERNEL(posterior.X, x))[:, 0]
    variance = float(posterior.marginal(x).std[0] ** 2)
    bias = (
        1 - 2 * weights @ KERNEL(posterior.X, x)[:, 0] + weights @ K @ weights
    )  # ||k(., x) - sum of a_i k(., x_i)||^2
    assert variance == pytest.approx(bias + 0.25 * weights @ weights, rel=1e-9)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: LogDetWidth(-1.0, 0.1, 0.1), "at least 0"),
        (lambda: LogDetWidth(1.0, 0.1, 1.5), "between 0 and 1"),
        (lambda: LogDetWidth(1.0, 0.1, 0.1, "product"), "`formula` must be 'sum' or 'root'; got 'product'"),
        (lambda: FixedDesignWidth(1.0, 0.1, 0.1, 0.0, 5), "`lam` must be positive"),
        (lambda: FixedDesignWidth(1.0, 0.1, 0.1, 1.0, 0), "at least 1; got lam = 1.0 and size = 0"),
    ],
)
def test_settings_that_give_no_width_are_refused(make, said):
    with pytest.raises(BadInput, match=said):
        make()


def test_ucb_and_elimination_take_a_width_that_reads_the_posterior():
    grid, lam, sigma = Box([(0.0, 1.0)]).grid(15), 0.1, 0.1
    width = LogDetWidth(1.0, sigma, 0.1, "root")
    f = np.sin(7 * grid.U[:, 0])
    for rule in (UpperConfidence(width), Elimination(width)):
        rng = np.random.default_rng(4)
        search = Search(grid, 0.0, rule, model=FixedModel(KERNEL, lam), noise=sigma, confirm=False, seed=1)
        asked, values, alive = [], [], np.ones(15, dtype=bool)
        for _ in range(25):
            x = search.ask()
            place = int(grid.nearest(grid.to_unit(x))[0])
            X = grid.U[asked]
            K = KERNEL(X, X) + lam * np.eye(len(asked))
            k = KERNEL(X, grid.U)
            mean = k.T @ np.linalg.solve(K, values) if asked else np.zeros(15)
            std = np.sqrt(1 - np.einsum("ij,ij->j", k, np.linalg.solve(K, k))) if asked else np.ones(15)
            half_log_det = 0.5 * np.linalg.slogdet(K / lam)[1] if asked else 0.0
            half = np.sqrt(1 + 2 * sigma**2 / lam * (half_log_det + np.log(10))) * std
            if isinstance(rule, Elimination):
                alive &= mean + half >= (mean - half)[alive].max() - 1e-9
                score = np.where(alive, std, -np.inf)
            else:
                score = mean + half
            assert score[place] >= score.max() - 1e-6
            asked.append(place)
            values.append(f[place] + sigma * rng.standard_normal())
            search.tell(x, values[-1])
