"""The manifests as kubectl renders them."""

import functools
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[2] / "deploy"
OVERLAYS = sorted(path.name for path in (DEPLOY / "k8s/overlays").iterdir())


def why_not():
    """Why nothing can be rendered here; None = it can."""
    if shutil.which("kubectl") is None:
        return "there is no kubectl"
    told = subprocess.run(["kubectl", "version", "--client", "-o", "json"], capture_output=True, text=True)
    try:
        version = json.loads(told.stdout)["clientVersion"]
        number = (int(re.match(r"\d+", version["major"])[0]), int(re.match(r"\d+", version["minor"])[0]))
    except (ValueError, KeyError, TypeError):
        return "kubectl does not tell its version"
    return None if number >= (1, 25) else "kubectl is %d.%d, and manifests need 1.25" % number


def _objects(folder):
    done = subprocess.run(["kubectl", "kustomize", str(folder)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError("%s does not render: %s" % (folder, done.stderr))
    return [each for each in yaml.safe_load_all(done.stdout) if each]


@functools.lru_cache(maxsize=None)
def overlay(name):
    return _objects(DEPLOY / "k8s/overlays" / name)


def overlay_with(name, component):
    """The overlay with one more component, as an operator adds it."""
    # kustomize takes relative paths alone, and follows no link out of a component: the whole folder is copied.
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(DEPLOY, pathlib.Path(place) / "deploy")
        own = pathlib.Path(place) / "deploy/k8s/overlays/own"
        own.mkdir()
        (own / "kustomization.yaml").write_text(
            yaml.safe_dump({"resources": ["../" + name], "components": ["../../components/" + component],
                            "namespace": "reversi"}))
        return _objects(own)


def of_kind(objects, *kinds):
    return [each for each in objects if each["kind"] in kinds]


def workload(objects, name="reversi"):
    found = [each for each in of_kind(objects, "Deployment", "StatefulSet") if each["metadata"]["name"] == name]
    if len(found) != 1:
        raise AssertionError("%d workloads are called %s" % (len(found), name))
    return found[0]


def pod(each):
    return each["spec"]["template"]["spec"]


def settings(objects):
    """The environment that the server's container gets."""
    container = pod(workload(objects))["containers"][0]
    names = [source["configMapRef"]["name"] for source in container["envFrom"]]
    found = {}
    for each in of_kind(objects, "ConfigMap"):
        if each["metadata"]["name"] in names:
            found.update(each["data"])
    return found
