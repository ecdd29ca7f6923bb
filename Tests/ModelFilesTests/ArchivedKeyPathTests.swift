import Testing

@testable import CoreDataModelFiles

/// Key paths in archived expressions.
@Suite struct ArchivedKeyPathTests {
  @Test(
    arguments: [
      (["title"], false, "valueForKey:", 3), (["author", "name"], false, "valueForKeyPath:", 3),
      (["name"], true, "valueForKeyPath:", 4),
    ] as [([String], Bool, String, Int64)])
  func `a key and a path have selectors of their own`(
    _ components: [String], _ hasOperand: Bool, _ selector: String, _ type: Int64
  ) throws {
    let operand = hasOperand ? ArchivedForms.variable("owner") : nil
    let form = ArchivedForms.keyPath(components, of: operand)
    let fields = Dictionary(form.fields.map { ($0.0, "\($0.1)") }, uniquingKeysWith: { $1 })
    #expect(fields["NSSelectorName"] == "\(KeyedValue.text(selector))")
    #expect(fields["NSExpressionType"] == "\(KeyedValue.plain(.integer(type)))")
  }
}
