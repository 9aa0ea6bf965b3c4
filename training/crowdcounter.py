"""Turn CrowdCounter into examples for `sft` and posts for `evaluate`, to tune a model before there are decided cases.

CrowdCounter (Saha et al. 2024, MIT) has posts of HateXplain with replies that crowd workers wrote, each of a requested
type. Its own split is kept: no post of the test part is among the examples.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

from core.domain import Intent
from core.errors import BadInput
from evaluation.records import EvaluationPost
from training.decisions.gathering import folded
from training.decisions.records import EXAMPLES, Example, Outcome, write_lines

INTENTS = {
    "contradiction": Intent.INFORMATIVE,
    "questions": Intent.QUESTIONING,
    "shaming": Intent.DENOUNCING,
    "empathy_affiliation": Intent.POSITIVE,
}
"""The intent closest to each type of reply; humour and warnings match none and are left out."""
POSTS, SHEET = "posts.jsonl", "datasheet.md"
LONGEST = 400
"""Most characters of a post or a reply; pairs with a longer one are left out, not cut."""


class Pair(NamedTuple):
    """A post, a reply to it, and the reply's intent."""

    post: str
    reply: str
    intent: Intent


def write(folder: Path, out: Path, most: int | None, unseen: int, seed: int) -> str:
    """Write up to `most` examples from the training part, `unseen` posts from the test part, and a data sheet.

    Returns the data sheet. Raises BadInput if `folder` does not hold the data set.
    """
    learned, tested = _read(folder / "Train.json"), _read(folder / "Test.json")
    known = {folded(pair.post) for pair in learned}
    if most is not None and most < len(learned):
        learned = Random(seed).sample(learned, most)
    by_post: dict[str, list[Pair]] = {}
    for pair in tested:
        if folded(pair.post) not in known:
            by_post.setdefault(pair.post, []).append(pair)
    drawn = Random(seed).sample(sorted(by_post), min(unseen, len(by_post)))
    out.mkdir(parents=True, exist_ok=True)
    write_lines(out / EXAMPLES, [_example(pair) for pair in learned])
    write_lines(out / POSTS, [_post(number, by_post[post]) for number, post in enumerate(drawn, 1)])
    sheet = _sheet(learned, len(drawn), seed, out)
    (out / SHEET).write_text(sheet, encoding="utf-8")
    return sheet


def _read(path: Path) -> list[Pair]:
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        pairs = [
            Pair(_plain(row["hatespeech"]), _plain(row["counterspeech"]), INTENTS[row["required_types"]])
            for row in rows
            if row["required_types"] in INTENTS
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not CrowdCounter's ({error!r}); give the folder with its Train.json.") from error
    return [pair for pair in pairs if 0 < len(pair.post) <= LONGEST and 0 < len(pair.reply) <= LONGEST]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _example(pair: Pair) -> Example:
    return Example(
        post=pair.post, language="en", groups=(), intent=pair.intent, reply=pair.reply, outcome=Outcome.APPROVED,
        raters=("crowd",),
    )  # fmt: skip


def _post(number: int, pairs: list[Pair]) -> EvaluationPost:
    """Return a post to draft for, with its replies as references and the first reply's intent."""
    replies = tuple(dict.fromkeys(pair.reply for pair in pairs))
    return EvaluationPost(
        id=f"crowdcounter-{number}", text=pairs[0].post, language="en", intent=pairs[0].intent, references=replies
    )


def _sheet(learned: list[Pair], unseen: int, seed: int, out: Path) -> str:
    counts = ", ".join(f"{count} {intent}" for intent, count in Counter(pair.intent for pair in learned).most_common())
    digests = "\n".join(
        f"- `{name}`: `{hashlib.sha256((out / name).read_bytes()).hexdigest()}`" for name in (EXAMPLES, POSTS)
    )
    return f"""# Replies of CrowdCounter

Written by `rejoinder train crowdcounter`, seed {seed}. SHA-256:

{digests}

- {len(learned)} replies of the training part to {len({pair.post for pair in learned})} posts: {counts}.
- {unseen} posts of the test part, whose posts are others, with their replies as references.

**Types.** Contradictions count as informative, questions as questioning, shaming as denouncing, empathy as positive;
humour, warnings and texts of more than {LONGEST} characters are left out.

**Limits.** English. Paid strangers wrote the replies, no moderators: many are blunt, and few give a fact. The posts are
real hate. Triage's counterspeech head and the guard's stance head saw the training part, so that what these say of a
model that learned from it flatters. Licence: MIT; don't publish the posts without need.
"""
