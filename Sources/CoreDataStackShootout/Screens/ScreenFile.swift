import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// Reads the screens of a shootout from JSON: an array of objects, each with `list`, `detail` or `badge` and its entity.
struct ScreenFile {
  private let _layout: ModelLayout
  private let _name: String

  init(_ layout: ModelLayout, name: String) { (_layout, _name) = (layout, name) }

  /// - Throws: `ToolFailure` for what is no screen, or of another model.
  func screens(_ bytes: [UInt8]) throws -> [Screen] {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw ToolFailure(.badInput, "'\(_name)' is no JSON: \(error).")
    }
    guard case .array(let elements) = value, !elements.isEmpty else {
      throw ToolFailure(
        .badInput,
        "'\(_name)' has no screens: an array of objects was expected, such as [{\"list\": \"Order\"}].")
    }
    var screens: [Screen] = []
    for (index, element) in elements.enumerated() {
      guard case .object(let members) = element else {
        throw _failure("screen \(index + 1)", "an object was expected, not \(element.kind)")
      }
      let screen = try _screen(members, number: index + 1)
      if screens.contains(where: { $0.name == screen.name }) {
        throw _failure("screen \(index + 1)", "another one is called '\(screen.name)'; give it a \"name\"")
      }
      screens.append(screen)
    }
    return screens
  }

  private func _failure(_ place: String, _ problem: String) -> ToolFailure {
    ToolFailure(.badInput, "'\(_name)', \(place): \(problem).")
  }

  private static let _members = [
    "list", "detail", "badge", "name", "where", "sort", "batch", "prefetch", "shows", "rows", "pages",
    "objects",
    "search",
  ]

  private func _screen(_ members: [JSONValue.Member], number: Int) throws -> Screen {
    let place = "screen \(number)"
    let kinds = members.compactMap { member in Screen.Kind(rawValue: member.name).map { ($0, member.value) } }
    guard kinds.count == 1, case .string(let name) = kinds[0].1 else {
      throw _failure(place, "it needs one of \"list\", \"detail\" and \"badge\" with the name of an entity")
    }
    let entity = try _entity(name, place)
    var screen = Screen(kind: kinds[0].0, name: entity.entityName, entity: entity.entityName)
    screen.name = "\(kinds[0].0.rawValue) of \(entity.entityName)"
    for member in members {
      let value = Value(json: member.value, name: member.name) { _failure(place, $0) }
      switch member.name {
      case "list", "detail", "badge": break
      case "name": screen.name = try value.text
      case "where": screen.predicate = try value.text
      case "sort": screen.sort = try value.texts
      case "batch": screen.batch = try value.integer(in: 0...1_000_000)
      case "prefetch": screen.prefetch = try value.texts
      case "shows": screen.shows = try value.texts
      case "rows": screen.rows = try value.integer(in: 1...10_000)
      case "pages": screen.pages = try value.integer(in: 1...10_000)
      case "objects": screen.objects = try value.integer(in: 1...100_000)
      case "search": screen.search = try _search(member.value, place)
      default:
        throw _failure(
          place,
          "there is no member '\(member.name)' of a screen"
            + (SpellingSuggestion.nearest(to: member.name, among: Self._members).map {
              "; did you mean '\($0)'?"
            }
              ?? ", which has \(Self._members.joined(separator: ", "))"))
      }
    }
    try _check(screen, entity, place)
    return screen
  }

  private func _search(_ json: JSONValue, _ place: String) throws -> Screen.Search {
    guard case .object(let members) = json, members.count == 1 else {
      throw _failure(
        place, "'search' is an attribute with what is typed, such as {\"title\": [\"p\", \"pe\"]}")
    }
    let value = Value(json: members[0].value, name: "search") { _failure(place, $0) }
    return Screen.Search(attribute: members[0].name, texts: try value.texts)
  }

  private func _entity(_ name: String, _ place: String) throws -> PropertyLayout {
    if let entity = _layout.layoutsByName[name] { return entity }
    throw _failure(
      place,
      "the model has no entity '\(name)'"
        + (SpellingSuggestion.nearest(to: name, among: _layout.layoutsByName.keys.sorted()).map {
          "; did you mean '\($0)'?"
        } ?? ", it has \(_layout.layouts.map(\.entityName).joined(separator: ", "))"))
  }

  // MARK: The model

  private func _check(_ screen: Screen, _ entity: PropertyLayout, _ place: String) throws {
    for key in screen.sort { try _walk(key.drop { $0 == "-" }, entity, place, "sort", ends: .attribute) }
    for key in screen.shows { try _walk(key[...], entity, place, "shows", ends: .anything) }
    for key in screen.prefetch { try _walk(key[...], entity, place, "prefetch", ends: .relationship) }
    if let search = screen.search {
      try _walk(search.attribute[...], entity, place, "search", ends: .attribute)
    }
    guard screen.kind == .list || (screen.search == nil && screen.batch == 0) else {
      throw _failure(place, "'search' and 'batch' are of a list")
    }
    guard let text = screen.predicate else { return }
    do {
      _ = try TypedPredicate.predicate(text, of: entity, in: _layout) { _, _ in nil }
    } catch {
      throw _failure(place, "'where' cannot be understood: \(error)")
    }
  }

  private enum End { case attribute, relationship, anything }

  private func _walk(
    _ path: Substring, _ entity: PropertyLayout, _ place: String, _ member: String, ends: End
  ) throws {
    var current: PropertyLayout? = entity
    var last: PropertyLayout.Slot?
    for name in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
      guard let layout = current, let slot = layout.slot(named: name) else {
        let names = (current ?? entity).slotsByName.keys.sorted()
        throw _failure(
          place,
          "'\(member)': '\(path)' leads nowhere, '\((current ?? entity).entityName)' has no '\(name)'"
            + (SpellingSuggestion.nearest(to: name, among: names).map { "; did you mean '\($0)'?" } ?? ""))
      }
      last = layout.slots[slot]
      current = last?.relationship.map { _layout.layout(numbered: $0.destination) }
    }
    switch ends {
    case .attribute where last?.isAttribute != true:
      throw _failure(place, "'\(member)': '\(path)' is no attribute")
    case .relationship where last?.isAttribute != false:
      throw _failure(place, "'\(member)': '\(path)' is no relationship")
    default: break
    }
  }

  /// A member's value.
  private struct Value {
    let json: JSONValue
    let name: String
    let failure: (String) -> ToolFailure

    var text: String {
      get throws {
        guard case .string(let text) = json else {
          throw failure("'\(name)': a string was expected, not \(json.kind)")
        }
        return text
      }
    }

    var texts: [String] {
      get throws {
        if case .string(let text) = json { return [text] }
        guard case .array(let elements) = json else {
          throw failure("'\(name)': strings were expected, not \(json.kind)")
        }
        return try elements.map { try Value(json: $0, name: name, failure: failure).text }
      }
    }

    func integer(in range: ClosedRange<Int>) throws -> Int {
      guard case .number(let digits) = json, let number = Int(digits), range.contains(number) else {
        throw failure("'\(name)': a number from \(range.lowerBound) to \(range.upperBound) was expected")
      }
      return number
    }
  }
}
