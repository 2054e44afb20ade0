"""Runs a client in another language against servers that provoke every refusal, and checks what it saw.

usage: clients_test.py <source folder> <build folder> python|node|go
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE, BUILD = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "tests"))
from generated import generate  # noqa: E402
from server_process import ServerProcess  # noqa: E402

# All reasons of the contract but two: SERVER_DRAINING lasts for a moment, STORE_UNAVAILABLE needs a broken store.
REASONS = set("""BAD_SQUARE BAD_TOKEN GAME_ID_TAKEN GAME_NOT_FOUND GAME_NOT_STARTED GAME_OVER ILLEGAL_MOVE
    MALFORMED_REQUEST NOT_YOUR_TURN RATE_LIMITED SEAT_TAKEN STALE_VERSION TOO_MANY_GAMES TOO_MANY_WATCHERS
    UNSUPPORTED_RULES VERSION_IN_FUTURE""".split())
# Go only reads details: one refusal of each kind of them.
READ_IN_GO = {"GAME_NOT_FOUND", "MALFORMED_REQUEST", "RATE_LIMITED"}


def client(language, folder):
    """The command that runs the client, without the servers' addresses."""
    here = SOURCE / "tests" / "e2e" / "clients"
    if language == "node":
        return ["node", here / "node_client.mjs", SOURCE / "proto"]
    if language == "go":
        reader = pathlib.Path(folder) / "details_reader"
        debian = dict(os.environ, GO111MODULE="off", GOPATH="/usr/share/gocode", GOCACHE=f"{folder}/cache")
        subprocess.run(["go", "build", "-o", reader, here / "details_reader.go"], env=debian, check=True)
        return [reader]
    generate(SOURCE, folder)
    return ["/usr/bin/python3", here / "python_client.py", folder]


def main():
    server = BUILD / "reversi_server"
    with tempfile.TemporaryDirectory() as folder, ServerProcess(server) as usual, \
            ServerProcess(server, "--max_games=1", "--max_watchers_per_game=1") as limited, \
            ServerProcess(server, "--rate_limit=0.001", "--rate_burst=1") as over_rate:
        addresses = [usual.address, limited.address, over_rate.address]
        if sys.argv[3] == "go":
            addresses.remove(limited.address)
        done = subprocess.run(client(sys.argv[3], folder) + addresses,
                              env=dict(os.environ, NODE_PACKAGES=str(BUILD / "examples")), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    print(done.stdout)
    seen = set(done.stdout.partition("reasons seen:")[2].split())
    wanted = READ_IN_GO if sys.argv[3] == "go" else REASONS
    if done.returncode != 0 or seen != wanted:
        sys.exit(f"the client ended with {done.returncode} and did not see {sorted(wanted - seen)}")


main()
