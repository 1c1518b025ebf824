"""`SearchConfig`: what a study is looking for, kept in the study itself, so that everyone who opens it knows."""

import json
from dataclasses import dataclass
from typing import Any

import optuna

from satisfice.domain.box import Domain
from satisfice.errors import BadInput
from satisfice.gp.fit import Model
from satisfice.gp.models import MODELS
from satisfice.rules import RULES, Rule
from satisfice.search.search import Search
from satisfice.study.space import Space
from satisfice.types import Noise

SETTINGS = "satisfice:settings"  # the user attribute of a study: these settings as JSON
VERDICT = "satisfice:verdict"  # the user attribute of a study: the last verdict


@dataclass(frozen=True)
class SearchConfig:
    """What a study is looking for and how; `space` is None where the parameters are only known from the trials."""

    target: float
    direction: str = "maximize"
    noise: Noise = None
    confidence: float = 0.95
    value_range: tuple[float, float] | None = None
    rule: str | Rule = "auto"
    model: str | Model = "auto"
    seed: int = 0
    budget: int | None = None
    space: Space | None = None
    give_up: bool = True

    def search(self, domain: Domain) -> Search:
        """A search with these settings that has been told nothing yet."""
        return Search(
            domain,
            self.target,
            self.rule,
            model=self.model,
            direction=self.direction,
            noise=self.noise,
            confidence=self.confidence,
            value_range=self.value_range,
            give_up=self.give_up,
            seed=self.seed,
        )

    def to_json(self) -> str:
        """The settings as a JSON text; a rule or model of the user's own is kept by the name of its type only."""
        stored: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name in ("rule", "model"):
            stored[name] = stored[name] if isinstance(stored[name], str) else type(stored[name]).__name__
        stored["space"] = None if self.space is None else json.loads(self.space.to_json())
        return json.dumps(stored)

    @classmethod
    def from_json(cls, text: str) -> "SearchConfig":
        """The settings that `to_json` wrote; in place of a rule or model of the user's own stands "auto"."""
        try:
            stored: dict[str, Any] = json.loads(text)
            space, limits = stored["space"], stored["value_range"]
            stored["rule"] = stored["rule"] if stored["rule"] in RULES else "auto"
            stored["model"] = stored["model"] if stored["model"] in MODELS else "auto"
            stored["value_range"] = None if limits is None else tuple(limits)
            stored["space"] = None if space is None else Space.from_json(json.dumps(space))
            return cls(**stored)
        except (KeyError, TypeError, ValueError) as problem:
            raise BadInput(f"settings: {text!r:.80} came; the text that to_json gives was wanted ({problem})") from None

    @classmethod
    def of(cls, study: optuna.Study) -> "SearchConfig | None":
        """The settings that are stored in the study, None if there are none."""
        stored = study.user_attrs.get(SETTINGS)
        return None if stored is None else cls.from_json(stored)

    def store(self, study: optuna.Study) -> None:
        """Write the settings into the study, unless they stand there already."""
        text = self.to_json()
        if study.user_attrs.get(SETTINGS) != text:
            study.set_user_attr(SETTINGS, text)
