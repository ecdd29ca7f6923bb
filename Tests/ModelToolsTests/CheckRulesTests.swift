import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataModelTools

/// The findings that `model check` reports, and those that fail it.
@Suite struct CheckRulesTests {
  /// An optional scalar, as Xcode writes numbers, and a relationship without inverse.
  private static let _text = """
    <model>
    <entity name="Book">
    <attribute name="pages" optional="YES" attributeType="Integer 32" usesScalarValueType="YES"/>
    <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Book"/>
    </entity>
    </model>
    """

  private func check(_ words: String..., on text: String = _text) throws -> ToolRun {
    try Scratch.with { scratch in
      let path = try scratch.file("contents", text)
      let run = ToolRun.model(["check", path] + words)
      return ToolRun(
        code: run.code, output: run.output.replacing(path, with: "MODEL"),
        error: run.error.replacing(path, with: "MODEL"))
    }
  }

  @Test func `what Xcode writes by default is not complained of`() throws {
    let run = try check("--ignore", "no-inverse", "--strict")
    #expect(run.code == .success)
    #expect(run.output == "MODEL: no problems found; --all shows 1 note.\n")
  }

  @Test func `a fetched property of an entity that is not there is complained of`() throws {
    let text = """
      <model>
      <entity name="Book">
      <attribute name="title" optional="YES" attributeType="String"/>
      <fetchedProperty name="others" optional="YES">
      <fetchRequest name="fetchedPropertyFetchRequest" entity="Bok" predicateString="title == $FETCH_SOURCE.title"/>
      </fetchedProperty>
      </entity>
      </model>
      """
    let run = try check("--json", on: text)
    #expect(run.code != .success)
    #expect((run.output + run.error).contains("Bok"), "\(run.output)\(run.error)")
  }

  @Test func `an index of values without order is complained of, and no other`() throws {
    let text = """
      <model>
      <entity name="Book">
      <attribute name="cover" optional="YES" attributeType="Binary"/>
      <attribute name="title" optional="YES" attributeType="String"/>
      <fetchIndex name="byCover"><fetchIndexElement property="cover" type="Binary" order="ascending"/></fetchIndex>
      <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="ascending"/></fetchIndex>
      </entity>
      </model>
      """
    let run = try check(on: text)
    #expect(
      run.output.contains("Book.cover: index 'byCover' names it, but values of type Binary have no order"))
    #expect(!run.output.contains("byTitle"), "\(run.output)")
  }

  @Test func `a finding ends with its code, and a summary follows`() throws {
    let run = try check()
    #expect(run.output.contains("leave it pointing to nothing [no-inverse]\n"), "\(run.output)")
    #expect(run.output.hasSuffix("MODEL: 1 warning; --all shows 1 note.\n"))
  }

  @Test func `notes are shown when asked for`() throws {
    let run = try check("--all")
    #expect(run.output.contains("note: Book.pages: optional but scalar"))
    #expect(run.output.hasSuffix("MODEL: 1 warning, 1 note.\n"))
  }

  @Test func `strict fails for warnings, not for notes`() throws {
    let run = try check("--strict")
    #expect(run.code == .badInput)
    #expect(run.error == "error: 'MODEL' did not pass: 1 finding.\n")
  }

  @Test func `strict fails for the codes that it names`() throws {
    #expect(try check("--strict=entity-name").code == .success)
    #expect(try check("--strict=entity-name,optional-scalar").code == .badInput)
  }

  @Test func `errors cannot be ignored`() throws {
    let run = try check(
      "--ignore", "unknown-entity",
      on: Self._text.replacing("destinationEntity=\"Book\"", with: "destinationEntity=\"Bok\""))
    #expect(run.code == .badInput)
    #expect(run.output.contains("[unknown-entity]"), "\(run.output)")
  }

  @Test func `a code that there is not gets a suggestion`() throws {
    let run = try check("--ignore", "no-invers")
    #expect(run.code == .usage)
    #expect(run.error.contains("Did you mean 'no-inverse'?"))
  }

  @Test func `JSON has the codes`() throws {
    let findings = try check("--json").json() as? [[String: Any]]
    #expect(findings?.compactMap { $0["code"] as? String } == ["no-inverse"])
  }
}
