import CoreData
import CoreDataPostgreSQL
import Foundation

/// A job on a PostgreSQL server: both sides work on stores of the same layout, each in a schema of its own.
struct PostgreSQLRun {
  let job: Job
  /// URL of the database, without a schema.
  let server: String

  func measure() throws -> Measurement {
    var measurement = Measurement()
    for round in 0..<(job.warmUps + job.repetitions) {
      let schema = try _schema(round)
      let watch = Stopwatch()
      let check = try job.side == .engine ? _engine(schema, watch) : _floor(schema, watch)
      if round >= job.warmUps {
        measurement.seconds.append(watch.seconds)
        measurement.check = check
      }
      if job.work != .template, schema != job.template { try _drop(schema) }
    }
    measurement.peakMegabytes = ProcessMemory.peakMegabytes
    return measurement
  }

  private func _url(_ schema: String) -> String { "\(server)&schema=\(schema)" }

  private func _store(_ schema: String) throws -> EngineStore { try EngineStore(path: _url(schema)) }

  private func _drop(_ schema: String) throws {
    try PostgreSQLFloor(server: server, schema: schema).execute("DROP SCHEMA \(schema) CASCADE")
  }

  /// The schema to work in: a new one, a copy of the template, or the template itself.
  private func _schema(_ round: Int) throws -> String {
    let name =
      job.template.flatMap { job.work == .template || !job.work.changesStore ? $0 : nil }
      ?? "\(job.side)_\(job.work.rawValue.replacing("-", with: "_"))_\(round)"
    if job.work.needsTemplate, !job.work.changesStore { return name }
    let store = try job.work.needsTemplate ? _store(name) : EngineStore.create(path: _url(name))
    try store.close()
    if job.work.needsTemplate, let template = job.template {
      let floor = try PostgreSQLFloor(server: server, schema: name)
      for table in ["route", "stop"] {
        try floor.execute("INSERT INTO \(name).\(table) SELECT * FROM \(template).\(table)")
        try floor.execute("ANALYZE \(name).\(table)")
      }
    }
    return name
  }

  private func _imported(_ schema: String) throws -> Check {
    try Self.imported(server, "\(schema).stop", version: "version", created: "created_at", route: "route_id")
  }

  /// What an import has left in a table, to the last field.
  static func imported(
    _ server: String, _ table: String, version: String, created: String, route: String
  ) throws -> Check {
    let found = try PostgreSQLFloor(server: server, schema: "").digest(
      """
      SELECT count(*), md5(string_agg(concat_ws('|', id, \(version), active, code, \(created), identifier, latitude, \
      longitude, name, note, \(route)), ';' ORDER BY id)) FROM \(table)
      """)
    return Check(rows: Int(found.number), digest: found.text)
  }

  /// What another implementation's import has left in its database.
  static func imported(by peer: String, _ server: String) throws -> Check {
    try imported(
      server.replacing("/postgres?", with: "/\(peer)?"), "stop", version: "1",
      created: "\"createdAt\" - 978307200", route: "\"routeId\"")
  }

  private func _changed(_ schema: String) throws -> Check {
    let found = try PostgreSQLFloor(server: server, schema: schema).digest(
      "SELECT sum(code) + sum(length(name)) + count(*) FROM \(schema).stop")
    return Check(rows: 1500, sum: found.number)
  }

  private func _engine(_ schema: String, _ watch: Stopwatch) throws -> Check {
    let store = try _store(schema)
    defer { try? store.close() }
    let reading = EngineReading(store: store)
    switch job.work {
    case .importBulk, .importInsert, .template:
      let finds = job.work == .importBulk
      try EngineImport(store: store, count: job.objects, batch: 1000, finds: finds).run(watch)
      if job.work == .template {
        try PostgreSQLFloor(server: server, schema: schema).execute("ANALYZE \(schema).stop")
      }
      return try _imported(schema)
    case .findOrCreate:
      let stack = EngineStack(.shared, store.coordinator)
      try EngineFindOrCreate(stack: stack, count: job.objects, saveEvery: 250).run(watch)
      stack.end()
      return try _imported(schema)
    case .insertEach:
      try EngineInsertEach(store: store, count: job.inserted).run(watch)
      return try _imported(schema)
    case .fetchAll: return try reading.all(watch)
    case .fetchPage: return try reading.pages(watch)
    case .count: return try reading.counts(watch)
    case .byID: return try reading.faults(job.lookUps, watch)
    case .update: _ = try EngineChanging(store: store).update(job.updated, watch)
    case .updateEach: _ = try EngineChanging(store: store).updateEach(job.updated, watch)
    case .delete: _ = try EngineChanging(store: store).delete(job.deleted, watch)
    default: throw Database.Failure(description: "'\(job.work.rawValue)' has no floor on PostgreSQL")
    }
    return try _changed(schema)
  }

  private func _floor(_ schema: String, _ watch: Stopwatch) throws -> Check {
    let floor = try PostgreSQLFloor(server: server, schema: schema)
    switch job.work {
    case .importBulk, .importInsert:
      try floor.importing(job.objects, finds: job.work == .importBulk ? .all : .none, watch)
      return try _imported(schema)
    case .findOrCreate:
      try floor.importing(job.objects, batch: 250, finds: .each, watch)
      return try _imported(schema)
    case .insertEach:
      try floor.insertEach(job.inserted, watch)
      return try _imported(schema)
    case .fetchAll: return try floor.all(watch)
    case .fetchPage: return try floor.pages(watch)
    case .count: return try floor.counts(watch)
    case .byID: return try floor.byID(job.lookUps, watch)
    case .update: try floor.update(job.updated, watch)
    case .updateEach: try floor.updateEach(job.updated, watch)
    case .delete: try floor.delete(job.deleted, watch)
    default: throw Database.Failure(description: "'\(job.work.rawValue)' has no floor on PostgreSQL")
    }
    return try _changed(schema)
  }
}
