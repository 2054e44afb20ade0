#!/usr/bin/python3
"""The service's table: its cost as ratios to a bare gRPC server of the same message sizes, in one run.

  service_table.py <build folder>                  everything; a quarter of an hour on a quiet machine
  service_table.py <build folder> --only unary,fan-out
  service_table.py <build folder> --only game-memory --games 250000
  service_table.py <build folder> --short          seconds, without meaning: shows that all of it runs

The service and the bare twin run turn and turn about, pinned to one core, the generator to another. A ratio is the
median of the pairs; in brackets the smallest and the largest pair. CPU is what counts first: rates hang on how near
the two cores are to each other.
"""

import argparse
import json
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import grpc

import stopped_watchers as stopped

KIND = "8x8/4"


def pinned(core):
    cores = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cores[core % len(cores)])]


class Server:
    """A server process on free ports."""

    def __init__(self, program, *flags, cores=None):
        self.begun = time.monotonic()
        self.process = subprocess.Popen((pinned(0) if cores is None else cores) + [program, *flags], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.line = self.process.stdout.readline()
        self.address = re.search(r"grpc=(\S+)", self.line).group(1)
        self.pid = self.process.pid

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Table:
    def __init__(self, build, short, games):
        self.build = build
        self.short = short
        self.games = games
        self.bare_maximum = None

    def path(self, name):
        return os.path.join(self.build, name)

    def service(self, *flags):
        return Server(self.path("reversi_server"), "--listen=127.0.0.1:0", "--metrics_listen=127.0.0.1:0",
                      "--log_level=error", "--max_games=3000000", *flags)

    def bare(self):
        return Server(self.path("tests/load/bare_server"))

    def load(self, server, workload, *flags, seconds=2.0, is_bare=False):
        command = pinned(1) + [self.path("tests/load/reversi-load"), "--json", f"--address={server.address}",
                               f"--server_pid={server.pid}", f"--workload={workload}", f"--rules={KIND}",
                               f"--seconds={0.2 if self.short else seconds}",
                               f"--warm_up={0.1 if self.short else 0.5}", *flags]
        if is_bare:
            command.append("--bare")
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        if ran.returncode != 0:
            sys.exit(f"{' '.join(command)}: {ran.stdout}")
        report = json.loads(ran.stdout)
        refused = {name: of["errors"] for name, of in report["methods"].items() if of["errors"]}
        if report["calls"] + report["deliveries"] + report["watchers"] + report["games_made"] == 0 or refused:
            sys.exit(f"{' '.join(command)}: refused {refused}: {ran.stdout}")
        return report

    def pairs(self, count, workload, *flags, seconds=2.0):
        """[(service's report, bare's report)]."""
        with self.service() as service, self.bare() as bare:
            return [(self.load(service, workload, *flags, seconds=seconds),
                     self.load(bare, workload, *flags, seconds=seconds, is_bare=True))
                    for _ in range(1 if self.short else count)]

    def size(self, full, short):
        return short if self.short else full


def row(what, goal, measured):
    print(f"{what:<58} {goal:>12}   {measured}", flush=True)


def ratio(values):
    return f"{statistics.median(values):.2f} [{min(values):.2f}-{max(values):.2f}]"


def cpu_per_call(report):
    return report["server_cpu_us"] / report["calls"]


def cpu_per_delivery(report):
    return report["server_cpu_us"] / report["deliveries"]


def unary(table):
    pairs = table.pairs(9, "moves", f"--games={table.size(4000, 300)}")
    rate = [(own["calls"] / own["seconds"], bare["calls"] / bare["seconds"]) for own, bare in pairs]
    table.bare_maximum = statistics.median(bare for _, bare in rate)
    row("SubmitMove, server CPU a call / bare", "<= 1.30",
        ratio([cpu_per_call(own) / cpu_per_call(bare) for own, bare in pairs]))
    row("  in microseconds, service and bare", "",
        " and ".join(f"{statistics.median(cpu_per_call(pair[i]) for pair in pairs):.1f}" for i in (0, 1)))
    row("  generator's CPU a call, service and bare", "",
        " and ".join(f"{statistics.median(p[i]['generator_cpu_us'] / p[i]['calls'] for p in pairs):.1f}" for i in (0, 1)))
    row("SubmitMove, calls a second / bare", ">= 0.80", ratio([own / bare for own, bare in rate]))
    row("  calls a second, service and bare", "",
        f"{statistics.median(own for own, _ in rate):.0f} and {table.bare_maximum:.0f}")


def open_loop(table):
    if table.bare_maximum is None:
        unary(table)
    rate = max(table.bare_maximum / 2, 100)
    # A stall of the machine spoils the p99 of the run that it meets, on either side: many short runs, and the median run.
    pairs = table.pairs(31, "moves", f"--rate={rate:.0f}", f"--games={table.size(1500, 300)}", seconds=0.6)
    own, bare = ([pair[i]["methods"]["SubmitMove"]["p99_us"] for pair in pairs] for i in (0, 1))
    row(f"SubmitMove, p99 at {rate:.0f} calls a second / bare", "<= 1.5",
        f"{statistics.median(own) / statistics.median(bare):.2f}")
    for name, runs in (("service", own), ("bare", bare)):
        row(f"  {name}, microseconds: median run [quartiles]", "", "{1:.0f} [{0:.0f}-{2:.0f}]".format(
            *statistics.quantiles(runs * 2, n=4)))


def create(table):
    pairs = table.pairs(9, "create", seconds=1.0)
    row("CreateGame, server CPU a call / bare", "<= 2",
        ratio([cpu_per_call(own) / cpu_per_call(bare) for own, bare in pairs]))


def fan_out(table):
    watchers = table.size(1000, 20)
    pairs = table.pairs(9, "fan-out", f"--watchers={watchers}", seconds=4.0)
    row(f"event to {watchers} watchers, server CPU a delivery / bare", "<= 1.15",
        ratio([cpu_per_delivery(own) / cpu_per_delivery(bare) for own, bare in pairs]))
    row("  last delivery (median) / bare", "<= 1.3",
        ratio([own["methods"]["last delivery"]["p50_us"] / bare["methods"]["last delivery"]["p50_us"]
               for own, bare in pairs]))


def catch_up(table):
    games, played = f"--games={table.size(500, 20)}", f"--games={table.size(4000, 300)}"
    with table.service() as service, table.bare() as bare:
        ratios = [cpu_per_delivery(table.load(service, "catch-up", games, seconds=1.0))
                  / cpu_per_call(table.load(bare, "moves", played, seconds=1.0, is_bare=True))
                  for _ in range(table.size(9, 1))]
    row("catch-up over 60 events, CPU an event / bare unary call", "<= 0.30", ratio(ratios))


def memory_of_watchers(table):
    watchers = table.size(10_000, 100)

    def bytes_each(server, is_bare):
        with server:
            report = table.load(server, "hold", "--games=1", f"--watchers={watchers}", is_bare=is_bare)
        return (report["resident_after"] - report["resident_games"]) / watchers

    pairs = [(bytes_each(table.service(), False), bytes_each(table.bare(), True)) for _ in range(table.size(3, 1))]
    above = [own - bare for own, bare in pairs]
    row(f"idle watcher above a bare idle stream, of {watchers}", "<= 1024 B",
        f"{statistics.median(above):.0f} B [{min(above):.0f}-{max(above):.0f}]")
    row("  service and bare", "", " and ".join(f"{statistics.median(pair[i] for pair in pairs):.0f}" for i in (0, 1))
        + " B")


def stopped_watchers(table):
    watchers, games = table.size(1000, 20), table.size(200, 4)
    runs = [(stopped.growth(table, watchers, games), stopped.growth(table, 0, games))
            for _ in range(table.size(3, 1))]
    more = [(own - without) / 1024 for own, without in runs]
    row(f"{watchers} watchers that read nothing, growth over {games * 50} events", "none",
        f"{statistics.median(more):.0f} KB [{min(more):.0f}-{max(more):.0f}] above that without them")
    row("  the latter", "", f"{statistics.median(without for _, without in runs) / 1024:.0f} KB")


def memory_of_games(table):
    games = table.size(table.games, 500)
    for what, plies, seconds, goal in (("live 8x8 game after 30 moves", 30, 0, "<= 600 B"),
                                       ("finished 8x8 game", 100, 0, "<= 300 B"),
                                       ("finished 8x8 game, 1 to 30 s a move", 100, 30, "<= 300 B")):
        ran = subprocess.run([table.path("tests/bench/submit_move_path"), "--memory", str(games), str(plies), str(seconds)],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True)
        row(f"{what}, of {games}", goal, f"{float(ran.stdout):.0f} B")


def call(channel, method, request=b""):
    return channel.unary_unary(f"/reversi.v1.GameService/{method}")(request, timeout=30)


def silence(table):
    with table.service() as service, grpc.insecure_channel(service.address) as channel:
        call(channel, "ListVariants")
        seconds = table.size(10, 2)
        begun = service.cpu_seconds()
        time.sleep(seconds)
        idle = (service.cpu_seconds() - begun) / seconds
        before = time.monotonic()
        call(channel, "ListVariants")
        row(f"first call after {seconds} s of silence", "<= 5 ms", f"{(time.monotonic() - before) * 1000:.1f} ms")
        row("  idle CPU", "<= 0.5 %", f"{idle * 100:.2f} % of a core")


def start(table):
    times = []
    for _ in range(table.size(9, 1)):
        with table.service() as service, grpc.insecure_channel(service.address) as channel:
            call(channel, "ListVariants")
            times.append((time.monotonic() - service.begun) * 1000)
    row("start to first answered call", "<= 100 ms", f"{statistics.median(times):.0f} ms [{min(times):.0f}-{max(times):.0f}]")


def scrape(address):
    begun = time.monotonic()
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=30) as answer:
        size = len(answer.read())
    return (time.monotonic() - begun) * 1000, size


def metrics_and_stop(table):
    games, watchers, delay = table.size(100_000, 500), table.size(1000, 20), 1.0
    with table.service(f"--drain_delay={delay}s") as service, grpc.insecure_channel(service.address) as channel:
        address = re.search(r"metrics=(\S+)", service.line).group(1)
        call(channel, "CreateGame", b"\x22\x05the-1")  # game_id
        before = scrape(address)[1]
        table.load(service, "hold", f"--games={games}")
        ended = []
        for _ in range(watchers):
            watch = channel.unary_stream("/reversi.v1.GameService/WatchGame")(b"\x0a\x05the-1")  # game_id
            next(watch)
            watch.add_done_callback(lambda _: ended.append(time.monotonic()))
        scrapes = [scrape(address) for _ in range(9)]
        row(f"/metrics with {games} games and {watchers} watchers", "<= 20 ms",
            f"{statistics.median(took for took, _ in scrapes):.1f} ms")
        row("  bytes, before and after", "equal", f"{before} and {scrapes[-1][1]}")
        begun = time.monotonic()
        service.process.send_signal(signal.SIGTERM)
        service.process.wait()
        while len(ended) < watchers and time.monotonic() - begun < 30:
            time.sleep(0.01)
        row(f"SIGTERM with {watchers} open watches, last end after the delay", "<= 600 ms",
            f"{(max(ended) - begun - delay) * 1000:.0f} ms, {len(ended)} ended")


def many_games(table):
    games = table.size(table.games, 500)
    with table.service() as few, table.service() as many:
        table.load(many, "hold", f"--games={games}")
        pairs = [[table.load(server, "moves", "--games=1000", seconds=1.0) for server in (many, few)]
                 for _ in range(table.size(9, 1))]
    row(f"CPU a call with {games} games / with 1,000", "<= 1.25",
        ratio([cpu_per_call(many) / cpu_per_call(few) for many, few in pairs]))


def binary(table):
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, table.path("reversi_server")], check=True)
        row("binary, stripped", "<= 8 MB", f"{os.path.getsize(stripped.name) / 1e6:.1f} MB")


PARTS = {"unary": unary, "open-loop": open_loop, "create": create, "fan-out": fan_out, "catch-up": catch_up,
         "watcher-memory": memory_of_watchers, "stopped-watchers": stopped_watchers, "game-memory": memory_of_games, "silence": silence, "start": start,
         "metrics-and-stop": metrics_and_stop, "many-games": many_games, "binary": binary}


def describe_machine():
    model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo", encoding="utf-8").read())
    print(f"{model.group(1) if model else platform.processor()}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} "
          f"cores; Linux {platform.release()}; load average {os.getloadavg()[0]:.1f} before")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--games", type=int, default=1_000_000,
                        help="games held by game-memory and many-games")
    arguments = parser.parse_args()
    describe_machine()
    table = Table(arguments.build, arguments.short, arguments.games)
    begun = time.monotonic()
    for part in arguments.only.split(","):
        PARTS[part](table)
    print(f"{(time.monotonic() - begun) / 60:.1f} minutes; load average {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
