"""BoTorch without the layers between gives the values and gradients of BoTorch, to the last bit."""

import sys
from pathlib import Path

import pytest

WHY = "BOTORCH IS NOT TESTED: it is only in the environment of the benchmarks, where `make test-bench` runs this"
torch = pytest.importorskip("torch", reason=WHY)
pytest.importorskip("botorch", reason=WHY)
sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import botorch_direct
from botorch.acquisition.analytic import LogExpectedImprovement
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim.closures.model_closures import get_loss_closure
from gpytorch.kernels import MaternKernel
from gpytorch.mlls import ExactMarginalLogLikelihood

SHAPES = [(1, 5), (2, 3), (4, 20), (20, 60)]  # parameters, points


def usual_model(d, n, **parts):
    X = 7 * torch.rand(n, d, dtype=torch.double, generator=torch.Generator().manual_seed(n))
    scales = {"input_transform": Normalize(d), "outcome_transform": Standardize(1)}
    return SingleTaskGP(X, torch.sin(X).sum(-1, keepdim=True), **scales, **parts)


@pytest.mark.parametrize(("d", "n"), SHAPES)
def test_the_straight_likelihood_and_its_gradient_are_those_of_botorch(d, n):
    model = usual_model(d, n)
    mll = ExactMarginalLogLikelihood(model.likelihood, model).train()
    parameters, rng = list(model.parameters()), torch.Generator().manual_seed(0)
    usual, quick = get_loss_closure(mll), botorch_direct.straight_loss(mll)
    for _ in range(5):
        with torch.no_grad():
            for parameter in parameters:
                parameter.copy_(0.05 + torch.rand(parameter.shape, generator=rng))
        one, other = usual(), quick()
        assert one.item() == other.item()
        gradients = (torch.autograd.grad(value, parameters) for value in (one, other))
        assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize(("d", "n"), SHAPES)
def test_the_straight_posterior_and_its_gradient_are_those_of_botorch(d, n):
    model = usual_model(d, n)
    known = model.train_inputs[0][0]
    model.eval()
    points = 7 * torch.rand(9, 1, d, dtype=torch.double, generator=torch.Generator().manual_seed(1))
    points[0, 0] = known  # where the variance is about nothing
    points.requires_grad_()
    acquisition = LogExpectedImprovement(model, best_f=1.0)
    usual = acquisition._mean_and_sigma(points)
    quick = botorch_direct.straight_moments(model, points, 1e-12)
    for one, other in zip(usual, quick, strict=True):
        assert torch.equal(one, other)
        gradients = [torch.autograd.grad(value.sum(), points, retain_graph=True)[0] for value in (one, other)]
        assert torch.equal(*gradients)


def test_another_model_goes_the_usual_way():
    assert botorch_direct._as_it_comes(usual_model(2, 4))
    assert not botorch_direct._as_it_comes(usual_model(2, 4, covar_module=MaternKernel()))
    X = torch.rand(3, 4, 2, dtype=torch.double)  # three sets of points
    assert not botorch_direct._as_it_comes(SingleTaskGP(X, torch.sin(X).sum(-1, keepdim=True)))
