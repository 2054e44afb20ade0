#!/usr/bin/python3
"""Computes the hash of positions from what the API shows of a game, as the comment of engine/hash.h defines it, and
compares it with the engine's: hash_test.py <hash_positions program>."""
import json
import subprocess
import sys

WORD = (1 << 64) - 1
STRIDE = {"6x6": 7, "8x8": 8, "9x9": 10, "10x10": 11, "octagon": 11}
BOARD = ["6x6", "8x8", "9x9", "10x10", "octagon"]
VARIANT = ["multiplayer", "standard", "rolit", "royal"]
COLOR = ["black", "white", "red", "green", "blue", "yellow", "neutral", "none"]


def fold(a, b):
    product = a * b
    return (product & WORD) ^ (product >> 64)


def key(n):
    z = (n + 1) * 0x9E3779B97F4A7C15 & WORD
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
    z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
    return z ^ z >> 31


def seats(members):
    return sum(1 << i for i, member in enumerate(members) if member)


def squares(position, letter):
    stride = STRIDE[position["board"]]
    return sum(1 << row * stride + column
               for row, line in enumerate(position["rows"])
               for column, square in enumerate(line) if square == letter)


def position_hash(position):
    board = position["board"]
    colors = COLOR[:position["players"]]
    moves = list(zip(position["colors"], position["moves"]))
    jack = seats((color, "jack") in moves for color in colors)
    unset = 0
    if position["variant"] == "royal":
        unset = seats(not out and color not in position["colors"] for color, out in zip(colors, position["out"]))
    head = (COLOR.index(position["turn"]) | VARIANT.index(position["variant"]) << 8 | BOARD.index(board) << 12 |
            position["players"] << 16 | position["fewest"] << 20 | position["sides"] << 21 | jack << 24 |
            seats(position["out"]) << 32 | unset << 40)
    words = []
    for letter in "BWRGUYN#" if board == "9x9" else "BWRGN#":
        members = squares(position, letter)
        words += [members] if board in ("6x6", "8x8") else [members & WORD, members >> 64]
    value = fold(head ^ key(0), key(1))
    for n in range(0, len(words), 2):
        value ^= fold(words[n] ^ key(2 + n), words[n + 1] ^ key(3 + n))
    return value


def main():
    lines = subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    seen = {}
    for line in lines:
        position = json.loads(line)
        computed = "%016x" % position_hash(position)
        if computed != position["hash"]:
            sys.exit("hash is %s, computed %s: %s" % (position["hash"], computed, line))
        shown = json.dumps({name: position[name] for name in position if name not in ("colors", "moves", "hash")})
        if seen.setdefault(computed, shown) != shown:
            sys.exit("two positions with hash %s:\n%s\n%s" % (computed, shown, seen[computed]))
    if len(lines) < 5000:
        sys.exit("only %d positions" % len(lines))
    print("%d positions, %d different hashes" % (len(lines), len(seen)))


main()
