"""Linear constraints on numbers of the unit cube: the polytope that they leave, its projection and its chords."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from satisfice.types import Array

SWEEPS = 300
CLOSE = 1e-11  # where the sweeps of a projection end
TOUCH = 1e-9  # a point so close to a face touches it
THIN = 1e-7  # the radius of the largest ball inside must be more than this


@dataclass(frozen=True)
class Polytope:
    """The points z of the unit cube [0, 1]^k with A z <= b and E z = e.

    Parameters
    ----------
    A, b : arrays (m, k) and (m,)
        The inequalities; the rows of A have length one.
    E, e : arrays (q, k) and (q,)
        The equalities; the rows of E are orthonormal.
    """

    A: Array
    b: Array
    E: Array
    e: Array

    @cached_property
    def ball(self) -> tuple[Array, float] | None:
        """The centre of the largest ball inside (within the equalities) and its radius; None if there is no point at all."""
        from scipy.optimize import linprog  # not needed to import the package

        k = self.A.shape[1]
        upper = np.vstack([np.column_stack([self.A, np.ones(len(self.A))]), np.column_stack([np.eye(k), np.ones(k)])])
        lower = np.column_stack([-np.eye(k), np.ones(k)])
        found = linprog(
            np.append(np.zeros(k), -1.0),
            A_ub=np.vstack([upper, lower]),
            b_ub=np.concatenate([self.b, np.ones(k), np.zeros(k)]),
            A_eq=np.column_stack([self.E, np.zeros(len(self.E))]) if len(self.E) else None,
            b_eq=self.e if len(self.E) else None,
            bounds=[(0.0, 1.0)] * k + [(0.0, None)],
        )
        return (np.asarray(found.x[:k]), float(found.x[k])) if found.status == 0 else None

    @property
    def centre(self) -> Array:
        """The centre (k,) of the largest ball inside."""
        ball = self.ball
        if ball is None:
            raise ValueError("an empty polytope has no centre")
        return self.even(ball[0][None])[0]

    def even(self, Z: Array) -> Array:
        """The nearest points of the affine space E z = e."""
        return Z - (Z @ self.E.T - self.e) @ self.E if len(self.E) else Z

    def inside(self, Z: Array) -> npt.NDArray[np.bool_]:
        """Which points (n, k) satisfy everything, up to rounding."""
        ok = (Z >= -1e-13).all(axis=1) & (Z <= 1 + 1e-13).all(axis=1) & (Z @ self.A.T <= self.b + 1e-13).all(axis=1)
        if len(self.E):
            ok &= (np.abs(Z @ self.E.T - self.e) <= 1e-12).all(axis=1)
        return np.asarray(ok)

    def project(self, Z: Array) -> Array:
        """The nearest points inside, by Dykstra's algorithm; what it leaves outside is drawn towards the centre.

        Parameters
        ----------
        Z : array (n, k)
            Any points; those inside stay as they are, to the last bit.

        Returns
        -------
        array (n, k)
        """
        outside = ~self.inside(Z)
        if not outside.any():
            return Z
        z = Z[outside]
        by_box, by_row = np.zeros_like(z), np.zeros((len(self.A), len(z)))
        for _ in range(SWEEPS):
            before = z
            z = self.even(z)
            moved = z + by_box
            z = np.minimum(np.maximum(moved, 0.0), 1.0)
            by_box = moved - z
            for i, a in enumerate(self.A):
                z = z + by_row[i][:, None] * a
                by_row[i] = np.maximum(z @ a - self.b[i], 0.0)
                z = z - by_row[i][:, None] * a
            if np.abs(z - before).max() < CLOSE:
                break
        found = Z.copy()
        found[outside] = self._drawn_in(self.even(z))
        return found

    def _drawn_in(self, Z: Array) -> Array:
        """The last point inside on the line from the centre to each point, which satisfies the equalities."""
        c = self.centre
        D = Z - c
        _, far = self.chord(np.broadcast_to(c, Z.shape), D)
        short = far < 1
        return np.where(short[:, None], np.clip(c + (far * (1 - 1e-12))[:, None] * D, 0.0, 1.0), Z)

    def chord(self, Z: Array, D: Array) -> tuple[Array, Array]:
        """The interval of t for which z + t d stays inside, for each point inside and direction (n, k)."""
        rates = np.hstack([D, -D, D @ self.A.T])
        room = np.maximum(np.hstack([1 - Z, Z, self.b - Z @ self.A.T]), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = room / rates
        high = np.where(rates > 1e-15, t, np.inf).min(axis=1)
        low = np.where(rates < -1e-15, t, -np.inf).max(axis=1)
        return low, high

    def steer(self, Z: Array, D: Array) -> Array:
        """Steps (n, k) from points inside that stay inside: along the faces that a step would leave by, and cut at the next one.

        Parameters
        ----------
        Z : array (n, k)
            Points inside.
        D : array (n, k)
            The steps that are wanted.

        Returns
        -------
        array (n, k)
        """
        rows, even = np.vstack([self.E, self.A]), len(self.E)
        touched = np.ones((len(Z), len(rows)), dtype=bool)
        touched[:, even:] = self.b - Z @ self.A.T < TOUCH
        free = np.ones(Z.shape, dtype=bool)
        for _ in range(3):
            free &= np.where(D > 0, Z < 1 - TOUCH, Z > TOUCH)
            D = D * free
            N = np.where(touched, (D @ rows.T > 0) | (np.arange(len(rows)) < even), False)[:, :, None] * rows
            N = N * free[:, None, :]
            across = (N @ D[:, :, None])[:, :, 0]
            if not across.any():
                break
            gram = N @ N.transpose(0, 2, 1) + 1e-12 * np.eye(len(rows))
            D = D - (N.transpose(0, 2, 1) @ np.linalg.solve(gram, across[:, :, None]))[:, :, 0]
        _, far = self.chord(Z, D)
        return np.where(far > 0, np.minimum(far, 1.0), 0.0)[:, None] * D

    def along(self, D: Array) -> Array:
        """Directions (n, k) as they lie in the affine space."""
        return D - (D @ self.E.T) @ self.E if len(self.E) else D
