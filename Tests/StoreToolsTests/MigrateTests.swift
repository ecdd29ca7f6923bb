import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStoreTools

/// `store migrate`.
@Suite struct MigrateTests {
  private let shelf: Shelf

  init() throws {
    shelf = try Shelf()
    try shelf.makeStore()
  }

  /// Returns a model that differs from the shelf's by these replacements.
  private func makeModel(_ changes: [String: String], named name: String = "next") throws {
    var text = Shelf.model
    for (old, new) in changes {
      precondition(text.contains(old))
      text = text.replacing(old, with: new)
    }
    try shelf.write(text, to: name)
  }

  private static let _pages = "<attribute name=\"pages\" optional=\"YES\" attributeType=\"Integer 32\"/>"
  private static let _genre = "<attribute name=\"genre\" optional=\"YES\" attributeType=\"String\"/>"

  private func migrate(_ words: String...) -> Shelf.Answer {
    shelf.run(["migrate", "@store.sqlite", "--model", "@model", "--to", "@next"] + words)
  }

  private func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(fileURLWithPath: shelf.path(name)))
  }

  @Test func `a copy is migrated, and the store stays as it is`() throws {
    try makeModel([
      Self._pages:
        "<attribute name=\"length\" optional=\"YES\" attributeType=\"Integer 64\" elementID=\"pages\"/>"
    ])
    let before = try bytes("store.sqlite")
    let answer = migrate("--output", "@new.sqlite")
    #expect(answer.code == .success, "\(answer.error)")
    #expect(answer.output.hasSuffix("Migrated: new.sqlite.\n"))
    #expect(try bytes("store.sqlite") == before)
    #expect(
      shelf.run("fetch", "@new.sqlite", "Book", "--where", "length == 300", "--count").output == "1\n")
    #expect(shelf.run("check", "@new.sqlite").code == .success)
  }

  @Test func `a store is migrated in place`() throws {
    try makeModel([Self._genre: ""])
    let answer = migrate("--in-place")
    #expect(answer.code == .success, "\(answer.error)")
    #expect(shelf.run("fetch", "@store.sqlite", "Novel", "--model", "@next", "--count").output == "2\n")
    #expect(shelf.run("fetch", "@store.sqlite", "Novel", "--columns", "genre").code == .usage)
  }

  @Test func `the plan says what is lost by how many objects`() throws {
    try makeModel([Self._genre: ""])
    let before = try bytes("store.sqlite")
    let answer = migrate("--plan")
    #expect(answer.code == .success)
    #expect(answer.output.contains("  Novel.genre: removed; "), "\(answer.output)")
    #expect(answer.output.contains("1 object is concerned."))
    #expect(answer.output.hasSuffix("Lightweight migration carries this; 1 change loses data.\n"))
    #expect(try bytes("store.sqlite") == before)
  }

  @Test func `missing mandatory values are counted before migration`() throws {
    try makeModel([Self._pages: "<attribute name=\"pages\" attributeType=\"Integer 32\"/>"])
    let answer = migrate("--in-place")
    #expect(answer.code == .badInput)
    #expect(answer.output.contains("2 objects lack a value."), "\(answer.output)")
    #expect(answer.error.contains("give the attributes that lack values a default"))
    #expect(shelf.run("check", "@store.sqlite", "--model", "@model").code == .success)
  }

  @Test func `a change that needs a mapping model is refused by name`() throws {
    try makeModel([Self._pages: "<attribute name=\"pages\" optional=\"YES\" attributeType=\"String\"/>"])
    let answer = migrate("--output", "@new.sqlite")
    #expect(answer.code == .badInput)
    #expect(answer.error.contains("Book.pages needs a mapping model"), "\(answer.error)")
    #expect(!FileManager.default.fileExists(atPath: shelf.path("new.sqlite")))
  }

  @Test func `an attribute named like a word of predicates is counted`() throws {
    let word = "<attribute name=\"any\" optional=\"YES\" attributeType=\"String\"/>"
    try makeModel([Self._genre: word], named: "model")
    try shelf.makeStore("words.sqlite", #"{"$entity":"Novel","any":"x"}"#)
    try makeModel([Self._genre: ""])
    let answer = shelf.run("migrate", "@words.sqlite", "--to", "@next", "--plan")
    #expect(answer.output.contains("Novel.any: removed"), "\(answer.output) \(answer.error)")
    #expect(answer.output.contains("1 object is concerned."))
  }

  @Test func `a store of the version asked for has nothing to migrate`() throws {
    try makeModel([:])
    let before = try bytes("store.sqlite")
    let answer = migrate("--in-place")
    #expect(answer.code == .success)
    #expect(answer.output.hasSuffix("The store has this version of the model already.\n"))
    #expect(try bytes("store.sqlite") == before)
  }

  @Test func `the plan has a form for programs`() throws {
    try makeModel([Self._genre: ""])
    let json = try migrate("--plan", "--json").json() as? [String: Any]
    let change = (json?["changes"] as? [[String: Any]])?.first
    #expect(change?["property"] as? String == "genre")
    #expect(change?["affectedObjects"] as? Int == 1)
    #expect(json?["isLightweight"] as? Bool == true)
  }

  @Test(arguments: [
    (["--in-place", "--plan"], "cannot be given together"), ([], "Say what to do: '--plan'"),
  ])
  func `one way to migrate is asked for`(words: [String], message: String) throws {
    try makeModel([:])
    let answer = shelf.run(["migrate", "@store.sqlite", "--to", "@next"] + words)
    #expect(answer.code == .usage)
    #expect(answer.error.contains(message), "\(answer.error)")
  }

  @Test func `what is at the output stays unless replaced`() throws {
    try makeModel([Self._genre: ""])
    try shelf.write("mine", to: "new.sqlite")
    #expect(migrate("--output", "@new.sqlite").code == .cannotCreateOutput)
    #expect(try shelf.text("new.sqlite") == "mine")
    #expect(migrate("--output", "@new.sqlite", "--force").code == .success)
  }
}
