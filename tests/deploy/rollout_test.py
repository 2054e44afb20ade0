"""Replicas on one etcd come and go under load, each in a network namespace of its own, found through DNS with several
addresses by a client with the service config of the README (round_robin, health checks, retries). The load is games, of
which any move may go to any replica.

usage: rollout_test.py SERVER_BINARY
"""

import collections
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import grpc

import server

SKIPPED = 77
BINARY = os.path.abspath(sys.argv.pop()) if len(sys.argv) > 1 else ""
CALLS_A_SECOND = 200
AGE = 4
NAME = "reversi.test"
HERE = "10.203.7.1"
CONFIG = json.loads(re.search(r"<!-- service config -->\n```json\n(.*?)```",
                              (server.ROOT / "README.md").read_text(), re.S)[1])
FLAGS = ["--drain_delay=2s", "--drain_grace=5s", "--connection_age=%ds" % AGE, "--connection_age_grace=2s"]


def run(*command):
    subprocess.run(command, check=True, capture_output=True)


def why_not():
    """Why this machine cannot do it; None = it can."""
    for tool in ("ip", "dnsmasq", "unshare", "etcd"):
        if shutil.which(tool) is None:
            return "there is no " + tool
    probe = subprocess.run(["unshare", "--net", "ip", "link", "add", "probe", "type", "veth"], capture_output=True)
    return None if probe.returncode == 0 else "this machine allows no network namespaces"


class Network:
    """A bridge in this process's own namespace, and DNS on it that knows the replicas that are meant to be found."""

    def __init__(self, place):
        self.hosts = place / "hosts"
        self.hosts.write_text("")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "address", "add", HERE + "/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")
        self.dns = subprocess.Popen(["dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
                                     "--user=root", "--listen-address=" + HERE, "--bind-interfaces", "--pid-file",
                                     "--addn-hosts=%s" % self.hosts, "--local=/test/"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def tell(self, replicas):
        self.hosts.write_text("".join("%s %s\n" % (each.host, NAME) for each in replicas))
        self.dns.send_signal(signal.SIGHUP)


class Etcd:
    """One member, in this process's own namespace."""

    address = HERE + ":2379"

    def __init__(self, place):
        url = "http://" + self.address
        self.process = subprocess.Popen(
            ["etcd", "--data-dir=%s/etcd" % place, "--listen-client-urls=" + url, "--advertise-client-urls=" + url,
             "--listen-peer-urls=http://127.0.0.1:2380"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class Replica:
    """A server in a namespace of its own."""

    count = 0

    def __init__(self, *flags):
        Replica.count += 1
        self.host = "10.203.7.%d" % (10 + Replica.count)
        self.errors = tempfile.TemporaryFile()
        # The namespace is the process's own and goes with it. It waits on stdin until its end of the cable is there.
        self.process = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", 'read _ && ip link set lo up && ip address add %s/24 dev own && ip link set own up '
             '&& exec "$0" "$@"' % self.host, BINARY, "--listen=0.0.0.0:50051", "--metrics_listen=0.0.0.0:9464", *FLAGS,
             *flags],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        cable = "replica%d" % Replica.count
        own = os.stat("/proc/self/ns/net").st_ino
        server.wait_for(lambda: os.stat("/proc/%d/ns/net" % self.process.pid).st_ino != own)
        run("ip", "link", "add", cable, "type", "veth", "peer", "name", "own", "netns", str(self.process.pid))
        run("ip", "link", "set", cable, "master", "bridge", "up")
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        if "listening" not in self.process.stdout.readline():
            self.errors.seek(0)
            raise AssertionError(self.errors.read().decode())
        self.metrics_address = self.host + ":9464"

    exposition = server.Server.exposition
    metrics = server.Server.metrics

    def calls(self):
        return self.metrics()("grpc_server_started_total")

    def end(self, with_signal):
        self.process.send_signal(with_signal)
        code = self.process.wait(server.PATIENCE)
        for each in (self.process.stdin, self.process.stdout, self.errors):
            each.close()
        return code


class Game:
    """The next call of a game that is played by random moves, over and over."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.name = "rollout-%d" % number
        self.rounds = 0
        self.position = None

    def request(self):
        if self.position is None or not self.position.legal_moves:
            self.rounds += 1
            return "CreateGame", server.api.CreateGameRequest(request_id="%s-creation-%06d" % (self.name, self.rounds),
                                                              rules=server.api.Rules(players=3), unlisted=True)
        return "SubmitMove", server.api.SubmitMoveRequest(
            game_id=self.game_id, seat_token=self.tokens[self.position.turn - 1], expected_version=self.version,
            move=self.random.choice(self.position.legal_moves))

    def take(self, answer):
        if isinstance(answer, server.api.CreateGameResponse):
            self.game_id, self.tokens = answer.game.game_id, answer.seat_tokens
            self.position, self.version = answer.game.position, answer.game.version
        else:
            self.position, self.version = answer.event.position, answer.event.version


class Load:
    """Calls at a steady rate, whatever becomes of the ones before; counts what failed."""

    def __init__(self):
        self.channel = grpc.insecure_channel(
            "dns://%s:53/%s:50051" % (HERE, NAME),
            # Half a minute by default: too long to learn of replicas that come and go as fast as here.
            options=[("grpc.service_config", json.dumps(CONFIG)), ("grpc.dns_min_time_between_resolutions_ms", 500)])
        self.ended = collections.Counter()
        self.failures = []
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.number = 0
        self.in_flight = 0
        self.idle = collections.deque(Game(number) for number in range(CALLS_A_SECOND))
        self.thread = threading.Thread(target=self.send)
        self.thread.start()

    def send(self):
        begun = time.monotonic()
        while not self.stopping.is_set():
            due = int((time.monotonic() - begun) * CALLS_A_SECOND)
            while self.number < due:
                self.number += 1
                with self.lock:
                    self.in_flight += 1
                    # Every game waits for an answer: another call, so that the rate is kept.
                    game = self.idle.popleft() if self.idle else None
                method, request = game.request() if game else ("ListVariants", server.api.ListVariantsRequest())
                call = self.channel.unary_unary("/reversi.v1.GameService/" + method,
                                                request_serializer=type(request).SerializeToString,
                                                response_deserializer=getattr(server.api, method + "Response").FromString)
                call.future(request, timeout=20).add_done_callback(lambda done, game=game: self.done(done, game))
            time.sleep(0.002)

    def done(self, call, game):
        with self.lock:
            self.in_flight -= 1
            self.ended[call.code()] += 1
            if call.code() is not grpc.StatusCode.OK:
                self.failures.append("%s: %s" % (call.code(), call.details()))
            elif game is not None:
                game.take(call.result())
                self.idle.append(game)

    def good(self):
        with self.lock:
            return self.ended[grpc.StatusCode.OK]

    def pass_calls(self, count):
        """Until so many more calls have been answered."""
        until = self.good() + count
        server.wait_for(lambda: self.good() >= until)

    def stop(self):
        self.stopping.set()
        self.thread.join()
        server.wait_for(lambda: self.in_flight == 0)
        self.channel.close()


class Rollout(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.network = Network(pathlib.Path(place.name))
        self.addCleanup(lambda: run("ip", "link", "delete", "bridge"))
        etcd = Etcd(place.name)
        for process in (self.network.dns, etcd.process):
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        key = pathlib.Path(place.name) / "token_key"
        key.write_text("k" * 40)
        self.flags = ["--store=etcd", "--etcd_endpoints=" + etcd.address, "--token_key_file=%s" % key]
        self.replicas = []
        self.addCleanup(self.end_all)
        for _ in range(3):
            self.add()
        self.load = Load()
        self.addCleanup(lambda: self.load.stopping.set())
        self.load.pass_calls(CALLS_A_SECOND)

    def end_all(self):
        for each in self.replicas:
            if each.process.poll() is None:
                each.end(signal.SIGKILL)

    def add(self):
        self.replicas.append(Replica(*self.flags))
        self.network.tell(self.replicas)
        return self.replicas[-1]

    def remove(self, replica):
        self.replicas.remove(replica)
        self.network.tell(self.replicas)

    def check_no_failure(self):
        self.load.stop()
        self.assertEqual(self.load.failures, [])
        print("%d calls, none failed" % self.load.good())

    def share_within_age(self, replica):
        """The replica gets at least half of a fair share; how long that took."""
        begun = time.monotonic()
        while True:
            before, all_before = replica.calls(), self.load.good()
            self.load.pass_calls(CALLS_A_SECOND)
            if replica.calls() - before >= 0.5 * (self.load.good() - all_before) / len(self.replicas):
                return time.monotonic() - begun
            self.assertLess(time.monotonic() - begun, server.PATIENCE)

    def test_three_replicas_replaced_one_by_one(self):
        for old in list(self.replicas):
            self.share_within_age(self.add())
            self.remove(old)
            self.assertEqual(old.end(signal.SIGTERM), 0)
        self.check_no_failure()

    def test_an_added_replica_gets_its_share_as_connections_age(self):
        took = self.share_within_age(self.add())
        print("an added replica had its share after %.1f s; connections live %d s" % (took, AGE))
        # Ages differ by a tenth either way, and the count itself takes a second.
        self.assertLess(took, 1.1 * AGE + 3)
        self.check_no_failure()

    def test_retries_repair_what_a_killed_replica_costs(self):
        self.assertEqual(self.replicas[0].end(signal.SIGKILL), -signal.SIGKILL)
        self.load.pass_calls(2 * CALLS_A_SECOND)
        self.remove(self.replicas[0])
        self.load.pass_calls(2 * CALLS_A_SECOND)
        self.check_no_failure()


if __name__ == "__main__":
    if "REVERSI_IN_NAMESPACE" not in os.environ:
        reason = why_not()
        if reason is not None:
            print("skipped: " + reason)
            sys.exit(SKIPPED)
        # Everything happens in a namespace of the test's own, so that nothing of it is left behind.
        os.execvpe("unshare", ["unshare", "--net", sys.executable, "-B", os.path.abspath(__file__), *sys.argv[1:], BINARY],
                   {**os.environ, "REVERSI_IN_NAMESPACE": "1"})
    unittest.main()
