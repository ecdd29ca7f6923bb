import CoreData
import CoreDataModelFiles
import CoreDataPostgreSQLBinding
import Foundation

/// The single row of `_metadata`: the store's UUID in its own column, everything else as a property list.
enum PostgreSQLMetadata {
  static func table(_ schema: String) -> String { "\(PostgreSQLNames.quoted(schema)).\"_metadata\"" }

  /// - Throws: `PostgreSQLStoreError.noStore` if there is none.
  static func read(_ connection: PostgreSQLConnection, schema: String) throws -> [String: Any] {
    let found: PostgreSQLResult
    do {
      found = try connection.run("SELECT \"uuid\", \"content\" FROM \(table(schema))", isRepeated: false)
    } catch let error as PostgreSQLError where error.isMissing {
      throw PostgreSQLStoreError.noStore(schema: schema, reason: "it has no table _metadata")
    } catch let error as PostgreSQLError where error.isDenied {
      throw PostgreSQLStoreError.noStore(
        schema: schema,
        reason: "the role may not read it (\(error.message)); grant it what docs/PostgreSQL.md lists")
    }
    guard found.rowCount == 1 else {
      throw PostgreSQLStoreError.noStore(
        schema: schema, reason: "its table _metadata has \(found.rowCount) rows instead of one")
    }
    let bytes = UnsafeRawBufferPointer(found.bytes(0, 0))
    guard bytes.count == 16 else {
      throw PostgreSQLStoreError.noStore(schema: schema, reason: "its table _metadata holds no UUID")
    }
    guard var metadata = PropertyList.object(in: Data(found.bytes(0, 1))) as? [String: Any] else {
      throw PostgreSQLStoreError.noStore(
        schema: schema, reason: "the property list in its table _metadata cannot be read")
    }
    metadata[NSStoreUUIDKey] = UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)).uuidString
    metadata[NSStoreTypeKey] = PostgreSQLStoreKind.typeName
    return metadata
  }

  /// Locks the metadata until the transaction ends: another program's change waits, or is seen.
  static func lock(_ connection: PostgreSQLConnection, schema: String) throws {
    try connection.execute("SELECT FROM \(table(schema)) FOR UPDATE")
  }

  /// Returns metadata to write with the version of the model that the store has: a program with an older
  /// version does not write its own back.
  static func keepingVersion(of present: [String: Any], _ metadata: [String: Any]) -> [String: Any] {
    var result = metadata
    for key in [NSStoreModelVersionIdentifiersKey] + StoreVersioning.hashMetadata([:]).keys {
      result[key] = present[key]
    }
    return result
  }

  /// Writes metadata inside the caller's transaction. Without a UUID, the store keeps its current one.
  static func write(
    _ metadata: [String: Any], to connection: PostgreSQLConnection, schema: String
  ) throws {
    let uuid = (metadata[NSStoreUUIDKey] as? String).flatMap { UUID(uuidString: $0) } ?? UUID()
    let data = try content(of: metadata)
    var parameters = PostgreSQLParameters()
    withUnsafeBytes(of: uuid.uuid) { parameters.add(uuid: $0) }
    parameters.add(bytes: data)
    try connection.run(
      """
      INSERT INTO \(table(schema)) ("one", "uuid", "content") VALUES (true, $1::uuid, $2::bytea) \
      ON CONFLICT ("one") DO UPDATE SET "uuid" = EXCLUDED."uuid", "content" = EXCLUDED."content"
      """, parameters, isRepeated: false)
  }

  /// Returns the value of the column `content`: everything but the UUID, as a property list.
  ///
  /// - Throws: `PostgreSQLStoreError.unstorable`.
  static func content(of metadata: [String: Any]) throws -> Data {
    var list = metadata
    list[NSStoreTypeKey] = nil
    list[NSStoreUUIDKey] = nil
    list[PostgreSQLVersions.layoutKey] = PostgreSQLVersions.layout
    list[PostgreSQLVersions.functionsKey] = PostgreSQLFunctions.version
    do {
      return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    } catch {
      throw PostgreSQLStoreError.unstorable(
        entity: "the store", property: "metadata", reason: "they are no property list: \(error)")
    }
  }
}
