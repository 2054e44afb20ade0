"""The procedures of deploy/stores.md, run as they stand there: what they save is played on afterwards.

usage: stores_test.py <build folder> [unittest arguments]

The fenced block after "<!-- rehearsed: NAME -->" is run by bash in a folder of the test's own, with the server's program in
its path and the settings that the text names in its environment.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from etcd_nodes import EtcdNodes, free_addresses  # noqa: E402
from server_process import ServerProcess  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
SERVER = str(BUILD / "reversi_server")
STORES = (pathlib.Path(__file__).resolve().parents[2] / "deploy/stores.md").read_text()
BLOCKS = dict(re.findall(r"^<!-- rehearsed: (\S+) -->\n```sh\n(.*?)^```$", STORES, re.M | re.S))
UNAVAILABLE = 8  # the client's exit code


class Played:
    """A game that is under way, with its tokens."""

    def __init__(self, test, address):
        self.test = test
        made = json.loads(test.client(address, "create", "--json").stdout)
        self.id = made["game"]["game_id"]
        self.tokens = made["seat_tokens"]

    def show(self, address):
        return json.loads(self.test.client(address, "show", self.id, "--json").stdout)

    def move(self, address, code=0):
        """One move for the seat on turn."""
        position = self.show(address)["position"]
        colors = ("BLACK", "WHITE", "RED", "GREEN")
        token = self.tokens[colors.index(position["turn"].removeprefix("COLOR_"))]
        self.test.client(address, "move", self.id, position["legal_moves"][0], "--token", token, code=code)


class StoresTest(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/reversi_server").symlink_to(SERVER)
        (self.folder / "key").write_bytes(os.urandom(48))

    def client(self, address, *words, code=0):
        done = subprocess.run([BUILD / "reversi", "--server", address, *words], stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=300, check=False)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}{done.stderr}")
        return done

    def run_block(self, name, environment=None, **settings):
        environment = dict(environment or os.environ, **settings)
        environment["PATH"] = f"{self.folder}/bin:{environment['PATH']}"
        done = subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", BLOCKS[name]], cwd=self.folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, f"{name}:\n{done.stdout}")
        return done.stdout

    def disk(self, folder="data"):
        return ServerProcess(SERVER, "--store=disk", f"--data_dir={self.folder}/{folder}", f"--token_key_file={self.folder}/key")

    def replica(self, etcd, *flags):
        return ServerProcess(SERVER, "--store=etcd", "--etcd_endpoints=" + etcd.endpoints(),
                             f"--token_key_file={self.folder}/key", *flags)

    def etcd(self, *flags):
        nodes = EtcdNodes(self.folder, *flags)
        self.addCleanup(nodes.__exit__)
        return nodes.__enter__()

    def play(self, address, moves=5):
        game = Played(self, address)
        for _ in range(moves):
            game.move(address)
        return game

    def assertGoesOn(self, game, before, address):
        """It stands as it stood, its tokens are good, and a watcher sees it from the first event."""
        self.assertEqual(game.show(address), before)
        game.move(address)
        self.assertEqual(int(game.show(address)["version"]), int(before["version"]) + 1)

    def test_every_procedure_is_rehearsed(self):
        source = pathlib.Path(__file__).read_text()
        self.assertGreater(len(BLOCKS), 6)
        self.assertEqual([name for name in BLOCKS if f'run_block("{name}"' not in source], [])

    def test_flags_that_are_named_are_the_servers_or_etcds(self):
        known = subprocess.run([SERVER, "--help"], capture_output=True, text=True, check=True).stdout
        known += "".join(subprocess.run([program, "--help"], capture_output=True, text=True, check=False,
                                        env=dict(os.environ, ETCDCTL_API="3")).stdout for program in ("etcd", "etcdctl"))
        for name in set(re.findall(r"`(--[a-z][\w-]+)", STORES)):
            self.assertRegex(known, name + r"\b")

    def test_a_folder_copied_while_the_server_is_stopped_is_a_backup(self):
        with self.disk() as server:
            game = self.play(server.address)
            before = game.show(server.address)
        data = self.folder / "data"
        self.run_block("disk-backup", DATA_DIR=str(data))
        with self.disk() as server:
            game.move(server.address)
        shutil.rmtree(data)
        self.run_block("disk-restore", DATA_DIR=str(data))
        with self.disk() as server:
            self.assertGoesOn(game, before, server.address)

    def test_games_move_from_disk_to_etcd_and_back(self):
        with self.disk() as server:
            game = self.play(server.address)
            before = game.show(server.address)
        etcd = self.etcd()
        text = self.run_block("disk-to-etcd", etcd.environment(), DATA_DIR=str(self.folder / "data"))
        self.assertIn("exported 1 games", text)
        self.assertIn("imported 1 games", text)
        with self.replica(etcd) as server:
            self.assertGoesOn(game, before, server.address)
            before = game.show(server.address)
        for flags in (["--store=etcd", "--etcd_endpoints=" + etcd.endpoints(), "--export_to=back"],
                      ["--store=disk", "--data_dir=again", "--import_from=back"]):
            subprocess.run([SERVER, *flags], cwd=self.folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        with self.disk("again") as server:
            self.assertGoesOn(game, before, server.address)

    def snapshot(self):
        """An etcd with a snapshot of a game, and a move after it."""
        etcd = self.etcd()
        with self.replica(etcd) as server:
            game = self.play(server.address)
            before = game.show(server.address)
            text = self.run_block("etcd-backup", etcd.environment())
            self.assertIn("TOTAL KEYS", text)
            game.move(server.address)
        return etcd, game, before

    def test_a_snapshot_is_restored_on_every_node(self):
        etcd, game, before = self.snapshot()
        for node, peer in enumerate(etcd.peers):
            etcd.kill(node)
            (self.folder / f"etcd-{node}").rename(self.folder / f"aside-{node}")
            self.run_block("etcd-restore", etcd.environment(), NAME=f"n{node}", ETCD_DATA_DIR=f"{self.folder}/etcd-{node}",
                           INITIAL_CLUSTER=etcd.cluster, PEER_URL="http://" + peer)
        for node in range(3):
            etcd.start(node)
        etcd.wait()
        with self.replica(etcd) as one, self.replica(etcd) as other:
            self.assertGoesOn(game, before, one.address)
            game.move(other.address)

    def test_a_snapshot_is_opened_elsewhere_and_its_games_moved_into_an_empty_etcd(self):
        old, game, before = self.snapshot()
        for node in range(3):
            old.kill(node)
            shutil.rmtree(self.folder / f"etcd-{node}")
        etcd = self.etcd()
        text = self.run_block("etcd-open-snapshot", etcd.environment(), SPARE=free_addresses(1)[0])
        self.assertIn("exported 1 games", text)
        self.assertIn("imported 1 games", text)
        with self.replica(etcd) as server:
            self.assertGoesOn(game, before, server.address)

    def test_a_node_that_has_lost_its_disk_joins_anew(self):
        etcd = self.etcd()
        together = time.monotonic()
        with self.replica(etcd) as server:
            game = self.play(server.address)
            etcd.kill(0)  # the one that the replica asks first
            shutil.rmtree(self.folder / "etcd-0")
            game.move(server.address)
            # As the text says; the margin is for a slow machine.
            time.sleep(max(0.0, together + 10 - time.monotonic()))
            self.run_block("replace-node", etcd.environment(), NAME="n0", PEER_URL="http://" + etcd.peers[0])
            etcd.start(0, "--initial-cluster-state=existing")
            etcd.wait()
            etcd.kill(1)  # the new one makes the majority
            game.move(server.address)

    def test_nodes_are_defragmented_while_games_go_on(self):
        etcd = self.etcd()
        with self.replica(etcd) as server:
            failed = []
            stop = threading.Event()

            def play_on():
                while not stop.is_set():
                    done = subprocess.run([BUILD / "reversi", "--server", server.address, "demo", "--json"],
                                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
                    if done.returncode != 0:
                        failed.append(done.stderr)
            player = threading.Thread(target=play_on)
            player.start()
            try:
                for _ in range(3):
                    text = self.run_block("defragment", etcd.environment())
                    self.assertEqual(text.count("Finished defragmenting"), 3)
            finally:
                stop.set()
                player.join()
            self.assertEqual(failed, [])

    def test_when_etcd_is_full_reads_go_on_and_after_the_alarm_is_cleared_moves_too(self):
        etcd = self.etcd("--quota-backend-bytes=2000000", "--auto-compaction-retention=0")
        with self.replica(etcd, "--store_wait=0.5s") as server:
            game = self.play(server.address)
            before = game.show(server.address)
            for _ in range(200):  # some 25 KB each
                done = subprocess.run([BUILD / "reversi", "--server", server.address, "demo", "--json"], text=True,
                                      stdin=subprocess.DEVNULL, capture_output=True, check=False)
                if done.returncode != 0:
                    break
            self.assertEqual(done.returncode, UNAVAILABLE, done.stderr)
            self.assertIn("STORE_UNAVAILABLE", done.stderr)
            self.assertEqual(game.show(server.address), before)
            game.move(server.address, code=UNAVAILABLE)
            self.assertIn("NOSPACE", etcd.ctl("alarm", "list").stdout)
            self.run_block("space", etcd.environment())
            self.assertEqual(etcd.ctl("alarm", "list").stdout, "")
            self.assertGoesOn(game, before, server.address)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
