"""Runs the examples of README.md as they stand there, against a server process.

usage: readme_test.py <source folder> <build folder> <example>

The fenced block after "<!-- file: NAME -->" is written to NAME, those after "<!-- example: EXAMPLE -->" are run by bash
in order, in a folder that looks like the top of the repository. The block after "<!-- output: EXAMPLE -->" must be
part of what they print.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from server_process import ServerProcess  # noqa: E402

# What each example must print, besides ending well.
EXPECTED = {
    "npm": [],
    "tour": ["multiplayer", "Game tour, version 2", "ILLEGAL_MOVE: ", "refused, exit code 3", '{"game_id":'],
    "python": ["discs: [", "FAILED_PRECONDITION GAME_OVER"],
    "node": ["GAME_STATE_FINISHED", "true GAME_NOT_FOUND"],
    "buf": ["VARIANT_ROYAL", '"gameId": "from-buf"', "GAME_NOT_FOUND, as it should be"],
}


def blocks(readme):
    """Yields (kind, name, text) of every marked block in order."""
    pattern = r"^<!-- (file|example|output): (\S+) -->\n```\w*\n(.*?)^```$"
    for found in re.finditer(pattern, readme, re.MULTILINE | re.DOTALL):
        yield found.groups()


def run(example, source, build, folder):
    (folder / "build").mkdir()
    (folder / "proto").symlink_to(source / "proto")
    npm = folder / "tests" / "examples"
    npm.mkdir(parents=True)
    for name in (".npmrc", "package.json", "package-lock.json"):
        shutil.copy(source / "tests" / "examples" / name, npm)
    packages = build / "examples" / "node_modules"  # node looks for this name
    if example != "npm" and packages.exists():
        (npm / "node_modules").symlink_to(packages)
    for name in ("reversi", "reversi_server"):
        (folder / "build" / name).symlink_to(build / name)
    output = ""
    expected = list(EXPECTED[example])
    with ServerProcess(build / "reversi_server") as server:
        environment = dict(os.environ, REVERSI_SERVER=server.address)
        for kind, name, text in blocks((source / "README.md").read_text()):
            if kind == "file":
                (folder / name).write_text(text)
            elif kind == "output" and name == example:
                expected.append(text)
            elif name == example:
                done = subprocess.run(["bash", "-eu", "-c", text], cwd=folder, env=environment, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                output += done.stdout
                if done.returncode != 0:
                    sys.exit(f"{output}\n{example} ended with {done.returncode}")
    if example == "npm":  # for the examples that follow
        shutil.rmtree(packages, ignore_errors=True)
        packages.parent.mkdir(exist_ok=True)
        shutil.move(npm / "node_modules", packages)
    print(output)
    missing = [text for text in expected if text not in output]
    if missing:
        sys.exit(f"{example} did not print {missing}")


def main():
    source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    example = sys.argv[3]
    names = {name for kind, name, _ in blocks((source / "README.md").read_text()) if kind == "example"}
    if names != set(EXPECTED):
        sys.exit(f"README.md has the examples {sorted(names)}, this test knows {sorted(EXPECTED)}")
    with tempfile.TemporaryDirectory() as folder:
        run(example, source, build, pathlib.Path(folder))


main()
