"""The workload through SQLAlchemy's ORM: one work, in this process; its seconds as JSON on standard output.

Arguments: WORK OBJECTS DIRECTORY [SERVER]. With a server, a URL such as postgresql://user@/postgres?host=...&port=..., stores are
databases of it, by way of psycopg; without one they are SQLite files in the directory.
"""
import json
import os
import shutil
import sys
import threading
import time
from datetime import datetime, timezone

import sqlalchemy
from sqlalchemy import Boolean, Float, ForeignKey, Integer, String, create_engine, event, func, select, text
from sqlalchemy.orm import DeclarativeBase, Session, mapped_column, relationship
from sqlalchemy.types import TypeDecorator

from stops import EXPECTED, ROUTES, permutation, questions, records


class Seconds(TypeDecorator):
    """A date, kept as seconds since 1970."""

    impl = Float
    cache_ok = True

    def process_bind_param(self, value, dialect):
        return value.timestamp() if value is not None else None

    def process_result_value(self, value, dialect):
        return datetime.fromtimestamp(value, timezone.utc) if value is not None else None


class Base(DeclarativeBase):
    pass


class Route(Base):
    __tablename__ = "route"
    id = mapped_column(Integer, primary_key=True)
    identifier = mapped_column(String, nullable=False, unique=True)
    name = mapped_column(String, nullable=False)
    stops = relationship("Stop", back_populates="route")


class Stop(Base):
    __tablename__ = "stop"
    id = mapped_column(Integer, primary_key=True)
    identifier = mapped_column(String, nullable=False, unique=True)
    name = mapped_column(String, nullable=False)
    latitude = mapped_column(Float, nullable=False)
    longitude = mapped_column(Float, nullable=False)
    code = mapped_column(Integer, nullable=False, index=True)
    createdAt = mapped_column(Seconds, nullable=False)
    active = mapped_column(Boolean, nullable=False)
    note = mapped_column(String)
    routeId = mapped_column(ForeignKey("route.id"), index=True)
    route = relationship("Route", back_populates="stops")


SERVER = sys.argv[4] if len(sys.argv) > 4 else None


def open_engine(path):
    if SERVER:
        url = sqlalchemy.make_url(SERVER).set(drivername="postgresql+psycopg", database=path)
        return create_engine(url)
    engine = create_engine("sqlite:///" + path)

    @event.listens_for(engine, "connect")
    def configure(connection, _):
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")

    return engine


def administer(*statements):
    """Runs statements on the server outside of transactions; the first column of the last one's rows."""
    url = sqlalchemy.make_url(SERVER).set(drivername="postgresql+psycopg")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            result = connection.execute(text(statement))
        found = [row[0] for row in result] if result.returns_rows else []
    engine.dispose()
    return found


def place(name, directory):
    """Where a store of this name is."""
    return "works_" + name.replace("-", "_") if SERVER else os.path.join(directory, name + ".sqlite")


def exists(path):
    if SERVER:
        return bool(administer("SELECT 1 FROM pg_database WHERE datname = '%s'" % path))
    return os.path.exists(path)


def vacate(path):
    if SERVER:
        administer("DROP DATABASE IF EXISTS %s" % path)
        return
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)


def duplicate(template, path):
    if SERVER:
        administer("CREATE DATABASE %s TEMPLATE %s" % (path, template))
    else:
        shutil.copyfile(template, path)


def create(path):
    if SERVER:
        administer("CREATE DATABASE %s" % path)
    engine = open_engine(path)
    Base.metadata.create_all(engine)
    with Session(engine) as session:
        session.add_all(Route(id=i + 1, identifier="R%03d" % i, name="Route %d" % i) for i in range(ROUTES))
        session.commit()
    return engine


class Watch:
    def __init__(self):
        self.seconds = 0.0

    def __enter__(self):
        self.since = time.perf_counter()

    def __exit__(self, *_):
        self.seconds += time.perf_counter() - self.since


def run_import(engine, count, batch, finds, watch, seed=42, shift=0.0):
    pending = records(count, seed, shift)
    done = 0
    while done < count:
        size = min(batch, count - done)
        chunk = [next(pending) for _ in range(size)]
        with watch, Session(engine, expire_on_commit=False) as session:
            routes = session.scalars(select(Route).order_by(Route.id)).all()
            known = {}
            if finds:
                wanted = select(Stop).where(Stop.identifier.in_([r["identifier"] for r in chunk]))
                known = {stop.identifier: stop for stop in session.scalars(wanted)}
            for record in chunk:
                stop = known.get(record["identifier"])
                if stop is None:
                    stop = Stop()
                    session.add(stop)
                for field, value in record.items():
                    setattr(stop, field, routes[value] if field == "route" else value)
            session.commit()
        done += size


def checksum(stop):
    return stop.code + len(stop.name) + (len(stop.note) if stop.note is not None else 0)


def begins(initial):
    return Stop.name.startswith(initial) if SERVER else Stop.name.op("GLOB")(initial + "*")


def page(engine, low, initial):
    with Session(engine) as session:
        wanted = (
            select(Stop)
            .where(Stop.code.between(low, low + 200_000), begins(initial))
            .order_by(Stop.name)
            .limit(50)
        )
        return [checksum(stop) for stop in session.scalars(wanted)]


def measure(work, count, path):
    """Seconds, and rows and sum to be compared."""
    watch = Watch()
    if work in ("import-bulk", "import-insert"):
        run_import(create(path), count, 1000, work == "import-bulk", watch)
        return watch.seconds, None
    engine = open_engine(path)
    with engine.connect():
        pass
    if work == "reimport":
        run_import(engine, count, 1000, True, watch, shift=0.001)
        return watch.seconds, None
    if work == "concurrent":
        is_over = threading.Event()

        def read():
            while not is_over.is_set():
                for low, initial in questions():
                    page(engine, low, initial)
                    if is_over.is_set():
                        break

        reader = threading.Thread(target=read)
        reader.start()
        begin = time.perf_counter()
        run_import(engine, count, 100, True, watch, seed=43)
        seconds = time.perf_counter() - begin
        is_over.set()
        reader.join()
        return seconds, None
    found = []
    if work in ("update", "delete"):
        first = 0 if work == "update" else 1500
        ids = permutation(count, 13)[first : first + 1500]
        with watch, Session(engine) as session:
            stops = session.scalars(select(Stop).where(Stop.id.in_(ids))).all()
            for stop in stops:
                if work == "delete":
                    session.delete(stop)
                else:
                    stop.name = "upd " + stop.name
                    stop.code += 1
            session.commit()
        with engine.connect() as connection:
            total = connection.execute(text("SELECT SUM(code)+SUM(length(name))+COUNT(*) FROM stop")).scalar()
        return watch.seconds, (1500, total)
    if work == "fetch-all":
        with Session(engine) as session:
            with watch:
                stops = session.scalars(select(Stop).order_by(Stop.name)).all()
                found = [checksum(stop) for stop in stops]
    elif work == "by-id":
        with Session(engine) as session, watch:
            found = [checksum(session.get(Stop, key)) for key in permutation(count, 11)[:15000]]
    elif work == "traverse":
        with Session(engine) as session, watch:
            for route in session.scalars(select(Route).order_by(Route.id)).all():
                found += [checksum(stop) for stop in route.stops]
    elif work == "fetch-page":
        with watch:
            for low, initial in questions():
                found += page(engine, low, initial)
    elif work == "count":
        with Session(engine) as session, watch:
            for low, initial in questions():
                wanted = select(func.count()).select_from(Stop)
                wanted = wanted.where(Stop.code.between(low, low + 200_000), begins(initial))
                found.append(session.scalar(wanted))
    return watch.seconds, (len(found), sum(found))


def peak_megabytes():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def main():
    work, count, directory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    template = place("template-%d" % count, directory)
    if not exists(template):
        engine = create(template)
        run_import(engine, count, 1000, False, Watch())
        if SERVER:
            with engine.connect() as connection:
                connection.execute(text("ANALYZE"))
                connection.commit()
        engine.dispose()
    path = template
    if work in ("import-bulk", "import-insert", "reimport", "update", "delete", "concurrent"):
        path = place(work, directory)
        vacate(path)
        if not work.startswith("import"):
            duplicate(template, path)
    if work in ("fetch-all", "by-id", "traverse"):
        measure(work, count, path)
    seconds, check = measure(work, count, path)
    if count == 15000 and check is not None and check != EXPECTED[work]:
        sys.exit("%s found %s where the workload says %s" % (work, check, EXPECTED[work]))
    print(json.dumps({
        "work": work, "store": "postgresql" if SERVER else "sqlite", "objects": count, "seconds": round(seconds, 6), "peak_mb": round(peak_megabytes(), 1),
        "version": sqlalchemy.__version__}))


main()
