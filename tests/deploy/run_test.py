"""deploy/run.sh in a tree that is installed and built already: the game, the stop, and what it says when it cannot.

usage: run_test.py <source folder> [unittest arguments]
"""
import os
import pathlib
import signal
import socket
import subprocess
import sys
import unittest

RUN = str(pathlib.Path(sys.argv[1]).resolve() / "deploy" / "run.sh")
FREE_PORTS = ["--listen", "127.0.0.1:0", "--metrics_listen", "127.0.0.1:0"]


def start(*words):
    def own_signals():  # a test runner may have SIGINT ignored, which a shell then cannot change
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen([RUN, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, start_new_session=True, preexec_fn=own_signals)


class RunTest(unittest.TestCase):
    def run_to_its_end(self, *words):
        process = start(*words)
        try:
            return process.communicate(timeout=600)[0], process.returncode
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)

    def test_once_plays_a_game_and_stops_the_server(self):
        text, code = self.run_to_its_end("--once", *FREE_PORTS)
        self.assertEqual(code, 0, text)
        for step in ("== 1/4", "== 2/4", "== 3/4", "== 4/4", "multiplayer for 4 on octagon", "stopping the server"):
            self.assertIn(step, text)
        self.assertRegex(text, r" wins with \d+ discs|A draw for the whole table")

    def test_the_server_stays_until_interrupted(self):
        process = start(*FREE_PORTS)
        try:
            text = ""
            while "until Ctrl-C" not in text:
                line = process.stdout.readline()
                self.assertTrue(line, text)
                text += line
            address = text.rsplit("running at ", 1)[1].split()[0]
            host, port = address.rsplit(":", 1)
            socket.create_connection((host, int(port))).close()
            # As a terminal does it: to the whole group.
            os.killpg(process.pid, signal.SIGINT)
            rest = process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 0, rest)
            self.assertIn("stopping the server", rest)
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection((host, int(port)))
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.stdout.close()

    def test_a_taken_port_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            text, code = self.run_to_its_end("--once", "--listen", address, "--metrics_listen", "127.0.0.1:0")
        self.assertEqual(code, 1, text)
        self.assertIn(f"Is {address} or 127.0.0.1:0 taken?", text)

    def test_wrong_usage(self):
        for words in (["--twice"], ["--listen"]):
            text, code = self.run_to_its_end(*words)
            self.assertEqual(code, 2)
            self.assertIn("--once", text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
