import SwiftData

// A diary in a terminal: models, an actor that imports, a predicate, and the history of the store.

/// Imports entries in its own context.
@ModelActor actor Importer {
  func take(_ lines: [(day: String, text: String, mood: Mood, tags: [String])]) throws {
    modelContext.author = "import"
    for line in lines {
      let entry = Entry(day: line.day, text: line.text, mood: line.mood)
      modelContext.insert(entry)
      entry.tags = try line.tags.map { try tag($0) }
    }
    try modelContext.save()
  }

  private func tag(_ name: String) throws -> Tag {
    if let known = try modelContext.fetch(FetchDescriptor<Tag>(predicate: #Predicate { $0.name == name }))
      .first
    {
      return known
    }
    let new = Tag(name: name)
    modelContext.insert(new)
    return new
  }
}

let container = try ModelContainer(for: Entry.self, configurations: .init(isStoredInMemoryOnly: true))
try await Importer(modelContainer: container).take([
  (day: "2026-05-01", text: "Sun all day.", mood: .good, tags: ["garden", "sun"]),
  (day: "2026-05-02", text: "Rain.", mood: .bad, tags: ["rain"]),
  (day: "2026-05-03", text: "Planted beans.", mood: .good, tags: ["garden"]),
])

let context = ModelContext(container)

/// Fetches and prints entries.
@MainActor func show(_ title: String, _ predicate: Predicate<Entry>?) throws {
  print("\(title):")
  for entry in try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.day)])) {
    let tags = entry.tags.map(\.name).sorted().joined(separator: ", ")
    print("  \(entry.day)  \(entry.text)  [\(tags)]  \(entry.mood.rawValue)")
  }
}

try show("Entries", nil)
let good = Mood.good
try show(
  "Good days in the garden", #Predicate { $0.mood == good && $0.tags.contains { $0.name == "garden" } })

// The day is unique: saving a second entry for it updates the first.
context.author = "diary"
context.insert(Entry(day: "2026-05-02", text: "Rain, then a rainbow.", mood: .good))
try context.save()
try show("After a second thought", #Predicate { $0.day == "2026-05-02" })

for transaction in try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()) {
  let kinds = transaction.changes.map { change in
    switch change {
    case .insert: "insert \(change.changedPersistentIdentifier.entityName)"
    case .update: "update \(change.changedPersistentIdentifier.entityName)"
    case .delete: "delete \(change.changedPersistentIdentifier.entityName)"
    }
  }
  let counts = Dictionary(grouping: kinds) { $0 }.map { "\($0.value.count) x \($0.key)" }.sorted()
  print("\(transaction.author ?? "no author"): \(counts.joined(separator: ", "))")
}
