import Testing

@testable import CoreData

private class Plain: NSManagedObject {
  var note = ""
}

private class Checking: NSManagedObject {
  override func validateValue(_ value: inout Any?, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
  }
}

private class HeirOfChecking: Checking {
  override func willSave() { super.willSave() }
}

private class Everything: NSManagedObject {
  override func awakeFromInsert() {}
  override func willSave() {}
  override func didSave() {}
  override func validateForInsert() throws {}
  override func validateForUpdate() throws {}
  override func validateForDelete() throws {}
  override func validateValue(_ value: inout Any?, forKey key: String) throws {}
}

@Suite struct ClassHooksTests {
  @Test func `a class that overrides nothing has no hooks`() {
    #expect(ClassHooks(of: NSManagedObject.self) == [])
    #expect(ClassHooks(of: Plain.self) == [])
  }

  @Test func `an override is found`() {
    #expect(ClassHooks(of: Checking.self) == .validateValue)
  }

  @Test func `inherited overrides count`() {
    #expect(ClassHooks(of: HeirOfChecking.self) == [.validateValue, .willSave])
  }

  @Test func `all hooks are found`() {
    #expect(
      ClassHooks(of: Everything.self) == [
        .awakeFromInsert, .willSave, .didSave, .validateForInsert, .validateForUpdate, .validateForDelete,
        .validateValue,
      ])
  }
}
