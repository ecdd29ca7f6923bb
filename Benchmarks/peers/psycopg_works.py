"""The workload on PostgreSQL through psycopg, written by hand: one work, in this process; what it took and found as JSON on
standard output.

Arguments: WORK OBJECTS DIRECTORY SERVER, or 'works', which lists the works. The server is a URL such as
postgresql://user@/postgres?host=...&port=...; stores are databases of it.
"""
import sys

import psycopg

from stops import EXPECTED, ROUTES, Watch, permutation, questions, records, tell

WORKS = "import-bulk,find-or-create,import-insert,fetch-all,fetch-page,by-id,update,delete,count,insert-each,update-each"
COLUMNS = "identifier, name, latitude, longitude, code, \"createdAt\", active, note, \"routeId\""
SELECT = "SELECT id, %s FROM stop " % COLUMNS
INSERT = "INSERT INTO stop (%s) VALUES (%s)" % (COLUMNS, ", ".join(["%s"] * 9))
PAGE = "WHERE code BETWEEN %s AND %s AND name >= %s AND name < %s"


class Stop:
    """A row, as a program would pass it on."""

    __slots__ = ("id", "identifier", "name", "latitude", "longitude", "code", "createdAt", "active", "note", "route")

    def __init__(self, row):
        (self.id, self.identifier, self.name, self.latitude, self.longitude, self.code, self.createdAt, self.active, self.note,
         self.route) = row

    def checksum(self):
        return self.code + len(self.name) + (len(self.note) if self.note is not None else 0)


def connect(database, **options):
    return psycopg.connect(sys.argv[4].replace("/postgres?", "/%s?" % database, 1), **options)


def administer(statement, *values):
    with connect("postgres", autocommit=True) as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


def values(record):
    return (record["identifier"], record["name"], record["latitude"], record["longitude"], record["code"],
            record["createdAt"].timestamp(), record["active"], record["note"], record["route"] + 1)


def create(database):
    administer("CREATE DATABASE %s" % database)
    connection = connect(database)
    connection.execute("CREATE TABLE route (id serial PRIMARY KEY, identifier text NOT NULL UNIQUE, name text NOT NULL)")
    connection.execute(
        "CREATE TABLE stop (id serial PRIMARY KEY, identifier text NOT NULL UNIQUE, name text NOT NULL, latitude float8 NOT NULL, "
        "longitude float8 NOT NULL, code integer NOT NULL, \"createdAt\" float8 NOT NULL, active boolean NOT NULL, note text, "
        "\"routeId\" integer REFERENCES route (id))")
    for column in ("code", "\"routeId\""):
        connection.execute("CREATE INDEX ON stop (%s)" % column)
    with connection.cursor() as cursor:
        rows = [("R%03d" % i, "Route %d" % i) for i in range(ROUTES)]
        cursor.executemany("INSERT INTO route (identifier, name) VALUES (%s, %s)", rows)
    connection.commit()
    return connection


def run_import(connection, count, batch, finds, watch):
    pending = records(count)
    for done in range(0, count, batch):
        chunk = [next(pending) for _ in range(min(batch, count - done))]
        with watch:
            known = set()
            if finds == "all":
                wanted = [record["identifier"] for record in chunk]
                known = {stop.identifier: stop for stop in fetch(connection, SELECT + "WHERE identifier = ANY(%s)", wanted)}
            elif finds == "each":
                for record in chunk:
                    if fetch(connection, SELECT + "WHERE identifier = %s LIMIT 1", record["identifier"]):
                        known.add(record["identifier"])
            with connection.cursor() as cursor, cursor.copy("COPY stop (%s) FROM STDIN" % COLUMNS) as copy:
                for record in chunk:
                    if record["identifier"] not in known:
                        copy.write_row(values(record))
            connection.commit()


def fetch(connection, sql, *parameters):
    return [Stop(row) for row in connection.execute(sql, parameters, binary=True)]


def change(connection, ids, each, watch):
    """Updates stops, in one transaction or with one for each."""
    with watch:
        stops = fetch(connection, SELECT + "WHERE id = ANY(%s)", ids)
        connection.commit()
        sql = "UPDATE stop SET name = %s, code = %s WHERE id = %s"
        rows = [("upd " + stop.name, stop.code + 1, stop.id) for stop in stops]
        if each:
            for row in rows:
                connection.execute(sql, row)
                connection.commit()
        else:
            with connection.cursor() as cursor:
                cursor.executemany(sql, rows)
            connection.commit()


def delete(connection, ids, watch):
    with watch:
        stops = fetch(connection, SELECT + "WHERE id = ANY(%s)", ids)
        connection.execute("DELETE FROM stop WHERE id = ANY(%s)", ([stop.id for stop in stops],))
        connection.commit()


def measure(work, count, database, watch):
    """Rows and sum, to be compared; None where the store itself is."""
    if work in ("import-bulk", "import-insert", "find-or-create", "insert-each"):
        connection = create(database)
        if work == "insert-each":
            pending = [values(record) for record in records(min(count, 1500))]
            with watch:
                for row in pending:
                    connection.execute(INSERT, row)
                    connection.commit()
        elif work == "find-or-create":
            run_import(connection, count, 250, "each", watch)
        else:
            run_import(connection, count, 1000, "all" if work == "import-bulk" else None, watch)
        connection.close()
        return None
    connection = connect(database)
    found = []
    if work in ("update", "update-each", "delete"):
        first = 1500 if work == "delete" else 0
        ids = permutation(count, 13)[first : first + 1500]
        if work == "delete":
            delete(connection, ids, watch)
        else:
            change(connection, ids, work == "update-each", watch)
        total = connection.execute("SELECT SUM(code)+SUM(length(name))+COUNT(*) FROM stop").fetchone()[0]
        connection.close()
        return 1500, total
    with watch:
        if work == "fetch-all":
            found = [stop.checksum() for stop in fetch(connection, SELECT + "ORDER BY name")]
        elif work == "by-id":
            ids = permutation(count, 11)[:15000]
            for start in range(0, len(ids), 1000):
                found += [stop.checksum() for stop in fetch(connection, SELECT + "WHERE id = ANY(%s)", ids[start : start + 1000])]
        elif work in ("fetch-page", "count"):
            for low, initial in questions():
                bounds = (low, low + 200_000, initial, chr(ord(initial) + 1))
                if work == "count":
                    found.append(connection.execute("SELECT count(*) FROM stop " + PAGE, bounds).fetchone()[0])
                else:
                    found += [stop.checksum() for stop in fetch(connection, SELECT + PAGE + " ORDER BY name LIMIT 50", *bounds)]
    connection.close()
    return len(found), sum(found)


def prepared(work, turn, template):
    """Where a work finds its store: a new one, a copy, or the template itself."""
    if work in ("fetch-all", "fetch-page", "by-id", "count"):
        return template
    database = "byhand_%s_%d" % (work.replace("-", "_"), turn)
    administer("DROP DATABASE IF EXISTS %s" % database)
    if work in ("update", "update-each", "delete"):
        administer("CREATE DATABASE %s TEMPLATE %s" % (database, template))
    return database


def main():
    if sys.argv[1] == "works":
        print(WORKS)
        return
    work, count = sys.argv[1], int(sys.argv[2])
    template = "byhand_template_%d" % count
    if not administer("SELECT 1 FROM pg_database WHERE datname = %s", template):
        connection = create(template)
        run_import(connection, count, 1000, None, Watch())
        connection.execute("ANALYZE")
        connection.commit()
        connection.close()
    # Once to warm up.
    for turn in range(2):
        database = prepared(work, turn, template)
        watch = Watch()
        check = measure(work, count, database, watch)
    if count == 15000 and check is not None and check != EXPECTED[work]:
        sys.exit("%s found %s where the workload says %s" % (work, check, EXPECTED[work]))
    tell(watch, check, database, psycopg.__version__)


main()
