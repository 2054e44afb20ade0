"""A server process for tests: free ports, its start line read, stopped at the end."""
import os
import re
import subprocess
import tempfile


class ServerProcess:
    """`with ServerProcess(program) as server:` gives server.address; arguments are more flags."""

    def __init__(self, program, *arguments):
        self._command = [program, "--listen", "127.0.0.1:0", "--metrics_listen", "127.0.0.1:0",
                         "--drain_delay", "0s", *arguments]

    def __enter__(self):
        self._log = tempfile.TemporaryFile("w+")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("REVERSI_")}
        self.process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=self._log, text=True, env=environment)
        line = self.process.stdout.readline()
        found = re.match(r"reversi_server listening grpc=(\S+)", line)
        if not found:
            self.process.kill()
            self._log.seek(0)
            raise RuntimeError(f"no start line but {line!r}; log:\n{self._log.read()}")
        self.address = found.group(1)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        finally:
            self.process.stdout.close()
            self._log.close()
        if code != 0:
            raise RuntimeError(f"the server ended with {code}")
