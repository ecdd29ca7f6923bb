import CoreData
import Testing

/// A worker that saves more often than its parents do.
///
/// The store then receives its saves as one version, while its next save is based on the version of its own
/// last one. The parents must therefore pass on that version whatever they have changed themselves; otherwise
/// the next save is refused as if another context had written in between.
@Suite struct RepeatedChildSaveTests {
  /// When a context between the worker and the store changes the object too.
  enum OwnChange: String, CaseIterable, CustomTestStringConvertible {
    case never, beforeBothSaves, betweenTheSaves, afterBothSaves, afterItWasRead

    var testDescription: String { rawValue }
  }

  /// A root, main below it, a worker below main, and an author inserted by the worker and saved at all
  /// levels.
  private struct Levels {
    let stack: TestStack
    let main: NSManagedObjectContext
    let worker: NSManagedObjectContext
    /// The worker's object.
    let author: NSManagedObject

    init(_ setting: Setting) throws {
      stack = try TestStack(setting)
      main = stack.child(of: stack.root)
      worker = stack.child(of: main)
      let worker = worker
      author = try worker.performAndWait {
        let author = worker.insert("Author", ["name": "Ada"])
        try worker.save()
        return author
      }
      try saveParents()
    }

    func saveParents() throws {
      try main.performAndWait { try main.save() }
      try stack.root.performAndWait { try stack.root.save() }
    }

    /// Changes the name in the worker and saves it.
    func rename(_ name: String) throws {
      try worker.performAndWait {
        author.setValue(name, forKey: "name")
        try worker.save()
      }
    }

    func age(in context: NSManagedObjectContext) throws -> Int? {
      try context.performAndWait { try context.all("Author").first?.value(forKey: "age") as? Int }
    }

    /// Changes main's object without saving; returns the object, which must be retained for main to save the
    /// change.
    @discardableResult
    func setAgeInMain(_ age: Int) throws -> NSManagedObject {
      try main.performAndWait {
        let author = try #require(try main.all("Author").first)
        author.setValue(age, forKey: "age")
        return author
      }
    }
  }

  @Test(arguments: Setting.direct, OwnChange.allCases)
  func `saves that meet in a parent leave the next one in order`(_ setting: Setting, _ own: OwnChange) throws
  {
    let levels = try Levels(setting)
    let (stack, main) = (levels.stack, levels.main)
    // Main has its own object, which the second save must update.
    let held = try main.performAndWait { try main.all("Author") }
    if own == .beforeBothSaves { try levels.setAgeInMain(19) }
    try levels.rename("Augusta")
    if own == .betweenTheSaves { try levels.setAgeInMain(19) }
    try levels.rename("Countess")
    if own == .afterBothSaves { try levels.setAgeInMain(19) }
    if own == .afterItWasRead {
      // Main publishes this draft to a reader; the next change goes to a copy.
      try levels.setAgeInMain(20)
      try #expect(levels.age(in: stack.child(of: main)) == 20)
      try levels.setAgeInMain(19)
    }
    try levels.saveParents()
    withExtendedLifetime(held) {}
    // From here on main does not know the object, and the root only its existence: their values come from the
    // worker, two of whose saves meet in an object of the root.
    main.performAndWait { main.reset() }
    let known = stack.root.performAndWait {
      stack.root.reset()
      return stack.root.object(with: levels.author.objectID)
    }
    for name in ["Byron", "Lovelace"] {
      try levels.rename(name)
      try main.performAndWait { try main.save() }
    }
    try stack.root.performAndWait { try stack.root.save() }
    withExtendedLifetime(known) {}
    try stack.fresh { context in
      let found = try #require(try context.all("Author").first)
      #expect(found.text("name") == "Lovelace")
      #expect(found.value(forKey: "age") as? Int == (own == .never ? 18 : 19))
    }
  }

  @Test(arguments: Setting.direct, [true, false])
  func `a parent's change survives the save of an unaware worker`(
    _ setting: Setting, _ isHeldInParent: Bool
  ) throws {
    let levels = try Levels(setting)
    let (stack, main) = (levels.stack, levels.main)
    let held = try levels.setAgeInMain(31)
    try levels.rename("Augusta")
    try levels.saveParents()
    if !isHeldInParent { main.performAndWait { main.reset() } }
    // The worker still has the old age, which its next save must not restore.
    try levels.rename("Lovelace")
    try #expect(levels.age(in: main) == 31)
    try #expect(levels.age(in: stack.child(of: main)) == 31)
    try levels.saveParents()
    if isHeldInParent { #expect(main.performAndWait { held.value(forKey: "age") as? Int } == 31) }
    stack.fresh { context in
      // Through a fault, from the coordinator's row cache, and from the store.
      let fault = context.object(with: levels.author.objectID)
      #expect(fault.value(forKey: "age") as? Int == 31 && fault.text("name") == "Lovelace")
    }
    try #expect(levels.age(in: stack.sibling()) == 31)
  }

  @Test(arguments: Setting.direct, [true, false])
  func `links that meet in a parent leave the next one in order`(_ setting: Setting, _ isHeldInParent: Bool)
    throws
  {
    let levels = try Levels(setting)
    let (main, worker) = (levels.main, levels.worker)
    for _ in 0..<3 {
      // Two saves of the worker meet in main before main saves; then one passes through alone.
      let held = isHeldInParent ? try main.performAndWait { try main.all("Author") } : []
      for pause in [false, true, true] {
        try worker.performAndWait {
          worker.insert("Book", ["title": "Notes"]).setValue(levels.author, forKey: "author")
          try worker.save()
        }
        if pause {
          try levels.saveParents()
          main.performAndWait { main.reset() }
        }
      }
      withExtendedLifetime(held) {}
    }
    try levels.stack.fresh { context in
      let found = try #require(try context.all("Author").first)
      #expect(found.objects("books").count == 9)
    }
  }
}
