"""Learning curves: from the first values of a run, how likely its final value is to reach the target.

A curve is y(t) = f - a psi(t) + noise for t = 1, ..., T: psi falls from 1 at the first step to 0 at the last one, so f is the
final value and a the rise from the first step to the last. psi is a power of t or an exponential. Given psi and the noise, (f, a)
has a normal posterior in closed form; we average over a grid of shapes and noises, weighted by their evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from satisfice.types import Array

POWERS = (0.05, 0.15, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5)  # t^-b
SPANS = (0.03, 0.06, 0.1, 0.2, 0.35, 0.6, 1.0, 3.0)  # exp(-t / (span T)); 3 is nearly a straight line
NOISES = np.geomspace(1e-3, 0.5, 8)  # in units of the scale
BROAD = 3.0  # standard deviation of the final value and of the rise before anything is known, in units of the scale
LEAST = 4  # values that an extrapolation needs
RARE = 0.1  # good runs are taken to be at least as frequent as this
OFF = 0.3  # how far the change that an extrapolation adds may be off, as a share of it
DRIFT = 0.06  # how far a curve drifts from its family while t grows e-fold, in units of the median range of the curves
RECENT = 40  # earlier curves that are used, the latest
WIDER = 1.5  # the spread of earlier curves is widened by this factor: they are few, and those of good runs
OWN = 3.0  # the weight, in curves, of what was assumed before any curve was seen
_SHAPES = len(POWERS) + len(SPANS)


class Curve(NamedTuple):
    """The values of a run at its steps, counted from 1; larger values are better."""

    steps: Array
    values: Array


class Forecast(NamedTuple):
    """The final value as a mixture of normal distributions: their weights, means and standard deviations."""

    weights: Array
    means: Array
    stds: Array

    def probability(self, target: float) -> float:
        """P(final value >= target)."""
        return float(self.weights @ ndtr((self.means - target) / self.stds))

    @property
    def mean(self) -> float:
        """The expected final value."""
        return float(self.weights @ self.means)

    @property
    def std(self) -> float:
        """The standard deviation of the final value."""
        return float(np.sqrt(self.weights @ (self.stds**2 + (self.means - self.mean) ** 2)))


class Prior(NamedTuple):
    """What is assumed of a curve: mean (2,) and covariance (2, 2) of (f, a), and the weight of each shape and noise."""

    mean: Array
    covariance: Array
    log_weights: Array  # (shapes, noises)


def shapes(steps: Array, last: float) -> Array:
    """psi (shapes, n) at the steps: 1 at the first step and 0 at the last one, for each power and each exponential."""
    t = np.asarray(steps, dtype=float)
    b, rate = np.array(POWERS)[:, None], 1 / (np.array(SPANS)[:, None] * last)
    powers = (t**-b - last**-b) / (1 - last**-b)
    exponentials = (np.exp(-rate * t) - np.exp(-rate * last)) / (np.exp(-rate) - np.exp(-rate * last))
    return np.vstack([powers, exponentials])


def extrapolate(curve: Curve, last: float, scale: float, prior: Prior) -> tuple[Forecast, Array]:
    """The final value at step `last`, noise included, and the posterior weight of each shape and noise.

    With X = [1, -psi(t)], noise s^2 and (f, a) ~ N(m, C): the posterior covariance is S = (C^-1 + X'X / s^2)^-1, its mean
    S (C^-1 m + X'y / s^2), and the evidence N(y; X m, X C X' + s^2 I), by the matrix determinant lemma and Woodbury's identity.

    Parameters
    ----------
    curve
        The values so far.
    last
        The final step.
    scale
        The unit of the values.
    prior
        What is assumed of (f, a), the shape and the noise, in that unit.

    Returns
    -------
    forecast, weights
        The final value in the units of the curve, and the weights (shapes, noises).
    """
    y, psi = curve.values / scale, shapes(curve.steps, last)
    n, noise = len(y), NOISES**2
    XX = np.empty((_SHAPES, 2, 2))
    XX[:, 0, 0], XX[:, 1, 1] = n, np.einsum("kn,kn->k", psi, psi)
    XX[:, 0, 1] = XX[:, 1, 0] = -psi.sum(axis=1)
    precision = np.linalg.inv(prior.covariance)
    residual = y - prior.mean[0] + prior.mean[1] * psi  # y - X m (shapes, n)
    Xr = np.stack([residual.sum(axis=1), -np.einsum("kn,kn->k", psi, residual)], axis=1)
    P = precision + XX[:, None] / noise[:, None, None]  # (shapes, noises, 2, 2)
    S = np.linalg.inv(P)
    step = np.einsum("ksij,kj->ksi", S, Xr) / noise[:, None]
    misfit = np.einsum("kn,kn->k", residual, residual)[:, None] / noise - np.einsum("ki,ksi->ks", Xr, step) / noise
    log_determinant = n * np.log(noise) + np.linalg.slogdet(P)[1] + np.linalg.slogdet(prior.covariance)[1]
    log_weights = prior.log_weights - 0.5 * (misfit + log_determinant)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    means = prior.mean[0] + step[..., 0]
    stds = np.sqrt(S[..., 0, 0] + noise)
    return Forecast(weights.ravel(), scale * means.ravel(), scale * stds.ravel()), weights


@dataclass(frozen=True)
class CurveModel:
    """Extrapolates runs, given the complete curves of earlier ones.

    Earlier curves say how large final values and rises are, which shapes and how much noise to expect, and how far the
    extrapolations from the same number of values were off: the forecast is widened accordingly.

    Parameters
    ----------
    earlier
        Complete curves, whose last value is at step `last`.
    last
        The final step of a run.
    """

    earlier: Sequence[Curve]
    last: float
    _widths: dict[int, float] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _used(self) -> list[Curve]:
        return [curve for curve in self.earlier if len(curve.values) > LEAST][-RECENT:]

    def _scale(self, curve: Curve) -> float:
        """The unit of the values: the largest range of a curve, this one included."""
        return max((float(np.ptp(each.values)) for each in [*self._used, curve]), default=0.0) or 1.0

    def _doubted(self, forecast: Forecast, curve: Curve) -> Forecast:
        """The forecast with the standard deviations of what no family has: a change that is off, and a drift."""
        change = OFF * (forecast.means - curve.values[-1])
        range_ = float(np.median([np.ptp(each.values) for each in [*self._used, curve]]))
        drift = (DRIFT * range_) ** 2 * np.log(self.last / curve.steps[-1])
        return forecast._replace(stds=np.sqrt(forecast.stds**2 + change**2 + drift))

    @cached_property
    def _ends(self) -> Array:
        """The final value and the rise of each earlier curve (curves, 2)."""
        return np.array([[each.values[-1], each.values[-1] - each.values[0]] for each in self._used]).reshape(-1, 2)

    def prior(self, curve: Curve, scale: float) -> Prior:
        """What the earlier curves say of (f, a), in units of the scale; broad where they are few."""
        own = np.array([curve.values[-1] / scale, 0.5])
        broad = np.diag([BROAD, BROAD]) ** 2
        ends = self._ends / scale
        count = len(ends)
        if not count:
            return Prior(own, broad, self._log_weights)
        spread = np.cov(ends.T, bias=True) if count > 1 else np.zeros((2, 2))
        centre = ends.mean(axis=0)
        covariance = WIDER**2 * spread + broad / (1 + count) ** 2
        return Prior(centre, covariance, self._log_weights)

    @cached_property
    def _log_weights(self) -> Array:
        """The log weight of each shape and noise: uniform, and what the earlier curves make of it."""
        total = np.full((_SHAPES, len(NOISES)), OWN / (_SHAPES * len(NOISES)))
        flat = np.log(total / OWN)
        for curve in self._used:
            scale = self._scale(curve)
            own = Prior(np.array([curve.values[-1] / scale, 0.5]), np.eye(2) * BROAD**2, flat)
            total += extrapolate(curve, self.last, scale, own)[1]
        return np.asarray(np.log(total / total.sum()))

    def width(self, count: int) -> float:
        """The factor that widens forecasts from the first `count` values, given how far those of earlier curves were off."""
        if count not in self._widths:
            total, seen = OWN, OWN
            for curve in self._used:
                if len(curve.values) <= count:
                    continue
                start = Curve(curve.steps[:count], curve.values[:count])
                scale = self._scale(curve)
                forecast = self._doubted(extrapolate(start, self.last, scale, self.prior(start, scale))[0], start)
                total += ((curve.values[-1] - forecast.mean) / forecast.std) ** 2
                seen += 1
            self._widths[count] = max(1.0, float(np.sqrt(total / seen)))
        return self._widths[count]

    def is_hopeless(self, curve: Curve, target: float, error: float) -> bool:
        """Whether a run may be stopped, so that at most a share `error` of the good runs are.

        P_k, the probability of a good end given the first k values, is a martingale. If every run is stopped at the first k with
        P_k < e, then P(good and stopped) <= e P(stopped), and so P(stopped | good) <= e / P(good). Hence e = `error` P(good),
        with the share of good runs as the earlier curves have it, or `RARE` if that is larger.

        Parameters
        ----------
        curve
            The values so far.
        target
            The value that the final one must reach.
        error
            The share.

        Returns
        -------
        bool
            Whether the probability is below e.
        """
        if len(curve.values) < LEAST or curve.steps[-1] >= self.last:
            return False
        scale = self._scale(curve)
        prior = self.prior(curve, scale)
        before = float(ndtr((prior.mean[0] - target / scale) / np.sqrt(prior.covariance[0, 0])))
        return self.forecast(curve).probability(target) < error * max(before, RARE)

    def forecast(self, curve: Curve) -> Forecast:
        """The final value of a run, from its values so far."""
        scale = self._scale(curve)
        found = self._doubted(extrapolate(curve, self.last, scale, self.prior(curve, scale))[0], curve)
        width, mean = self.width(len(curve.values)), found.mean
        return Forecast(found.weights, mean + width * (found.means - mean), width * found.stds)
