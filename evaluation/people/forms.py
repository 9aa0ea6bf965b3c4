"""Write rating forms: an HTML page that works offline and keeps what was entered, and the same form as CSV.

Neither says which system wrote a reply; that is in `key.json`, which stays with the researcher.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from jinja2 import Environment, PackageLoader, select_autoescape

from core.errors import BadInput
from core.spreadsheets import without_formula
from evaluation.people.questions import QUESTIONS
from evaluation.run import RunFolder

CHECK_EVERY = 10
"""Replies between attention checks."""
CHECK_TEXT = "This is no reply but a check that you are reading: please choose the highest answer everywhere."


@dataclass(frozen=True)
class FormItem:
    """One reply to rate, with its post; the id is random, so that it doesn't reveal the author."""

    id: str
    post: str
    reply: str


def write_forms(run: RunFolder, posts: int) -> tuple[Path, Path]:
    """Write the forms and their key into the run's folder `people`, and return the HTML and the CSV file.

    They contain all systems' replies to up to `posts` posts, drawn by the run's seed from those that every system
    answered. Raises BadInput if there is no such post.
    """
    seed = run.manifest().seed
    items, key = _items(run, posts, Random(seed))
    folder = run.path / "people"
    folder.mkdir(exist_ok=True)
    run.write_json("people/key.json", key)
    html, sheet = folder / "form.html", folder / "form.csv"
    environment = Environment(loader=PackageLoader("evaluation.people"), autoescape=select_autoescape())
    html.write_text(
        environment.get_template("form.html").render(
            items=[asdict(item) for item in items], questions=[asdict(question) for question in QUESTIONS]
        ),
        encoding="utf-8",
    )
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["rater", "item", "post", "reply", *(question.name for question in QUESTIONS)])
        for item in items:
            writer.writerow(
                ["", item.id, without_formula(item.post), without_formula(item.reply), *("" for _ in QUESTIONS)]
            )
    return html, sheet


def _items(run: RunFolder, count: int, chance: Random) -> tuple[list[FormItem], dict[str, dict[str, str]]]:
    """Return the items to rate in random order, and the key from their ids to drafts."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for draft in run.drafts():
        if draft.text:
            texts[draft.post_id][draft.system] = draft.text
    systems = {system for answers in texts.values() for system in answers}
    complete = sorted(post for post, answers in texts.items() if len(answers) == len(systems))
    if not complete:
        raise BadInput(f"{run.path} has no post that all its systems answered, so there is nothing to compare.")
    chosen = chance.sample(complete, min(count, len(complete)))
    pairs = [(post, system) for post in chosen for system in sorted(systems)]
    chance.shuffle(pairs)
    posts = run.posts()
    items: list[FormItem] = []
    key: dict[str, dict[str, str]] = {}
    for number, (post, system) in enumerate(pairs, 1):
        name = f"{chance.getrandbits(32):08x}"
        items.append(FormItem(name, posts[post].text, texts[post][system]))
        key[name] = {"post_id": post, "system": system}
        if number % CHECK_EVERY == 0 or number == len(pairs):
            check = f"{chance.getrandbits(32):08x}"
            items.append(FormItem(check, posts[post].text, CHECK_TEXT))
            key[check] = {"check": "highest"}
    return items, key


def read_key(run: RunFolder) -> dict[str, dict[str, str]]:
    """Return the key from items' ids to drafts; raises BadInput if no forms were written."""
    path = run.path / "people" / "key.json"
    if not path.exists():
        raise BadInput(f"{run.path} has no forms; write them with `rejoinder evaluate people {run.path}`.")
    return run.read_json("people/key.json")
