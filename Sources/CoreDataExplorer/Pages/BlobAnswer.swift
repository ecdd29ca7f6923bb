import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools
import Foundation

/// The bytes of an attribute: displayed if they are a picture in a format without scripts, otherwise
/// downloaded.
struct BlobAnswer {
  private let _visit: Visit
  private let _entity: PropertyLayout
  private let _key: Int64

  /// The maximum number of bytes of one answer.
  private static let _limit = 64 << 20

  init(_ visit: Visit) throws {
    _visit = visit
    (_entity, _key) = try visit.object()
  }

  func answer() throws -> HTTPResponse {
    let name = _visit.request.query("name") ?? ""
    let bytes = try _visit.store.readers.read(_visit.budget) { try _bytes(name, $0) }
    guard let bytes else {
      throw Router.Missing(
        what: "There are no bytes in '\(name.prefix(100))' of \(_entity.entityName)/p\(_key).")
    }
    let picture = Picture(bytes)
    var headers = SecurityHeaders.bytes
    headers.append(("Content-Type", picture?.rawValue ?? "application/octet-stream"))
    if picture == nil || _visit.request.query("save") != nil {
      let plain = String(
        name.unicodeScalars.filter { CharacterSet.alphanumerics.contains($0) && $0.isASCII }.map(
          Character.init))
      let ending = picture.map { $0.rawValue.dropFirst("image/".count) } ?? "bin"
      headers.append(
        ("Content-Disposition", "attachment; filename=\"\(plain.isEmpty ? "value" : plain).\(ending)\""))
    }
    return HTTPResponse(headers: headers, body: .bytes(bytes))
  }

  private func _bytes(_ name: String, _ reader: StoreReader) throws -> [UInt8]? {
    guard let path = try? PropertyPath(name, of: _entity, in: _visit.store.layout), path.names.count == 1,
      case .attribute(let attribute) = path.kind, [.binaryData, .transformable].contains(attribute.type),
      let column = CellExpression(reader.anatomy).attribute(
        path.names[...], of: _entity.entityNumber, alias: "t")
    else { return nil }
    let table = reader.anatomy.table(of: _entity.entityNumber).name
    guard
      case .blob(let cell)? = try reader.connection.firstValue(
        "SELECT CAST(substr(\(column.sql), 1, \(Self._limit)) AS BLOB) FROM \(table) t WHERE t.Z_PK = ?",
        [.int(_key)])
    else { return nil }
    guard column.isExternal else { return cell }
    let external = ExternalCell(storePath: _visit.store.path)
    guard external.path(cell) != nil else { return cell.first == 1 ? Array(cell.dropFirst()) : cell }
    let blob = external.blob(head: cell, count: cell.count, limit: Self._limit)
    return blob.count == nil ? nil : blob.head
  }
}
