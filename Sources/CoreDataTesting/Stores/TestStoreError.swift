import Foundation

/// Why a test's store, fixture, snapshot or migration cannot be had.
public struct TestStoreError: Error, Sendable, CustomStringConvertible, LocalizedError {
  /// What was asked, what was found and what to do.
  public let description: String

  init(_ description: String) { self.description = description }

  /// The description.
  public var errorDescription: String? { description }
}
