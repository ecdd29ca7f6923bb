import CoreDataToolKit

/// What the contexts of a program have done, as its recording tells: of one or several processes, by time.
struct Trace: Sendable {
  /// A context by the process and its number there.
  struct ContextID: Hashable, Sendable {
    let process: Int
    let number: Int
  }

  struct Context: Sendable {
    enum Role: String, Sendable { case main, `private`, confinement }
    var role = Role.private
    var parent: ContextID?
  }

  /// A fetch request, of which values are unknown.
  struct Request: Sendable, Hashable {
    var entity: String
    var result = "objects"
    var predicate: String?
    var sort: [String] = []
    var limit = 0
    var offset = 0
    var batch = 0
    var prefetch: [String] = []
  }

  /// An object's change in a save.
  struct Change: Sendable {
    enum Kind: String, Sendable, CaseIterable {
      case insert, update, delete
      /// Nothing is unsaved any more.
      case revert
    }
    var kind: Kind
    var id: String
    var keys: [String] = []
    /// The recorded values; nil if there are none.
    var values: [JSONMember]?
  }

  struct JSONMember: Sendable {
    let name: String
    let value: JSONValue
  }

  enum Kind: Sendable {
    /// - Parameter predicate: With values; nil if they are not recorded.
    case fetch(Request, found: Int, ids: [String], predicate: String?)
    case count(Request, found: Int, predicate: String?)
    case fault(String, rows: Int)
    case members(String, relationship: String, found: Int)
    /// What is unsaved of some objects.
    case changes([Change])
    /// - Parameters:
    ///   - changes: What no event before has told.
    ///   - objects: The context's own objects that are saved.
    case save([Change], objects: Int, toStore: Bool, error: Int?)
    case merge(objects: Int)
    /// A request of a class, such as a batch.
    case execute(String)
    case reset
    case rollback
  }

  struct Event: Sendable {
    /// Seconds since the first process began to be recorded.
    var begin: Double
    var milliseconds: Double
    var isOnMain: Bool
    var context: ContextID
    var kind: Kind

    var end: Double { begin + milliseconds / 1000 }
  }

  var programs: [String] = []
  /// By their ends.
  var events: [Event] = []
  var contexts: [ContextID: Context] = [:]
  var dropped = 0
  var hasValues = true
  /// The names that unsaved objects got when they were stored, and those that they had.
  var formerNames: [String: String] = [:]

  /// The name of an object that a process has made: another one gives the same names.
  static func unsavedName(_ name: String, in process: Int) -> String {
    process == 0 || !name.contains("/t") ? name : "\(name)~\(process)"
  }
}
