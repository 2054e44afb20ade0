"""A program at a terminal of its own, typed at and read by a test."""
import os
import pty
import re
import select


class Screen:
    """A program at a terminal of its own."""

    def __init__(self, command, folder, environment):
        self._pid, self._fd = pty.fork()
        if self._pid == 0:
            try:
                os.chdir(folder)
                os.execve(command[0], command, environment)
            finally:
                os._exit(127)
        self.text = ""
        self._from = 0

    def _read(self, patience):
        if not select.select([self._fd], [], [], patience)[0]:
            raise AssertionError(f"nothing more came; the screen had\n{self.text}")
        try:
            chunk = os.read(self._fd, 65536)
        except OSError:  # the other side is closed
            chunk = b""
        self.text += chunk.decode()
        return bool(chunk)

    def expect(self, pattern):
        """Waits for text after what was waited for before."""
        while not (found := re.search(pattern, self.text[self._from:], re.DOTALL)):
            if not self._read(30):
                raise AssertionError(f"ended without {pattern!r}; the screen had\n{self.text}")
        self._from += found.end()

    def type(self, text):
        os.write(self._fd, text.encode())

    def ended(self):
        while self._read(30):
            pass
        status = os.waitpid(self._pid, 0)[1]
        self._pid = 0
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self._pid:
            os.kill(self._pid, 9)
            os.waitpid(self._pid, 0)
        os.close(self._fd)
