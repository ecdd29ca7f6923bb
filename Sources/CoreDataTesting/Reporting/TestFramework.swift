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

  /// The framework of the code that calls; nil outside of tests.
  static var current: TestFramework? {
    #if canImport(Testing)
    if Test.current != nil { return .swiftTesting }
    #endif
    #if canImport(XCTest)
    return .xcTest
    #else
    return nil
    #endif
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
