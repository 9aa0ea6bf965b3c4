"""Replace this process by another program, which dies when its parent does.

Run as a script: `python tether.py PARENT_PID PROGRAM ARG…`. On Linux the kernel sends SIGKILL when the parent is gone
(prctl(2), PR_SET_PDEATHSIG; kept across execve(2)), so even a SIGKILL of the parent leaves no orphan. On other systems
the program is merely started. Only the standard library is used, so that it starts fast.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Tie this process to its parent and replace it by the program given in the arguments."""
    parent, program = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
    os.execvp(program[0], program)  # noqa: S606


if __name__ == "__main__":
    main()
