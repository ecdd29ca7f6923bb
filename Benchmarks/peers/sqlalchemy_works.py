"""The workload through SQLAlchemy's ORM: one work, in this process; what it took and found as JSON on standard output.

Arguments: WORK OBJECTS DIRECTORY [SERVER], or 'works', which lists the works. With a server, a URL such as postgresql://user@/postgres?host=...&port=..., stores are
databases of it, by way of psycopg; without one they are SQLite files in the directory.
"""
import os
import shutil
import sys
from datetime import datetime, timezone

import sqlalchemy
from sqlalchemy import Boolean, Float, ForeignKey, Integer, String, create_engine, event, func, select, text
from sqlalchemy.orm import DeclarativeBase, Session, mapped_column, relationship
from sqlalchemy.types import TypeDecorator

from stops import EXPECTED, ROUTES, Watch, concurrently, permutation, questions, records, tell


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


WORKS = "import-bulk,find-or-create,import-insert,reimport,fetch-all,fetch-page,by-id,traverse,update,delete,count,insert-each,update-each,concurrent"
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
    if SERVER:
        return "works_" + name.replace("-", "_")
    return os.path.join(directory, "sqlalchemy-" + name + ".sqlite")


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


def take(session, stop, record, routes):
    """Sets all values of a stop, or of a new one."""
    if stop is None:
        stop = Stop()
        session.add(stop)
    for field, value in record.items():
        setattr(stop, field, routes[value] if field == "route" else value)


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
                take(session, known.get(record["identifier"]), record, routes)
            session.commit()
        done += size


def find_or_create(engine, count, watch):
    pending = records(count)
    with Session(engine, expire_on_commit=False) as session:
        routes = session.scalars(select(Route).order_by(Route.id)).all()
        for done in range(0, count, 250):
            chunk = [next(pending) for _ in range(min(250, count - done))]
            with watch:
                for record in chunk:
                    stop = session.scalars(select(Stop).where(Stop.identifier == record["identifier"])).first()
                    take(session, stop, record, routes)
                session.commit()


def insert_each(engine, count, watch):
    pending = list(records(count))
    with watch, Session(engine, expire_on_commit=False) as session:
        routes = session.scalars(select(Route).order_by(Route.id)).all()
        for record in pending:
            take(session, None, record, routes)
            session.commit()


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


def measure(work, count, path, watch):
    """Rows and sum, to be compared; nil where the store itself is."""
    if work in ("import-bulk", "import-insert"):
        return run_import(create(path), count, 1000, work == "import-bulk", watch)
    if work == "insert-each":
        return insert_each(create(path), min(count, 1500), watch)
    if work == "find-or-create":
        return find_or_create(create(path), count, watch)
    engine = open_engine(path)
    with engine.connect():
        pass
    if work == "reimport":
        return run_import(engine, count, 1000, True, watch, shift=0.001)
    if work == "concurrent":

        def importing():
            run_import(engine, count, 100, True, Watch(), seed=43)

        return concurrently(lambda low, initial: page(engine, low, initial), importing, watch)
    found = []
    if work in ("update", "update-each", "delete"):
        first = 1500 if work == "delete" else 0
        ids = permutation(count, 13)[first : first + 1500]
        with watch, Session(engine, expire_on_commit=False) as session:
            stops = session.scalars(select(Stop).where(Stop.id.in_(ids))).all()
            for stop in stops:
                if work == "delete":
                    session.delete(stop)
                else:
                    stop.name = "upd " + stop.name
                    stop.code += 1
                if work == "update-each":
                    session.commit()
            session.commit()
        with engine.connect() as connection:
            total = connection.execute(text("SELECT SUM(code)+SUM(length(name))+COUNT(*) FROM stop")).scalar()
        return 1500, total
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
    return len(found), sum(found)


def prepared(work, turn, template, directory):
    """Where a work finds its store: a new one, a copy, or the template itself."""
    if work not in ("import-bulk", "import-insert", "find-or-create", "insert-each", "reimport", "update", "update-each", "delete", "concurrent"):
        return template
    path = place("%s-%d" % (work, turn), directory)
    vacate(path)
    if work not in ("import-bulk", "import-insert", "find-or-create", "insert-each"):
        duplicate(template, path)
    return path


def main():
    if sys.argv[1] == "works":
        print(WORKS)
        return
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
    # Once to warm up.
    for turn in range(2):
        path = prepared(work, turn, template, directory)
        watch = Watch()
        check = measure(work, count, path, watch)
    if count == 15000 and check is not None and check != EXPECTED[work]:
        sys.exit("%s found %s where the workload says %s" % (work, check, EXPECTED[work]))
    tell(watch, check, path, sqlalchemy.__version__, work=work, store="postgresql" if SERVER else "sqlite", objects=count)


main()
