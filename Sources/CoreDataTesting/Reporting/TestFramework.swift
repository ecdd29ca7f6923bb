import Foundation

#if canImport(Testing)
import Testing
#endif
#if canImport(XCTest)
import XCTest
#endif

/// The framework that runs a test.
enum TestFramework: Sendable {
  #if canImport(Testing)
  case swiftTesting
  #endif
  #if canImport(XCTest)
  case xcTest
  #endif

  /// The framework of the test that runs in the calling task; nil if neither is known to run one, as on the queue of
  /// a context. XCTest does not tell; a `CoreDataTestCase` has a store.
  static var current: TestFramework? {
    #if canImport(Testing)
    if Test.current != nil { return .swiftTesting }
    #endif
    return TestStore.scoped?.report.framework
  }

  /// Records a failure of the test that the calling task or thread runs.
  func record(_ message: String, at place: TestPlace) {
    switch self {
    #if canImport(Testing)
    case .swiftTesting:
      Issue.record(
        Comment(rawValue: message),
        sourceLocation: SourceLocation(
          fileID: "\(place.fileID)", filePath: "\(place.filePath)", line: Int(place.line),
          column: Int(place.column)))
    #endif
    #if canImport(XCTest)
    case .xcTest: XCTFail(message, file: place.filePath, line: place.line)
    #endif
    }
  }

  /// Whether the calling task or thread is known to the framework as that of the test.
  func isInTest(begunOn thread: Thread) -> Bool {
    switch self {
    #if canImport(Testing)
    case .swiftTesting: Test.current != nil
    #endif
    #if canImport(XCTest)
    case .xcTest: Thread.current === thread
    #endif
    }
  }
}
