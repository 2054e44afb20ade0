"""Python code from the .proto files, made where a test wants it."""
import subprocess


def generate(source, folder):
    protos = source / "proto"
    plugin = subprocess.run(["which", "grpc_python_plugin"], stdout=subprocess.PIPE, text=True, check=True)
    files = ["reversi/v1/reversi.proto", *sorted(str(path.relative_to(protos)) for path in protos.glob("google/rpc/*"))]
    subprocess.run(["protoc", f"--python_out={folder}", f"--grpc_out={folder}",
                    f"--plugin=protoc-gen-grpc={plugin.stdout.strip()}", *files], check=True, cwd=protos)
