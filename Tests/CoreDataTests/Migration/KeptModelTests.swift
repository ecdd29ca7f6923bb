import CoreData
import Foundation
import Testing

/// Stores of a version that is in none of the program's bundles, so that only the store's own copy of it is
/// left.
@Suite struct KeptModelTests {
  private static let _first = """
    <entity name="Account">
      <attribute name="owner" optional="YES" attributeType="String"/>
    </entity>
    """
  private static let _second = """
    <entity name="Account">
      <attribute name="iban" optional="YES" attributeType="String"/>
      <attribute name="owner" optional="YES" attributeType="String"/>
    </entity>
    """
  private static let _third = """
    <entity name="Account">
      <attribute name="iban" optional="YES" attributeType="String"/>
      <attribute name="owner" optional="YES" attributeType="String"/>
    </entity>
    <entity name="Branch">
      <attribute name="city" optional="YES" attributeType="String"/>
    </entity>
    """

  private let _fixture: MigrationFixture

  init() throws { _fixture = try MigrationFixture() }

  private func _upgraded(_ version: String, _ entity: String, _ values: [String: Any]) throws {
    try _fixture.open(_fixture.model(Self._first)) { context in
      context.make("Account", ["owner": "Ada"])
      try context.save()
    }
    try _fixture.open(_fixture.model(version)) { context in
      context.make(entity, values)
      try context.save()
    }
  }

  private func _read(_ version: String, _ entity: String, _ key: String) throws -> [String] {
    try _fixture.open(_fixture.model(version)) { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).compactMap {
        $0.value(forKey: key) as? String
      }
    }
  }

  // On a server the older program goes on beside the newer one: EpochTests.
  @Test(.ofFiles) func `a program of an older version does not migrate a store back`() throws {
    try _upgraded(Self._second, "Account", ["owner": "Bob", "iban": "DE02"])
    let error = #expect(throws: CocoaError.self) {
      try _fixture.open(_fixture.model(Self._first)) { _ in }
    }
    #expect(error?.code.rawValue == NSMigrationMissingSourceModelError)
    #expect(error?.localizedDescription.contains("Account.iban: removed") == true)
    #expect(error?.userInfo["property"] as? String == "iban")
    #expect(try _read(Self._second, "Account", "iban") == ["DE02"])
    #expect(try _read(Self._second, "Account", "owner").sorted() == ["Ada", "Bob"])
  }

  @Test func `a program of an older version does not remove an entity's objects`() throws {
    try _upgraded(Self._third, "Branch", ["city": "Berlin"])
    let error = #expect(throws: CocoaError.self) {
      try _fixture.open(_fixture.model(Self._second)) { _ in }
    }
    #expect(error?.code.rawValue == NSMigrationMissingSourceModelError)
    #expect(error?.userInfo["entity"] as? String == "Branch")
    #expect(try _read(Self._third, "Branch", "city") == ["Berlin"])
  }

  @Test func `a version that only the store knows is migrated if nothing is lost`() throws {
    try _upgraded(Self._second, "Account", ["owner": "Bob", "iban": "DE02"])
    #expect(try _read(Self._third, "Account", "iban") == ["DE02"])
  }

  @Test func `a program that has the store's version may remove its properties`() throws {
    // Of its own: what is in the program's resources, other tests find there, too.
    let (without, with) = (
      Self._first.replacing("Account", with: "Ledger"), Self._second.replacing("Account", with: "Ledger")
    )
    for version in [with, without] { try _fixture.bundle(_fixture.model(version)) }
    try _fixture.open(_fixture.model(with)) { context in
      context.make("Ledger", ["owner": "Bob", "iban": "DE02"])
      try context.save()
    }
    #expect(try _read(without, "Ledger", "owner") == ["Bob"])
    // A store on a server keeps them for programs that have them.
    #expect(try _read(with, "Ledger", "iban") == (TestDatabase.server == nil ? [] : ["DE02"]))
  }
}
