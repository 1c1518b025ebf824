"""The text on bad actions beside the bounds: exponents, tables and sentences from the records of `scaling`."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.random import default_rng

from satisfice.paper.experiments import scaling
from satisfice.paper.experiments.records import Record
from satisfice.paper.experiments.text import paragraph, picture
from satisfice.paper.experiments.theory_figures import BOUNDED, FORM_NAMES, mean_interval, some
from satisfice.types import Array

BARS = f"Points are means over {scaling.RUNS} functions; bars and bands are 95 % intervals of the mean (Student's t)."


class Caption(NamedTuple):
    """What a figure shows, and the experiments whose records it is drawn from."""

    text: str
    experiments: tuple[str, ...]


CAPTIONS = {
    "delta": Caption("Bad actions and gap regret against 1/Delta, and the bounds (dashed).", ("delta",)),
    "growth": Caption("Bad actions against T on hidden bumps, and the bounds (dashed).", ("horizon",)),
    "kernel": Caption(
        "Bad actions on hidden bumps against the dimension, the smoothness and lambda, and the bounds (dashed; dotted with the "
        "sharp C_1). For nu = 1/2, where d < 2 nu fails, the bounds are finite because the domain is.",
        ("dimension", "smoothness", "lambda"),
    ),
}


def slope(samples: list[tuple[float, list[float]]], draws: int = 1000) -> tuple[float, float, float]:
    """The slope of log(mean) in log(x) by least squares, and its 95 % interval: functions drawn again and again (bootstrap)."""
    x = np.log([place for place, _ in samples])
    rng = default_rng(0)

    def fitted(means: Array) -> float:
        return float(np.polyfit(x, np.log(np.maximum(means, 1e-3)), 1)[0])

    again = [
        fitted(np.array([np.mean(rng.choice(values, len(values))) for _, values in samples])) for _ in range(draws)
    ]
    low, high = np.quantile(again, [0.025, 0.975])
    return fitted(np.array([np.mean(values) for _, values in samples])), float(low), float(high)


def ratio(above: list[float], below: list[float], draws: int = 1000) -> tuple[float, float, float]:
    """The ratio of two means over the same functions, and its 95 % interval (bootstrap over the functions)."""
    a, b, rng = np.array(above, dtype=float), np.array(below, dtype=float), default_rng(0)
    places = rng.integers(len(a), size=(draws, len(a)))
    low, high = np.quantile(a[places].mean(axis=1) / b[places].mean(axis=1), [0.025, 0.975])
    return float(a.mean() / b.mean()), float(low), float(high)


def _with_interval(found: tuple[float, float, float]) -> str:
    return f"{found[0]:.2f} ({found[1]:.2f} to {found[2]:.2f})"


def within_bounds(records: list[Record]) -> tuple[int, int, float]:
    """Runs of ucb and elimination within their bounds, all such runs, and the smallest ratio of a bound to a mean."""
    held = runs = 0
    nearest = np.inf
    for record in (r for r in records if r.get("rule") in BOUNDED):
        (bound,) = some(records, experiment=record["experiment"], rule="bounds", **_setting(record))
        limit, gap = bound["bounds"]["paper sum"][record["rule"]]
        runs += len(record["bad"])
        held += sum(b <= limit and g <= gap for b, g in zip(record["bad"], record["gap"], strict=True))
        nearest = min(nearest, limit / max(np.mean(record["bad"]), 1e-9))
    return held, runs, float(nearest)


def _limit(bound: Record, rule: str) -> int:
    return int(bound["bounds"]["paper sum"][rule][0])


def _setting(record: Record) -> dict[str, Any]:
    return {name: record[name] for name in ("form", "lengthscale", "d", "per_axis", "lam", "sigma", "delta", "T")}


def _against_delta(records: list[Record], family: str, rule: str, regret: str) -> list[tuple[float, list[float]]]:
    found = some(records, experiment="delta", family=family, rule=rule)
    return sorted((1 / record["delta"], record[regret]) for record in found)


def scaling_findings(records: list[Record]) -> list[str]:
    """What the runs say, a sentence each."""
    found: list[str] = []
    held, runs, nearest = within_bounds(records)
    if runs:
        found.append(
            f"{held} of {runs} runs of ucb and elimination stay within the bounds of Theorems 1 and 2 (promised: a share of "
            f"{1 - scaling.FAILURE:g}). The nearest bound is {nearest:.0f} times the mean number of bad actions."
        )
    biting = [b["delta"] for b in some(records, experiment="delta", rule="bounds") if _limit(b, "ucb") < b["T"]]
    if biting:
        found.append(
            f"At T = {scaling.Setting().T:,} the bound of Theorem 1 is below T for Delta >= {min(biting):.3g}."
        )
    for form in FORM_NAMES:
        found += _growth_finding(some(records, experiment="horizon", form=form), FORM_NAMES[form])
    found += _appendix_findings(some(records, experiment="delta"))
    found += _narrow_finding(some(records, experiment="delta"))
    found += _lambda_finding(some(records, experiment="lambda"))
    return found


def _growth_finding(records: list[Record], kernel: str) -> list[str]:
    ucb, elimination = (some(records, rule=rule) for rule in ("ucb", "elimination"))
    if not (ucb and elimination):
        return []
    curve = {point[0]: point[1:] for point in ucb[0]["curve"]}
    T = ucb[0]["T"]
    early, late = mean_interval(curve[T // 10]), mean_interval(curve[T])
    more, low, high = ratio(elimination[0]["bad"], curve[T])
    grown, _, _ = ratio(curve[T], curve[T // 10])
    bad, rounds = elimination[0]["bad"], elimination[0]["rounds"]
    others = []
    for record in (record for rule in ("ucb-intersected", "ucb-doubled") for record in some(records, rule=rule)):
        late_curve = {point[0]: point[1:] for point in record["curve"]}
        others.append(f"those of {record['rule']} by a factor {ratio(late_curve[T], late_curve[T // 10])[0]:.2f}")
    return [
        f"{kernel}, Delta = {ucb[0]['delta']:g}: from T = {T // 10:,} to {T:,} the bad actions of ucb grow from {early[0]:.0f} "
        f"to {late[0]:.0f} (a factor {grown:.2f}){''.join(f', {other}' for other in others)}. Elimination has no bad action left "
        f"after {rounds:,} rounds in any of the {len(bad)} runs, and its number stays at {np.mean(bad):.0f}: bounded, and at T = "
        f"{T:,} still {more:.1f} ({low:.1f} to {high:.1f}) times that of ucb."
    ]


def _appendix_findings(records: list[Record]) -> list[str]:
    found = []
    pairs = []
    for rule in ("ucb-intersected", "ucb-doubled"):
        other, ucb = (dict(_against_delta(records, "bump", name, "bad")) for name in (rule, "ucb"))
        shared = sorted(set(other) & set(ucb))
        if shared:
            each = [ratio(other[x], ucb[x])[0] for x in shared]
            pairs.append(f"{rule} makes {min(each):.2f} to {max(each):.2f} times the bad actions of ucb")
    if pairs:
        found.append(f"Appendix A, over all Delta on hidden bumps: {'; '.join(pairs)}.")
    slopes = {
        rule: slope(samples)
        for rule in ("elimination", "etc", "ucb")
        if len(samples := _against_delta(records, "steep", rule, "gap")) > 1
    }
    if {"elimination", "etc"} <= set(slopes):
        etc, elimination = (_with_interval(slopes[rule]) for rule in ("etc", "elimination"))
        found.append(
            f"On steep functions the gap regret grows like 1/Delta to the power {etc} for explore-then-commit and "
            f"{elimination} for elimination; the paper expects 2 and 1, up to logarithms."
        )
    after = sum(record["bad_after_commit"] for record in some(records, rule="etc"))
    runs = sum(len(record["bad"]) for record in some(records, rule="etc"))
    if runs:
        found.append(
            f"In the {scaling.COMMITTED} rounds after each of {runs} commitments explore-then-commit chose {after} bad actions."
        )
    return found


def _narrow_finding(records: list[Record]) -> list[str]:
    said = []
    for rule in BOUNDED:
        ratios = []
        for family in ("bump", "steep"):
            plain, narrow = (dict(_against_delta(records, family, name, "bad")) for name in (rule, f"{rule}, log det"))
            ratios += [ratio(narrow[x], plain[x])[0] for x in sorted(set(plain) & set(narrow))]
        if ratios:
            said.append(f"{rule} makes {min(ratios):.2f} to {max(ratios):.2f} times as many bad actions")
    if not said:
        return []
    return [f"With the width by log det as a root of squares in place of the paper's, {' and '.join(said)}."]


def _lambda_finding(records: list[Record]) -> list[str]:
    measured = {rule: {r["lam"]: float(np.mean(r["bad"])) for r in some(records, rule=rule)} for rule in BOUNDED}
    bounds = some(records, rule="bounds")
    if not (bounds and all(measured.values())):
        return []
    said = []
    for rule in BOUNDED:
        best = min(measured[rule], key=lambda lam: measured[rule][lam])
        printed, sharp = (
            min(bounds, key=lambda record: record["bounds"][name][rule][0])["lam"]
            for name in ("paper sum", "sharp sum")
        )
        said.append(
            f"{rule} makes fewest bad actions at lambda = {best:g}, and its bound is smallest at {printed:g} with the printed "
            f"C_1 and at {sharp:g} with the sharp one"
        )
    return [f"Of the values of lambda that were tried (sigma = {bounds[0]['sigma']:g}), {'; '.join(said)}."]


def _slope_table(records: list[Record]) -> str:
    bounds = sorted(some(records, experiment="delta", rule="bounds"), key=lambda record: -record["delta"])
    lines = [
        "| rule | bad actions on hidden bumps | its bound | gap regret on steep functions | its bound |",
        "|---|---|---|---|---|",
    ]
    for rule in (*scaling.APPENDIX, *scaling.NARROW):
        cells = []
        for family, regret, entry in (("bump", "bad", 0), ("steep", "gap", 1)):
            samples = _against_delta(records, family, rule, regret)
            cells.append(_with_interval(slope(samples)) if len(samples) > 1 else "")
            limits = [(1 / b["delta"], [b["bounds"]["paper sum"][rule][entry]]) for b in bounds if rule in BOUNDED]
            cells.append(f"{slope(limits, 2)[0]:.2f}" if limits else "")
        lines.append(f"| {rule} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _kernel_table(records: list[Record]) -> str:
    lines = [
        "| setting | ucb: bad actions | Theorem 1 | elimination: bad actions | Theorem 2 |",
        "|---|---|---|---|---|",
    ]
    names: dict[str, Callable[[Record], str]] = {
        "dimension": lambda r: f"d = {r['d']} ({r['per_axis'] ** r['d']} points, SE, l = {r['lengthscale']:g})",
        "smoothness": lambda r: f"{FORM_NAMES[r['form']]} (d = {r['d']}, l = {r['lengthscale']:g})",
        "lambda": lambda r: f"lambda = {r['lam']:g} (SE, d = {r['d']}, l = {r['lengthscale']:g})",
    }
    for experiment, name in names.items():
        settings = [asdict(setting) for setting in scaling.SETTINGS[experiment]]
        for bound in (b for each in settings for b in some(records, experiment=experiment, rule="bounds", **each)):
            cells = []
            for rule in BOUNDED:
                found = some(records, experiment=experiment, rule=rule, **_setting(bound))
                measured = " ± ".join(f"{part:,.0f}" for part in mean_interval(found[0]["bad"])) if found else ""
                cells += [measured, f"{bound['bounds']['paper sum'][rule][0]:,}"]
            lines.append(f"| {name(bound)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def widest(records: list[Record], family: str, regret: str) -> float:
    """The largest half of an interval, as a share of its mean."""
    intervals = [mean_interval(record[regret]) for record in some(records, family=family)]
    return max((half / mean for mean, half in intervals if mean), default=0.0)


def scaling_text(records: list[Record]) -> str:
    """The part of the section on `theory-scaling`."""
    setting = scaling.Setting()
    runs = sum(len(record.get("bad", ())) for record in records)
    bumps, gaps = widest(records, "bump", "bad"), widest(records, "steep", "gap")
    others = max(widest(records, "steep", "bad"), widest(records, "random", "bad"))
    lines = [
        "### Bad actions beside the bounds\n",
        paragraph(f"""
            `satisfice reproduce theory-scaling`: {runs} runs. Unless a panel says otherwise: {FORM_NAMES[setting.form]}
            kernel with length-scale {setting.lengthscale:g} on {setting.per_axis} points of [0, 1], B = {scaling.B:g},
            lambda = {setting.lam:g}, sigma = {setting.sigma:g}, delta = {scaling.FAILURE:g}, T = {setting.T:,}, the width
            of Lemma 1. *Hidden bumps* are the adversaries of appendix B: height 2 Delta, norm at most B / 3, at a random
            point. *Steep* functions have the largest difference that the norm allows between two points; *random* ones are
            random sums of kernels. ucb-doubled doubles its width for N_max rounds, etc explores for N'_max. {scaling.RUNS}
            functions a point were chosen so that bad actions on hidden bumps and the gap regret on steep functions are
            known to about a fifth: the widest 95 % intervals are ± {bumps:.0%} and ± {gaps:.0%} of the mean. Bad actions on
            steep and random functions, which differ more, are known to ± {others:.0%} or better. etc was run where it
            explores for no more than {scaling.LONGEST:,} rounds.
        """),
        *(
            picture(f"theory-{part}", f"Bad actions: {part}", f"{caption.text} {BARS}")
            for part, caption in CAPTIONS.items()
            if any(record["experiment"] in caption.experiments for record in records)
        ),
        paragraph("""
            How the mean grows with 1/Delta: exponents by least squares in logarithms, 95 % intervals by bootstrap over the
            functions.
        """),
        _slope_table(records) + "\n",
        "Bad actions, mean and 95 % interval:\n",
        _kernel_table(records) + "\n",
    ]
    return "\n".join([*lines, *(f"- {finding}" for finding in scaling_findings(records)), ""])
