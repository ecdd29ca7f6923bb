import Foundation
import Testing

@testable import CoreDataModelCodegen

@Suite struct ManglingTests {
  /// Returns the symbols of the accessors that the generator would emit.
  private static func symbols(in text: String) -> Set<String> {
    let parts = text.components(separatedBy: "@_silgen_name(\"").dropFirst()
    return Set(parts.map { String($0.prefix { $0 != "\"" }) })
  }

  @Test(.enabled(if: Toolchain.isAvailable))
  func `Generated symbols are those that the compiler asks for`() throws {
    try Toolchain.withDirectory { directory in
      let stub = try Toolchain.makeCoreData(in: directory)
      try #require(stub.status == 0, "\(stub.output)")
      let source = ManglingFixture.source
      let file = directory.appendingPathComponent("Declarations.swift")
      try source.write(to: file, atomically: true, encoding: .utf8)
      let compiled = try Toolchain.run(
        Toolchain.swiftc!,
        [
          "-swift-version", "6", "-I", ".", "-parse-as-library", "-module-name", "BookShop", "-package-name",
          "shop",
          "-c", "Declarations.swift", "-o", "declarations.o",
        ], in: directory)
      try #require(compiled.status == 0, "\(compiled.output)")
      let listing = try Toolchain.run(Toolchain.nm!, ["-u", "declarations.o"], in: directory).output
      let undefined = listing.split(separator: "\n").compactMap {
        $0.split(separator: " ").last.map(String.init)
      }
      let wanted = Set(undefined.filter { $0.hasPrefix("$s8BookShop") })
      let generated = ManagedAccessors.generate(
        module: "BookShop", sources: [ManagedAccessors.Source(path: "Declarations.swift", text: source)])
      #expect(generated.problems == [])
      let supplied = Self.symbols(in: generated.text)
      #expect(wanted.count >= 120)
      #expect(wanted.subtracting(supplied).sorted() == [], "asked for but not supplied")
      #expect(supplied.subtracting(wanted).sorted() == [], "supplied but not asked for")
    }
  }

  @Test(arguments: [
    #""a \" b""#, #""\\""#, #""\u{22}\"""#, ##"#"a \" b"#"##, "\"\"\"\n  a \\\"\"\" b\n  \"\"\"",
  ])
  func `A class is found behind any text`(_ literal: String) {
    let text = """
      let text = \(literal)
      class Note: NSManagedObject { @NSManaged var title: String }
      """
    let generated = ManagedAccessors.generate(
      module: "BookShop", sources: [ManagedAccessors.Source(path: "Note.swift", text: text)])
    #expect(generated.problems == [])
    #expect(!Self.symbols(in: generated.text).isEmpty, "\(text)")
  }

  @Test(.enabled(if: Toolchain.isAvailable))
  func `Symbols for another module's types match the compiler's`() throws {
    try Toolchain.withDirectory { directory in
      let stub = try Toolchain.makeCoreData(in: directory)
      try #require(stub.status == 0, "\(stub.output)")
      for (name, text) in [
        ("Pieces.swift", ManglingFixture.foundation), ("Songs.swift", ManglingFixture.overPieces),
      ] {
        try text.write(to: directory.appendingPathComponent(name), atomically: true, encoding: .utf8)
      }
      let common = ["-swift-version", "6", "-I", ".", "-parse-as-library"]
      let pieces = try Toolchain.run(
        Toolchain.swiftc!, common + ["-emit-module", "-module-name", "Pieces", "Pieces.swift"], in: directory)
      try #require(pieces.status == 0, "\(pieces.output)")
      let songs = try Toolchain.run(
        Toolchain.swiftc!, common + ["-module-name", "Songs", "-c", "Songs.swift", "-o", "songs.o"],
        in: directory)
      try #require(songs.status == 0, "\(songs.output)")
      let listing = try Toolchain.run(Toolchain.nm!, ["-u", "songs.o"], in: directory).output
      let undefined = listing.split(separator: "\n").compactMap {
        $0.split(separator: " ").last.map(String.init)
      }
      let wanted = Set(
        undefined.filter { $0.hasPrefix("$s5Songs") || $0.hasPrefix("$s6Pieces5PieceC5SongsE") })
      let generated = ManagedAccessors.generate(
        module: "Songs",
        sources: [ManagedAccessors.Source(path: "Songs.swift", text: ManglingFixture.overPieces)],
        dependencies: [
          ManagedAccessors.Dependency(
            module: "Pieces",
            sources: [ManagedAccessors.Source(path: "Pieces.swift", text: ManglingFixture.foundation)])
        ])
      #expect(generated.problems == [])
      let supplied = Self.symbols(in: generated.text)
      #expect(wanted.count == 21)
      #expect(wanted.subtracting(supplied).sorted() == [], "asked for but not supplied")
      #expect(supplied.subtracting(wanted).sorted() == [], "supplied but not asked for")
    }
  }

  @Test(
    .enabled(if: Toolchain.isAvailable),
    arguments: [
      ["-Onone"], ["-O", "-wmo"], ["-Onone", "-enable-testing"], ["-O", "-no-whole-module-optimization"],
    ])
  func `Hand-written classes link with their accessors and run`(options: [String]) throws {
    try Toolchain.withDirectory { directory in
      let stub = try Toolchain.makeCoreData(in: directory)
      try #require(stub.status == 0, "\(stub.output)")
      let accessors = ManagedAccessors.generate(
        module: "BookShop",
        sources: [ManagedAccessors.Source(path: "Classes.swift", text: ManglingFixture.program)])
      #expect(accessors.problems == [])
      try ManglingFixture.program.write(
        to: directory.appendingPathComponent("Classes.swift"), atomically: true, encoding: .utf8)
      try accessors.text.write(
        to: directory.appendingPathComponent("Accessors.swift"), atomically: true, encoding: .utf8)
      let compiled = try Toolchain.run(
        Toolchain.swiftc!,
        options + [
          "-swift-version", "6", "-I", ".", "-L", ".", "-lCoreData", "-parse-as-library", "-module-name",
          "BookShop",
          "-package-name", "shop", "-warnings-as-errors", "Classes.swift", "Accessors.swift", "-o", "program",
        ], in: directory)
      try #require(compiled.status == 0, "\(compiled.output)")
      let ran = try Toolchain.run(directory.appendingPathComponent("program").path, [], in: directory)
      #expect(ran.output == "Emma 7 high secret add one add many Emma\n")
    }
  }

  @Test func `Private declarations carry a hash of module and file`() {
    #expect(FileDiscriminator.make(module: "App", file: "A.swift") == "_A7519FE6EFADBAA9A8F083020345A4E6")
  }

  @Test func `A type that no source declares is reported with its place`() throws {
    let source = """
      import CoreData
      class Book: NSManagedObject {
        @NSManaged var cover: Picture?
      }
      """
    let generated = ManagedAccessors.generate(
      module: "App", sources: [ManagedAccessors.Source(path: "Book.swift", text: source)])
    let problem = try #require(generated.problems.first)
    #expect(problem.line == 3 && problem.column == 18)
    #expect(problem.message.contains("'Picture?' of 'cover'"))
  }

  @Test func `Types of a module depended on are found in its sources`() {
    let source = "import CoreData\nclass Book: NSManagedObject {\n @NSManaged var kind: Kind\n}"
    let generated = ManagedAccessors.generate(
      module: "App", sources: [ManagedAccessors.Source(path: "Book.swift", text: source)],
      dependencies: [
        ManagedAccessors.Dependency(
          module: "Kinds",
          sources: [ManagedAccessors.Source(path: "K.swift", text: "public enum Kind: Int16 { case a }")])
      ])
    #expect(generated.problems == [])
    #expect(Self.symbols(in: generated.text).contains("$s3App4BookC4kind5Kinds4KindOvg"))
  }
}
