import Synchronization

/// A bounded cache of parsed formats by text.
///
/// Two generations: when the young one is full, it becomes the old one, and entries that are used again move
/// back. Formats in use thus survive a flood of formats used once, such as those with embedded values, at no
/// cost per look-up.
final class TemplateCache<Template: AnyObject & Sendable>: Sendable {
  private struct Generations {
    var young: [String: Template] = [:]
    var old: [String: Template] = [:]
    /// The latest entry, which spares a program that creates predicates in a loop from hashing the text each
    /// time.
    var last: (format: String, template: Template)?
  }

  /// Formats in a generation.
  static var capacity: Int { 256 }
  /// Maximum length of cached formats in UTF-8 bytes; longer ones are generated text, parsed each time.
  static var longestText: Int { 4096 }

  private let _generations = Mutex(Generations())

  subscript(format: String) -> Template? {
    get {
      _generations.withLock { generations in
        if let last = generations.last, last.format == format { return last.template }
        if let template = generations.young[format] {
          generations.last = (format, template)
          return template
        }
        guard let template = generations.old[format] else { return nil }
        Self._insert(template, format, &generations)
        return template
      }
    }
    set {
      guard let newValue, format.utf8.count <= Self.longestText else { return }
      _generations.withLock { Self._insert(newValue, format, &$0) }
    }
  }

  /// Number of templates held.
  var count: Int { _generations.withLock { $0.young.count + $0.old.count } }

  private static func _insert(_ template: Template, _ format: String, _ generations: inout Generations) {
    if generations.young.count >= capacity {
      generations.old = generations.young
      generations.young = [:]
    }
    generations.young[format] = template
  }
}
