import CoreData
import CoreDataPostgreSQLBinding
import Foundation

/// Option: what is told of the store's connections, statements and saves. A `PostgreSQLObserver`; none by default, which
/// costs nothing. A description takes it as its `postgreSQLObserver`.
public let NSPostgreSQLObserverOption = "NSPostgreSQLObserverOption"

extension NSPersistentStoreDescription {
  /// What is told of the store's connections, statements and saves (`NSPostgreSQLObserverOption`).
  ///
  /// ```swift
  /// import CoreData
  /// import CoreDataPostgreSQL
  ///
  /// struct SlowStatements: PostgreSQLObserver {
  ///   func observe(_ event: PostgreSQLEvent) {
  ///     if event.kind == .statement, event.seconds > 0.5 { print(event.seconds, event.sql ?? "") }
  ///   }
  /// }
  ///
  /// description.postgreSQLObserver = SlowStatements()
  /// ```
  public var postgreSQLObserver: (any PostgreSQLObserver)? {
    get { options[NSPostgreSQLObserverOption].flatMap(PostgreSQLObservation.observer) }
    set { setOption(newValue.map(ObserverBox.init), forKey: NSPostgreSQLObserverOption) }
  }
}

/// An observer among a description's options, which are objects.
private final class ObserverBox: NSObject {
  let observer: any PostgreSQLObserver

  init(_ observer: any PostgreSQLObserver) { self.observer = observer }
}

/// Is told what happens in a store, to log or measure it.
///
/// The store calls it on the thread on which something happened, which waits until it returns: count, and hand on the
/// rest. It does not use the store. Several threads call it at once.
public protocol PostgreSQLObserver: Sendable {
  /// Takes note of something that has happened, on the thread on which it did.
  func observe(_ event: PostgreSQLEvent)
}

/// Something that has happened in a PostgreSQL store.
///
/// Statements have placeholders in place of values. A failure has the server's first line, which quotes a value now and
/// then, such as a text that is no number.
public struct PostgreSQLEvent: Sendable {
  /// What has happened.
  public enum Kind: String, Sendable, CaseIterable {
    /// A connection was made, or could not be.
    case connect
    /// Something had to wait for a connection of the pool, perhaps not at all.
    case acquire
    /// A statement has run, with those that were sent along.
    case statement
    /// A save has ended, with all its repetitions.
    case save
    /// A save has met rows that others have changed.
    case conflict
    /// A transaction is repeated, after a deadlock or the loss of its connection.
    case retry
    /// The server takes no more connections, or all of the pool were in use for too long.
    case refused
    /// A step of a migration that runs beside the programs has ended: the build of an index.
    case step
    /// The server's history is another one than before: a replica was promoted, or the database restored. Rows that were
    /// read before are compared by their values when they are saved, since the same version may have other values now.
    case timeline
  }

  /// What has happened.
  public let kind: Kind
  /// Name of the store's schema.
  public let schema: String
  /// How long it took, in seconds; zero for a conflict, a retry and a change of the timeline.
  public let seconds: Double
  /// The rows that a statement has found or written, that a save has inserted, updated and deleted, or that are in conflict.
  public internal(set) var rowCount: Int?
  /// SQLSTATE of a failure; nil without one, or if the server did not say.
  public internal(set) var sqlState: String?
  /// What has failed, in one sentence; nil for success.
  public internal(set) var failure: String?
  /// The statement, without values.
  public internal(set) var sql: String?
  /// What a connection is for, such as "a save".
  public internal(set) var use: String?
  /// Name of the context that saves.
  public internal(set) var contextName: String?
  /// The context's `transactionAuthor`.
  public internal(set) var author: String?

  init(_ kind: Kind, _ schema: String, seconds: Double) {
    self.kind = kind
    self.schema = schema
    self.seconds = seconds
  }

  /// The metric that it belongs to, by the name in OpenTelemetry's conventions where they have one: a histogram of
  /// `seconds`, or for what is refused, in conflict or retried, and for timelines a counter.
  public var metricName: String {
    switch kind {
    case .connect: "db.client.connection.create_time"
    case .acquire: "db.client.connection.wait_time"
    case .statement, .save: "db.client.operation.duration"
    case .refused: "db.client.connection.timeouts"
    case .conflict: "coredata.save.conflicts"
    case .retry: "coredata.save.retries"
    case .step: "coredata.migration.step.duration"
    case .timeline: "coredata.timeline.changes"
    }
  }

  /// The attributes of OpenTelemetry's conventions: few values each, but for the text of statements.
  public var attributes: [String: String] {
    var attributes = ["db.system.name": "postgresql", "db.namespace": schema]
    attributes["db.response.status_code"] = sqlState
    attributes["db.query.text"] = sql
    switch kind {
    case .acquire, .connect, .refused: attributes["db.client.connection.pool.name"] = schema
    case .statement: attributes["db.operation.name"] = sql.map { String($0.prefix { $0.isLetter }) }
    case .save: attributes["db.operation.name"] = "save"
    default: break
    }
    if failure != nil { attributes["error.type"] = sqlState ?? "_OTHER" }
    return attributes
  }
}

/// An observer with the schema of its store.
struct PostgreSQLObservation: Sendable {
  private let _observer: any PostgreSQLObserver
  private let _schema: String

  /// - Returns: Nil without an observer.
  /// - Throws: `PostgreSQLStoreError.option` for an object of another kind.
  init?(_ options: [AnyHashable: Any]?, schema: String) throws {
    guard let option = options?[NSPostgreSQLObserverOption] else { return nil }
    guard let observer = Self.observer(option) else {
      throw PostgreSQLStoreError.option(
        NSPostgreSQLObserverOption, reason: "a \(type(of: option)) is no PostgreSQLObserver")
    }
    _observer = observer
    _schema = schema
  }

  /// Returns the observer that an option is; nil for another object.
  static func observer(_ option: Any) -> (any PostgreSQLObserver)? {
    (option as? ObserverBox)?.observer ?? option as? any PostgreSQLObserver
  }

  /// Tells the observer.
  func tell(
    _ kind: PostgreSQLEvent.Kind, seconds: Double = 0, error: (any Error)? = nil,
    _ fill: (inout PostgreSQLEvent) -> Void = { _ in }
  ) {
    var event = PostgreSQLEvent(kind, _schema, seconds: seconds)
    if let error {
      event.sqlState = (error as? PostgreSQLError).flatMap { $0.state ?? $0.refusal }
      event.failure = (error as? PostgreSQLError)?.message ?? "\(error)"
    }
    fill(&event)
    _observer.observe(event)
  }

  /// Tells of what happens on the connections.
  var listener: PostgreSQLOccurrenceHandler { { occurrence in _tell(occurrence) } }

  private func _tell(_ occurrence: PostgreSQLOccurrence) {
    tell(Self._kind(occurrence.kind), seconds: occurrence.seconds, error: occurrence.error) { event in
      event.rowCount = occurrence.rowCount
      event.sql = occurrence.sql
      event.use = occurrence.use
    }
  }

  private static func _kind(_ kind: PostgreSQLOccurrence.Kind) -> PostgreSQLEvent.Kind {
    switch kind {
    case .connect: .connect
    case .acquire: .acquire
    case .statement: .statement
    case .refused: .refused
    }
  }
}
