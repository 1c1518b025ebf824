"""Studies to show, made by real searches."""

from typing import Any

import numpy as np

from satisfice.domain.space import Space
from satisfice.study.config import StudyConfig
from satisfice.study.snapshot import Evaluation, StudyAnswer, StudySnapshot

SPACE = {"rate": (1e-5, 1e-1, "log"), "depth": (2, 12), "dropout": (0.0, 0.5), "booster": ["gbtree", "dart", "linear"]}


def score(params: dict[str, Any]) -> float:
    """An accuracy with its top near rate 0.003, depth 7."""
    rate = np.exp(-((np.log10(params["rate"]) + 2.5) ** 2))
    depth = 1 - ((params["depth"] - 7) / 10) ** 2
    return float(0.6 + 0.33 * rate * depth - 0.1 * params["dropout"] + 0.02 * (params["booster"] == "dart"))


def study(
    target: float, n: int, *, space: Any = None, noise: float = 0.0, fails: float = 0.0, name: str = "an example",
    f: Any = score, known: Any = None, error: str = "CommandFailed: exit code 1: out of memory", **settings: Any,
) -> StudySnapshot:  # fmt: skip
    """The view of a study of at most n evaluations, with real questions and a real answer."""
    rng = np.random.default_rng(7)
    space = Space.of(SPACE if space is None else space)
    known = known if known is not None else (0 if noise == 0 else "learn")
    settings = StudyConfig(target, space=space, budget=n, noise=known, **settings)
    search = settings.search(space.domain)
    told: list[Evaluation] = []
    firsts: dict[str, int] = {}
    for number in range(n):
        answer = search.answer()
        if answer.verdict != "open":
            break
        x = search.ask()
        params = space.decode(x)
        repeats = firsts.get(str(params))
        firsts.setdefault(str(params), number)
        hope = answer.hope
        if rng.random() < fails:
            search.fail(x)
            told.append(Evaluation(number, params, None, "failed", None, hope, error, 0.3))
            continue
        value = f(params) + noise * float(rng.standard_normal())
        search.tell(x, value)
        told.append(Evaluation(number, params, value, "complete", repeats, hope, None, 1.7 + float(rng.random())))
    answer = search.answer()
    fields = {key: getattr(answer, key) for key in answer.__dataclass_fields__ if key != "params"}
    params = None if answer.point is None else space.decode(answer.point)
    return StudySnapshot(name, settings, space, tuple(told), StudyAnswer(**fields, params=params), search)
