"""Any history of asking, telling, failing and resuming, and any short forms of a space."""

import math
import warnings

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from satisfice import BadInput, Box, Search, SpaceExhausted
from satisfice.domain.space import Space
from satisfice.errors import SatisficeWarning

pytestmark = pytest.mark.faults
VALUES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, -1.0, 5e-324, 1e300, -1e300])


class Histories(RuleBasedStateMachine):
    """A search, and beside it the history that it was told: a new search that is told the same must ask the same."""

    @initialize(noise=st.sampled_from([0, 0.1, "learn", None]), model=st.sampled_from(["auto", "paper"]), goal=VALUES)
    def begin(self, noise, model, goal):
        warnings.simplefilter("ignore")
        self.options = {"target": goal, "noise": noise, "model": model, "seed": 3}
        self.search, self.history = self.made(), []

    def made(self):
        return Search(Box([(0, 1), (-5, 5)]), **self.options)

    def told_again(self):
        again = self.made()
        for name, arguments in self.history:
            getattr(again, name)(*arguments)
        return again

    def note(self, name, *arguments):
        getattr(self.search, name)(*arguments)
        self.history.append((name, arguments))

    @rule(value=VALUES)
    def tell_what_was_asked(self, value):
        self.note("tell", self.search.ask(), value)

    @rule(x=st.tuples(st.floats(0, 1), st.floats(-5, 5)), value=VALUES)
    def tell_anything(self, x, value):
        self.note("tell", x, value)

    @rule()
    def fail_what_was_asked(self):
        self.note("fail", self.search.ask())

    @rule(points=st.lists(st.tuples(st.floats(0, 1), st.floats(-5, 5)), min_size=1, max_size=3))
    def ask_while_others_run(self, points):
        x = self.search.ask(points)
        assert np.isfinite(x).all()
        np.testing.assert_array_equal(x, self.told_again().ask(points))

    @rule()
    def resume(self):
        again = self.told_again()
        np.testing.assert_array_equal(again.ask(), self.search.ask())
        self.search = again

    @rule(value=st.sampled_from([math.nan, math.inf, None, "1", [1.0]]))
    def tell_nonsense(self, value):
        with pytest.raises(BadInput):
            self.search.tell([0.5, 0.5], value)

    @invariant()
    def everything_is_finite_and_within_the_box(self):
        if not hasattr(self, "search"):
            return
        try:
            x = self.search.ask()
        except SpaceExhausted:
            return
        assert ((x >= [0, -5]) & (x <= [1, 5])).all()
        answer = self.search.answer()
        assert answer.verdict in ("good", "none", "open")
        said = [answer.value, answer.probability, answer.hope]
        assert all(each is None or math.isfinite(each) for each in said)


TestHistories = Histories.TestCase
TestHistories.config = settings(max_examples=40, stateful_step_count=12, deadline=None)

ENDS = st.integers(-(10**6), 10**6) | st.floats()
CORRELATIONS = (
    st.tuples(ENDS, ENDS)
    | st.tuples(ENDS, ENDS, st.sampled_from(["log", "lin", "", None]) | ENDS)
    | st.lists(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5), max_size=4)
    | st.text(max_size=5)
    | st.none()
)


@settings(max_examples=500, deadline=None)
@given(st.dictionaries(st.text(max_size=5), CORRELATIONS, max_size=4), st.integers(0, 2**32 - 1))
def test_any_short_forms_give_a_space_or_a_named_error(forms, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SatisficeWarning)  # a form that often means another one
        try:
            space = Space.of(forms)
        except BadInput:
            return
    domain = space.domain
    for x in domain.from_unit(domain.uniform(5, np.random.default_rng(seed))):
        params = space.decode(x)
        assert space.decode(space.encode(params)) == params
        assert set(params) == set(forms)
