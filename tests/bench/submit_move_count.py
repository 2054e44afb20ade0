#!/usr/bin/python3
"""Counts the instructions of one SubmitMove with callgrind and compares them with the committed figure.

  submit_move_count.py <submit_move_path>            fails when they differ by more than a tenth
  submit_move_count.py <submit_move_path> --write    writes the figure

The network is not in it: see submit_move_path.cc. The difference of two runs leaves out start and end.
"""

import os
import re
import subprocess
import sys

FIGURE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "submit_move_instructions.txt")
MOVES = 1000
TOLERANCE = 0.10


def instructions(program, moves):
    ran = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, str(moves)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    collected = re.search(r"Collected : (\d+)", ran.stdout)
    if ran.returncode != 0 or not collected:
        sys.exit(f"{program} {moves}: {ran.stdout}")
    return int(collected.group(1))


def main():
    program = sys.argv[1]
    counted = round((instructions(program, 2 * MOVES) - instructions(program, MOVES)) / MOVES)
    if "--write" in sys.argv[2:]:
        with open(FIGURE, "w", encoding="ascii") as file:
            file.write(f"{counted}\n")
    with open(FIGURE, encoding="ascii") as file:
        committed = int(file.read())
    print(f"instructions of one SubmitMove: {counted}; committed: {committed}")
    if abs(counted - committed) > TOLERANCE * committed:
        sys.exit("They differ by more than a tenth. If that is meant, write the new figure with --write and commit it "
                 "with the reason.")


if __name__ == "__main__":
    main()
