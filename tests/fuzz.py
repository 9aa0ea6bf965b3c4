"""Random input for a given time, other input in every run: `python -m tests.fuzz --seconds 600 [TARGET …]`.

The quick suite draws the same examples each time; this looks for those it does not draw. A finding ends the run with
the smallest input that shows it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from core.domain import FlaggedPost, Intent, Triage
from core.errors import BadInput, BadMessage
from core.settings import Settings
from kb.extract.formats import SUFFIXES, read
from pipeline.guard.material import GuardContext
from rejoinder.guard_assembly import open_guard
from stream.gateway import parse, validate
from stream.messages import decode, encode
from tests.factories import make_evidence, make_grounding, make_post, make_triage
from tests.stream.hostile_records import SECRET, VALID, spoiled

EXAMPLES = 200
"""Examples of one round; each round draws anew."""
# This must come before the targets, which copy the current settings when they are defined.
settings.register_profile(
    "fuzz", max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)  # fmt: skip
settings.load_profile("fuzz")
WORDS = st.sampled_from([
    "Zorblaxians", "are", "not", "4.9 %", "A/RES/80/193", "[1]", "https://un.org/", "“né”", "\u2028", "\u202e", "🌻",
    "\0", ".",
])  # fmt: skip
TEXTS = st.one_of(st.text(max_size=400), st.lists(WORDS, max_size=60).map(" ".join), st.lists(st.text()).map(" ".join))
DOCUMENTS = {
    ".html": b"<html><head><title>T</title></head><body><h1>Rights</h1><p>All are born free.</p></body></html>",
    ".xml": b'<?xml version="1.0"?><ACT><TITLE><TI><P>Act</P></TI></TITLE><ENACTING.TERMS><ARTICLE IDENTIFIER="001">'
    b"<TI.ART>Article 1</TI.ART><ALINEA>All are born free.</ALINEA></ARTICLE></ENACTING.TERMS></ACT>",
    ".json": json.dumps({"title": "T", "text": "All are born free.", "articles": [{"number": "1"}]}).encode(),
    ".md": b"# Rights\n\n1. All are born free.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
    ".txt": b"Article 1\n\nAll are born free.\n\n- 2 -\n",
    ".pdf": b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
    b"trailer<</Root 1 0 R>>\n%%EOF",
    ".docx": b"PK\x03\x04" + b"\0" * 40,
}  # fmt: skip


@given(st.lists(spoiled(FlaggedPost), min_size=1, max_size=4), st.sampled_from([b"\n", b",", b"\r\n\n"]))
def gateway(bodies: list[bytes], between: bytes) -> None:
    """Check that a body is accepted, or refused without quoting it."""
    body = between.join(bodies) if between != b"," else b"[" + between.join(bodies) + b"]"
    try:
        posts, rejected = validate(parse(body, 1000))
    except BadInput as error:
        assert SECRET not in str(error)
    else:
        assert all(decode(encode(post), FlaggedPost) == post for post in posts.values())
        assert not any(SECRET in error for error in rejected.values())


@given(st.data())
def records(data: st.DataObject) -> None:
    """Check that bytes are read as a record that can be written again, or are refused."""
    kind = data.draw(st.sampled_from(sorted(VALID, key=lambda kind: kind.__name__)))
    try:
        record = decode(data.draw(spoiled(kind)), kind)
    except BadMessage as error:
        assert SECRET not in str(error)
        str(error).encode()
    else:
        assert decode(encode(record), kind) == record


GUARD = open_guard(Settings())


@given(TEXTS, TEXTS, TEXTS, st.sampled_from(["en", "es", "it", "eu", "de", "fr"]))
def guard(reply: str, post: str, fact: str, language: str) -> None:
    """Check that any reply to any post with any fact can be judged, with at most one result per check."""
    flagged = make_post(text=f"Zorblaxians: {post}")
    triage: Triage = make_triage(language=language)
    grounding = make_grounding(make_evidence(text=fact or "All are born free."))
    context = GuardContext.of(flagged, triage, grounding, Intent.INFORMATIVE, ())
    names = [check.name for check in asyncio.run(GUARD.check(reply, context))]
    assert len(names) == len(set(names)) > 3


@given(st.data())
def extraction(data: st.DataObject) -> None:
    """Check that a damaged document is read, or refused with an error that says so."""
    suffix = data.draw(st.sampled_from(SUFFIXES))
    whole = DOCUMENTS.get(suffix) or DOCUMENTS.get({".htm": ".html", ".xhtml": ".html"}.get(suffix, ".md"), b"")
    start, end = sorted((data.draw(st.integers(0, len(whole))), data.draw(st.integers(0, len(whole)))))
    filling = data.draw(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: text.encode())))
    content = whole[:start] + filling + whole[end:]
    try:
        reading = read(content, f"file{suffix}", data.draw(st.sampled_from(["", "en", "eu"])))
    except BadInput as error:
        assert str(error)
    else:
        assert reading.passages or reading.notes


TARGETS: dict[str, Callable[[], None]] = {
    function.__name__: function for function in (gateway, records, guard, extraction)
}


def run(name: str, seconds: float) -> int:
    """Run a target for some seconds and return the number of examples; a finding is raised."""
    rounds = 0
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        TARGETS[name]()
        rounds += 1
    return rounds * EXAMPLES


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all if none is named")
    parser.add_argument("--seconds", type=float, default=600)
    arguments = parser.parse_args()
    for target in arguments.targets or TARGETS:
        sys.stdout.write(f"{target}: about {run(target, arguments.seconds):,} examples without a finding\n")
        sys.stdout.flush()
