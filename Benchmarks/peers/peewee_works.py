"""The workload through peewee: one work, in this process; what it took and found as JSON on standard output.

Arguments: WORK OBJECTS DIRECTORY, or 'works', which lists the works.
"""
import os
import shutil
import sys
from datetime import datetime, timezone

import peewee
from peewee import BooleanField, CharField, Field, FloatField, ForeignKeyField, IntegerField, Model, SqliteDatabase

from stops import ROUTES, Watch, concurrently, permutation, questions, records, tell

WORKS = "import-bulk,find-or-create,import-insert,reimport,fetch-all,fetch-page,by-id,traverse,update,delete,count,concurrent"
database = SqliteDatabase(None, pragmas={"journal_mode": "wal", "synchronous": "normal"}, timeout=5)


class Seconds(Field):
    """A date, kept as seconds since 1970."""

    field_type = "REAL"

    def db_value(self, value):
        return value.timestamp() if value is not None else None

    def python_value(self, value):
        return datetime.fromtimestamp(value, timezone.utc) if value is not None else None


class Route(Model):
    identifier = CharField(unique=True)
    name = CharField()

    class Meta:
        database = database
        table_name = "route"


class Stop(Model):
    identifier = CharField(unique=True)
    name = CharField()
    latitude = FloatField()
    longitude = FloatField()
    code = IntegerField(index=True)
    createdAt = Seconds()
    active = BooleanField()
    note = CharField(null=True)
    route = ForeignKeyField(Route, column_name="routeId", backref="stops", null=True)

    class Meta:
        database = database
        table_name = "stop"


FIELDS = [Stop.identifier, Stop.name, Stop.latitude, Stop.longitude, Stop.code, Stop.createdAt, Stop.active, Stop.note, Stop.route]


def create(path):
    database.init(path)
    database.connect()
    database.create_tables([Route, Stop])
    with database.atomic():
        for index in range(ROUTES):
            Route.create(identifier="R%03d" % index, name="Route %d" % index)


def take(stop, record, routes):
    for field, value in record.items():
        setattr(stop, field, routes[value] if field == "route" else value)


def run_import(count, batch, finds, watch, seed=42, shift=0.0):
    pending = records(count, seed, shift)
    done = 0
    while done < count:
        size = min(batch, count - done)
        chunk = [next(pending) for _ in range(size)]
        with watch, database.atomic():
            routes = list(Route.select().order_by(Route.id))
            known = {}
            if finds:
                wanted = Stop.select().where(Stop.identifier.in_([r["identifier"] for r in chunk]))
                known = {stop.identifier: stop for stop in wanted}
            new, changed = [], []
            for record in chunk:
                stop = known.get(record["identifier"])
                (new if stop is None else changed).append(stop or Stop())
                take((new if stop is None else changed)[-1], record, routes)
            # As many rows at a time as there are parameters for.
            Stop.bulk_create(new, batch_size=500)
            Stop.bulk_update(changed, FIELDS, batch_size=100)
        done += size


def find_or_create(count, watch):
    pending = records(count)
    routes = list(Route.select().order_by(Route.id))
    for done in range(0, count, 250):
        chunk = [next(pending) for _ in range(min(250, count - done))]
        with watch, database.atomic():
            for record in chunk:
                stop = Stop.get_or_none(Stop.identifier == record["identifier"]) or Stop()
                take(stop, record, routes)
                stop.save()


def checksum(stop):
    return stop.code + len(stop.name) + (len(stop.note) if stop.note is not None else 0)


def condition(low, initial):
    return Stop.code.between(low, low + 200_000) & (Stop.name % (initial + "*"))


def page(low, initial):
    return [checksum(stop) for stop in Stop.select().where(condition(low, initial)).order_by(Stop.name).limit(50)]


def change(work, count, watch):
    first = 0 if work == "update" else 1500
    ids = permutation(count, 13)[first : first + 1500]
    with watch, database.atomic():
        for stop in list(Stop.select().where(Stop.id.in_(ids))):
            if work == "delete":
                stop.delete_instance()
            else:
                stop.name = "upd " + stop.name
                stop.code += 1
                stop.save(only=[Stop.name, Stop.code])
    total = database.execute_sql("SELECT SUM(code)+SUM(length(name))+COUNT(*) FROM stop").fetchone()[0]
    return len(ids), total


def measure(work, count, watch):
    """Rows and sum, to be compared; nil where the store itself is."""
    if work in ("import-bulk", "import-insert"):
        return run_import(count, 1000, work == "import-bulk", watch)
    if work == "reimport":
        return run_import(count, 1000, True, watch, shift=0.001)
    if work == "find-or-create":
        return find_or_create(count, watch)
    if work == "concurrent":
        return concurrently(page, lambda: run_import(count, 100, True, Watch(), seed=43), watch)
    if work in ("update", "delete"):
        return change(work, count, watch)
    found = []
    with watch:
        if work == "fetch-all":
            found = [checksum(stop) for stop in list(Stop.select().order_by(Stop.name))]
        elif work == "by-id":
            found = [checksum(Stop.get_by_id(key)) for key in permutation(count, 11)[:15000]]
        elif work == "traverse":
            for route in Route.select().order_by(Route.id):
                found += [checksum(stop) for stop in route.stops]
        elif work == "fetch-page":
            for low, initial in questions():
                found += page(low, initial)
        elif work == "count":
            found = [Stop.select().where(condition(low, initial)).count() for low, initial in questions()]
        else:
            sys.exit("There is no work '%s'; there are %s." % (work, WORKS))
    return len(found), sum(found)


def main():
    if sys.argv[1] == "works":
        print(WORKS)
        return
    work, count, directory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    template = os.path.join(directory, "peewee-template-%d.sqlite" % count)
    if not os.path.exists(template):
        create(template)
        run_import(count, 1000, False, Watch())
        database.close()
    # Once to warm up.
    for turn in range(2):
        path = os.path.join(directory, "peewee-%s-%d.sqlite" % (work, turn))
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
        if work.startswith("import") or work == "find-or-create":
            create(path)
        else:
            shutil.copyfile(template, path)
            database.init(path)
            database.connect()
        watch = Watch()
        check = measure(work, count, watch)
        database.close()
    tell(watch, check, path, peewee.__version__)


main()
