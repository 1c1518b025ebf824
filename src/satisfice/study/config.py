"""`StudyConfig`: what a study is looking for, stored in the study itself, so that everyone who opens it knows."""

import json
from dataclasses import dataclass, fields
from typing import Any

import optuna

from satisfice.domain.preference import Forgotten, Preference, restored_preference, stored_preference
from satisfice.domain.space import Space
from satisfice.errors import BadInput
from satisfice.gp.models import MODELS
from satisfice.rules import RULES
from satisfice.search.config import SearchConfig
from satisfice.search.search import Search
from satisfice.search.specification import Specification
from satisfice.study import _optuna
from satisfice.study.values import check_names
from satisfice.types import Domain

SETTINGS = "satisfice:settings"  # the user attribute of a study: this config as JSON
VERDICT = "satisfice:verdict"  # the user attribute of a study: the last verdict


@dataclass(frozen=True)
class StudyConfig(SearchConfig):
    """The config of the search, and what belongs to the study.

    Parameters
    ----------
    budget
        The largest number of evaluations, None where the study's own loop decides.
    space
        The parameters, None where they are only known from the trials.
    prefer
        Which of the good settings are preferred, as in `Search`.
    """

    budget: int | None = None
    space: Space | None = None
    prefer: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_names(self.specification, self.space)

    def search(self, domain: Domain) -> Search:
        """Start a search with this config; BadInput if the rule does not suit the domain or the model."""
        prefer = self.prefer
        if prefer is not None and not isinstance(prefer, Forgotten):
            prefer = Preference(prefer, domain, self.space)
        return Search(domain, **{each.name: getattr(self, each.name) for each in fields(SearchConfig)}, prefer=prefer)

    def to_json(self) -> str:
        """Write the config as a JSON text; of a rule or model of the user's own only the name of its type."""
        stored: dict[str, Any] = {
            each.name: getattr(self, each.name) for each in fields(self) if each.name != "confirm"
        }
        for name in ("rule", "model"):
            stored[name] = stored[name] if isinstance(stored[name], str) else type(stored[name]).__name__
        if self.specification is not None:
            stored["target"] = self.specification.to_data()
        stored["space"] = None if self.space is None else json.loads(self.space.to_json())
        stored["prefer"] = stored_preference(self.prefer)
        if stored["prefer"] is None:
            del stored["prefer"]
        return json.dumps(stored)

    @classmethod
    def from_json(cls, text: str) -> "StudyConfig":
        """Read what `to_json` wrote; "auto" takes the place of a rule or model of the user's own."""
        try:
            stored: dict[str, Any] = json.loads(text)
            space, limits = stored["space"], stored["value_range"]
            if isinstance(stored["target"], list):
                stored["target"] = Specification.from_data(stored["target"])
            stored["rule"] = stored["rule"] if stored["rule"] in RULES else "auto"
            stored["model"] = stored["model"] if stored["model"] in MODELS else "auto"
            stored["value_range"] = None if limits is None else tuple(limits)
            stored["space"] = None if space is None else Space.from_json(json.dumps(space))
            stored["prefer"] = restored_preference(stored.get("prefer"))
            return cls(**stored)
        except (KeyError, TypeError, ValueError) as problem:
            raise BadInput(f"`text` must be what `to_json` gives ({problem}); got {text!r:.80}.") from None

    @classmethod
    def of(cls, study: optuna.Study) -> "StudyConfig | None":
        """The config that is stored in the study, None if there is none."""
        stored = study.user_attrs.get(SETTINGS)
        return None if stored is None else cls.from_json(stored)

    def store(self, study: optuna.Study) -> None:
        """Store the config in the study, unless it is there already."""
        text = self.to_json()
        if study.user_attrs.get(SETTINGS) != text:
            study.set_user_attr(SETTINGS, text)
        if self.specification is not None and study.metric_names != list(self.specification.names):
            _optuna.name_objectives(study, list(self.specification.names))
