import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// Objects that a relationship can have, by the text that tells them apart, for the field of a form.
struct PickAnswer {
  private let _visit: Visit
  private let _entity: PropertyLayout
  private var _store: ExploredStore { _visit.store }

  private static let _most = 20

  init(_ visit: Visit) throws {
    _visit = visit
    _entity = try visit.entity("name")
  }

  func answer() throws -> HTTPResponse {
    let text = (_visit.request.query("text") ?? "").trimmingCharacters(in: .whitespaces)
    let options = try _options(text)
    let json = JSONText.object([
      ("length", .integer((_visit.request.query("text") ?? "").utf16.count)),
      (
        "options",
        .array(
          options.map { .object([("text", .string($0.identifier)), ("kind", .string($0.label ?? ""))]) })
      ),
    ])
    return HTTPResponse(
      headers: SecurityHeaders.files + [("Content-Type", "application/json")], text: json.text() + "\n")
  }

  private func _options(_ text: String) throws -> [ObjectLink] {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: _entity.entityName)
    request.resultType = .managedObjectIDResultType
    request.fetchLimit = Self._most
    let label = _store.labels.attribute(of: _entity)
    if !text.isEmpty {
      guard let label else { return [] }
      request.predicate = NSPredicate(format: "%K CONTAINS[cd] %@", label, text)
      request.sortDescriptors = [NSSortDescriptor(key: label, ascending: true)]
    }
    let context = _store.context()
    let keys = try _visit.budget.run { try context.performAndWait { try context.fetch(request) } }
      .compactMap(TableKeys.key)
    return try _store.readers.read(_visit.budget) { try MemberQuery(_store, $0).links(_entity, keys) }
  }
}
