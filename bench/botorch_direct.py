"""BoTorch's likelihood and posterior without the layers in between: the same arithmetic in the same order, in half the time.

A default `SingleTaskGP` on one set of points always takes the same path through GPyTorch's lazy kernels, operators and distributions,
and most of a suggestion's time goes into finding that path. Values and gradients are identical to the last bit
(`tests/bench/test_botorch_direct.py`). Any other model takes the usual path.
"""

import math
from typing import Any


def go_straight() -> None:
    """Patch BoTorch in this process."""
    from botorch.acquisition.analytic import AnalyticAcquisitionFunction as Acquisition
    from botorch.models.transforms import Standardize
    from botorch.optim.closures import model_closures

    usual_loss, usual_moments = model_closures._get_loss_closure_exact_internal, Acquisition._mean_and_sigma

    def loss(mll: Any) -> Any:
        return straight_loss(mll) if _as_it_comes(mll.model) else usual_loss(mll)

    def moments(self: Any, X: Any, compute_sigma: bool = True, min_var: float = 1e-12) -> Any:
        strategy = self.model.prediction_strategy
        if getattr(strategy, "straight", False) and X.dim() == 3 and compute_sigma:
            return straight_moments(self.model, X, min_var)
        found = usual_moments(self, X, compute_sigma, min_var)  # fills the caches of the strategy
        standardized = type(getattr(self.model, "outcome_transform", None)) is Standardize
        straight = standardized and self.posterior_transform is None and _as_it_comes(self.model)
        self.model.prediction_strategy.straight = straight
        return found

    model_closures._get_loss_closure_exact_internal = loss
    Acquisition._mean_and_sigma = moments


def _as_it_comes(model: Any) -> bool:
    from botorch.models import SingleTaskGP
    from gpytorch.kernels import RBFKernel
    from gpytorch.likelihoods import GaussianLikelihood
    from gpytorch.means import ConstantMean

    if type(model) is not SingleTaskGP:
        return False
    parts = (model.covar_module, model.mean_module, model.likelihood)
    kinds = (RBFKernel, ConstantMean, GaussianLikelihood)
    plain = all(type(part) is kind for part, kind in zip(parts, kinds, strict=True))
    return plain and model.covar_module.active_dims is None and model.train_targets.dim() == 1


def straight_loss(mll: Any) -> Any:
    """A closure: minus the log marginal likelihood with its priors, divided by n, at the current parameters."""
    import torch
    from linear_operator.utils.cholesky import psd_safe_cholesky  # type: ignore[import-not-found]
    from torch.distributions.multivariate_normal import _batch_mahalanobis

    model, y = mll.model, mll.model.train_targets
    n, x = len(y), None
    priors = [(module, prior, closure) for _, module, prior, closure, _ in model.named_priors()]

    def closure(**_: Any) -> Any:
        nonlocal x
        x = model.transform_inputs(model.train_inputs[0]) if x is None else x  # once the model is in training
        noise = torch.diag_embed(model.likelihood.noise.view(1).expand(n))
        root = psd_safe_cholesky((model.covar_module.forward(x, x) + noise).contiguous()).contiguous()
        square = _batch_mahalanobis(root, y - model.mean_module.forward(x))
        half_determinant = root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        value = -0.5 * (n * math.log(2 * math.pi) + square) - half_determinant
        for module, prior, get in priors:
            value.add_(prior.log_prob(get(module)).view(-1).sum(dim=-1))
        return -value.div_(n)

    return closure


def straight_moments(model: Any, X: Any, least: float) -> tuple[Any, Any]:
    """The posterior mean and standard deviation (b, 1) at points X (b, 1, d). The model's caches must be filled."""
    import torch
    from gpytorch.settings import min_variance

    x, train, strategy, scales = model.transform_inputs(X), model.train_inputs[0], model.prediction_strategy, model.outcome_transform  # fmt: skip
    n = len(train)
    joint = torch.cat([train.expand(len(x), *train.shape), x], dim=-2)
    test = joint[..., n:, :]
    own = model.covar_module.forward(test, test)
    cross = model.covar_module.forward(test, joint[..., :n, :])
    mean = (cross @ strategy.mean_cache.unsqueeze(-1)).squeeze(-1) + model.mean_module.forward(joint)[..., n:]
    root = cross.matmul(strategy.covar_cache)
    covariance = torch.add(own, root @ root.transpose(-1, -2), alpha=-1)
    mean = scales.means.squeeze(-1) + scales.stdvs.squeeze(-1) * mean
    scale = scales.stdvs.squeeze(-1).expand_as(mean)
    variance = (scale.unsqueeze(-1) * covariance * scale.unsqueeze(-2)).diagonal(dim1=-1, dim2=-2)
    floor = min_variance.value(variance.dtype)
    if variance.lt(floor).any():
        variance = variance.clamp_min(floor)
    return mean, variance.clamp_min(least).sqrt().view(mean.shape)
