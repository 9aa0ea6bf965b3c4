"""The shipped posts: 30 in each of four languages, mild in tone and written for this purpose, each with references."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from collections.abc import Sequence
from importlib.resources import files
from itertools import islice, zip_longest

from evaluation.records import EvaluationPost

LANGUAGES = ("en", "es", "it", "eu")


def shipped_posts() -> tuple[EvaluationPost, ...]:
    """Return the posts, language by language."""
    folder = files("evaluation.posts")
    return tuple(
        EvaluationPost(id=f"{language}-{number:02}", language=language, **post)
        for language in LANGUAGES
        for number, post in enumerate(tomllib.loads((folder / f"{language}.toml").read_text("utf-8"))["post"], 1)
    )


def spread(posts: Sequence[EvaluationPost], count: int) -> list[EvaluationPost]:
    """Return up to `count` posts, spread evenly over languages and, within a language, over groups."""
    seen: Counter[tuple[str | None, str]] = Counter()
    rounds: list[int] = []
    for post in posts:
        kind = (post.language, post.groups[0] if post.groups else "")
        rounds.append(seen[kind])
        seen[kind] += 1
    queues: dict[str | None, list[int]] = defaultdict(list)
    for place in sorted(range(len(posts)), key=lambda place: (rounds[place], place)):
        queues[posts[place].language].append(place)
    turns = (place for row in zip_longest(*queues.values()) for place in row if place is not None)
    return [posts[place] for place in sorted(islice(turns, count))]
