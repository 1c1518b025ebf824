"""Preference: the search goes on for cheaper good settings, and names none that is not certified."""

import math
import warnings

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import binom, norm

from satisfice import BadInput, Box, Finite, Mixture, Requirement, Search, Space
from satisfice.acquisition.belief import Belief
from satisfice.acquisition.scores import log_probability_score
from satisfice.certificates.eprocess import KnownNoise, bar, level
from satisfice.domain.preference import Preference
from satisfice.errors import SatisficeWarning
from satisfice.gp.kernels import Stationary
from satisfice.gp.posterior import Posterior
from satisfice.search.improvement import ExpectedSaving, SavingScore

EVERYTHING = {"a": (0.0, 2.0), "n": (1, 9), "rate": (1e-3, 1.0, "log"), "kind": ["u", "v"], "fixed": [3.0]}
SQUARE = {"a": (0.0, 1.0), "b": (0.0, 1.0)}


def hill(p):
    return 1 - 4 * ((p["a"] - 0.6) ** 2 + (p["b"] - 0.5) ** 2)


def searched(space, target, prefer, f, *, budget=60, sd=0.0, seed=0, **options):
    """A search until it is done, or the budget is spent."""
    search, rng = Search(space, target, prefer=prefer, seed=seed, **options), default_rng([seed, 9])
    while not (answer := search.answer()).done and answer.evaluations < budget:
        x = search.ask()
        search.tell(x, f(x) + sd * rng.standard_normal() if sd else f(x))
    return search, answer


def test_costs_are_those_of_the_settings():
    space = Space.of(EVERYTHING)
    domain = space.domain
    X = domain.from_unit(domain.uniform(50, default_rng(0)))
    params = [space.decode(x) for x in X]
    sums = Preference("2 a + n / 2 - 3 rate + fixed + 1", domain, space)
    wanted = [2 * p["a"] + p["n"] / 2 - 3 * p["rate"] + 4 for p in params]
    assert sums.costs(X) == pytest.approx(wanted)
    assert sums.at(domain.to_unit(X)) == pytest.approx(wanted)
    by_hand = Preference(lambda p: p["n"] * (1 + (p["kind"] == "u")), domain, space)
    assert by_hand.costs(X) == pytest.approx([p["n"] * (1 + (p["kind"] == "u")) for p in params])
    centre = Preference(params[3], domain, space)
    assert centre.kind == "distance"
    assert centre.costs(X) == pytest.approx(np.linalg.norm(domain.to_unit(X) - domain.to_unit(X)[3], axis=1))
    assert sums.lowest == pytest.approx(1 / 2 - 3 + 4, abs=0.05)


def belief_on(domain, target=0.7, n=9):
    rng = default_rng(1)
    U = domain.uniform(n, rng)
    y = np.sin(4 * U[:, 0]) + 0.5 * U[:, 1]
    members = tuple(
        (weight, Posterior.given(Stationary("matern52", np.full(2, scale)), 1e-6, U, y))
        for weight, scale in ((0.7, 0.3), (0.3, 0.6))
    )
    return Belief(members, domain, target, n + 1, 0, float(y.max()), U[np.argsort(-y)[:3]], U)


def test_the_score_is_the_log_of_the_expected_saving():
    domain = Box([(0.0, 1.0), (0.0, 2.0)])
    belief = belief_on(domain)
    preference = Preference(lambda x: 1 + x[0] + 0.3 * x[1] ** 2, domain)
    score = SavingScore(preference, 1.9, log_probability_score(belief, belief.target))
    U = default_rng(2).random((200, 2))
    chance = sum(w * norm.sf((belief.target - p.marginal(U)[0]) / p.marginal(U)[1]) for w, p in belief.members)
    saving = 1.9 - (1 + U[:, 0] + 0.3 * (2 * U[:, 1]) ** 2)
    saves = saving > 1e-3
    assert score(U[saves]) == pytest.approx(np.log(saving[saves] * chance[saves]), abs=1e-6)
    assert score(U[saving <= 0]).max() < score(U[saves]).min()
    found, gradient = score.with_gradient(U[saves])
    for j in range(2):
        step = np.zeros(2)
        step[j] = 1e-6
        slope = (score(U[saves] + step) - score(U[saves] - step)) / 2e-6
        assert gradient[:, j] == pytest.approx(slope, rel=0.02, abs=0.02 * np.abs(slope).max())
    assert found == pytest.approx(score(U[saves]))


def test_the_rule_asks_where_the_expected_saving_is_largest():
    domain = Box([(0.0, 1.0), (0.0, 1.0)])
    belief = belief_on(domain)
    preference = Preference(lambda x: 1 + x[0] + x[1], domain)
    rule = ExpectedSaving(preference, 2.0, belief.best[0])
    line = np.linspace(0, 1, 201)
    net = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    score = rule.score(belief)
    for seed in range(5):
        u = rule.propose(belief, default_rng(seed))
        assert (
            score(u[None])[0] >= score(net).max() - 0.05
        )  # 5 % of the saving: right beside an evaluated point it is best
        assert np.abs(belief.avoid - u).max(axis=1).min() > 1e-6


def test_without_noise_the_cheapest_good_setting_is_found_and_the_search_ends():
    """The disc of the good settings has the radius sqrt(0.1 / 4); the cheapest of them costs 1.1 - sqrt(2) radii."""
    _, answer = searched(Space.of(SQUARE), 0.9, "a + b", hill, noise=0, budget=90, seed=2)
    cheapest = 1.1 - math.sqrt(2 * 0.1 / 4)
    assert answer.verdict == "good"
    assert hill(answer.params) >= 0.9
    assert cheapest - 1e-9 <= answer.preference.cost <= cheapest + 0.02
    assert answer.preference.cost == pytest.approx(answer.params["a"] + answer.params["b"])
    assert answer.preference.first >= answer.preference.cost
    assert answer.preference.saving == pytest.approx(answer.preference.first - answer.preference.cost)
    assert answer.done
    assert answer.preference.hope < 0.05
    assert "Hope of a more preferred one" in dict(answer.lines)["preference"]


def test_a_centre_is_approached():
    _, answer = searched(Space.of(SQUARE), 0.9, {"a": 0.6, "b": 0.9}, hill, noise=0, budget=20)
    assert answer.preference.kind == "distance"
    assert answer.preference.cost == pytest.approx(0.4 - math.sqrt(0.1 / 4), abs=0.02)


def test_a_table_is_searched_until_no_cheaper_row_can_be_good():
    rows = [{"a": k / 6, "b": j / 6} for k in range(7) for j in range(7)]
    _, answer = searched(Space.of(rows), 0.85, "a + 2 b", hill, noise=0, budget=49)
    assert answer.params == min((row for row in rows if hill(row) >= 0.85), key=lambda p: p["a"] + 2 * p["b"])
    X = np.array([[row["a"], row["b"]] for row in rows])
    _, arrays = searched(
        Finite(X), 0.85, lambda x: x[0] + 2 * x[1], lambda x: hill({"a": x[0], "b": x[1]}), noise=0, budget=49
    )
    assert answer.done
    assert arrays.done
    assert arrays.point.tolist() == [answer.params["a"], answer.params["b"]]


def test_the_search_is_done_when_the_cheapest_setting_of_all_is_good():
    _, answer = searched(
        Space.of({"a": (0, 9), "b": (0, 9)}), 0.5, "a + b", lambda p: 1 + p["a"] / 20, noise=0, budget=100
    )
    assert answer.preference.cost == 0
    assert answer.done
    noisy = {"sd": 0.1, "noise": 0.1, "budget": 60}
    _, answer = searched(Space.of({"a": (0, 9)}), 0.5, "a", lambda p: 1 + p["a"] / 20, **noisy)
    assert answer.preference.cost == 0
    assert answer.done


def test_constraints_and_a_preference_go_together():
    space = Space.of({**SQUARE, "c": (0.0, 1.0)}, [Mixture(["a", "b", "c"]), "b >= 0.2"])
    _, answer = searched(space, 0.5, "4 a + b", hill, noise=0, budget=20)
    p = answer.params
    assert p["a"] + p["b"] + p["c"] == pytest.approx(1)
    assert p["b"] >= 0.2
    assert answer.preference.cost < answer.preference.first


def test_several_requirements_and_a_preference_go_together():
    target = [Requirement("height", ">=", 0.8, noise=0), Requirement("slope", "<=", 1.2, noise=0)]
    _, answer = searched(
        Space.of(SQUARE), target, "a", lambda p: {"height": hill(p), "slope": p["a"] + p["b"]}, budget=30, seed=1
    )
    assert answer.verdict == "good"
    assert all(
        each.value >= 0.8 if each.requirement.name == "height" else each.value <= 1.2 for each in answer.requirements
    )
    assert answer.preference.cost == pytest.approx(0.6 - math.sqrt(0.2 / 4), abs=0.06)


@pytest.mark.parametrize("seed", range(3))
def test_under_noise_what_is_named_is_certified(seed):
    """The fresh values of the named setting pass the test by themselves, at the level of all candidates."""
    sd = 0.08
    search, answer = searched(Space.of(SQUARE), 0.85, "a + b", hill, sd=sd, noise=sd, budget=45, seed=seed)
    assert answer.verdict == "good"
    fresh = search.observations.fresh_values(answer.point)
    certified = search.observations.improvement.certified
    assert len(certified) == answer.preference.certified
    assert answer.preference.cost == min(answer.params["a"] + answer.params["b"], answer.preference.first)
    candidates = answer.certificate.candidates
    passed = [KnownNoise(sd).log_evidence(fresh[: k + 1], 0.85) for k in range(len(fresh))]
    assert max(passed) >= bar(KnownNoise(sd), level(0.05, candidates))
    assert answer.certificate.repeats >= 1


@pytest.mark.slow
def test_settings_that_are_short_of_the_target_are_rarely_named():
    """All settings that cost less than 1 are short by 0.3 sd, and all others good: at most 5 % of the searches name a bad one."""
    sd, runs, false = 0.1, 60, 0
    for seed in range(runs):
        _, answer = searched(
            Space.of(SQUARE),
            0.5,
            "a + b",
            lambda p: 0.6 if p["a"] + p["b"] >= 1 else 0.47,
            sd=sd,
            noise=sd,
            budget=80,
            seed=seed,
        )
        false += answer.verdict == "good" and answer.params["a"] + answer.params["b"] < 1
    assert false <= binom.ppf(0.999, runs, 0.05)


def test_before_a_good_setting_nothing_changes():
    plain, preferring = (
        Search(Space.of(SQUARE), 2.0, noise=0, seed=3),
        Search(Space.of(SQUARE), 2.0, noise=0, seed=3, prefer="a"),
    )
    for _ in range(12):
        params = plain.ask()
        assert preferring.ask() == params
        plain.tell(params, hill(params))
        preferring.tell(params, hill(params))
    assert preferring.answer().preference is None
    assert not preferring.answer().done


@pytest.mark.parametrize(
    ("prefer", "message"),
    [
        ("a + c", "cannot read 'c'"),
        ("a * b", "cannot read 'b'"),
        (lambda p: p["missing"], "the function <lambda> must return a cost; it raised KeyError: 'missing'"),
        (lambda p: "cheap", "must return a finite number; it returned 'cheap'"),
        (lambda p: float("nan"), "must return a finite number; it returned nan"),
        ({"a": 0.5}, "`prefer` must be a sum of parameters.*'b' is missing"),
        ({"a": 0.5, "b": 3.0}, "`prefer` must be a sum of parameters.*from 0.0 to 1.0"),
        (3, "`prefer` must be a sum of parameters"),
    ],
)
def test_a_preference_that_cannot_be_used_is_refused(prefer, message):
    with pytest.raises(BadInput, match=message):
        Search(Space.of(SQUARE), 1.0, prefer=prefer)


def test_a_preference_of_a_box_has_no_names():
    for prefer in ("a + b", {"a": 1}):
        with pytest.raises(BadInput, match="since the parameters have no names"):
            Search(Box([(0, 1), (0, 1)]), 1.0, prefer=prefer)
    assert Search(Box([(0, 1), (0, 1)]), 1.0, prefer=[0.2, 0.3]).preference.kind == "distance"


def test_a_function_that_raises_late_loses_nothing():
    def cost(p):
        if calls:
            raise RuntimeError("no prices")
        return p["a"]

    calls = []
    search = Search(Space.of(SQUARE), 0.5, noise=0, prefer=cost, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SatisficeWarning)
        while search.answer().verdict == "open":
            params = search.ask()
            search.tell(params, hill(params))
    count = search.answer().evaluations
    calls.append(1)
    with pytest.raises(BadInput, match="the function cost must return a cost; it raised RuntimeError: no prices"):
        search.ask()
    calls.clear()
    assert search.answer().evaluations == count
