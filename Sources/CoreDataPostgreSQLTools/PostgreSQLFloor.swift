import CoreDataPostgreSQL
import CoreDataPostgreSQLBinding
import CoreDataStackShootout

/// The import on libpq: prepared statements, binary parameters, and the rows between two commits in one INSERT and one
/// UPDATE.
///
/// The mode determines the look-ups: a SELECT for each line, one for each commit, or none.
final class PostgreSQLFloor: ImportFloor {
  private let _connection: PostgreSQLConnection
  private let _table: String
  private var _highest: Int64 = 0
  /// Rows that are not written yet, in order of appearance.
  private var _rows: [Row] = []
  private var _places: [String: Int] = [:]

  private struct Row {
    let key: Int64
    let isStored: Bool
    var stop: Stop
  }

  init(_ address: PostgreSQLAddress) throws {
    _connection = try Self.connection(to: address)
    _table = Self.table(in: address)
  }

  /// Connects; statements are prepared only where a session lasts.
  static func connection(to address: PostgreSQLAddress) throws -> PostgreSQLConnection {
    try PostgreSQLConnection(address.settings, prepares: !address.isPooled)
  }

  /// The stops' table, as the store names it.
  static func table(in address: PostgreSQLAddress) -> String {
    "\(PostgreSQLNames.quoted(address.schema)).\"stop\""
  }

  func close() {}

  func run(_ stops: [Stop], mode: ImportMode, saveEvery: Int, didCommit: (Int) -> Void) throws -> Int {
    var commits = 0
    for start in stride(from: 0, to: stops.count, by: saveEvery) {
      let end = min(start + saveEvery, stops.count)
      try _connection.run("BEGIN")
      if mode == .bulk { try _find(stops[start..<end].map(\.identifier)) }
      for stop in stops[start..<end] { try _take(stop, mode) }
      try _write()
      try _connection.run("COMMIT")
      commits += 1
      didCommit(end)
    }
    return commits
  }

  private func _take(_ stop: Stop, _ mode: ImportMode) throws {
    guard mode != .insert else { return _add(stop) }
    if mode == .findOrCreate, _places[stop.identifier] == nil { try _find([stop.identifier]) }
    guard let place = _places[stop.identifier] else { return _add(stop) }
    _rows[place].stop = stop
  }

  private func _add(_ stop: Stop) {
    _highest += 1
    _places[stop.identifier] = _rows.count
    _rows.append(Row(key: _highest, isStored: false, stop: stop))
  }

  /// Fetches stored rows with all their columns, as an object's snapshot needs them.
  private func _find(_ identifiers: [String]) throws {
    var parameters = PostgreSQLParameters()
    var condition = "= $1"
    if identifiers.count == 1 {
      parameters.add(identifiers[0])
    } else {
      parameters.add(PostgreSQLArray(identifiers))
      condition = "= ANY($1)"
    }
    let result = try _connection.run(
      "SELECT \"id\", \"version\", \"identifier\", \"name\", \"latitude\", \"longitude\" FROM \(_table) "
        + "WHERE \"identifier\" \(condition)", parameters)
    for row in 0..<result.rowCount {
      let stop = Stop(
        identifier: result.string(row, 2), name: result.string(row, 3), latitude: result.double(row, 4),
        longitude: result.double(row, 5))
      _places[stop.identifier] = _rows.count
      _rows.append(Row(key: result.int64(row, 0), isStored: true, stop: stop))
    }
  }

  private func _write() throws {
    let new = _rows.filter { !$0.isStored }
    let changed = _rows.filter(\.isStored)
    let columns = "\"identifier\", \"name\", \"latitude\", \"longitude\""
    if !new.isEmpty {
      try _connection.run(
        "INSERT INTO \(_table)(\"id\", \"entity\", \"version\", \(columns)) SELECT k, 1, 1, i, n, a, o "
          + "FROM unnest($1::bigint[], $2::text[], $3::text[], $4::float8[], $5::float8[]) AS t(k, i, n, a, o)",
        _parameters(new))
    }
    if !changed.isEmpty {
      try _connection.run(
        "UPDATE \(_table) SET \"version\" = \"version\" + 1, \"identifier\" = i, \"name\" = n, \"latitude\" = a, "
          + "\"longitude\" = o FROM unnest($1::bigint[], $2::text[], $3::text[], $4::float8[], $5::float8[]) "
          + "AS t(k, i, n, a, o) WHERE \"id\" = k", _parameters(changed))
    }
    _rows.removeAll(keepingCapacity: true)
    _places.removeAll(keepingCapacity: true)
  }

  private func _parameters(_ rows: [Row]) -> PostgreSQLParameters {
    var (latitudes, longitudes) = (PostgreSQLArray(.float8Array), PostgreSQLArray(.float8Array))
    for row in rows {
      latitudes.add(row.stop.latitude)
      longitudes.add(row.stop.longitude)
    }
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(rows.map(\.key)))
    parameters.add(PostgreSQLArray(rows.map(\.stop.identifier)))
    parameters.add(PostgreSQLArray(rows.map(\.stop.name)))
    parameters.add(latitudes)
    parameters.add(longitudes)
    return parameters
  }
}
