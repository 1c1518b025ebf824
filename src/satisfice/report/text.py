"""What the page says in words: the verdict, what it rests on, what it cost."""

import unicodedata

from satisfice.domain.preference import stored_preference
from satisfice.search.answer import MANY, Answer, RequirementAnswer
from satisfice.search.config import SearchConfig
from satisfice.study.config import StudyConfig
from satisfice.study.snapshot import StudySnapshot

HEADLINES = {
    "good": "Good enough: the target is met.",
    "none": "No setting reaches the target.",
    "unlikely": "Given up: a good setting is unlikely.",
    "open": "Not decided yet.",
}


SEVERAL = {
    "good": "Good enough: all requirements are met.",
    "none": "No setting meets all requirements.",
    "unlikely": "Given up: a setting that meets all requirements is unlikely.",
    "open": "Not decided yet.",
}


def headline(answer: Answer) -> str:
    """Return the verdict as a headline.

    Parameters
    ----------
    answer
        The answer.

    Returns
    -------
    str
        The headline.
    """
    return (SEVERAL if len(answer.requirements) > 1 else HEADLINES)[answer.verdict]


def sentences(snapshot: StudySnapshot) -> list[str]:
    """Return the verdict, what it rests on and what is left to do, one sentence each.

    Parameters
    ----------
    snapshot
        The study.

    Returns
    -------
    list[str]
        The sentences.
    """
    found = {"good": _good, "none": _none, "unlikely": _unlikely, "open": _open}[snapshot.answer.verdict](snapshot)
    return found + [f"{each[0].upper()}{each[1:]}." for each in snapshot.answer.conflicts]


def goal(config: SearchConfig) -> str:
    """Return the target with its side.

    Parameters
    ----------
    config
        The configuration of the study.

    Returns
    -------
    str
        Such as `at least 0.9`.
    """
    if config.specification is not None:
        return str(config.specification)
    return f"{'at least' if config.direction == 'maximize' else 'at most'} {shown(config.threshold)}"


def percent(share: float) -> str:
    """Return a probability as a percentage that never reads as certain when it is not.

    Parameters
    ----------
    share
        The probability.

    Returns
    -------
    str
        The percentage.
    """
    if 0 < share < 0.001:
        return "less than 0.1 %"
    if 0.999 < share < 1:
        return "more than 99.9 %"
    return f"{100 * share:.3g} %"


def plural(count: int, noun: str) -> str:
    """Return the count with the noun.

    Parameters
    ----------
    count
        How many.
    noun
        The singular.

    Returns
    -------
    str
        Such as `3 evaluations`.
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def duration(seconds: float) -> str:
    """Return a length of time in at most two units.

    Parameters
    ----------
    seconds
        The length in seconds.

    Returns
    -------
    str
        Such as `2 h 5 min`.
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def facts(snapshot: StudySnapshot) -> list[tuple[str, str]]:
    """Return what is known of the setting, as (what, text).

    Parameters
    ----------
    snapshot
        The study.

    Returns
    -------
    list[tuple[str, str]]
        The rows of a table.
    """
    answer, rows = snapshot.answer, []
    if answer.value is not None and answer.interval is not None:
        low, high = answer.interval
        rows.append(("value", shown(answer.value)))
        if low < high:
            interval = f"{percent(snapshot.config.confidence)} interval"
            rows.append((interval, f"{shown(low)} to {shown(high)}, by the model"))
    if len(answer.requirements) > 1:
        rows += [row for each in answer.requirements for row in _facts_of(each)]
    if answer.probability is not None and not snapshot.search.deterministic:
        rows.append(("good with probability", f"{percent(answer.probability)}, by the model"))
    return rows


def _facts_of(each: RequirementAnswer) -> list[tuple[str, str]]:
    """Return what is known of one requirement."""
    name = each.requirement.name
    if each.value is None:
        return [(name, "not measured")]
    rows = [(name, shown(each.value))]
    if each.interval is not None and each.interval[0] < each.interval[1]:
        rows = [(name, f"{shown(each.value)}, {shown(each.interval[0])} to {shown(each.interval[1])} by the model")]
    if each.certificate is not None and each.certificate.repeats:
        side = "at least" if each.requirement.direction == "maximize" else "at most"
        rows.append((f"{name}, certified", f"{side} {shown(each.certificate.bound)}"))
    return rows


def cost(snapshot: StudySnapshot) -> list[tuple[str, str]]:
    """Return what the study has cost so far, as (what, text).

    Parameters
    ----------
    snapshot
        The study.

    Returns
    -------
    list[tuple[str, str]]
        The rows of a table.
    """
    answer, states = snapshot.answer, [each.state for each in snapshot.evaluations]
    seconds = [each.seconds for each in snapshot.evaluations if each.seconds is not None]
    budget = snapshot.config.budget
    rows = [("evaluations", f"{answer.evaluations:,}" + (f" of {budget:,}" if budget is not None else ""))]
    for state in ("history", "failed", "pruned", "infeasible", "running", "waiting"):
        if count := states.count(state):
            rows.append(("from earlier data" if state == "history" else state, f"{count:,}"))
    return rows + ([("time in evaluations", duration(sum(seconds)))] if seconds else [])


def configuration(config: StudyConfig) -> list[tuple[str, str]]:
    """Return what the study was asked to do, as (what, text).

    Parameters
    ----------
    config
        The configuration of the study.

    Returns
    -------
    list[tuple[str, str]]
        The rows of a table.
    """
    values: list[tuple[str, SearchConfig]] = [("", config)]
    if config.specification is not None:
        values = [(f" of {each.name}", config.alone(each)) for each in config.specification]
    rows = [
        ("target", goal(config)),
        ("confidence", percent(config.confidence)),
        *((f"noise{name}", _noise(each)) for name, each in values),
        *((name, shown(each if isinstance(each, str) else type(each).__name__))
          for name, each in (("rule", config.rule), ("model", config.model))),
        ("seed", shown(config.seed)),
    ]  # fmt: skip
    for name, each in values:
        if each.value_range is not None:
            limits = f"{shown(each.value_range[0])} to {shown(each.value_range[1])}"
            rows.insert(2 + len(values), (f"range of values{name}" if not name else f"range{name}", limits))
    if config.prefer is not None:
        stored = stored_preference(config.prefer)
        words = stored if isinstance(stored, str) else ", ".join(f"{key}: {value}" for key, value in stored.items())
        rows.insert(1, ("preferred", f"small {shown(words)}" if isinstance(stored, str) else shown(words)))
    return rows


def _noise(config: SearchConfig) -> str:
    known = {None: "not known in advance", "learn": "unknown, learned", 0: "none"}.get(config.noise)  # type: ignore[arg-type]
    return known or f"standard deviation {shown(config.noise)}"


def _good_in_all(snapshot: StudySnapshot) -> list[str]:
    answer, text = snapshot.answer, [f"The target is {goal(snapshot.config)}."]
    certificates = {each.requirement.name: each.certificate for each in answer.requirements if each.certificate}
    fresh = max(each.repeats for each in certificates.values())
    tested = max(each.candidates for each in certificates.values())
    if fresh:
        text.append(
            f"It is certified by {plural(fresh, 'fresh evaluation')}, made after the setting had been chosen: the test of every "
            f"requirement passes. With {percent(snapshot.config.confidence)} confidence this search never calls a setting good "
            f"that misses one of them, however many candidates it tests ({tested} so far) and whenever you look."
        )
    guarantees = {each.guarantee for each in certificates.values()}
    if len(guarantees) == 1:
        return [*text, f"The guarantee: {guarantees.pop()}."]
    return text + [f"The guarantee for {name}: {each.guarantee}." for name, each in certificates.items()]


def _good(snapshot: StudySnapshot) -> list[str]:
    preference = snapshot.answer.preference
    said = [] if preference is None else [f"{str(preference)[0].upper()}{str(preference)[1:]}."]
    return [*_certified(snapshot), *said]


def _certified(snapshot: StudySnapshot) -> list[str]:
    answer, config, certificate = snapshot.answer, snapshot.search.config, snapshot.answer.certificate
    if len(answer.requirements) > 1:
        return _good_in_all(snapshot)
    if certificate is None or certificate.repeats == 0:
        value = "" if answer.value is None else f"{shown(answer.value)}; "
        why = "`noise=0` was stated" if certificate is None else certificate.guarantee
        return [f"Its value is {value}the target is {goal(config)}.", f"{why[0].upper()}{why[1:]}."]
    side = "at least" if config.direction == "maximize" else "at most"
    text = [
        f"The value of this setting is {side} {shown(certificate.bound)}; the target is {goal(config)}.",
        f"It is certified by {plural(certificate.repeats, 'fresh evaluation')}, made after the setting had been chosen. With "
        f"{percent(config.confidence)} confidence this search never calls a bad setting good, however many candidates it tests "
        f"({certificate.candidates} so far) and whenever you look.",
        f"The guarantee: {certificate.guarantee}.",
    ]
    if certificate.skewed:
        text.append(
            "However, the fresh values look skewed and the guarantee assumes Gaussian noise: state the range of the values."
        )
    return text


def _none(snapshot: StudySnapshot) -> list[str]:
    answer, text = snapshot.answer, [f"The target is {goal(snapshot.config)}."]
    if answer.proven:
        size = snapshot.search.domain.size
        return [*text, f"All {size:,} settings were evaluated without noise, and none reaches it. This is proof."]
    return [*text, f"The verdict rests on {answer.basis}. They rule out every setting."]


def _unlikely(snapshot: StudySnapshot) -> list[str]:
    answer = snapshot.answer
    text = [f"The target is {goal(snapshot.config)}."]
    if answer.share is None:
        return [*text, f"The verdict rests on this: {answer.basis}.", "This is no proof."]
    if answer.hope is not None:
        text.append(f"The model's probability that some setting reaches it is {percent(answer.hope)}.")
    share = str(answer.share)
    text.append("The model had predicted settings drawn at random well, before it saw them.")
    text.append(f"{share[0].upper()}{share[1:]}. This bound needs no model.")
    text.append(
        "This is no proof: no search can exclude a narrow peak. You can try an easier target, a wider space or a larger budget "
        "with `give_up=False`."
    )
    return text


def _open(snapshot: StudySnapshot) -> list[str]:
    answer, budget = snapshot.answer, snapshot.config.budget
    text = [f"The target is {goal(snapshot.config)}."]
    if len(answer.requirements) > 1 and answer.probability is not None:
        text.append(
            f"The best setting so far meets all requirements with probability {percent(answer.probability)}, by the model."
        )
    if answer.value is not None and answer.probability is not None:
        text.append(
            f"The best setting so far has an estimated value of {shown(answer.value)} and reaches the target with probability "
            f"{percent(answer.probability)}, by the model."
        )
    if answer.hope is not None:
        text.append(f"The hope that some setting reaches it is {percent(answer.hope)}.")
    if answer.repeats is not None:
        many = answer.repeats > MANY
        count = f"more than {MANY:,} repeats" if many else f"about {plural(answer.repeats, 'repeat')}"
        text.append(f"If the setting below is as good as estimated, {count} would certify it.")
    if budget is not None and answer.evaluations + answer.failures >= budget:
        text.append(f"The budget of {plural(budget, 'evaluation')} is spent; continue with a larger one.")
    return text


def shown(value: object, longest: int = 200) -> str:
    """Return a name, number or text in one line; characters that would reorder the text are made visible.

    Parameters
    ----------
    value
        What to show.
    longest
        The largest number of characters.

    Returns
    -------
    str
        The text.
    """
    text = short_power(f"{value:.6g}") if isinstance(value, float) else str(value)
    text = "".join("\ufffd" if _is_hidden(letter) else letter for letter in text[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1] + "…"


def short_power(text: str) -> str:
    """Write 1e-05 as 1e-5 and 1e+20 as 1e20."""
    return text.replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")


def _is_hidden(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs") and letter not in "\u200d\u200c"
