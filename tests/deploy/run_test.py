"""deploy/run.sh in a tree that is installed and built already: the game, the stop, and what it says when it cannot; the
same of its replicated form.

usage: run_test.py <source folder> [unittest arguments]
"""
import os
import pathlib
import re
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


def session(leader):
    """Processes of the session that run."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split() if entry.name.isdigit() else []
            if fields and fields[0] != "Z" and int(fields[3]) == leader:
                found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has just ended
    return found


def moves(text):
    """(version, replica that took it, replica that showed it) of every move told."""
    return [(int(version), played, seen) for version, played, seen in
            re.findall(r"(?m)^ *(\d+)  .*; played at (\S+), seen at (\S+)$", text)]


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
        for words in (["--twice"], ["--listen"], ["--replicated", "--listen", "127.0.0.1:50052"]):
            text, code = self.run_to_its_end(*words)
            self.assertEqual(code, 2)
            self.assertRegex(text, "--once|--replicated takes free ports")


class ReplicatedTest(unittest.TestCase):
    def start(self, *words):
        process = start("--replicated", *words)
        self.addCleanup(process.stdout.close)
        self.addCleanup(self.kill_session, process)
        return process

    def kill_session(self, process):
        for pid in session(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()

    def read_until(self, process, words):
        text = ""
        while words not in text:
            line = process.stdout.readline()
            self.assertTrue(line, text)
            text += line
        return text

    def assertNothingIsLeft(self, process, text):
        self.assertEqual(session(process.pid), {}, text)
        folder = re.search(r"all data in (\S+)", text).group(1)
        self.assertFalse(pathlib.Path(folder).exists(), text)

    def test_no_version_is_lost_while_a_replica_and_the_leader_of_etcd_are_killed(self):
        process = self.start("--once")
        text = process.communicate(timeout=280)[0]
        self.assertEqual(process.returncode, 0, text)
        self.assertEqual([version for version, _, _ in moves(text)], list(range(2, 86)), text)
        replicas = re.search(r"replicas at (\S+)", text).group(1).split(",")
        self.assertEqual(len(set(replicas)), 3)
        before, _, rest = text.partition("== kill -9 of the replica")
        without, _, again = rest.partition("the watch lost")[2].partition("is started again")
        played = [replicas.index(at) for _, at, _ in moves(before)]
        self.assertEqual(played, ([1, 2, 0] * 28)[:len(played)])
        self.assertEqual({seen for _, _, seen in moves(before)}, {replicas[0]})
        self.assertEqual({at for _, at, _ in moves(without)}, set(replicas[1:]))
        self.assertEqual({at for _, at, _ in moves(again)}, set(replicas))
        self.assertTrue({seen for _, _, seen in moves(without + again)} <= set(replicas[1:]))
        for step in (f"kill -9 of the replica at {replicas[0]}", "the watch lost", "kill -9 of the etcd node at",
                     "which leads", "the etcd node at", "stopping 6 processes"):
            self.assertIn(step, text)
        self.assertNothingIsLeft(process, text)

    def test_it_stays_until_interrupted(self):
        process = self.start()
        text = self.read_until(process, "until Ctrl-C")
        for address in re.search(r"replicas at (\S+)", text).group(1).split(","):
            host, port = address.rsplit(":", 1)
            socket.create_connection((host, int(port))).close()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to the whole group
        text += process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 0, text)
        self.assertNothingIsLeft(process, text)

    def test_told_to_stop_in_the_middle_it_stops_everything(self):
        for when in ("all data in", "kill -9 of the replica", "which leads"):
            with self.subTest(when=when):
                process = self.start()
                text = self.read_until(process, when)
                process.terminate()
                text += process.communicate(timeout=60)[0]
                self.assertNothingIsLeft(process, text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
