"""Check that a reply isn't toxic, with a toxicity model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.settings import GuardSettings
from pipeline.guard.checks import OneByOne
from pipeline.guard.material import GuardContext, Material, group_pattern
from pipeline.guard.measurement import Measurement
from pipeline.guard.reward import MARGIN
from pipeline.guard.support import covered

if TYPE_CHECKING:
    from models.toxicity import Toxicity


SLUR = 0.95
"""Toxicity of a single word from which no sentence that isn't on file takes it over from the post.

Among the words of 1,140 labelled drafts only "ban" is as toxic; names of groups are left out.
"""
PEOPLE = "people"
WORDS_OF_EVIDENCE = 0.8
"""Share of a sentence's content from evidence at which the sentence counts as quoted."""


class ToxicityCheck(OneByOne):
    """A check of the toxicity model's probability for the reply's own words, and for each that the post has too.

    A slur among calm words hardly counts in the probability for the whole ("Being a … is no excuse for hate speech").
    In a language that the model does not know, the result is advice only. Such models rate the mere names of groups as
    toxic, so PEOPLE stands for each. Quoted statements are left out: they are vetted.
    """

    name = "toxicity"
    hard = True
    reward = MARGIN

    def __init__(self, model: Toxicity, settings: GuardSettings, *, costly: bool = False) -> None:
        self.costly = costly
        self.model = model
        self._limit = settings.max_toxicity

    def measure(self, reply: Material, context: GuardContext) -> Measurement:
        """Return the toxicity, 0 to 1."""
        own = " ".join(
            group_pattern().sub(PEOPLE, part.folded) for part in reply.parts if covered(part, reply) < WORDS_OF_EVIDENCE
        )
        score = max([self.model.score(own) if own else 0.0, *self._slurs(reply)])
        known = reply.language in self.model.languages
        detail = f"Toxicity {score:.0%}; {self._limit:.0%} is the limit."
        if not known:
            detail = f"Toxicity is not known for “{reply.language}”; please read this reply closely."
        return Measurement(score < self._limit, round(score, 4), self._limit, detail, advisory=not known)

    def _slurs(self, reply: Material) -> list[float]:
        """Return the toxicity of each word that sentences not on file take over from the post, if it is a slur."""
        own = {word for part in reply.parts if not part.quoted for word in part.words}
        shared = (word for word in own & {*reply.post_words} if not group_pattern().fullmatch(word))
        return [score for score in map(self.model.score, shared) if score >= SLUR]
