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
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from etcd_nodes import EtcdNodes  # noqa: E402
from service_table import Server, describe_machine, ratio, row  # noqa: E402

PAIRS = 7


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
        """SubmitMoves a second, and the CPU that each takes of the server and of the generator, in microseconds."""
        ran = subprocess.run(
            [os.path.join(self.build, "tests/load/reversi-load"), "--json", f"--address={server.address}",
             f"--server_pid={server.pid}", "--workload=moves", "--rules=8x8/4", "--connections=4",
             f"--in_flight={self.in_flight // 4}", f"--seconds={self.seconds}", f"--warm_up={self.seconds / 4}",
             f"--games={300 if self.short else 2000}"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        report = json.loads(ran.stdout) if ran.returncode == 0 else {}
        if not report or report["methods"]["SubmitMove"]["errors"]:
            sys.exit(f"reversi-load: {ran.stdout}{ran.stderr}")
        return (report["calls"] / report["seconds"], report["server_cpu_us"] / report["calls"],
                report["generator_cpu_us"] / report["calls"])

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


def show_cpu(runs):
    """Of what table.moves() returns."""
    row("  CPU a move: server, generator", "", "{:.0f} and {:.0f} us".format(
        *(statistics.median(run[i] for run in runs) for i in (1, 2))))


def disk(table):
    folders = {name: os.path.join(table.folder, name) for name in ("disk", "alone", "batches")}
    with table.server("--store=disk", f"--data_dir={folders['disk']}") as server:
        runs = [(table.moves(server), table.bare("disk-alone", f"--folder={folders['alone']}"),
                 table.bare("disk", f"--folder={folders['batches']}")) for _ in range(table.pairs)]
    show(f"disk: SubmitMove / RocksDB, {table.in_flight} threads that sync each put", ">= 0.50",
         [(own[0], alone) for own, alone, _ in runs], "a second")
    show(f"disk: SubmitMove / RocksDB, synced batches of {table.in_flight}", ">= 0.50",
         [(own[0], batches) for own, _, batches in runs], "a second")
    show_cpu([own for own, _, _ in runs])


def etcd(table):
    with EtcdNodes(table.folder) as nodes:
        with table.server("--store=etcd", "--etcd_endpoints=" + nodes.endpoints()) as server:
            runs = [(table.moves(server), table.bare("etcd", "--at=" + nodes.addresses[0]),
                     table.bare("etcd", "--at=" + nodes.addresses[0], "--batches=1")) for _ in range(table.pairs)]
    for bare, batches in ((1, "two of them"), (2, "all in one")):
        show(f"etcd, three nodes: SubmitMove / {table.in_flight} nested transactions, {batches}", ">= 0.60",
             [(run[0][0], run[bare]) for run in runs], "a second")
    show_cpu([run[0] for run in runs])


def events(table):
    with EtcdNodes(table.folder) as nodes:
        with table.server("--store=etcd", "--etcd_endpoints=" + nodes.endpoints(0)) as one, \
                table.server("--store=etcd", "--etcd_endpoints=" + nodes.endpoints(1)) as other:
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
