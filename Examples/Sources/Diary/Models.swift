import SwiftData

// The same source compiles in an iOS app with Apple's SwiftData.

/// One day's entry.
@Model final class Entry {
  @Attribute(.unique) var day: String
  var text: String
  var mood: Mood
  @Relationship(inverse: \Tag.entries) var tags: [Tag] = []

  init(day: String, text: String, mood: Mood = .fair) {
    self.day = day
    self.text = text
    self.mood = mood
  }
}

/// A topic of entries.
@Model final class Tag {
  @Attribute(.unique) var name: String
  var entries: [Entry] = []

  init(name: String) { self.name = name }
}

enum Mood: String, Codable { case fair, good, bad }
