"""A PostgreSQL server of a test's own, on a free port of this machine."""
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile


class Postgres:
    """Runs as the user postgres where the test is root, which PostgreSQL refuses to be."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tutti-postgres-"))
        self.bin = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = listener.getsockname()[1]
        self.as_user = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.as_user = ["/usr/sbin/runuser", "-u", "postgres", "--"]
        self.run("initdb", "-D", self.folder / "data", "-U", "tutti", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync",
                 "--no-instructions")
        options = f"-c listen_addresses=127.0.0.1 -p {self.port} -c fsync=off -k {self.folder}"
        self.run("pg_ctl", "-D", self.folder / "data", "-w", "-l", self.folder / "log", "-o", options, "start")

    def run(self, program, *words):
        subprocess.run([*self.as_user, str(self.bin / program), *map(str, words)], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def new_database(self, name):
        """Its address."""
        self.sql(f"CREATE DATABASE {name}", "postgres")
        return f"postgres://tutti@127.0.0.1:{self.port}/{name}"

    def sql(self, statement, database):
        """The rows of its answer, as text; fields are separated by |."""
        done = subprocess.run([self.bin / "psql", "-h", self.folder, "-p", str(self.port), "-U", "tutti", database, "-X", "-q", "-t", "-A",
                               "-v", "ON_ERROR_STOP=1", "-c", statement], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    def close(self):
        self.run("pg_ctl", "-D", self.folder / "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)
