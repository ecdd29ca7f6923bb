import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata model infer`.
  static let infer = Command(
    CommandSyntax(
      "infer", summary: "Make a model for data: JSON, CSV, or the tables of an SQLite database.",
      discussion: [
        "JSON is an object a line, an array of objects, or an object with an array for each entity; objects inside become "
          + "entities of their own. A CSV file is an entity, a directory one for each of its files, and an empty field is no "
          + "value. Tables of SQLite become entities, their foreign keys relationships with inverses, tables of pairs "
          + "many-to-many relationships, unique indexes constraints.",
        "An attribute is optional if a value is missing. Each guess is told on standard error: read the notes, and edit the model. "
          + "'coredata store import' then makes a store of JSON and CSV whose members have the names of properties.",
      ],
      examples: ["coredata model infer books.json", "coredata model infer books --output Books.xcdatamodel"],
      options: [
        .output("DIRECTORY", "Write an .xcdatamodel there; without it, its XML goes to standard output."),
        .force,
        .flag("quiet", "Tell no guesses."), .flag("json", "Write the model as JSON to standard output."),
      ],
      operands: [
        CommandSyntax.Operand(
          "FILE", "A .json, .ndjson, .csv or SQLite file, or a directory of .csv files; '-' for JSON.")
      ], exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    if arguments.has("json"), arguments.has("output") { throw UsageError.conflict("--json", "--output") }
    let input = try SpooledInput(path: arguments.operands[0])
    var model = InferredModel()
    do {
      try ModelInference.read(input, into: &model)
    } catch let failure as ToolFailure {
      throw input.naming(failure)
    } catch {
      throw ToolFailure(.badInput, "'\(input.name)' cannot be read: \(error)")
    }
    guard !model.schema.entities.isEmpty else {
      throw ToolFailure(.badInput, "'\(input.name)' has no objects or tables.")
    }
    if !arguments.has("quiet") { for note in model.notes { environment.error("note: \(note)\n") } }
    let text: String
    do {
      text =
        arguments.has("json")
        ? ModelJSON(model.schema).json.text() + "\n" : try ModelContentsWriter.write(model.schema)
    } catch {
      throw ToolFailure(.internalError, "The model cannot be written: \(error).")
    }
    guard let path = arguments.outputPath else { return try arguments.outputFile(environment).write(text) }
    let output = try OutputDirectory(path: path, replaces: arguments.replacesOutputs)
    try output.write(text, to: "contents")
    try output.finish()
  }
}

/// Reads data in any of the forms.
enum ModelInference {
  static func read(_ input: SpooledInput, into model: inout InferredModel) throws {
    var facts = stat()
    guard stat(input.path, &facts) == 0 else {
      throw ToolFailure(.noInput, "There is no file '\(input.name)'.")
    }
    let isStream = input.path != input.name
    let name =
      isStream ? "Record" : ((input.path as NSString).lastPathComponent as NSString).deletingPathExtension
    if facts.st_mode & S_IFMT == S_IFDIR { return try _readCSV(input, &model) }
    if DatabaseHead.isDatabase(input.path) { return try _readTables(input, &model) }
    var records = RecordInference()
    if input.path.lowercased().hasSuffix(".csv") {
      try _readCSV(InputFile(path: input.path, name: input.name), name, &records)
    } else {
      try _readJSON(input, name, &records)
    }
    records.write(to: &model)
  }

  private static func _readTables(_ input: SpooledInput, _ model: inout InferredModel) throws {
    if let schema = try? ModelInput.read(input.path) {
      throw ToolFailure(
        .usage,
        "'\(input.name)' is a store of Core Data that keeps its model, with \(counted(schema.entities.count, "entity", plural: "entities")). "
          + "'coredata model format \(input.name)' writes it.")
    }
    let hasLog = FileManager.default.fileExists(atPath: input.path + "-wal")
    try SQLiteInference(path: input.path, hasLog: hasLog).write(to: &model)
  }

  private static func _readCSV(_ input: SpooledInput, _ model: inout InferredModel) throws {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: input.path)) ?? [])
      .filter { $0.lowercased().hasSuffix(".csv") }.sorted()
    guard !names.isEmpty else { throw ToolFailure(.badInput, "There is no .csv file in '\(input.name)'.") }
    var records = RecordInference()
    for name in names {
      try _readCSV(
        InputFile(path: "\(input.path)/\(name)"), (name as NSString).deletingPathExtension, &records)
    }
    records.write(to: &model)
  }

  private static func _readCSV(_ file: InputFile, _ name: String, _ records: inout RecordInference) throws {
    guard let table = try CSVTable(file) else { return }
    if let place = table.columns.firstIndex(of: "") {
      throw ToolFailure(.badInput, "\(file.path):1: column \(place + 1) has no name.")
    }
    records.add(columns: table.columns, to: name)
    while let (fields, _) = try table.next() { records.add(fields, named: table.columns, to: name) }
  }

  /// An object a line if the first line is one and there are more; otherwise one document.
  private static func _readJSON(_ input: SpooledInput, _ name: String, _ records: inout RecordInference)
    throws
  {
    let file = try InputFile(path: input.path, name: input.name)
    guard let first = try file.nextLine() else { return }
    if case .object(let members)? = try? JSONValue(parsing: first), try file.peek() != nil {
      records.add(members, to: name)
      while true {
        let line = file.line
        guard let bytes = try file.nextLine() else { return }
        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
        records.add(try JSONValue.members(parsing: bytes, at: "\(file.path):\(line)"), to: name)
      }
    }
    var bytes = first
    while let line = try file.nextLine() { bytes += [0x0A] + line }
    try _readDocument(bytes, file.path, name, &records)
  }

  private static func _readDocument(
    _ bytes: [UInt8], _ place: String, _ name: String, _ records: inout RecordInference
  ) throws {
    let document: JSONValue
    do {
      document = try JSONValue(parsing: bytes)
    } catch {
      throw ToolFailure(.badInput, "\(place): \(error).")
    }
    switch document {
    case .array(let elements): try _add(elements, to: name, place, &records)
    case .object(let members):
      let lists = members.compactMap { member in
        if case .array(let elements) = member.value { (member.name, elements) } else { nil }
      }
      // An object with nothing but lists of objects has one for each entity; any other is an object itself.
      let isDocument =
        !members.isEmpty && lists.count == members.count
        && lists.allSatisfy { $0.1.allSatisfy { if case .object = $0 { true } else { false } } }
      guard isDocument else { return records.add(members, to: name) }
      for (entity, elements) in lists { try _add(elements, to: entity, place, &records) }
    default: throw ToolFailure(.badInput, "\(place): objects were expected, not \(document.kind).")
    }
  }

  private static func _add(
    _ elements: [JSONValue], to name: String, _ place: String, _ records: inout RecordInference
  ) throws {
    for element in elements {
      guard case .object(let members) = element else {
        throw ToolFailure(.badInput, "\(place): an object was expected in the list, not \(element.kind).")
      }
      records.add(members, to: name)
    }
  }
}
