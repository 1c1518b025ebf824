"""An inventory of the sentences that an answer prints, each with the test that tries to make it false.

A sentence that is in no entry fails `test_every_line_of_an_answer_is_in_the_inventory`: write its attack first, then add it here.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

from satisfice import Box, Finite, Search, Space
from satisfice.gp.kernels import Stationary
from satisfice.gp.models import FixedModel
from satisfice.search.answer import probability
from satisfice.search.specification import Requirement

NUMBER = r"-?[\d.]+(e[+-]?\d+)?"
CHANCE = rf"(below 0.1|above 99.9|{NUMBER}) %"
CERTIFIED = rf"certificate (\w+: )?confidence {NUMBER} by \d+ fresh evaluations of it(, the last of \d+ candidates)?; valid for "
SKEWED = "(; but they look skewed: .*)?"
JOINT, PREFERENCE = "search.test_joint_search:", "search.test_preference:"
TERMS = rf"required (>=|<=) {NUMBER}"
HERE, SEARCH, GIVING_UP = "search.test_sentences:", "search.test_search:", "search.test_giving_up:"
SHAPE, SHARE, TESTS = "certificates.test_shape:", "certificates.test_share:", "certificates.test_eprocess:"
INVENTORY = [
    ("verdict good: the target is met", SHAPE + "test_what_is_chosen_holds_at_the_boundary"),
    ("verdict none: no setting reaches the target", SEARCH + "test_a_table_of_every_setting_is_no_proof"),
    ("verdict unlikely: given up, without a proof", GIVING_UP + "test_where_nothing_was_learned_hope_stays"),
    ("verdict open: not decided yet", SEARCH + "test_a_table_certifies_nothing_and_own_values_win"),
    (r"setting (\[.*\]|\w+ = \S+(, \w+ = \S+)*)", SEARCH + "test_a_table_certifies_nothing_and_own_values_win"),
    (rf"value {NUMBER}(, between {NUMBER} and {NUMBER})?", HERE + "test_the_value_is_not_a_lucky_draw"),
    (r"certificate (\w+: )?one value is enough: `noise=0` was stated", HERE + "test_what_is_stated_is_called_stated"),
    (
        r"certificate (?:\w+: )?(\d+) of \1 repeats at \d+ settings? were identical; taken to be noise-free, but noise that "
        rf"shows in fewer than {NUMBER} % of the repeats may have stayed hidden",
        "certificates.test_exactness:test_noisy_objectives_are_rarely_called_good_for_being_noise_free",
    ),
    (
        CERTIFIED + "Gaussian noise with the stated standard deviation" + SKEWED,
        TESTS + "test_optional_stopping_rarely_certifies_a_point_at_the_target",
    ),
    (
        CERTIFIED
        + r"Gaussian noise of any standard deviation: \d+ repeated values at \d+ settings? show nothing else; disasters in "
        + rf"fewer than {NUMBER} % of the evaluations would not have shown and are not covered{SKEWED}",
        SHAPE + "test_gaussian_values_get_the_gaussian_test_and_its_words_are_numbers_of_what_was_seen",
    ),
    (
        CERTIFIED
        + rf"any noise in which no value falls more than {NUMBER} short of its setting's mean, judged by \d+ repeated values",
        SHAPE + "test_bets_within_the_depth_do_not_gain_at_or_below_the_target",
    ),
    (CERTIFIED + "independent passes and fails", SHAPE + "test_what_is_chosen_holds_at_the_boundary"),
    (
        CERTIFIED + "any distribution of values within the stated range",
        TESTS + "test_bets_on_passes_gain_nothing_on_average_at_or_below_the_target",
    ),
    (f"good with probability {CHANCE}, by the model", HERE + "test_a_probability_never_reads_as_certain"),
    (
        f"hope that some setting is good {CHANCE}, by the model(, which predicted random settings well)?",
        GIVING_UP + "test_where_nothing_was_learned_hope_stays",
    ),
    (
        rf"share of good settings with {NUMBER} % confidence at most {NUMBER} % of all settings( that give a value)? are good; "
        r"of \d+ drawn at random (none|\d+) (reached|gave a value that reaches) the target.*",
        SHARE + "test_ten_thousand_searches_that_look_after_every_draw",
    ),
    (
        "share of good settings no bound on the share of good settings yet; .*",
        SHARE + "test_a_good_draw_without_noise_leaves_nothing_to_be_said",
    ),
    ("rests on every setting was evaluated, without noise", SEARCH + "test_a_table_of_every_setting_is_no_proof"),
    (
        "rests on the rule, which has ruled out every setting by a model that was learned",
        HERE + "test_a_rule_that_concludes_from_a_learned_model_proves_nothing",
    ),
    (
        f"rests on the confidence bounds of the stated kernel, which all hold but for {CHANCE}",
        GIVING_UP + "test_the_bounds_of_a_known_kernel_on_a_finite_domain_are_proof_and_say_what_they_rest_on",
    ),
    (
        r"evaluations \d+(, and \d+ failed)?(; if this setting is as good as estimated, (about \d+|more than 10,000) more of it "
        r"would certify it)?",
        HERE + "test_the_count_of_evaluations_is_right",
    ),
    (
        r"note values of the table that own evaluations contradict: \d+; one is .*, and its setting gave .*\. Only own "
        "evaluations count",
        SEARCH + "test_a_table_that_own_values_confirm_saves_the_search",
    ),
    (
        "note noise=0 was stated, but replicates of one setting gave different values: .*",
        HERE + "test_what_is_stated_is_called_stated",
    ),
    (
        r"note (\d+) of \1 repeats at \d+ settings? were identical; that does not tell yet: if the objective is free of noise, "
        "pass noise=0",
        HERE + "test_many_identical_repeats_that_do_not_tell_suggest_to_state_the_noise",
    ),
    (
        "verdict good: all requirements are met",
        HERE + "test_a_requirement_that_is_not_met_keeps_a_setting_from_its_certificate",
    ),
    (
        "verdict none: no setting meets all requirements",
        JOINT + "test_every_setting_of_a_grid_without_noise_is_a_proof_that_names_the_conflict",
    ),
    (
        rf"(yield|impurity) (rate |share )?{NUMBER}(, between {NUMBER} and {NUMBER})?; {TERMS}"
        rf"(; certified at (least|most) {NUMBER}|; met with probability {CHANCE}, by the model)?(; critical)?",
        HERE + "test_a_requirement_that_is_not_met_keeps_a_setting_from_its_certificate",
    ),
    (rf"(yield|impurity) not measured; {TERMS}", JOINT + "test_a_setting_is_good_only_once_it_was_measured"),
    (
        rf"conflict .* cannot be met together: hope {CHANCE}; alone hope {CHANCE} and {CHANCE}",
        JOINT + "test_every_setting_of_a_grid_without_noise_is_a_proof_that_names_the_conflict",
    ),
    (
        rf"conflict .* is out of reach even alone: hope {CHANCE}",
        JOINT + "test_a_requirement_out_of_reach_alone_is_named",
    ),
    (
        "conflict each pair of the requirements can be met, but not all of them together",
        JOINT + "test_three_that_agree_in_pairs_only",
    ),
    (
        rf"conflict .* (can hardly be met together|seems out of reach even alone): hope {CHANCE}.*, by the model",
        JOINT + "test_a_conflict_on_a_box_is_named_by_the_model",
    ),
    (
        rf"preference (cost|distance) {NUMBER}(, that of the first certified setting|, the least of \d+ certified settings; "
        rf"the first one had {NUMBER}( \(\d+ % less\))?)\. Hope of a more preferred one: {CHANCE}, by the model",
        PREFERENCE + "test_settings_that_are_short_of_the_target_are_rarely_named",
    ),
    ("note .* at its (lower|upper) bound", "gp.test_models:"),
    ("note (the values differ only in their last digits|all values so far are equal).*", "gp.test_models:"),
]
SENTENCES = dict(INVENTORY)


def flat(answer):
    return [f"{what} {text}" for what, text in answer.lines]


def searches():
    """Answers of every kind, from few evaluations."""
    rng = default_rng(0)
    yield Search(Box([(0, 1)]), 1.0).answer()
    for values in (rng.standard_normal, lambda: rng.exponential() - 1, lambda: 1 - rng.exponential()):
        for noise in (None, "learn", 1.0):
            search = Search(Box([(0, 1)]), 0.0, noise=noise)
            for k in range(40):
                search.tell([0.1 * (k % 3)], 1.5 * (k % 3) - 1 + 0.3 * values())
            yield search.answer()
    ranged = Search(Box([(0, 1)]), 0.3, value_range=(0, 1))
    passes = Search(Box([(0, 1)]), 0.5)
    for k in range(30):
        ranged.tell([0.5], 0.6 + 0.1 * rng.random())
        passes.tell([0.1 * (k % 2)], bool(k % 7))
    yield ranged.answer()
    yield passes.answer()
    for noise in (0, None):
        search = Search(Box([(0, 1)]), 0.0, noise=noise)
        search.tell([0.3], 0.5, fresh=False)
        for x in (0.3, 0.6, 0.1, 0.1, 0.6, 0.3):
            search.tell([x], float(np.sin(9 * x)))
        yield search.answer()
        search.fail([0.9])
        search.tell([0.1], -5.0)
        yield search.answer()
    whole = Search(Finite(np.arange(5.0)[:, None]), 2.0, noise=0)
    for x in range(5):
        whole.tell([x], float(x % 2))
    yield whole.answer()
    known = Search(
        Finite(np.linspace(0, 1, 9)[:, None]), 9.0, "pg", model=FixedModel(Stationary("se", 0.3), 0.01), noise=0.1
    )
    for k in range(9):
        known.tell([k / 8], 0.0)
    yield known.answer()
    for noise in (0, 0.1):
        lost = Search(Box([(-1, 1)]), 3.0, noise=noise)
        for _ in range(60):
            x = lost.ask()
            lost.tell(x, -float(x[0] ** 2) + noise * rng.standard_normal())
            yield lost.answer()


def searches_for_several():
    """The same of several requirements and of a preference."""
    rng = default_rng(1)
    target = [Requirement("yield", ">=", 0.2, noise=0), Requirement("impurity", "<=", 0.5, noise=0)]
    for grid in (np.linspace(0, 1, 6), np.linspace(0.6, 1, 3), np.linspace(-1, 0.1, 3)):
        search = Search(Finite(grid[:, None]), target, give_up=False)
        yield search.answer()
        for x in grid:
            search.tell([x], {"yield": float(x), "impurity": float(x) + 0.01})
            yield search.answer()
    noisy = Search(Box([(0, 1)]), [Requirement("yield", ">=", 0.2, noise=0.1), Requirement("impurity", "<=", 0.5)])
    for k in range(24):
        x = 0.3 + 0.2 * (k % 2)
        noisy.tell([x], {"yield": x + 0.1 * rng.standard_normal(), "impurity": x - 0.2 + 0.02 * rng.standard_normal()})
    yield noisy.answer()
    preferred = Search(Space.of({"a": (0.0, 1.0)}), 0.5, noise=0, prefer="a")
    for a in (0.9, 0.7, 0.6, 0.3):
        preferred.tell({"a": a}, a)
        yield preferred.answer()


def test_every_line_of_an_answer_is_in_the_inventory():
    seen, count = set(), 0
    for answer in (*searches(), *searches_for_several()):
        for line in flat(answer):
            found = [pattern for pattern in SENTENCES if re.fullmatch(pattern, line)]
            assert found, line
            seen.update(found)
            count += 1
    assert count > 300
    assert len(seen) >= 22


@pytest.mark.parametrize("attack", sorted(set(SENTENCES.values())))
def test_every_sentence_has_its_attack(attack):
    module, _, name = attack.partition(":")
    text = (Path(__file__).parents[1] / (module.replace(".", "/") + ".py")).read_text()
    assert not name or f"def {name}(" in text


def test_many_identical_repeats_that_do_not_tell_suggest_to_state_the_noise():
    search, said = Search(Finite([[0.0], [1.0]]), 4.0), []
    for _ in range(10):
        x = search.ask()
        search.tell(x, 5.0 - 3.0 * x[0])
        said.append(any("pass noise=0" in note for note in search.answer().notes))
    assert said == [False] * 6 + [True] * 4  # two values, and five repeats
    search.tell([0.0], 5.5)
    assert "pass noise=0" not in str(search.answer())
    stated = Search(Finite([[0.0], [1.0]]), 4.0, noise=0)
    stated.tell([0.0], 5.0)
    assert stated.answer().verdict == "good"  # what the note promises: no repeat


def test_the_value_is_not_a_lucky_draw():
    rng = default_rng(1)
    inside = 0
    for seed in range(40):
        search = Search(Box([(0, 1)]), 9.0, noise="learn", seed=seed)
        for k in range(24):
            search.tell([(k % 8) / 8], rng.standard_normal())  # f is 0 everywhere
        answer = search.answer()
        assert answer.value < search.observations.y.max()
        inside += answer.interval[0] <= 0 <= answer.interval[1]
    assert inside >= 30


def test_what_is_stated_is_called_stated():
    search = Search(Box([(0, 1)]), 0.5, noise=0)
    search.tell([0.3], 0.7)
    assert "stated" in str(search.answer().certificate)
    search.tell([0.3], 0.2)
    assert any("was stated, but" in note for note in search.answer().notes)


@pytest.mark.parametrize(
    ("p", "text"), [(3.3e-226, "below 0.1 %"), (1 - 1e-12, "above 99.9 %"), (0.25, "25 %"), (1.0, "100 %")]
)
def test_a_probability_never_reads_as_certain(p, text):
    assert probability(p) == text


def test_the_count_of_evaluations_is_right():
    search = Search(Box([(0, 1)]), 9.0, noise=0.1)
    for x in (0.1, 0.2, 0.2):
        search.tell([x], x)
    search.fail([0.7])
    assert dict(search.answer().lines)["evaluations"].startswith("3, and 1 failed")


def test_a_rule_that_concludes_from_a_learned_model_proves_nothing():
    class Concluding:
        def propose(self, belief, rng):
            return np.array([0.5])

        def nothing_left(self, memory):
            return True

        def remember(self, belief):
            return None

    search = Search(Finite(np.linspace(0, 1, 9)[:, None]), 9.0, Concluding(), noise=0.1)
    for k in range(5):
        search.tell([k / 8], float(k))
    answer = search.answer()
    assert answer.verdict == "unlikely"
    assert "predicted random settings well" not in str(answer)
    assert "learned" in dict(answer.lines)["rests on"]


def test_a_requirement_that_is_not_met_keeps_a_setting_from_its_certificate():
    """One requirement is clearly met, the other one missed by a hair: 5 % of 60 studies may say otherwise, 9 are too many."""
    target = [Requirement("yield", ">=", 0, noise=1.0), Requirement("impurity", "<=", 0, noise=1.0)]
    false = low = 0
    for seed in range(60):
        rng, search = default_rng(seed), Search(Box([(0, 1)]), target)
        for _ in range(60):
            search.tell([0.5], {"yield": 3 + rng.standard_normal(), "impurity": 1e-9 + rng.standard_normal()})
        false += search.observations.certificate is not None
        rng, search = default_rng([seed, 1]), Search(Box([(0, 1)]), target)
        while (found := search.observations.certificates) is None:
            search.tell([0.5], {"yield": 1 + rng.standard_normal(), "impurity": -1 + rng.standard_normal()})
        low += found.parts[0].bound > 1 or found.parts[1].bound < -1
    assert false <= 8
    assert low <= 12  # each of the two bounds with 5 %
