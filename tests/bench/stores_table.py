#!/usr/bin/python3
"""The stores' table: moves through the service as ratios to RocksDB and to etcd themselves, in one run.

  stores_table.py <build folder>                 everything; under five minutes
  stores_table.py <build folder> --only disk,etcd,events
  stores_table.py <build folder> --short         seconds, without meaning: shows that all of it runs

The bare side is given the records that the service would put, and as many of them in flight. Own and bare runs take
turns; a ratio is the median of the pairs, in brackets the smallest and the largest. Nothing is pinned: etcd's nodes, the
server and what drives it share the machine's cores, as the bare side does.
"""

import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from service_table import Server, describe_machine, ratio, row

PAIRS = 7


class Etcd:
    """Three nodes on loopback, each with its data in the folder."""

    def __init__(self, folder):
        addresses = []
        with contextlib.ExitStack() as taken:
            for _ in range(6):
                free = taken.enter_context(socket.create_server(("127.0.0.1", 0)))
                addresses.append("127.0.0.1:%d" % free.getsockname()[1])
        self.addresses, peers = addresses[:3], addresses[3:]
        cluster = ",".join(f"n{i}=http://{peer}" for i, peer in enumerate(peers))
        self.processes = []
        for i, (client, peer) in enumerate(zip(self.addresses, peers)):
            self.processes.append(subprocess.Popen(
                ["etcd", f"--name=n{i}", f"--data-dir={folder}/etcd-{i}", f"--listen-client-urls=http://{client}",
                 f"--advertise-client-urls=http://{client}", f"--listen-peer-urls=http://{peer}",
                 f"--initial-advertise-peer-urls=http://{peer}", f"--initial-cluster={cluster}",
                 "--snapshot-count=1000", "--quota-backend-bytes=8589934592", "--auto-compaction-retention=5m",
                 "--logger=zap"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def wait(self):
        for _ in range(60):
            if self.ctl("endpoint", "health").returncode == 0:
                return
            time.sleep(0.5)
        sys.exit("etcd did not start")

    def ctl(self, *words):
        return subprocess.run(["etcdctl", "--endpoints=" + ",".join(self.addresses), *words], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False, env=dict(os.environ, ETCDCTL_API="3"))

    def from_node(self, first):
        """All addresses, this node's first: clients ask that one."""
        return ",".join(self.addresses[first:] + self.addresses[:first])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


class Table:
    def __init__(self, build, folder, short, in_flight):
        self.build = build
        self.folder = folder
        self.short = short
        self.in_flight = in_flight
        self.seconds = 0.2 if short else 2.0
        self.pairs = 1 if short else PAIRS
        self.key = os.path.join(folder, "key")
        with open(self.key, "wb") as file:
            file.write(os.urandom(48))
        self.bare_runs = 0

    def server(self, *flags):
        return Server(os.path.join(self.build, "reversi_server"), "--listen=127.0.0.1:0", "--metrics_listen=127.0.0.1:0",
                      "--log_level=error", f"--token_key_file={self.key}", *flags, cores=[])

    def moves(self, server):
        """(SubmitMoves a second, server's CPU of each in microseconds)."""
        ran = subprocess.run(
            [os.path.join(self.build, "tests/load/reversi-load"), "--json", f"--address={server.address}",
             f"--server_pid={server.pid}", "--workload=moves", "--rules=8x8/4", "--connections=4",
             f"--in_flight={self.in_flight // 4}", f"--seconds={self.seconds}", f"--warm_up={self.seconds / 4}",
             f"--games={300 if self.short else 4000}"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        report = json.loads(ran.stdout) if ran.returncode == 0 else {}
        if not report or report["methods"]["SubmitMove"]["errors"]:
            sys.exit(f"reversi-load: {ran.stdout}{ran.stderr}")
        return report["calls"] / report["seconds"], report["server_cpu_us"] / report["calls"]

    def bare(self, workload, *flags):
        self.bare_runs += 1
        ran = subprocess.run(
            [os.path.join(self.build, "tests/bench/bare_stores"), workload, f"--name=bare{self.bare_runs}x",
             f"--in_flight={self.in_flight}", f"--seconds={self.seconds}", f"--moves={20 if self.short else 400}",
             *flags], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(f"bare_stores {workload}: {ran.stderr}")
        return float(ran.stdout)


def show(what, goal, pairs, unit):
    """Pairs of an own figure and a bare one."""
    row(what, goal, ratio([own / bare for own, bare in pairs]))
    row(f"  {unit}, service and bare", "", " and ".join(
        f"{statistics.median(pair[i] for pair in pairs):.0f}" for i in (0, 1)))


def disk(table):
    folders = {name: os.path.join(table.folder, name) for name in ("disk", "alone", "batches")}
    with table.server("--store=disk", f"--data_dir={folders['disk']}") as server:
        runs = [(table.moves(server), table.bare("disk-alone", f"--folder={folders['alone']}"),
                 table.bare("disk", f"--folder={folders['batches']}")) for _ in range(table.pairs)]
    show(f"disk: SubmitMove / RocksDB, {table.in_flight} threads that sync each put", ">= 0.50",
         [(own, alone) for (own, _), alone, _ in runs], "a second")
    show(f"disk: SubmitMove / RocksDB, synced batches of {table.in_flight}", "",
         [(own, batches) for (own, _), _, batches in runs], "a second")
    row("  server's CPU a call", "", f"{statistics.median(cpu for (_, cpu), _, _ in runs):.0f} us")


def etcd(table):
    with Etcd(table.folder) as nodes:
        nodes.wait()
        with table.server("--store=etcd", "--etcd_endpoints=" + nodes.from_node(0)) as server:
            runs = [(table.moves(server), table.bare("etcd", "--at=" + nodes.addresses[0])) for _ in range(table.pairs)]
        show(f"etcd, three nodes: SubmitMove / nested transactions, {table.in_flight} in flight", ">= 0.60",
             [(own, bare) for (own, _), bare in runs], "a second")
        row("  server's CPU a call", "", f"{statistics.median(cpu for (_, cpu), _ in runs):.0f} us")


def events(table):
    with Etcd(table.folder) as nodes:
        nodes.wait()
        replica = lambda node: table.server("--store=etcd", "--etcd_endpoints=" + nodes.from_node(node))
        with replica(0) as one, replica(1) as other:
            pairs = [(table.bare("move-events", f"--at={one.address},{other.address}"),
                      table.bare("etcd-events", "--at=" + ",".join(nodes.addresses[:2]))) for _ in range(table.pairs)]
    show("etcd: move -> event at another replica / put -> event, p50", "<= 3", pairs, "microseconds")


PARTS = {"disk": disk, "etcd": etcd, "events": events}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--in_flight", type=int, default=64)
    parser.add_argument("--folder", help="where the stores keep their data meanwhile: the build folder if not given")
    arguments = parser.parse_args()
    describe_machine()
    for part in arguments.only.split(","):
        with tempfile.TemporaryDirectory(dir=arguments.folder or arguments.build) as folder:
            PARTS[part](Table(arguments.build, folder, arguments.short, arguments.in_flight))


if __name__ == "__main__":
    main()
