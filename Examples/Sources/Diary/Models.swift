import SwiftData

// The same source is a target of an iOS app, where SwiftData is Apple's.

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

/// What an entry is about.
@Model final class Tag {
  @Attribute(.unique) var name: String
  var entries: [Entry] = []

  init(name: String) { self.name = name }
}

enum Mood: String, Codable { case fair, good, bad }
