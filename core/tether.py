"""Become another program, tied to its parent: it dies when the parent does.

Run as a script: `python tether.py PARENT_PID PROGRAM ARG…`. On Linux the kernel sends SIGKILL when the parent is gone
(prctl(2), PR_SET_PDEATHSIG; kept across execve(2)), so that not even a SIGKILL of the parent leaves an orphan.
Elsewhere it only replaces itself by the program. Uses nothing but the standard library: it must start fast.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Tie this process to its parent and replace it by the program named in the arguments."""
    parent, program = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
    os.execvp(program[0], program)  # noqa: S606


if __name__ == "__main__":
    main()
