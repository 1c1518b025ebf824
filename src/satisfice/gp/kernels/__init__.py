"""Kernels: values, and derivatives in the points and in every hyperparameter.

Derivatives are never tensors of shape (m, n, d). With slope(r) = rho'(r) / r the derivative of k = s^2 rho(r) in x_j is
s^2 slope(r) (x_j - x'_j) / l_j^2, so a weighted sum of derivatives is two matrix products: the vector-Jacobian products `vjp`, in
the points, and `vjp_parameters`, in the hyperparameters.
"""

from satisfice.gp.kernels.additive import Additive
from satisfice.gp.kernels.base import Cross, Gram, Kernel
from satisfice.gp.kernels.correlations import CORRELATIONS, Correlation
from satisfice.gp.kernels.stationary import Stationary
from satisfice.gp.kernels.structured import Directional, WithNugget

__all__ = [
    "CORRELATIONS",
    "Additive",
    "Correlation",
    "Cross",
    "Directional",
    "Gram",
    "Kernel",
    "Stationary",
    "WithNugget",
]
