"""What a kernel is: `Kernel`, and its matrices with derivatives, `Cross` and `Gram`."""

from typing import Protocol, Self

from numpy.random import Generator

from satisfice.types import Array


class Cross(Protocol):
    """The kernel between points U (m, d) and X (n, d), with its derivative in U."""

    @property
    def value(self) -> Array:
        """k(u_m, x_i), shape (m, n)."""

    def vjp(self, weights: Array) -> Array:
        """sum_i weights[m, i] dk(u_m, x_i)/du_m, shape (m, d); weights (n,) serve every m."""


class Gram(Protocol):
    """The kernel among points X (n, d), with its derivative in the hyperparameters."""

    @property
    def value(self) -> Array:
        """k(x_i, x_j), shape (n, n)."""

    def vjp_parameters(self, weights: Array) -> Array:
        """sum_ij weights[i, j] dk(x_i, x_j)/dparameters for symmetric weights."""


class Kernel(Protocol):
    """A positive definite function with hyperparameters; frozen."""

    @property
    def form(self) -> str:
        """The name of the correlation."""

    @property
    def scale(self) -> float:
        """s, the standard deviation of f."""

    @property
    def variance(self) -> float:
        """k(x, x)."""

    @property
    def nugget(self) -> float:
        """The part of the variance that a point shares with no other, however near."""

    @property
    def parameters(self) -> Array:
        """What is learned: the logs of lengths, a direction as it is, and the log of the scale s last."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of `parameters`."""

    def with_parameters(self, parameters: Array) -> Self:
        """The same kernel with other `parameters`."""

    def __call__(self, A: Array, B: Array) -> Array:
        """The matrix k(a_i, b_j), shape (len(A), len(B))."""

    def cross(self, U: Array, X: Array) -> Cross:
        """k(U, X) and its derivative in U."""

    def gram(self, X: Array) -> Gram:
        """k(X, X) and its derivative in the hyperparameters."""

    def features(self, count: int, dimension: int, rng: Generator) -> tuple[Array, Array]:
        """Draw frequencies W (count, d) and amplitudes a (count,) with E[sum_i a_i^2 cos(w_i'(x - x'))] = k(x, x')."""
