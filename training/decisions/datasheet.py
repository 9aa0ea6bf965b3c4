"""Write the data sheet of the gathered decisions: their origin, content, processing and limits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from training.decisions.gathering import Gathered
from training.decisions.records import EXAMPLES, PREFERENCES, VERDICTS

FILE = "datasheet.md"


def data_sheet(gathered: Gathered, out: Path, least_raters: int) -> str:
    """Return the data sheet of the files in folder `out` as Markdown."""
    raters = gathered.raters()
    busiest = max(raters.values(), default=0) / max(1, raters.total())
    digests = "\n".join(f"- `{name}`: `{_digest(out / name)}`" for name in (EXAMPLES, PREFERENCES, VERDICTS))
    examples, preferences, verdicts = gathered.examples.values(), gathered.preferences.values(), gathered.verdicts
    return f"""# Decisions of moderators

Written by `rejoinder train pairs` from {gathered.cases} closed cases of the ledger. SHA-256:

{digests}

**What is in it.**

- {len(examples)} replies to imitate: {_counts(line.outcome for line in examples)}.
- {len(preferences)} preferences: {_counts(line.outcome for line in preferences)}. The reply that was sent comes before
  the draft that was edited, sent back or, for the same post elsewhere, rejected.
- {len(verdicts)} verdicts on drafts in words on file, part by part: {_counts(line.outcome for line in verdicts)}.
- Languages of the replies: {_counts(line.language for line in examples)}.
- Groups: {_counts(group for line in examples for group in line.groups)}.
- Intents: {_counts(line.intent for line in examples)}.
- Reasons of rejections: {_counts(line.reason for line in verdicts if line.reason)}.

**Who decided.** {len(raters)} moderators (at least {least_raters} were asked for), as keyed hashes; the busiest made
{busiest:.0%} of the decisions. What is learned from them is their taste, not a truth.

**What was done.** Case keys and moderators became keyed hashes (HMAC-SHA256 with the ledger's author key). Authors'
ids, addresses of posts and threads are left out; links, e-mail addresses, handles and long numbers in texts became
placeholders. {gathered.repeats} repeats were joined, {gathered.contradictions} contradictions dropped. Left out: cases
that can still be undone, replies taken back, erased texts, and rejections for what the post is (not hateful, already
dealt with, more reach).

**What it is not.** Anonymous: names written as words stay in the posts, and a post can be looked up by its words. Keep
it as long as the ledger keeps its posts, and don't publish it. It only has what was drafted: what no draft said, nobody
judged.
"""


def _counts(names: Iterable[str]) -> str:
    counted = Counter(map(str, names)).most_common()
    return ", ".join(f"{count} {name}" for name, count in counted) or "none"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
