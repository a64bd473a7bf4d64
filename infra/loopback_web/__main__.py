"""`python -m infra.loopback_web --port N --log FILE`: a small web on 127.0.0.1 to try the service against."""

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path

from infra.loopback_web.server import ADDRESS, LoopbackWeb, hosts


def settings_snippet(port: int) -> str:
    """Return the TOML that sends the product to the virtual hosts on `port` and nowhere else."""
    named = "\n".join(f'"{name}" = "{target}"' for name, target in hosts(port).items())
    return f"[loopback]\nonly = true\n\n[loopback.hosts]\n{named}\n"


def main(arguments: list[str] | None = None) -> None:
    """Serve until interrupted. The first line on standard output is the port's address, then a settings snippet."""
    parser = argparse.ArgumentParser(prog="python -m infra.loopback_web", description=__doc__)
    parser.add_argument(
        "--port", type=int, default=0, help="port on 127.0.0.1; 0: any that is free"
    )
    parser.add_argument(
        "--log", type=Path, help="append each request to this file as a line of JSON"
    )
    parser.add_argument(
        "--enforce-pace", action="store_true", help="refuse what is faster than the APIs publish"
    )
    chosen = parser.parse_args(arguments)
    with ExitStack() as stack:
        log_file = (
            stack.enter_context(chosen.log.open("a", encoding="utf-8")) if chosen.log else None
        )
        web = LoopbackWeb(port=chosen.port, enforce_pace=chosen.enforce_pace, log_file=log_file)
        sys.stdout.write(f"http://{ADDRESS}:{web.port}/\n{settings_snippet(web.port)}")
        sys.stdout.flush()
        web.serve()


if __name__ == "__main__":
    main()
