import CoreDataModelFiles
import CoreDataModelSchema
import Foundation

/// An error that a kind of store throws, and what Core Data makes of it.
package protocol StoreFailure: Error {
  /// Code in the Cocoa error domain.
  var cocoaCode: Int { get }
  /// Adds what the medium reported to the Cocoa error's user info.
  func describe(in info: inout [String: Any])
}

extension StoreFailure {
  package func describe(in info: inout [String: Any]) {}
}

/// Turns what stores throw into errors of Core Data's domain.
package enum StoreErrors {
  /// Runs `body`; its errors come out as Cocoa errors, conflicts as they are.
  @inline(__always)
  package static func translating<T>(url: URL? = nil, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      throw cocoa(error, url)
    }
  }

  package static func cocoa(_ error: any Error, _ url: URL?) -> any Error {
    var info: [String: Any] = [:]
    if let url { info[NSURLErrorKey] = url }
    switch error {
    case is CocoaError, is StoreConflictError, is StoreConstraintError: return error
    case let error as CustomStoreError: return error.underlying
    case let error as any StoreFailure:
      error.describe(in: &info)
      // A reason may end in a question ("… 'naem' not found; did you mean 'name'?").
      let sentence = "\(error)"
      return CocoaError.coreData(error.cocoaCode, sentence.hasSuffix("?") ? sentence : sentence + ".", info)
    case let error as ModelFileError:
      return CocoaError.coreData(NSPersistentStoreOpenError, "\(error).", info)
    default:
      info[NSUnderlyingErrorKey] = error
      return CocoaError.coreData(NSPersistentStoreOperationError, "\(error)", info)
    }
  }

  /// Whether an error is one of those that stores throw, and not a policy's or a handler's.
  package static func isOurs(_ error: any Error) -> Bool {
    error is any StoreFailure || error is ModelFileError || error is ModelLayoutError
  }

  /// Whether another writer kept the store locked for longer than a save waits.
  package static func isBusy(_ error: any Error) -> Bool {
    (error as? CocoaError)?.code.rawValue == NSPersistentStoreTimeoutError
  }
}

/// What a custom class has thrown, on its way to the caller: it is rethrown unchanged.
struct CustomStoreError: Error {
  let underlying: any Error

  /// Runs a method of a custom class.
  static func marking<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error where error is CocoaError || error is StoreConflictError || error is CustomStoreError {
      throw error
    } catch {
      throw CustomStoreError(underlying: error)
    }
  }
}
