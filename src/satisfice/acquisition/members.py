"""`MemberStack`: the marginals of all members of a belief at once, with their derivatives."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from satisfice.gp.kernels.stack import KernelStack, StackCross, Values, order_of
from satisfice.gp.posterior import FLOOR, SMALL, Posterior
from satisfice.types import Array


class MarginalsWithVjp(NamedTuple):
    """Mean and standard deviation of f at m points under k members, each (k, m), and what their derivatives consist of.

    As for `satisfice.gp.posterior.MarginalWithVjp`, with `alpha` (k, n) and `weights` (k, m, n).
    """

    mean: Array
    std: Array
    cross: StackCross
    alpha: Array
    weights: Array

    def vjp(self, by_mean: Array, by_std: Array) -> Array:
        """The derivatives in U (m, d) of a function of all means and stds, given its derivatives in those, each (k, m)."""
        return self.cross.vjp(by_mean[:, :, None] * self.alpha[:, None, :] + by_std[:, :, None] * self.weights)


@dataclass(frozen=True)
class MemberStack:
    """Posteriors at the same points X (n, d), in the order of `order_of`.

    Parameters
    ----------
    order
        The index of each row among the members.
    kernels, values
        The kernels and what their parameters say.
    X, alpha, inverse
        The points, the weights of the means (k, n), and the inverse Cholesky factors (k, n, n).
    """

    order: list[int]
    kernels: KernelStack
    values: Values
    X: Array
    alpha: Array
    inverse: Array

    @classmethod
    def of(cls, posteriors: list[Posterior]) -> "MemberStack | None":
        """The stack of the posteriors; None where there is only one, and where they are too large or of other kinds."""
        X = posteriors[0].X if posteriors else np.empty((0, 0))
        if len(posteriors) < 2 or not 0 < len(X) <= SMALL:
            return None
        if not all(each.X is X or np.array_equal(each.X, X) for each in posteriors[1:]):
            return None
        order = order_of([each.kernel for each in posteriors])
        if not order:
            return None
        ordered = [posteriors[k] for k in order]
        kernels = KernelStack.of([each.kernel for each in ordered], X.shape[1])
        parameters = np.zeros((len(order), kernels.select.shape[2]))
        for row, each in zip(parameters, ordered, strict=True):
            mine = each.kernel.parameters
            row[: len(mine)] = mine
        alpha, inverse = (np.stack(part) for part in ([p.alpha for p in ordered], [p.inverse_factor for p in ordered]))
        return cls(order, kernels, kernels.values(parameters), X, alpha, inverse)

    def marginals_with_vjp(self, U: Array) -> MarginalsWithVjp:
        """The marginals at U (m, d) under all members, with their derivatives in U by the chain rule."""
        cross = self.kernels.cross(self.values, U, self.X)
        K = cross.value
        halves = K @ self.inverse.transpose(0, 2, 1)
        weights = halves @ self.inverse
        variance = self.values.variance * (1 + self.values.ripple)
        reduction = np.einsum("kmn,kmn->km", halves, halves)
        std = np.sqrt(np.maximum(variance - reduction, FLOOR * variance))
        floored = std <= np.sqrt(FLOOR * variance)
        weights *= np.where(floored, 0.0, -1 / std)[:, :, None]
        return MarginalsWithVjp((K @ self.alpha[:, :, None])[:, :, 0], std, cross, self.alpha, weights)
