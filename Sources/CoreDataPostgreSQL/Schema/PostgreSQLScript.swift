import CoreData
import CoreDataModelFiles
import Foundation

/// A store's schema as a `psql` script, for programs whose role may not create tables. Grants the role the
/// minimum rights.
///
/// Run it as the schema's owner. The store is empty, and gets a different UUID in each database.
package struct PostgreSQLScript {
  private let _schema: PostgreSQLSchema
  private let _name: String
  private let _role: String
  private let _rules: PostgreSQLCaseRules
  private let _model: Data
  private let _metadata: Data
  private let _digest: String
  private let _types: PostgreSQLTypes

  /// - Parameters:
  ///   - model: The model that programs open the store with.
  ///   - schema: Name of the store's schema.
  ///   - role: Name of the role that programs use.
  ///   - usesICU: Whether the server has ICU.
  /// - Throws: A Cocoa error for a model that cannot be mapped to tables.
  package init(_ model: NSManagedObjectModel, schema: String, role: String, usesICU: Bool = true) throws {
    _rules = usesICU ? .icu : .tables
    let frozen = try model.frozen()
    _schema = try StoreErrors.translating {
      PostgreSQLSchema(
        try PostgreSQLMapping.mapping(for: frozen.layout, schema: schema),
        try PostgreSQLDerivations(frozen.layout), schema: schema)
    }
    _name = schema
    _digest = PostgreSQLEpochs.digest(of: frozen)
    _types = PostgreSQLTypes(frozen.layout)
    _role = role
    _model = CompiledModelWriter.write(frozen.layout.schema, for: .store)
    _metadata = try PostgreSQLMetadata.content(
      of: StoreVersioning.metadata(for: frozen, model, identifier: UUID().uuidString))
  }

  /// The whole script.
  package var text: String {
    let parts: [(title: String, statements: [String])] = [
      ("The store's schema. Run this as the role that is to own it.", _schema.statements(_rules)),
      ("What the store is: its model, and the names of its properties here.", _contents),
      ("The least rights of a role that reads and writes objects.", rights),
    ]
    let body = parts.map { part in
      "-- \(part.title)\n\n" + part.statements.map { $0 + ";\n" }.joined()
    }
    return "BEGIN;\n\n" + body.joined(separator: "\n") + "\nCOMMIT;\n"
  }

  private var _contents: [String] {
    let s = PostgreSQLNames.quoted(_name)
    return [
      "INSERT INTO \(s).\"_metadata\" (\"uuid\", \"content\") VALUES (pg_catalog.gen_random_uuid(), \(PostgreSQLNames.bytes(_metadata)))",
      "INSERT INTO \(s).\"_model_cache\" (\"content\") VALUES (\(PostgreSQLNames.bytes(_model)))",
    ]
      + PostgreSQLEpochs.statements(_name, _digest, content: PostgreSQLNames.bytes(_model))
      + _types.statements(_name)
      + _schema.names.map { name in
        let values = [name.entity, name.property, name.relation, name.columns].map(PostgreSQLNames.literal)
        return "INSERT INTO \(s).\"_name\" VALUES (\(values.joined(separator: ", ")))"
      }
  }

  /// Statements that grant the role the minimum rights for using the store.
  var rights: [String] {
    let (s, role) = (PostgreSQLNames.quoted(_name), PostgreSQLNames.quoted(_role))
    return ["GRANT USAGE ON SCHEMA \(s) TO \(role)"]
      + _schema.grantedRights.map { table in
        let rights = table.rights.map(\.rawValue).joined(separator: ", ")
        return "GRANT \(rights) ON \(s).\(PostgreSQLNames.quoted(table.relation)) TO \(role)"
      }
      + _schema.expectedSequences.map { name in
        "GRANT USAGE ON SEQUENCE \(s).\(PostgreSQLNames.quoted(name)) TO \(role)"
      }
      + ["GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA \(s) TO \(role)"]
  }
}
