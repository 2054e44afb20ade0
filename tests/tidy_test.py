#!/usr/bin/python3
"""Reads the sources: who includes whom, what was left over, how long files have grown."""

import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

TOP_LEVEL = {"CMakeLists.txt", "proto", "service", "engine", "deploy", "tests", "README.md"}
NOT_OURS = re.compile(r"^(build.*|node_modules|\.git|__pycache__|\.cache)$")
MAX_LINES = 450
CODE = (".cc", ".h", ".inc", ".py", ".sh", ".js", ".mjs")

# Headers of the standard library and of the compiler that read a clock, a file or another thread.
NOT_PURE = {
    "atomic", "barrier", "chrono", "condition_variable", "ctime", "cstdio", "filesystem", "fstream", "future", "iostream",
    "latch", "mutex", "semaphore", "shared_mutex", "stop_token", "thread", "time.h", "stdio.h", "pthread.h", "unistd.h",
}

# What the files of a room may include, besides headers of the standard library and of the compiler.
MAY_INCLUDE = {
    "engine/": r"engine/|absl/(status|strings|types|numeric)/",
    "service/": r"service/|engine/|absl/|grpc|google/|reversi/|etcd/|prometheus/|rocksdb/|openssl/|CLI/"
                r"|sys/|netinet/|arpa/|linux/",
    "tests/": r".*",
}

# Headers that only the named files may include.
ONLY_IN = {
    r"prometheus/|Civet": r"service/metrics\.(cc|h)$",
    r"rocksdb/": r"service/store_disk\.(cc|h)$",
    r"etcd/": r"service/(etcd_client|etcd_feed|store_etcd)\.(cc|h)$",
    r"tests/": r"tests/",
    r"service/cli/": r"service/cli/",
    r"CLI/": r"service/(cli/|config\.cc$)",
}

# The two places where the network and the games meet; main puts the parts together.
GRPC_AND_GAMES = re.compile(r"service/(game_service|watch_stream|server|main)\.(cc|h)$")
GAMES = re.compile(r"service/games?\.(cc|h)$")

# Spelt apart, so that this file does not find itself.
MARKERS = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK"]) + r")\b")
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:home|root|work|Users|mnt)/\w|\.\./sha" + r"red\b")

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def include_problems(path, text):
    includes = INCLUDE.findall(text)
    for include in includes:
        room = next((room for room in MAY_INCLUDE if path.startswith(room)), None)
        of_the_language = "/" not in include
        if room and not of_the_language and not re.match(MAY_INCLUDE[room], include):
            yield f"{path} includes {include}, which is not for {room}"
        if room == "engine/" and include in NOT_PURE:
            yield f"{path} includes {include}: the engine knows no thread, clock or file"
        for header, allowed in ONLY_IN.items():
            if re.match(header, include) and not path.startswith("tests/") and not re.match(allowed, path):
                yield f"{path} includes {include}, which only {allowed} may"
    with_grpc = any(re.match(r"grpc(pp)?/|.*\.grpc\.pb\.h$", include) for include in includes)
    with_games = any(GAMES.match(include) for include in includes) or GAMES.match(path)
    if path.startswith("service/") and with_grpc and with_games and not GRPC_AND_GAMES.match(path):
        yield f"{path} names both gRPC and games"


def problems(path, text):
    """What is wrong with one file, as lines of text."""
    if path.endswith((".cc", ".h", ".inc")):
        yield from include_problems(path, text)
    if path.endswith(CODE) and text.count("\n") > MAX_LINES:
        yield f"{path} has {text.count(chr(10))} lines: is it still one job?"
    if path.startswith("tests/data/"):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if MARKERS.search(line):
            yield f"{path}:{number}: left-over marker"
        if MACHINE_PATHS.search(line):
            yield f"{path}:{number}: a path of one machine"
        if path.endswith("package-lock.json") and '"resolved"' in line:
            yield f"{path}:{number}: a download address"


def files():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not NOT_OURS.match(name))
        for name in sorted(names):
            yield os.path.relpath(os.path.join(folder, name), ROOT)


class Tidy(unittest.TestCase):
    def test_every_file(self):
        found = []
        for path in files():
            with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as file:
                found += problems(path, file.read())
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_top_level(self):
        entries = {name for name in os.listdir(ROOT) if not name.startswith(".") and not NOT_OURS.match(name)}
        self.assertEqual(entries - TOP_LEVEL, set())


class TidyFinds(unittest.TestCase):
    """The checks themselves, on files that are wrong."""

    def expect(self, path, text, *words):
        found = list(problems(path, text))
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_wrong_includes(self):
        for include in ("<mutex>", "<chrono>", "<fstream>", '"absl/synchronization/mutex.h"', "<grpcpp/grpcpp.h>",
                        '"reversi/v1/reversi.pb.h"', '"service/game.h"'):
            self.expect("engine/board.cc", f"#include {include}\n", include[1:-1])
        self.expect("service/game.cc", "#include <grpcpp/grpcpp.h>\n", "both gRPC and games")
        self.expect("service/errors.cc", '#include "service/games.h"\n#include "reversi/v1/reversi.grpc.pb.h"\n', "both")
        self.expect("service/game.cc", "#include <prometheus/registry.h>\n", "prometheus")
        self.expect("service/game.cc", '#include "service/cli/words.h"\n', "service/cli/words.h")
        self.assertEqual(len(list(problems("engine/board.cc", '#include "tests/engine/twin.h"\n'))), 2)

    def test_right_includes(self):
        for path, include in (("engine/board.cc", '"engine/board.h"'), ("engine/board.cc", "<vector>"),
                              ("engine/notation.cc", '"absl/strings/str_cat.h"'), ("engine/k.cc", "<immintrin.h>"),
                              ("service/metrics.cc", "<prometheus/registry.h>"), ("service/game.cc", '"engine/board.h"'),
                              ("tests/engine/x_test.cc", '"service/cli/words.h"')):
            self.assertEqual(list(problems(path, f"#include {include}\n")), [])

    def test_left_overs(self):
        self.expect("engine/board.cc", "// TO" + "DO: later\n", "marker")
        self.expect("README.md", "see /ho" + "me/me/reversi\n", "machine")
        self.expect("tests/e2e/package-lock.json", '  "resolved": "https://example.org/x.tgz"\n', "download")
        self.expect("engine/board.cc", "\n" * 451, "451 lines")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
